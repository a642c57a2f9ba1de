"""Kept values as Polars frames: a few fields of many, read by the database's rows and unpacked all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, select

from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Id, Value
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of

Fields = Mapping[str, Any]
"""Names of fields with the Polars types they are wanted as; a part of a field is a `pl.Struct`."""
_TYPES: Fields = {"seq": pl.Int64}
"""Of columns that hold no text."""
_AUTHOR = pl.Struct({"kind": pl.String, "name": pl.String})


def read_frame(
    store: Store,
    kind: type[Value],
    fields: Fields,
    *,
    columns: Sequence[str] = ("key",),
    where: ColumnElement[bool] | None = None,
) -> pl.DataFrame:
    """Columns of a shelf and fields of its values, oldest first; an absent field is null."""
    table = shelf_of(kind).table
    query = select(*(table.c[name] for name in columns), table.c.body).order_by(table.c.seq)
    with store.reading() as connection:
        rows = connection.execute(query if where is None else query.where(where)).all()
    schema = {**{name: _TYPES.get(name, pl.String) for name in columns}, "body": pl.String}
    frame = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    return frame.with_columns(pl.col("body").str.json_decode(pl.Struct(dict(fields)))).unnest("body")


def shown_works(store: Store, study: Id) -> pl.DataFrame:
    """Every work that a study's comparisons show: `comparison, task, submission, name, by_model`.

    Whoever made it goes by the author's name; every expert is `expert`.
    """
    comparisons, submissions = shelf_of(Comparison).table, shelf_of(Submission).table
    of_study = comparisons.c.study == study
    sets = read_frame(
        store, Comparison, {"submissions": pl.List(pl.String)}, columns=("key", "task"), where=of_study
    ).rename({"key": "comparison", "submissions": "submission"})
    tasks = select(comparisons.c.task).where(of_study)
    made = read_frame(store, Submission, {"author": _AUTHOR}, where=submissions.c.task.in_(tasks))
    by_model = pl.col("author").struct.field("kind") == "model"
    names = made.select(
        pl.col("key").alias("submission"),
        name=pl.when(by_model).then(pl.col("author").struct.field("name")).otherwise(pl.lit("expert")),
        by_model=by_model,
    )
    return sets.explode("submission").join(names, on="submission", how="left", maintain_order="left")
