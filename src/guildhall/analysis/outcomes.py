"""Judgments as compact arrays, and reduced to counts: where all estimators of shares begin.

A score is kept as halves: 0 loss, 1 tie, 2 win. A judgment without a score is left out and counted; a score that is
neither 0, 0.5 nor 1 is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import read_table, table_parts
from guildhall.analysis.tables import Coded, Codes, Floats, Table, encode, joint_counts, side_by_side
from guildhall.errors import ImpossibleValue, NothingJudged

Halves = NDArray[np.int8]
LOSS, TIE, WIN = 0, 1, 2
UNKNOWN, NOBODY = -1, -2
"""Codes of graders: one who is not named, and none at all, where a rule decided."""
ROWS_A_BLOCK = 1 << 16
"""Scores are checked in blocks that stay in the processor's cache."""


@dataclass(frozen=True)
class Outcomes:
    """Scores of models in judgments. `grader` is absent where the file does not say who judged.

    `grader_kinds` counts judgments by kind of grader (expert, crowd, ...), so that no figure pools them silently;
    `unknown` has the model and group codes of the rows without a score, so that each figure counts its own.
    """

    task: Coded
    model: Coded
    sample: Coded
    halves: Halves
    grader: Coded | None = None
    stratum: Coded | None = None
    """Strata (occupations, say) that stay the same in any other draw of tasks; unknown is a stratum of its own."""
    groups: Mapping[str, Coded] | None = None
    these_graders: bool = False
    """Whether the plan asks of these very graders, and not of graders like these."""
    n_excluded: int = 0
    grader_kinds: Mapping[str, int] | None = None
    unknown: Mapping[str, Codes] | None = None

    def keep(self, which: NDArray[np.bool_]) -> Outcomes:
        """Some judgments only; names stay."""
        if which.all():
            return self
        return replaced(
            self,
            task=_kept(self.task, which),
            model=_kept(self.model, which),
            sample=_kept(self.sample, which),
            halves=self.halves[which],
            grader=_kept(self.grader, which) if self.grader else None,
            stratum=_kept(self.stratum, which) if self.stratum else None,
            groups={name: _kept(column, which) for name, column in (self.groups or {}).items()},
        )

    def and_also(self, other: Outcomes) -> Outcomes:
        """Both together; breakdowns that one of them lacks are left out."""
        groups = {name: column for name, column in (self.groups or {}).items() if name in (other.groups or {})}
        within = self.stratum
        name = next((one for one, column in (self.groups or {}).items() if within and column.names is within.names), "")
        strata = other.stratum or (other.groups or {}).get(name)
        return replaced(
            self,
            stratum=joined_codes(within, strata) if within and strata else None,
            task=joined_codes(self.task, other.task),
            model=joined_codes(self.model, other.model),
            sample=joined_codes(self.sample, other.sample),
            halves=np.concatenate([self.halves, other.halves]),
            grader=joined_codes(self.grader, other.grader) if self.grader and other.grader else None,
            groups={name: joined_codes(column, (other.groups or {})[name]) for name, column in groups.items()},
        )

    @property
    def said_again(self) -> int:
        """Rows in which a named grader judges what that grader has judged before: a replayed file, or a second look.

        Programs are asked in several orders and rounds; of them it says nothing.
        """
        programs = any(kind.startswith(("judge", "constant", "auto")) for kind in self.grader_kinds or ())
        if self.grader is None or programs:
            return 0
        named = self.grader.codes >= 0
        key = self.task.codes[named].astype(np.int64)
        for column in (self.model, self.sample, self.grader):
            key = key * (len(column.names) + 1) + column.codes[named] + 1
        return int(len(key) - len(np.unique(key)))


def joined_codes(first: Coded, second: Coded) -> Coded:
    """Two columns one under the other; codes below zero keep their meaning."""
    place = {name: code for code, name in enumerate(first.names)}
    moved = np.array([place.setdefault(name, len(place)) for name in second.names] or [0], dtype=np.int32)
    later = np.where(second.codes >= 0, moved[np.maximum(second.codes, 0)], second.codes)
    return Coded(np.concatenate([first.codes, later]).astype(np.int32), tuple(place))


