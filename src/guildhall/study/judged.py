"""From the store to columns of judgments, a million as well as ten: fields are read in chunks, no value is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from guildhall.analysis.tables import Coded, Codes, Floats
from guildhall.domain.judgments import Acceptance, BlindGuess, Comparison, Judgment
from guildhall.store.fields import Along, Chunk, Field, read_fields
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.rows import AUTOMATIC, NOT_ASKED, Rows, is_word, taken
from guildhall.study.waves import joined
from guildhall.study.works import BREAKDOWNS, Sets, Works, read_sets

_FIELDS: Mapping[str, Field] = {
    "kind": (str, "grader.grader_kind"),
    "program": (str, "grader.name"),
    "order": (list, "order"),
    "ranks": (list, "ranks"),
    "guess": (str, "guess"),
    "usability": (list, "usability"),
    "planned": (bool, "planned"),
    "active_s": (float, "active_s"),
    "corrected_s": (float, "correction.active_s"),
    "exposure": (int, "exposure"),
    "omissions": (dict, "omissions"),
}

COUNTED = ("judgments", "failures", "surplus", "omissions")
"""What is counted of each kind of grader: answers, those without a verdict, those beyond the plan, parts not shown."""


@dataclass
class Judged:
    """All entries of a study against one baseline, and the counts of what gave none, by kind of grader."""

    rows: Rows
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    comparisons: int = 0
    tasks: set[str] = field(default_factory=set)
    submissions: int = 0

    def counted(self, name: str, kind: str | None = None) -> int:
        """One of `COUNTED` for a kind of grader, or over all of them."""
        kinds = self.counts if kind is None else [kind]
        return sum(self.counts.get(one, {}).get(name, 0) for one in kinds)

    def and_also(self, other: Judged) -> Judged:
        """Both together. Work that was shown in both is counted twice, as it was judged twice."""
        kinds = {*self.counts, *other.counts}
        return Judged(
            rows=joined(self.rows, other.rows),
            counts={
                kind: {name: self.counted(name, kind) + other.counted(name, kind) for name in COUNTED} for kind in kinds
            },
            comparisons=self.comparisons + other.comparisons,
            tasks=self.tasks | other.tasks,
            submissions=self.submissions + other.submissions,
        )


def judged_rows(store: Store, study: str, *, baseline: str = "expert") -> Judged:
    """The current judgments of a study against one baseline; a judgment that was replaced is left out."""
    reader = _Reader(*read_sets(store, study), baseline)
    judgments, comparisons = shelf_of(Judgment).table, shelf_of(Comparison).table
    replaced = select(judgments.c.replaces).where(judgments.c.replaces.is_not(None))
    for chunk in read_fields(
        store,
        Judgment,
        _FIELDS,
        columns=("seq", "grader", comparisons.c.seq.label("comparison")),
        along=of_study(study),
        narrowed=lambda query: query.where(judgments.c.key.not_in(replaced)),
    ):
        reader.take(chunk)
    return reader.judged()


def of_study(study: str) -> Along:
    """A study's judgments, in the order in which the indexes hold them: nothing is sorted."""
    judgments, comparisons = shelf_of(Judgment).table, shelf_of(Comparison).table
    return Along(comparisons, judgments.c.comparison == comparisons.c.key, comparisons.c.study == study)


