"""From judgments to entries, one for each model's work beside the baseline's: codes and counts, and no text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Coded, Codes, Floats, renumber
from guildhall.errors import ImpossibleValue
from guildhall.store.fields import Chunk, Digests, Field
from guildhall.study import facts
from guildhall.study.facts import Facts, coded
from guildhall.study.places import Places, joined
from guildhall.study.rows import NOT_ASKED

COLUMNS = ("seq", "grader", "comparison")
FIELDS: Mapping[str, Field] = {
    "facts": facts.FIELD,
    "order": (Digests, "order"),
    "active_s": (float, "active_s"),
    "corrected_s": (float, "correction.active_s"),
}
"""What is read of a judgment."""
COUNTED = ("judgments", "failures", "surplus", "omissions")
"""What is counted of each kind of grader: answers, those without a verdict, those beyond the plan, parts not shown."""
Columns = dict[str, NDArray[Any]]

_NOTHING: Columns = {
    "comparison": np.zeros(0, np.int64),
    "work": np.zeros(0, np.int64),
    "grader": np.zeros(0, np.int32),
    "grader_kind": np.zeros(0, np.int32),
    "score": np.zeros(0),
    "model_place": np.zeros(0, np.int16),
    "guess": np.zeros(0, np.int8),
    "accepted": np.zeros(0, np.int8),
    "active_s": np.zeros(0),
    "exposure": np.zeros(0, np.int32),
    "judgment": np.zeros(0, np.int64),
}


@dataclass(frozen=True)
class Compared:
    """What one must know of a study to make entries of its judgments.

    `base_of` is the baseline's work in each comparison, -1 where it has none.
    """

    comparisons: Places
    base_of: Codes
    works: Places
    by_model: NDArray[np.bool_]


@dataclass
class Entries:
    """Entries of some judgments, with the names their codes of graders and kinds stand for, and counts by kind."""

    columns: Columns
    graders: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    counts: dict[str, dict[str, int]] = field(default_factory=dict)


def entries_of(chunks: Iterable[Chunk], compared: Compared) -> Entries:
    """The entries of judgments that are read in chunks."""
    taker = _Taker(compared)
    for chunk in chunks:
        taker.take(chunk)
    return Entries(_concatenated(taker.parts), tuple(taker.graders), tuple(taker.kinds), taker.counts)


def all_entries(parts: Sequence[Entries]) -> Entries:
    """Entries of several parts as one, comparison by comparison; names are sorted, however the parts were cut."""
    graders, kinds = ({name: code for code, name in enumerate(sorted(names))} for names in _names(parts))
    counts: dict[str, dict[str, int]] = {}
    for part in parts:
        part.columns["grader"] = renumber(Coded(part.columns["grader"], part.graders), graders)
        part.columns["grader_kind"] = renumber(Coded(part.columns["grader_kind"], part.kinds), kinds)
        for kind, times in part.counts.items():
            known = counts.setdefault(kind, dict.fromkeys(COUNTED, 0))
            counts[kind] = {name: known[name] + times[name] for name in COUNTED}
    columns = _concatenated([part.columns for part in parts])
    comparison = columns["comparison"]
    if np.any(comparison[1:] < comparison[:-1]):
        order = np.argsort(comparison, kind="stable")
        columns = {name: cells[order] for name, cells in columns.items()}
    return Entries(columns, tuple(graders), tuple(kinds), counts)


def _names(parts: Sequence[Entries]) -> tuple[set[str], set[str]]:
    return {name for part in parts for name in part.graders}, {name for part in parts for name in part.kinds}


def _concatenated(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts or [_NOTHING]]) for name in _NOTHING}


class _Taker:
    """Takes judgments chunk by chunk."""

    def __init__(self, compared: Compared) -> None:
        self.compared = compared
        self.graders: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.parts: list[Columns] = []
        self.counts: dict[str, dict[str, int]] = {}

    def take(self, chunk: Chunk) -> None:
        comparison = self.compared.comparisons.of(joined(chunk["comparison"]))
        base = np.where(comparison >= 0, self.compared.base_of[comparison], -1)
        current = base >= 0
        if not current.any():
            return
        said = Facts(chunk["facts"])
        kind, answered, planned = said.kind(self.kinds), said.answered, said.column("planned")
        self._count(kind, current, "judgments")
        self._count(kind, current & ~answered, "failures")
        self._count(kind, current & answered & ~planned, "surplus")
        self._count(kind, current, "omissions", said.column("omissions"))
        used = current & answered & planned
        if used.any():
            columns = {
                "comparison": comparison,
                "grader": coded(chunk["grader"], self.graders),
                "grader_kind": kind,
                "active_s": _seconds(chunk),
                "exposure": said.column("exposure").astype(np.int32),
                "judgment": np.array(chunk["seq"], dtype=np.int64),
            }
            self.parts.append(self._entries(chunk["order"], said, base, used, columns))

    def _count(self, kind: Codes, which: NDArray[np.bool_], name: str, each: Codes | None = None) -> None:
        times = np.bincount(kind[which], None if each is None else each[which], minlength=len(self.kinds))
        for known, number in zip(self.kinds, times.tolist(), strict=True):
            self.counts.setdefault(known, dict.fromkeys(COUNTED, 0))[name] += int(number)

    def _entries(self, order: Digests, said: Facts, base: Codes, used: NDArray[np.bool_], columns: Columns) -> Columns:
        sizes = np.array(order.sizes)
        judgment = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(judgment)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        work = self.compared.works.of(order.joined)
        if not used.all():
            judgment, place, work = (cells[used[judgment]] for cells in (judgment, place, work))
        at_base = work == base[judgment]
        if (work < 0).any() or np.count_nonzero(at_base) != np.count_nonzero(used):
            raise ImpossibleValue("order", "not the works of its comparison", allowed="each of them once")
        rank = said.at_place("ranks", judgment, place)
        base_rank, base_place = np.zeros((2, len(sizes)), dtype=np.int64)
        base_rank[judgment[at_base]], base_place[judgment[at_base]] = rank[at_base], place[at_base]
        kept = ~at_base & self.compared.by_model[work]
        judgment, place = judgment[kept], place[kept]
        return {
            "work": work[kept],
            "score": 0.5 * (1 + np.sign(base_rank[judgment] - rank[kept])),
            "model_place": place.astype(np.int16),
            "guess": _guesses(said.column("guess"), base_place)[judgment],
            "accepted": said.at_place("accepted", judgment, place).astype(np.int8),
            **{name: cells[judgment] for name, cells in columns.items()},
        }


def _guesses(named: Codes, base_place: Codes) -> NDArray[np.int8]:
    """Whether the place named is the baseline's."""
    right = np.where(named == base_place, 1, -1)
    return np.where(named >= 0, right, np.where(named == NOT_ASKED, NOT_ASKED, 0)).astype(np.int8)


def _seconds(chunk: Chunk) -> Floats:
    """As the grader corrected them, else by the clock."""
    corrected, clock = (np.array(chunk[name], dtype=np.float64) for name in ("corrected_s", "active_s"))
    return np.where(np.isnan(corrected), clock, corrected)
