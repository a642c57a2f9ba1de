"""From a number of a report back to the judgments it rests on, and from those to the number again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from sqlalchemy import select

from guildhall.analysis.evidence import Evidence
from guildhall.analysis.pairs import BREAKDOWNS, Pairs, is_word, words_in
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.judgments import Judgment
from guildhall.domain.policy import GraderGroup
from guildhall.domain.values import Digest
from guildhall.errors import NothingJudged, UnknownName
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.exports import frame

NAMED = ("task", "model", "sample", "grader")
KEYS_A_QUERY = 500


@dataclass(frozen=True)
class Traced:
    """The rows behind a number, with the digests of their judgments, and the rates these very rows give by model."""

    rows: Pairs
    graders: GraderGroup
    judgments: tuple[Digest, ...]
    rates: tuple[WinRate, ...]

    def frame(self) -> pl.DataFrame:
        """The rows as a table, each with the digest of its judgment first."""
        return frame(self.rows, self.graders).insert_column(0, pl.Series("judgment", self.judgments))


def trace(store: Store, evidence: Evidence, where: Mapping[str, str]) -> Traced:
    """The rows in which each named column holds the given word; the columns are those of `judgments.csv`."""
    rows = evidence.pairs
    for name, word in where.items():
        column = _column(rows, name)
        if word not in words_in(column):
            raise UnknownName(name, word, known=words_in(column)[:20])
        rows = rows.keep(is_word(column, word))
    if not len(rows):
        raise NothingJudged(", ".join(f"{name} = {word}" for name, word in where.items()))
    keys = _digests(store, rows.judgment.tolist())
    return Traced(
        rows, evidence.group, tuple(keys[seq] for seq in rows.judgment.tolist()), tuple(win_rates(rows.outcomes()))
    )


def _column(rows: Pairs, name: str) -> Coded:
    if name in BREAKDOWNS:
        return rows.columns[name]
    if name not in NAMED:
        raise UnknownName("column", name, known=[*NAMED, *BREAKDOWNS])
    found: Coded = getattr(rows, name)
    return found


def _digests(store: Store, numbers: list[int]) -> dict[int, Digest]:
    table = shelf_of(Judgment).table
    wanted = sorted(set(numbers))
    found: dict[int, Digest] = {}
    with store.reading() as connection:
        for start in range(0, len(wanted), KEYS_A_QUERY):
            some = table.c.seq.in_(wanted[start : start + KEYS_A_QUERY])
            found |= {row.seq: row.key for row in connection.execute(select(table.c.seq, table.c.key).where(some))}
    return found