class _Reader:
    """Takes judgments chunk by chunk; keeps codes and counts, and no text of theirs."""

    def __init__(self, sets: Sets, works: Works, baseline: str) -> None:
        self.sets, self.works = sets, works
        self.base_of = sets.first_by(is_word(works.model, baseline))
        self.graders: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.parts: list[dict[str, NDArray[Any]]] = []
        self.counts: dict[str, dict[str, int]] = {}

    def take(self, chunk: Chunk) -> None:
        base = self.base_of[np.searchsorted(self.sets.row, chunk["comparison"])]
        current = base >= 0
        answered = np.array([ranks is not None for ranks in chunk["ranks"]])
        planned = np.array(chunk["planned"], dtype=np.bool_)
        kind = _coded(list(map(_kind, chunk["kind"], chunk["program"])), self.kinds)
        self._count(kind, current, "judgments")
        self._count(kind, current & ~answered, "failures")
        self._count(kind, current & answered & ~planned, "surplus")
        left_out = np.array([sum(parts.values()) if parts else 0 for parts in chunk["omissions"]])
        self._count(kind, current, "omissions", left_out)
        used = np.flatnonzero(current & answered & planned)
        if len(used) == len(base):
            self._keep(chunk, base, kind)
        elif len(used):
            self._keep(
                {name: [cells[at] for at in used.tolist()] for name, cells in chunk.items()}, base[used], kind[used]
            )

    def _count(self, kind: Codes, which: NDArray[np.bool_], name: str, each: Codes | None = None) -> None:
        times = np.bincount(kind[which], None if each is None else each[which], minlength=len(self.kinds))
        for known, number in zip(self.kinds, times.tolist(), strict=True):
            self.counts.setdefault(known, dict.fromkeys(COUNTED, 0))[name] += int(number)

    def _keep(self, used: Mapping[str, Sequence[Any]], base: Codes, kind: Codes) -> None:
        """One entry for each model's work beside the baseline's in each of the judgments."""
        orders, ranks = used["order"], used["ranks"]
        sizes = np.fromiter(map(len, orders), np.int64, len(orders))
        judgment = np.repeat(np.arange(len(orders)), sizes)
        work = np.fromiter(map(self.works.place.__getitem__, chain.from_iterable(orders)), np.int64, len(judgment))
        rank = np.fromiter(chain.from_iterable(ranks), np.int64, len(judgment))
        place = np.arange(len(judgment)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at_base = work == base[judgment]
        base_rank, base_place = np.zeros((2, len(orders)), dtype=np.int64)
        base_rank[judgment[at_base]], base_place[judgment[at_base]] = rank[at_base], place[at_base]
        kept = ~at_base & self.works.by_model[work]
        judgment = judgment[kept]
        self.parts.append(
            {
                "work": work[kept],
                "grader": _coded(used["grader"], self.graders)[judgment],
                "grader_kind": kind[judgment],
                "score": 0.5 * (1 + np.sign(base_rank[judgment] - rank[kept])),
                "model_place": place[kept].astype(np.int16),
                "guess": _guesses(used["guess"], base_place, sizes)[judgment],
                "accepted": _accepted(used["usability"], judgment, place[kept]),
                "active_s": _seconds(used)[judgment],
                "exposure": np.array([one or 0 for one in used["exposure"]], dtype=np.int32)[judgment],
                "judgment": np.array(used["seq"], dtype=np.int64)[judgment],
            }
        )

    def judged(self) -> Judged:
        compared = np.flatnonzero(self.base_of >= 0).tolist()
        return Judged(
            rows=self._rows(),
            counts=self.counts,
            comparisons=len(self.base_of),
            tasks={self.sets.task[at] for at in compared},
            submissions=len(np.unique(self.sets.works[self.base_of[self.sets.shown_by] >= 0])),
        )

    def _rows(self) -> Rows:
        parts = self.parts or [_NOTHING]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in _NOTHING}
        work, works = columns.pop("work"), self.works
        grader, kind = columns.pop("grader"), columns.pop("grader_kind")
        return Rows(
            task=taken(works.task, work),
            model=taken(works.model, work),
            sample=taken(works.sample, work),
            submission=Coded(work.astype(np.int32), tuple(works.place)),
            grader=Coded(grader, tuple(self.graders)),
            grader_kind=Coded(kind, tuple(self.kinds)),
            confidence=works.confidence[work],
            seconds=works.seconds[work],
            cost_usd=works.cost_usd[work],
            columns={name: taken(works.columns[name], work) for name in BREAKDOWNS},
            **columns,
        )


_NOTHING: dict[str, NDArray[Any]] = {
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


def _coded(words: Sequence[str], index: dict[str, int]) -> Codes:
    """Codes of words by an index that takes up new ones; each distinct word is looked at once."""
    for word in dict.fromkeys(words):
        index.setdefault(word, len(index))
    return np.fromiter(map(index.__getitem__, words), np.int32, len(words))


def _kind(kind: str | None, program: str | None) -> str:
    """The kind of a grader; each program is a kind of its own."""
    return kind or f"{AUTOMATIC}{program}"


def _guesses(said: Sequence[str | None], base_place: Codes, sizes: Codes) -> NDArray[np.int8]:
    """Whether the named side is the baseline's; asked about pairs only."""
    places = {BlindGuess.A.value: 0, BlindGuess.B.value: 1}
    named = np.array([places.get(word, -1) if word is not None else NOT_ASKED for word in said])
    right = np.where(named == base_place, 1, -1)
    found = np.where(named >= 0, right, np.where(named == NOT_ASKED, NOT_ASKED, 0))
    return np.where(sizes == 2, found, NOT_ASKED).astype(np.int8)


def _accepted(said: Sequence[list[dict[str, str]]], judgment: Codes, place: Codes) -> NDArray[np.int8]:
    """What the grader said of the work at each entry's place."""
    found = np.full(len(judgment), NOT_ASKED, dtype=np.int8)
    asked = np.array([bool(words) for words in said])
    for at in np.flatnonzero(asked[judgment]).tolist():
        for word in said[judgment[at]]:
            if word["place"] == chr(ord("A") + place[at]):
                found[at] = word["acceptance"] == Acceptance.AS_IS
    return found


def _seconds(used: Mapping[str, Sequence[Any]]) -> Floats:
    pairs = zip(used["corrected_s"], used["active_s"], strict=True)
    return np.array([corrected if corrected is not None else clock for corrected, clock in pairs], dtype=np.float64)