def outcomes_from_arrays(
    *,
    task: Sequence[object],
    model: Sequence[object],
    score: Sequence[float] | Floats,
    sample: Sequence[object] | None = None,
    grader: Sequence[object] | None = None,
    stratum: Sequence[object] | None = None,
    groups: Mapping[str, Sequence[object]] | None = None,
) -> Outcomes:
    """Outcomes from parallel sequences; a NaN score is refused. Without `sample` each task has one per model."""
    halves = to_halves(np.asarray(score, dtype=np.float64))
    return Outcomes(
        task=encode(task),
        model=encode(model),
        sample=encode(sample if sample is not None else ["1"] * len(halves)),
        halves=halves,
        grader=encode(grader) if grader is not None else None,
        stratum=encode(stratum) if stratum is not None else None,
        groups={name: encode(column) for name, column in (groups or {}).items()},
    )


OPTIONAL = ("sample", "grader", "grader_kind", "by_rule")


def read_outcomes(path: Path, *, by: Sequence[str] = (), strata: str | None = None) -> Outcomes:
    """Outcomes from a file with columns `task, model, score`, those of `OPTIONAL` where they are there, and `by`.

    A row whose `by_rule` says something was judged by nobody: it is work that left nothing to judge. `strata` names a
    column (occupation, say) whose values stay the same in any other draw of tasks.
    """
    more = (*by, *((strata,) if strata and strata not in by else ()))
    table = read_table(path, required=("task", "model", "score", *more), optional=OPTIONAL)
    return outcomes_from_table(table, by=by, strata=strata)


def outcomes_from_table(table: Table, *, by: Sequence[str] = (), strata: str | None = None) -> Outcomes:
    """Rows without a score are left out and counted; rows without a task or a model are refused."""
    scores = table.numbers("score")
    known = ~np.isnan(scores)
    for name in ("task", "model"):
        if np.any(table.coded(name).codes < 0):
            raise ImpossibleValue(name, "empty in some row", allowed="filled in every row")
    columns = {
        name: _kept(table.coded(name), known) for name in ("task", "model", "sample", "grader", *by) if name in table
    }
    if not known.any():
        raise NothingJudged("win rates", n_excluded=int((~known).sum()))
    if "by_rule" in table and (judged_by := columns.get("grader")) is not None:
        ruled = table.coded("by_rule").codes[known] >= 0
        columns["grader"] = Coded(np.where(ruled, NOBODY, judged_by.codes).astype(np.int32), judged_by.names)
    one = Coded(np.zeros(int(known.sum()), dtype=np.int32), ("1",))
    return Outcomes(
        task=columns["task"],
        model=columns["model"],
        sample=columns.get("sample", one),
        halves=to_halves(scores[known]),
        grader=columns.get("grader"),
        stratum=_kept(table.coded(strata), known) if strata else None,
        groups={name: columns[name] for name in by},
        n_excluded=int((~known).sum()),
        unknown={name: table.coded(name).codes[~known] for name in ("model", *by)},
        grader_kinds=_tally(_kept(table.coded("grader_kind"), known)) if "grader_kind" in table else None,
    )


def _tally(column: Coded) -> dict[str, int]:
    times = np.bincount(column.codes + 1, minlength=len(column.names) + 1).tolist()
    return {name: n for name, n in zip(("not stated", *column.names), times, strict=True) if n}


def to_halves(scores: Floats) -> Halves:
    """Scores in {0, 0.5, 1} as 0, 1, 2; anything else, NaN first of all, is refused."""
    halves = np.empty(len(scores), dtype=np.int8)
    for start in range(0, len(scores), ROWS_A_BLOCK):
        block = scores[start : start + ROWS_A_BLOCK]
        tied, won = block == 0.5, block == 1.0
        allowed = tied | won | (block == 0.0)
        if not allowed.all():
            raise ImpossibleValue("score", block[~allowed][0], allowed="0 (loss), 0.5 (tie) or 1 (win)")
        halves[start : start + ROWS_A_BLOCK] = TIE * tied.view(np.int8) + WIN * won.view(np.int8)
    return halves


