"""Judgments for other tools: one row for each model against the expert in each judgment, with a code book.

Graders go by code name always, models by code name until two people unblind the study. The columns `task`, `model`,
`sample`, `grader` and `score` are those `guildhall analyze win-rate` reads.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guildhall.domain.studies import Study
from guildhall.errors import UnknownName
from guildhall.reports.text import csv_text
from guildhall.store.records import Store
from guildhall.study.code_names import shown_names
from guildhall.study.judged import BREAKDOWNS, Row, judged_rows
from guildhall.study.unblinding import unblinding

Rows = list[dict[str, Any]]
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
    return Exported(f"judgments.{ending}", write(rows_of(store, study)), media_type)


@dataclass(frozen=True)
class Written:
    rows: int
    code_book: Path


def write_export(store: Store, study: Study, path: Path) -> Written:
    """Write the judgments in the form the file's ending names, and the code book beside them."""
    ending = path.suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise UnknownName("file ending", path.suffix or "(none)", known=[f".{one}" for one in FORMATS])
    rows = rows_of(store, study)
    book = path.with_name(f"{path.stem}.codebook.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FORMATS[ending][1](rows))
    book.write_bytes(code_book(store, study))
    return Written(len(rows), book)


def rows_of(store: Store, study: Study) -> Rows:
    shown = shown_names(store, study)
    return [_row(row, shown[row.model]) for row in judged_rows(store, study.id).rows]


def _row(row: Row, model: str) -> dict[str, Any]:
    own = {name: getattr(row, name) for name in COLUMNS if name not in BREAKDOWNS}
    return own | {"model": model} | {name: row.columns.get(name) for name in BREAKDOWNS}


def code_book(store: Store, study: Study) -> bytes:
    """What each column means, and what the file is."""
    names = "the models' own names" if unblinding(store, study.id).open else "code names of models"
    lines = [
        f"# {study.title}",
        "",
        f"Study `{study.id}`, frozen as `{study.key}`. Current planned judgments only; it carries {names}.",
        "",
        "| column | type | meaning |",
        "| --- | --- | --- |",
        *(f"| `{name}` | {kind.__name__} | {words} |" for name, (kind, words) in COLUMNS.items()),
        "",
    ]
    return "\n".join(lines).encode()


def _csv(rows: Rows) -> bytes:
    cells = [["" if row[name] is None else row[name] for name in COLUMNS] for row in rows]
    return csv_text(list(COLUMNS), cells).encode()


def _jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(rows: Rows) -> bytes:
    import polars as pl

    out = io.BytesIO()
    pl.DataFrame(rows, schema={name: kind for name, (kind, _) in COLUMNS.items()}).write_parquet(out)
    return out.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Rows], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "jsonl": ("application/x-ndjson", _jsonl),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}
