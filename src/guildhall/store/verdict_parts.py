"""Verdicts as frames: how everything that computes reads what judgments say.

The table of verdicts only grows, so spans of it are kept as Parquet parts in the workspace's folder. A part is named by
what the table held of its span when it was made, and by its own digest: once either differs it is made again. Parts are
a cache of this folder's own; removing them loses nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import polars as pl
from sqlalchemy import BigInteger, Boolean, Connection, Float, Integer, Select, SmallInteger, Table, func, select

from guildhall.domain.draws import Planned
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Digest, Id, Value, sha256
from guildhall.errors import UnknownName
from guildhall.store.blobs import sync_folder
from guildhall.store.database import HEAD
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_named, shelf_of
from guildhall.store.verdict_names import (
    MOST_NAMED,
    TASK_TYPES,
    TRIED_TYPES,
    WORK_TYPES,
    as_pinned,
    in_parts,
    read_tasks,
    works_shown,
    works_tried,
)
from guildhall.store.verdict_rows import COLUMNS
from guildhall.store.verdict_tables import SPAN, graders, names, verdicts
from guildhall.store.verdicts import made

AT_ONCE = WORTH_KEEPING = 50_000
"""Rows: a study or the end of the table with fewer is sooner read from the database."""
_DTYPES = {
    SmallInteger: pl.Int16(),
    Integer: pl.Int32(),
    BigInteger: pl.Int64(),
    Float: pl.Float64(),
    Boolean: pl.Boolean(),
}
ROW_TYPES = {name: _DTYPES[kind] for name, kind in COLUMNS.items()}
"""What the columns of `Verdicts.rows` hold."""
_ORDER = ("task", "work", "grader", "key_head", "place")
_ALWAYS = frozenset({*_ORDER, "study", "comparison"})
_OLD_S = 3600.0
"""A part still being written after so long was left by a process that was killed."""
_JUDGMENTS = shelf_named("judgments").table


class Verdicts(NamedTuple):
    """What was said in some studies: a row for each work shown in each judgment, and what the codes in it stand for.

    `rows`, in an order that follows from names and keys alone (task, author, sample, grader, judgment, place):

    - `judgment`, `comparison`, `replaces`: row numbers in the store, good for telling apart only; `row_keys` has the
      keys. `replaces` is the judgment this one takes the place of. `key_head` is the beginning of the judgment's key.
    - `study`: place in the studies asked for. `task`, `work`, `grader`, `failure`: places in the other frames; a
      judgment has one task: the wording its comparison states, else the one its study pinned first, else the one
      its first work was made for.
    - `place`: 0 for A. `rank`: 1 is best, equal ones are ties; null without a verdict, and then `failure` is set.
    - `sweep`, `planned`, `exposure` (null: unknown), `made_at` (microseconds since 1970), `cost_usd`, `confidence`.
    - `active_ms`: as the grader corrected it, else by the clock. `omitted`: parts of this work that were not shown.
    - `accepted`: 1 usable as it is, 0 not, null not asked; `edit_minutes` where edits were asked about.
    - `guess`: the place named as a person's, -1 when none was, null when nobody asked; pairs only.
    - `strength` 1 to 3; `specification` 0 under, 1 well, 2 over.
    - ten criteria: how much better this work does than the other, -2 to 2; pairs only.

    Whoever asks for some of the columns gets those, and the ones by which rows are put in order.

    `works`: `work, key, task, author, name, by_model, sample, condition, effort, stop, seconds, cost_usd, confidence,
    kinds, taken_back`; the name of every expert is `expert`; `kinds` are endings joined by +, null where no file was
    delivered; `taken_back` says that another work has replaced it, after a fault of ours.
    `tasks`: `task, key, id, version, sector, occupation, hours, references, specification, kinds, expert` (the
    endings of the expert's files, and whether there is any work of theirs); facts are null for a wording that is not
    kept. `graders`: `grader, key, kind, name`, where `kind` is a person's or `judge`. `failures`: `failure, name`. All
    are sorted, and the first column is the place of each row.

    `attempts`, where asked for: all that a study's authors, and its baseline, brought to the wordings it pins, a row
    for each piece that nothing replaced: `key`, the author's key (`author`) and its `model, sample, condition, effort`,
    `stop`, whether it left nothing to judge (`empty`), and the task's facts: `id, wording` and the others of `tasks`.
    Sorted by task, model and sample; `drawn` is the chance with which people were to grade it, null where they are
    not to. None where a study names no authors: nobody knows what was to be tried.
    """

    rows: pl.DataFrame
    works: pl.DataFrame
    tasks: pl.DataFrame
    graders: pl.DataFrame
    failures: pl.DataFrame
    attempts: pl.DataFrame | None = None


def read_verdicts(
    store: Store,
    studies: Sequence[Id],
    *,
    parts: Path,
    columns: Sequence[str] = tuple(ROW_TYPES),
    tried: Study | None = None,
) -> Verdicts:
    """What was said in some studies; the same frames whether parts are kept or not, and wherever the records came from.

    Inside a transaction no part is looked at: what was written there is seen. What was tried is read of `tried`.
    """
    store.settle()
    wanted = [name for name in ROW_TYPES if name in {*columns, *_ALWAYS}]
    while True:
        with store.reading() as connection:
            word, codes = made(connection), _study_codes(connection, studies)
            of_studies = _select(wanted).where(verdicts.c.study.in_(list(codes.values())))
            if store.in_transaction or not _many(connection, of_studies):
                rows = pl.read_database(of_studies, connection, schema_overrides=_types(wanted))
            else:
                kept, ours = _Parts(connection, parts, str(word)), pl.col("study").is_in(list(codes.values()))
                rows = pl.concat([kept.read(span, wanted).filter(ours) for span in kept.spans()])
            task, pinned = as_pinned(connection, rows["study"], rows["task"], rows["comparison"], codes)
            rows = rows.with_columns(task)
            shown = rows["work"].unique()
            some = [pl.read_database(one, connection, schema_overrides=WORK_TYPES) for one in works_shown(shown)]
            works = pl.concat(some).filter(pl.col("code").is_in(shown.implode()))
            asked = None if tried is None or not tried.authors else works_tried(tried)
            brought = None if asked is None else pl.read_database(asked, connection, schema_overrides=TRIED_TYPES)
            judged = {*task.unique().to_list(), *works["task"].unique().to_list()}
            unjudged = set() if brought is None else {*brought["code"].unique().to_list()} - judged
            task_rows = read_tasks(connection, sorted(judged | unjudged), pinned)
            people = _read_codes(connection, graders, rows["grader"], ("key", "kind", "name"))
            failed = _read_codes(connection, names, rows["failure"], ("key",)) if "failure" in wanted else []
            if made(connection) != word:  # the table was made anew meanwhile, with other codes
                continue
        facts = pl.DataFrame(task_rows, schema=TASK_TYPES, orient="row")
        tasks = facts.filter(pl.col("code").is_in([*judged, *pinned])).sort("id", "version")
        attempts = None
        if brought is not None:
            of_tasks = facts.drop("version").rename({"key": "wording"})
            attempts = brought.with_columns(empty=_EMPTY).drop("body").join(of_tasks, on="code").drop("code")
            chances = _chances(tried, attempts.select("id", "model", "sample").iter_rows())
            attempts = attempts.with_columns(drawn=chances).sort("id", "model", "sample", "key")
        works = works.with_columns(_places(works["task"], tasks["code"], "task"))
        frames = {
            "work": works.sort("task", "name", "sample", "author", "key"),
            "task": tasks,
            "grader": pl.DataFrame(people, schema=_NAMED | {"kind": pl.String, "name": pl.String}, orient="row"),
            "failure": pl.DataFrame(failed, schema=_NAMED, orient="row").rename({"key": "name"}),
        }
        known = {"study": pl.Series([codes.get(study, -1) for study in studies], dtype=pl.Int32())}
        known |= {what: frame["code"] for what, frame in frames.items() if what in wanted}
        rows = rows.with_columns(_places(rows[what], found, what) for what, found in known.items())
        order = rows.select(pl.arg_sort_by(_ORDER)).to_series()
        # A column at a time: all of them twice at once would take twice the memory.
        in_order = pl.DataFrame([rows.drop_in_place(name).gather(order) for name in wanted])
        numbered = (
            frame.drop("code").with_row_index(what).with_columns(pl.col(what).cast(pl.Int32()))
            for what, frame in frames.items()
        )
        return Verdicts(in_order, *numbered)._replace(attempts=attempts)


def _leaves_nothing(body: str) -> bool:
    return Submission.model_validate_json(body).leaves_nothing


def _chances(study: Study | None, works: Iterable[tuple[Any, ...]]) -> pl.Series:
    """With what chance each work was drawn for people: null for what was not."""
    draw = None if study is None else study.design.draw
    drawn = [1.0 if draw is None else draw.chance(Planned(*work)) for work in works]
    return pl.Series("drawn", drawn, dtype=pl.Float64())


_EMPTY = pl.col("body").map_elements(_leaves_nothing, pl.Boolean()).fill_null(value=False)
"""Whether work left nothing to judge."""


def close_parts(store: Store, parts: Path, *, full_only: bool = False) -> int:
    """Keep parts of all there is, for the next reader; how many were made. For whoever has written much.

    A table with few rows needs none. `full_only` leaves out the last span, which still grows.
    """
    with store.reading() as connection:
        kept = _Parts(connection, parts, str(made(connection)))
        spans = list(kept.spans())
        if sum(span.rows for span in spans) < WORTH_KEEPING:
            return 0
        return sum(kept.close(span) for span in (spans[:-1] if full_only else spans))


def row_keys(store: Store, kind: type[Value], rows: pl.Series) -> pl.Series:
    """The keys of values by their row numbers, as `Verdicts.rows` has them; null stays null."""
    table, wanted = shelf_of(kind).table, rows.drop_nulls().unique().sort()
    query = select(table.c.seq, table.c.key)
    with store.reading() as connection:
        if len(wanted) > MOST_NAMED:
            pairs = connection.execute(query.where(table.c.seq.between(wanted[0], wanted[-1]))).all()
        else:
            pairs = [
                pair for some in in_parts(wanted) for pair in connection.execute(query.where(table.c.seq.in_(some)))
            ]
    known = pl.DataFrame([tuple(pair) for pair in pairs], schema={"row": pl.Int64(), "key": pl.String()}, orient="row")
    joined = rows.cast(pl.Int64()).rename("row").to_frame().join(known, on="row", how="left", maintain_order="left")
    return joined["key"]


def _study_codes(connection: Connection, studies: Sequence[Id]) -> dict[Id, int]:
    found = select(names.c.key, names.c.code).where(names.c.kind == "study", names.c.key.in_(list(studies)))
    return {row.key: row.code for row in connection.execute(found)}


def _many(connection: Connection, of_studies: Select[Any]) -> bool:
    """Whether so much was said in some studies that parts are sooner read."""
    some = of_studies.with_only_columns(verdicts.c.judgment).limit(WORTH_KEEPING).subquery()
    return bool(connection.execute(select(func.count()).select_from(some)).scalar_one() >= WORTH_KEEPING)


def _select(columns: Sequence[str]) -> Select[Any]:
    return select(*(verdicts.c[name] for name in columns))


def _types(columns: Sequence[str]) -> dict[str, pl.DataType]:
    return {name: ROW_TYPES[name] for name in columns}


@dataclass(frozen=True)
class _Span:
    """What the table holds of one span: how many rows, and the last judgment's key."""

    number: int
    rows: int
    last: Digest

    @property
    def within(self) -> Any:
        return verdicts.c.judgment.between(self.number * SPAN, (self.number + 1) * SPAN - 1)


@dataclass(frozen=True)
class _Parts:
    """The parts kept in a folder, as one reader sees the table."""

    connection: Connection
    folder: Path
    word: str
    """Drawn when the table was made: rows made before have other codes."""

    def spans(self) -> Iterator[_Span]:
        """What there is, each span counted by the index that holds studies."""
        by_study = verdicts.c.study.in_(select(names.c.code).where(names.c.kind == "study"))
        last = self.connection.execute(select(func.max(verdicts.c.judgment))).scalar()
        for number in range(0 if last is None else last // SPAN + 1):
            found = select(func.count(), func.max(verdicts.c.judgment)).where(by_study, _Span(number, 0, "").within)
            rows, judgment = self.connection.execute(found).one()
            if rows:
                key = self.connection.execute(select(_JUDGMENTS.c.key).where(_JUDGMENTS.c.seq == judgment)).scalar_one()
                yield _Span(number, rows, key)

    def read(self, span: _Span, columns: Sequence[str]) -> pl.DataFrame:
        """The rows of a span, from its part if there is one; a part worth keeping is made."""
        part = self._kept(span)
        if part is not None:
            return pl.read_parquet(BytesIO(part), columns=list(columns))
        if span.rows < WORTH_KEEPING:
            return self._selected(span, columns)
        rows = self._selected(span, tuple(ROW_TYPES))
        self._keep(span, rows)
        return rows.select(columns)

    def close(self, span: _Span) -> bool:
        """Make the part of a span, however small; False when it was there."""
        if self._kept(span) is not None:
            return False
        return self._keep(span, self._selected(span, tuple(ROW_TYPES)))

    def _selected(self, span: _Span, columns: Sequence[str]) -> pl.DataFrame:
        """The rows of a span by the database, so many at a time: as Python's numbers all would take much memory."""
        query, types = _select(columns).where(span.within), _types(columns)
        some = pl.read_database(query, self.connection, schema_overrides=types, iter_batches=True, batch_size=AT_ONCE)
        return pl.concat(some)

    def _name(self, span: _Span) -> str:
        return f"{span.number}-{span.rows}-{span.last}-{HEAD}-{self.word}"

    def _kept(self, span: _Span) -> bytes | None:
        for file in self.folder.glob(f"{self._name(span)}.*.parquet"):
            with suppress(OSError):
                content = file.read_bytes()
                if file.name == f"{self._name(span)}.{sha256(content)}.parquet":
                    return content
        return None

    def _keep(self, span: _Span, rows: pl.DataFrame) -> bool:
        """Write a part beside and rename it. A folder that takes none costs the next reader time and nothing else."""
        if rows.height != span.rows:
            return False  # on PostgreSQL more may have come since they were counted
        content = BytesIO()
        rows.write_parquet(content)
        part = self.folder / f"{uuid4().hex}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with part.open("xb") as out:
                out.write(content.getbuffer())
                out.flush()
                os.fsync(out.fileno())
            file = self.folder / f"{self._name(span)}.{sha256(content.getvalue())}.parquet"
            part.rename(file)
            sync_folder(self.folder)
            self._clear(span, file)
        except OSError:
            with suppress(OSError):
                part.unlink()
            return False
        return True

    def _clear(self, span: _Span, newest: Path) -> None:
        """Older parts of a span, and what killed processes left."""
        for file in self.folder.glob(f"{span.number}-*.parquet"):
            if file != newest:
                file.unlink(missing_ok=True)
        for left in self.folder.glob("*.part"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _OLD_S:
                    left.unlink()


def _places(codes: pl.Series, known: pl.Series, what: str) -> pl.Series:
    """Where each code stands among those known; null stays null."""
    highest = max(0, *(int(one) for one in (codes.max(), known.max()) if isinstance(one, int)), 0)
    places = np.full(highest + 1, -1, dtype=np.int32)
    places[known.filter(known >= 0).to_numpy()] = np.flatnonzero((known >= 0).to_numpy())
    found = pl.Series(what, places[codes.fill_null(0).to_numpy()], dtype=pl.Int32())
    found = pl.select(pl.when(codes.is_not_null()).then(found).alias(what)).to_series()
    if found.min() == -1:
        raise UnknownName(
            what, str(codes.filter(found == -1)[0]), fix="guildhall doctor --rebuild makes the table anew"
        )
    return found


_NAMED = {"code": pl.Int32, "key": pl.String}


def _read_codes(connection: Connection, table: Table, used: pl.Series, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The codes in use with what they stand for, sorted by that."""
    found = connection.execute(select(table.c.code, *(table.c[name] for name in columns)))
    in_use = set(used.drop_nulls().unique().to_list())
    return sorted((tuple(row) for row in found if row.code in in_use), key=lambda row: row[1:])
