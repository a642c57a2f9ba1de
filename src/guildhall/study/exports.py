"""Judgments for other tools: one row for each model against the expert in each judgment, with a code book.

Graders go by code name always, models by code name until two people unblind the study. The columns `task`, `model`,
`sample`, `grader` and `score` are those `guildhall analyze win-rate` reads.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Coded
from guildhall.domain.studies import Study
from guildhall.errors import UnknownName
from guildhall.store.records import Store
from guildhall.study.code_names import shown_names
from guildhall.study.judged import judged_rows
from guildhall.study.rows import NOT_ASKED, Rows, words_in
from guildhall.study.unblinding import unblinding
from guildhall.study.works import BREAKDOWNS

DataFrame: TypeAlias = Any
"""A Polars frame; Polars is imported where one is made."""
FORMULA = r"^[=+\-@\t\r]"
"""How a text begins that a spreadsheet would take for a formula."""
CODE_BOOK = "codebook"
COLUMNS: dict[str, tuple[type, str]] = {
    "task": (str, "the task's id"),
    "model": (str, "whose work was compared with the expert's: a code name, or after unblinding the name"),
    "sample": (str, "which of the model's tries at the task"),
    "grader": (str, "who judged, by code name"),
    "grader_kind": (str, "the kind of grader; kinds are never to be pooled unnamed"),
    "score": (float, "from the model's side: 1 won, 0.5 tied, 0 lost"),
    "model_place": (int, "0 when the model's work stood at A, 1 at B, ..."),
    "guess": (int, "which side a person made: 1 guessed rightly, -1 wrongly, 0 named no side, empty when not asked"),
    "active_s": (float, "seconds of active time; empty when unknown"),
    "exposure": (int, "how often the grader had met this task, this time included"),
    "confidence": (float, "what the author stated about its own work, 0 to 100; empty when it said nothing"),
    **{name: (str, f"{title[0].lower()}{title[1:]}; empty when unknown") for name, title in BREAKDOWNS.items()},
}


@dataclass(frozen=True)
class Exported:
    name: str
    content: bytes
    media_type: str


def exported(store: Store, study: Study, ending: str) -> Exported:
    """The judgments in one of `FORMATS`, or the code book."""
    if ending == CODE_BOOK:
        return Exported("codebook.md", code_book(store, study), "text/markdown; charset=utf-8")
    if ending not in FORMATS:
        raise UnknownName("format", ending, known=[*FORMATS, CODE_BOOK])
    media_type, write = FORMATS[ending]
    return Exported(f"judgments.{ending}", write(frame_of(store, study)), media_type)


@dataclass(frozen=True)
class Written:
    rows: int
    code_book: Path


def write_export(store: Store, study: Study, path: Path) -> Written:
    """Write the judgments in the form the file's ending names, and the code book beside them."""
    ending = path.suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise UnknownName("file ending", path.suffix or "(none)", known=[f".{one}" for one in FORMATS])
    rows = frame_of(store, study)
    book = path.with_name(f"{path.stem}.codebook.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FORMATS[ending][1](rows))
    book.write_bytes(code_book(store, study))
    return Written(len(rows), book)


def frame_of(store: Store, study: Study) -> DataFrame:
    """All judgments under the names that may be shown."""
    rows, shown = judged_rows(store, study.id).rows, shown_names(store, study)
    names = {name: shown[name] for name in words_in(rows.model)}
    # Names that stand in no row, the expert's first of all, are needed by nobody.
    return frame(replace(rows, model=Coded(rows.model.codes, tuple(names.get(name, "") for name in rows.model.names))))


def frame(rows: Rows) -> DataFrame:
    """Rows in the columns of `COLUMNS`, an unknown cell being null."""
    import polars as pl

    made = {name: rows.columns[name] if name in BREAKDOWNS else getattr(rows, name) for name in COLUMNS}
    made["guess"] = np.where(rows.guess == NOT_ASKED, np.nan, rows.guess)
    made["exposure"] = np.where(rows.exposure == 0, np.nan, rows.exposure)
    series = {name: _series(name, cells) for name, cells in made.items()}
    return pl.DataFrame(series)


def _series(name: str, cells: Coded | NDArray[Any]) -> Any:
    import polars as pl

    kind = {str: pl.String, int: pl.Int64, float: pl.Float64}[COLUMNS[name][0]]
    if isinstance(cells, Coded):
        # A null name stands at the end, where a code of -1 finds it.
        places = np.where(cells.codes < 0, len(cells.names), cells.codes)
        return pl.Series([*cells.names, None], dtype=kind).gather(places)
    return pl.Series(cells).fill_nan(None).cast(kind) if cells.dtype.kind == "f" else pl.Series(cells).cast(kind)


def code_book(store: Store, study: Study) -> bytes:
    """What each column means, and what the file is."""
    names = "the models' own names" if unblinding(store, study.id).open else "code names of models"
    lines = [
        f"# {study.heading}",
        "",
        *([study.design.rehearsal_note, ""] if study.design.rehearsal_note else []),
        f"Study `{study.id}`, frozen as `{study.key}`. Current planned judgments only; it carries {names}.",
        "",
        "| column | type | meaning |",
        "| --- | --- | --- |",
        *(f"| `{name}` | {kind.__name__} | {words} |" for name, (kind, words) in COLUMNS.items()),
        "",
    ]
    return "\n".join(lines).encode()


def csv_of(made: DataFrame) -> bytes:
    """CSV that a spreadsheet cannot take for formulas."""
    import polars as pl

    words = pl.selectors.string()
    harmless = pl.when(words.str.contains(FORMULA)).then("'" + words).otherwise(words).name.keep()
    out = io.BytesIO()
    made.with_columns(harmless).write_csv(out)
    return out.getvalue()


def _jsonl(made: DataFrame) -> bytes:
    text: str = made.write_ndjson()
    return text.encode()


def _parquet(made: DataFrame) -> bytes:
    out = io.BytesIO()
    made.write_parquet(out)
    return out.getvalue()


FORMATS: dict[str, tuple[str, Callable[[DataFrame], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", csv_of),
    "jsonl": ("application/x-ndjson", _jsonl),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}