def _kept(column: Coded, which: NDArray[np.bool_]) -> Coded:
    return Coded(column.codes[which], column.names)


class CellCounts(NamedTuple):
    """`counts[i, j, ..., half]` over `names[0][i], names[1][j], ...`; rows with an empty cell are left out."""

    names: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    n_excluded: int

    def cells(self) -> Iterator[tuple[tuple[str, ...], tuple[int, int, int]]]:
        """The levels and the losses, ties and wins of each cell that has any."""
        for place in np.argwhere(self.counts.any(axis=-1)).tolist():
            losses, ties, wins = self.counts[tuple(place)].tolist()
            yield tuple(names[at] for names, at in zip(self.names, place, strict=True)), (losses, ties, wins)


def count_cell_file(path: Path, by: Sequence[str]) -> CellCounts:
    """Counts of `score` by the columns `by`, read in chunks: memory does not grow with the file."""

    def counted(part: Iterable[Table]) -> CellCounts:
        return _merged((count_cells([chunk.coded(name) for name in by], _halves(chunk)) for chunk in part), len(by))

    total = _merged(side_by_side(counted, table_parts(path, required=(*by, "score"))), len(by))
    if not total.counts.any():
        raise NothingJudged("a breakdown", n_excluded=total.n_excluded)
    return total


def count_cells(columns: Sequence[Coded], halves: Codes) -> CellCounts:
    """Counts of coded rows; `halves` is 0 loss, 1 tie, 2 win, and -1 where the score is unknown."""
    known, n_excluded = None, 0
    if any(len(codes) and codes.min() < 0 for codes in (halves, *(column.codes for column in columns))):
        known = np.logical_and.reduce([halves >= 0, *(column.codes >= 0 for column in columns)])
        columns, halves = [Coded(column.codes[known], column.names) for column in columns], halves[known]
        n_excluded = int((~known).sum())
    shape = (*(len(column.names) for column in columns), 3)
    counts = joint_counts([*(column.codes for column in columns), halves], shape)
    return CellCounts(tuple(column.names for column in columns), counts, n_excluded)


def _merged(parts: Iterable[CellCounts], n_columns: int) -> CellCounts:
    """Each part was counted in its own codes; only its small table is translated to the shared ones, if they differ."""
    total = CellCounts(((),) * n_columns, np.zeros((*(0,) * n_columns, 3), dtype=np.int64), 0)
    for part in parts:
        names = tuple(_union(known, new) for known, new in zip(total.names, part.names, strict=True))
        counts = _spread(total, names) + _spread(part, names)
        total = CellCounts(names, counts, total.n_excluded + part.n_excluded)
    return total


def _union(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return new if not known or known == new else tuple(dict.fromkeys((*known, *new)))


def _spread(part: CellCounts, names: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """A part's counts over more names, or over the same in another order: axis by axis, whole stretches at once."""
    counts = part.counts
    for axis, (own, wanted) in enumerate(zip(part.names, names, strict=True)):
        if own == wanted:
            continue
        place = {name: code for code, name in enumerate(own)}
        counts = np.concatenate(
            [counts, np.zeros_like(counts, shape=(*counts.shape[:axis], 1, *counts.shape[axis + 1 :]))], axis
        )
        counts = counts.take([place.get(name, -1) for name in wanted], axis)
    return counts


def _halves(chunk: Table) -> Codes:
    scores = chunk.numbers("score")
    if not len(scores) or not np.isnan(scores.min()):  # NaN is the least of any it is among
        return to_halves(scores)
    missing = np.isnan(scores)
    return np.where(missing, -1, to_halves(np.where(missing, 0.0, scores)))
