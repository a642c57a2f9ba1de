"""Pairwise votes as codes, and as counts: a table of outcome x left x right is all a rating needs to know.

After counting, nothing costs more for ten million votes than for ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.files import read_table, table_parts
from guildhall.analysis.tables import (
    Coded,
    Codes,
    Floats,
    Table,
    encode,
    joint_counts,
    renumber,
    side_by_side,
    table_from_arrow,
)
from guildhall.errors import ImpossibleValue, NothingJudged, UnknownName

WINNERS = ("left", "tie", "right")
"""Outcomes in the order used everywhere: left wins, tie, right wins."""
ARROW_ROWS = 1 << 20
COLUMNS = ("left", "right", "winner")


class VoteCounts(NamedTuple):
    """`counts[o, i, j]`: weight of votes with outcome o between i on the left and j on the right."""

    names: tuple[str, ...]
    counts: Floats
    squares: Floats | None
    n_votes: int
    n_excluded: int


class Votes(NamedTuple):
    """Votes one by one, for what counts cannot carry: clusters, covariates, order in time."""

    names: tuple[str, ...]
    left: Codes
    right: Codes
    outcome: Codes
    weight: Floats | None
    clusters: Mapping[str, Codes]
    covariates: Mapping[str, Floats]
    n_excluded: int


def count_vote_file(path: Path) -> VoteCounts:
    """Counts from a file with columns `left, right, winner` and optionally `weight`, read in chunks."""
    parts = table_parts(path, required=COLUMNS, optional=("weight",))
    return _some(_merged(side_by_side(lambda part: _merged(map(_count_chunk, part)), parts)))


def count_arrow(table: Any) -> VoteCounts:
    """Counts of an Arrow table with columns `left, right, winner` (strings or dictionaries), a slice at a time."""

    def counted(start: int) -> VoteCounts:
        return _count_chunk(table_from_arrow(table.slice(start, ARROW_ROWS), COLUMNS))

    return _some(_merged(side_by_side(counted, range(0, table.num_rows, ARROW_ROWS))))


def _count_chunk(chunk: Table) -> VoteCounts:
    weight = chunk.numbers("weight") if "weight" in chunk else None
    return count_votes(*(chunk.coded(name) for name in COLUMNS), weight=weight)


def _merged(parts: Iterable[VoteCounts]) -> VoteCounts:
    """Each part was counted in its own codes; only its small table is translated to the shared ones."""
    index: dict[str, int] = {}
    total = VoteCounts((), np.zeros((3, 0, 0)), None, 0, 0)
    for one in parts:
        place = renumber(Coded(np.arange(len(one.names)), one.names), index)
        squares = None
        if one.squares is not None or total.squares is not None:
            # Votes that state no weight weigh 1, and so does its square.
            before, more = (part.counts if part.squares is None else part.squares for part in (total, one))
            squares = _spread(before, more, place, len(index))
        total = VoteCounts(
            tuple(index),
            _spread(total.counts, one.counts, place, len(index)),
            squares,
            total.n_votes + one.n_votes,
            total.n_excluded + one.n_excluded,
        )
    return total


def _some(votes: VoteCounts) -> VoteCounts:
    if not votes.n_votes:
        raise NothingJudged("ratings", n_excluded=votes.n_excluded)
    return votes


def count_votes(left: Coded, right: Coded, winner: Coded, *, weight: Floats | None = None) -> VoteCounts:
    """Counts of coded votes. A vote with an empty cell is left out and counted; an unknown winner is refused."""
    index: dict[str, int] = {}
    place = [renumber(Coded(np.arange(len(side.names)), side.names), index) for side in (left, right)]
    outcome = np.array([_outcome(name) for name in winner.names], dtype=np.int64)
    known = _all_known(left.codes, right.codes, winner.codes)
    n_excluded = 0
    if known is not None:
        n_excluded = int((~known).sum())
        left, right, winner = (Coded(column.codes[known], column.names) for column in (left, right, winner))
        weight = weight[known] if weight is not None else None
    if weight is not None:
        _check_weights(weight)
    codes, shape = zip(*((column.codes, len(column.names)) for column in (winner, left, right)), strict=True)
    table = joint_counts(codes, shape, weight=weight)
    squares = joint_counts(codes, shape, weight=np.square(weight)) if weight is not None else None
    counts = _placed(table, outcome, place, len(index))
    if np.any(np.einsum("oii->oi", counts)):
        raise ImpossibleValue("left and right", "the same model in some row", allowed="two different models")
    placed_squares = _placed(squares, outcome, place, len(index)) if squares is not None else None
    return _mentioned(VoteCounts(tuple(index), counts, placed_squares, len(left.codes), n_excluded))


def read_votes(path: Path, *, clusters: Sequence[str] = (), covariates: Sequence[str] = ()) -> Votes:
    """Votes one by one, with the columns of `clusters` coded and those of `covariates` as numbers."""
    table = read_table(path, required=(*COLUMNS, *clusters, *covariates), optional=("weight",))
    return votes_from_table(table, clusters=clusters, covariates=covariates)


def votes_from_table(table: Table, *, clusters: Sequence[str] = (), covariates: Sequence[str] = ()) -> Votes:
    """Rows with an empty cell are left out and counted."""
    index: dict[str, int] = {}
    winner = table.coded("winner")
    columns = {
        "left": renumber(table.coded("left"), index),
        "right": renumber(table.coded("right"), index),
        "outcome": np.array([*(_outcome(name) for name in winner.names), -1], dtype=np.int8)[winner.codes],
        **{name: table.coded(name).codes for name in clusters},
    }
    numbers = {name: table.numbers(name) for name in (*covariates, *(("weight",) if "weight" in table else ()))}
    known = np.ones(table.n_rows, dtype=np.bool_)
    for codes in columns.values():
        known &= codes >= 0
    for values in numbers.values():
        known &= ~np.isnan(values)
    if not known.any():
        raise NothingJudged("ratings", n_excluded=table.n_rows)
    if np.any(columns["left"][known] == columns["right"][known]):
        raise ImpossibleValue("left and right", "the same model in some row", allowed="two different models")
    if "weight" in numbers:
        _check_weights(numbers["weight"][known])
    # A dictionary may name models that no vote mentions; they are not in the contest.
    used, sides = np.unique(np.stack([columns["left"][known], columns["right"][known]]), return_inverse=True)
    left, right = sides.reshape(2, -1)
    names = tuple(index)
    return Votes(
        names=tuple(names[i] for i in used),
        left=left,
        right=right,
        outcome=columns["outcome"][known],
        weight=numbers["weight"][known] if "weight" in numbers else None,
        clusters={name: columns[name][known] for name in clusters},
        covariates={name: numbers[name][known] for name in covariates},
        n_excluded=int((~known).sum()),
    )


def votes_from_arrays(
    left: Sequence[object],
    right: Sequence[object],
    winner: Sequence[object],
    *,
    clusters: Mapping[str, Sequence[object]] | None = None,
) -> Votes:
    """Votes from parallel sequences of names."""
    columns = {"left": left, "right": right, "winner": winner, **(clusters or {})}
    table = Table({name: encode(cells) for name, cells in columns.items()}, len(left))
    return votes_from_table(table, clusters=tuple(clusters or {}))


def counts_of(votes: Votes) -> VoteCounts:
    """Votes reduced to counts."""
    named = [Coded(votes.left, votes.names), Coded(votes.right, votes.names), Coded(votes.outcome, WINNERS)]
    return count_votes(*named, weight=votes.weight)._replace(n_excluded=votes.n_excluded)


def _mentioned(votes: VoteCounts) -> VoteCounts:
    """Without models that no vote mentions, though a dictionary of the file may name them."""
    met = votes.counts.sum(axis=0)
    keep = np.flatnonzero(met.sum(axis=0) + met.sum(axis=1))
    if len(keep) == len(votes.names):
        return votes
    square = np.ix_(np.arange(3), keep, keep)
    return votes._replace(
        names=tuple(votes.names[i] for i in keep),
        counts=votes.counts[square],
        squares=None if votes.squares is None else votes.squares[square],
    )


def _placed(table: Floats, outcome: NDArray[np.int64], place: Sequence[Codes], size: int) -> Floats:
    counts = np.zeros((3, size, size))
    for code, meaning in enumerate(outcome):
        counts[np.ix_([meaning], place[0][: table.shape[1]], place[1][: table.shape[2]])] += table[code]
    return counts


def _spread(total: Floats, one: Floats, place: Codes, size: int) -> Floats:
    grown = np.zeros((3, size, size))
    grown[:, : total.shape[1], : total.shape[2]] = total
    grown[np.ix_(np.arange(3), place, place)] += one
    return grown


def _outcome(word: str) -> int:
    if word not in WINNERS:
        raise UnknownName("winner", word, known=list(WINNERS))
    return WINNERS.index(word)


def _all_known(*columns: Codes) -> NDArray[np.bool_] | None:
    """Which rows have no empty cell; None when all have none, which is cheap to see."""
    if all(len(codes) == 0 or codes.min() >= 0 for codes in columns):
        return None
    known: NDArray[np.bool_] = np.logical_and.reduce([codes >= 0 for codes in columns])
    return known


def _check_weights(weight: Floats) -> None:
    if np.any(~(weight > 0)):
        raise ImpossibleValue("weight", float(weight[~(weight > 0)][0]), allowed="above 0")
