"""Counted judgments for other tools: one row for each model against the baseline in each, with a code book.

Graders go by code name always, models by code name until two people unblind the study. The columns `task`, `model`,
`sample`, `grader` and `score` are those `guildhall analyze win-rate` reads.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.counting import LOOKED_AT, Counted
from guildhall.analysis.pairs import BREAKDOWNS, NOT_ASKED, Pairs, facts_of, words_in
from guildhall.analysis.tables import Coded, Table
from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import CRITERIA, Judgment
from guildhall.domain.policy import GraderGroup
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission, Usage
from guildhall.errors import UnknownName
from guildhall.sampling.package import Packed, pack
from guildhall.store.frames import read_frame
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.policy import count_groups
from guildhall.study.unblinding import shown_names, unblinding
from guildhall.taskbank.listing import latest_tasks

FORMULA = r"^[=+\-@\t\r]"
"""How a text begins that a spreadsheet would take for a formula."""
CODE_BOOK = "codebook"
ROWS_AT_ONCE = 100_000
KEYS_A_QUERY = 500
LETTERS = list(ascii_uppercase)
"""Of places, A first."""
OF_MODELS = ("condition", "effort")
"""Columns that hold a model's settings. With them a code name would be none, so they are empty until unblinding; so
is what an author said of its own work: it is the same in every study, and in one of a single model it has a name."""
COLUMNS: dict[str, tuple[type, str]] = {
    "task": (str, "the task's id"),
    "model": (str, "whose work was compared with the baseline's: a code name, or after unblinding the name"),
    "sample": (str, "which of the model's tries at the task"),
    "grader": (str, "who judged, by code name"),
    "grader_kind": (str, "the kind of grader; kinds are never to be pooled unnamed"),
    "score": (float, "from the model's side: 1 won, 0.5 tied, 0 lost"),
    "by_rule": (str, "how work ended that left nothing to judge, so that a rule decides it and nobody judged"),
    "model_place": (int, "0 when the model's work stood at A, 1 at B, ..."),
    "guess": (int, "which side a person made: 1 guessed rightly, -1 wrongly, 0 named no side, empty when not asked"),
    "active_s": (float, "seconds of active time; empty when unknown"),
    "exposure": (int, "how often the grader had met this task, this time included"),
    "confidence": (float, "what the author stated about its own work, 0 to 100; empty when it said nothing"),
    **{name: (str, f"{title[0].lower()}{title[1:]}; empty when unknown") for name, title in BREAKDOWNS.items()},
}


KEYS = ("judgment", "comparison", "order", "replaces")
"""Columns that name judgments and works for good: with them a code name would be none, so they wait for unblinding."""
SAID: dict[str, tuple[type, str]] = {
    "judgment": (str, "the judgment's digest; empty until unblinding, as all digests"),
    "comparison": (str, "the digest of the set that was shown"),
    "order": (str, "the digests of the works in the order shown, A first"),
    "ranks": (str, "the rank of each place, A first; 1 is best, equal ones are ties"),
    "reason": (str, "what the grader wrote"),
    "tie_kind": (str, "of a tie: both good, or both poor"),
    "strength": (int, "how clear the difference is, 1 to 3"),
    "sure": (float, "how sure the grader is, 0 to 100"),
    "usable": (str, "whether the model's work is usable: as is, after edits, or not"),
    "edit_minutes": (float, "minutes that the grader would need to make the model's work usable"),
    "brief_is": (str, "how well the brief says what is wanted, as the grader found"),
    "sweep": (int, "which time the same judge was asked"),
    "planned": (bool, "whether the judgment was planned"),
    "wall_s": (float, "seconds from opening to submitting"),
    "clock_s": (float, "seconds of active time by the clock, whatever the grader corrected"),
    "correction": (str, "why the grader corrected the clock"),
    "omitted": (int, "parts of the model's work that could not be shown"),
    "usage": (str, "what the judgment took of a model, as JSON"),
    "replaces": (str, "the digest of the judgment it takes the place of"),
    "made_at": (str, "when it was made"),
    "origin": (str, "the file that brought it, where it was made elsewhere"),
    **{
        f"criterion_{name.replace(' ', '_')}": (int, f"{name}: how much better the model's work is, -2 to 2")
        for name in CRITERIA
    },
}
"""Columns of what a grader filled in, in exports only: a report counts millions without reading a word of theirs."""


@dataclass(frozen=True)
class Exported:
    name: str
    content: bytes
    media_type: str


def exported(workspace: Workspace, study: Study, ending: str, *, graders: GraderGroup | str | None = None) -> Exported:
    """The judgments of one group of graders in one of `FORMATS`, or the code book."""
    if ending != CODE_BOOK and ending not in FORMATS:
        raise UnknownName("format", ending, known=[*FORMATS, CODE_BOOK])
    counted = _counted(workspace, study, graders)
    if ending == CODE_BOOK:
        return Exported("codebook.md", code_book(workspace, study, counted), "text/markdown; charset=utf-8")
    media_type, write = FORMATS[ending]
    return Exported(f"judgments.{ending}", write(_shown(workspace, study, counted)), media_type)


def _counted(workspace: Workspace, study: Study, graders: GraderGroup | str | None) -> Counted:
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
    return next(count_groups(workspace, study, verdicts, graders=graders))


@dataclass(frozen=True)
class WrittenExport:
    rows: int
    code_book: Path


def write_export(
    workspace: Workspace, study: Study, path: Path, *, graders: GraderGroup | str | None = None
) -> WrittenExport:
    """Write the judgments in the form the file's ending names, and the code book beside them."""
    ending = path.suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise UnknownName("file ending", path.suffix or "(none)", known=[f".{one}" for one in FORMATS])
    counted = _counted(workspace, study, graders)
    rows = _shown(workspace, study, counted)
    book = path.with_name(f"{path.stem}.codebook.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FORMATS[ending][1](rows))
    book.write_bytes(code_book(workspace, study, counted))
    return WrittenExport(len(rows), book)


def _shown(workspace: Workspace, study: Study, counted: Counted) -> pl.DataFrame:
    """The counted judgments under the names that may be shown, in the order of these names."""
    pairs, shown = counted.pairs, shown_names(workspace, study)
    names = {name: shown[name] for name in words_in(pairs.model)}
    # Names that stand in no row, the expert's first of all, are needed by nobody.
    named = Coded(pairs.model.codes, tuple(names.get(name, "") for name in pairs.model.names))
    # Rows sorted by true names would give away the order of the names behind the code names.
    rows = frame(replace(pairs, model=named), counted.policy.graders).hstack(said(workspace.store, pairs))
    if (ruled := counted.by_rule) is not None and len(ruled):
        decided = ruled_frame(ruled, counted.policy.graders).with_columns(pl.col("model").replace(shown))
        rows = pl.concat([rows, decided], how="diagonal")
    if not unblinding(workspace.store, study.id).open:
        hidden = (*OF_MODELS, *KEYS, "confidence")
        rows = rows.with_columns(pl.lit(None, rows.schema[name]).alias(name) for name in hidden)
    return rows.sort("task", "model", "sample", "grader")


def said(store: Store, pairs: Pairs) -> pl.DataFrame:
    """What graders filled in, in the columns of `SAID`, a row for each pair: places are told from the model's side."""
    at = pl.DataFrame({"seq": pairs.judgment, "at": pairs.model_place.astype(np.int64)})
    letter = pl.col("at").replace_strict(list(range(len(LETTERS))), LETTERS)
    whole = at.join(_bodies(store, pairs.judgment), on="seq", how="left", maintain_order="left").with_columns(
        letter=letter
    )
    # Of the works that a grader called usable or not, the model's: its place is each row's own.
    own = whole.with_row_index("row").select("row", "letter", "usability").explode("usability").unnest("usability")
    own = own.filter(pl.col("place") == pl.col("letter")).unique("row", keep="first").select(pl.exclude("place"))
    whole = whole.with_row_index("row").join(own.drop("letter"), on="row", how="left", maintain_order="left")
    omissions, pair = pl.col("omissions").struct, pl.col("order").list.len() == len(("A", "B"))
    sign = pl.when(pair).then(pl.when(pl.col("at") == 0).then(-1).otherwise(1))
    return whole.select(
        judgment="key",
        comparison="comparison",
        order=pl.col("order").list.join(" "),
        ranks=pl.col("ranks").cast(pl.List(pl.String)).list.join(" "),
        reason="reason",
        tie_kind="tie_kind",
        strength="strength",
        sure="confidence",
        usable="acceptance",
        edit_minutes="edit_minutes",
        brief_is="specification",
        sweep=pl.col("sweep").fill_null(1),
        planned=pl.col("planned").fill_null(value=True),
        wall_s="wall_s",
        clock_s="active_s",
        correction=pl.col("correction").struct.field("reason"),
        omitted=pl.coalesce(pl.when(pl.col("letter") == one).then(omissions.field(one)) for one in LETTERS).fill_null(
            0
        ),
        usage=pl.when(pl.col("usage").is_not_null()).then(pl.col("usage").struct.json_encode()),
        replaces="replaces",
        made_at="made_at",
        origin="origin",
        **{f"criterion_{name.replace(' ', '_')}": sign * pl.col("criteria").struct.field(name) for name in CRITERIA},
    )


def _bodies(store: Store, judgments: NDArray[np.int64]) -> pl.DataFrame:
    """What is kept of some judgments, by their row numbers."""
    usable = pl.Struct({"place": pl.String, "acceptance": pl.String, "edit_minutes": pl.Float64})
    fields = {
        **dict.fromkeys(
            ("comparison", "reason", "tie_kind", "specification", "replaces", "made_at", "origin"), pl.String
        ),
        **dict.fromkeys(("confidence", "active_s", "wall_s"), pl.Float64),
        **dict.fromkeys(("strength", "sweep"), pl.Int64),
        "planned": pl.Boolean,
        "order": pl.List(pl.String),
        "ranks": pl.List(pl.Int64),
        "criteria": pl.Struct(dict.fromkeys(CRITERIA, pl.Int64)),
        "usability": pl.List(usable),
        "correction": pl.Struct({"reason": pl.String}),
        "omissions": pl.Struct(dict.fromkeys(LETTERS, pl.Int64)),
        "usage": pl.Struct({name: pl.String if name == "price_date" else pl.Float64 for name in Usage.model_fields}),
    }
    table, seqs = shelf_of(Judgment).table, np.unique(judgments).tolist()
    some = (table.c.seq.in_(seqs[at : at + KEYS_A_QUERY]) for at in range(0, max(1, len(seqs)), KEYS_A_QUERY))
    return pl.concat([read_frame(store, Judgment, fields, columns=("seq", "key"), where=which) for which in some])


def ruled_frame(ruled: pl.DataFrame, graders: GraderGroup) -> pl.DataFrame:
    """Work that a rule decides in the columns of `COLUMNS`: by nobody, and with a score."""
    own = {"task": "id", "model": "model", "sample": "sample", "by_rule": "stop", "confidence": None}
    facts = facts_of(ruled).hstack(
        ruled.select(
            **{name: pl.lit(None) if source is None else pl.col(source) for name, source in own.items()},
            score=pl.col("halves") / 2,
            grader_kind=pl.lit(str(graders)),
        )
    )
    kinds = {str: pl.String, int: pl.Int64, float: pl.Float64}
    return facts.select(
        (pl.col(name) if name in facts.columns else pl.lit(None).alias(name)).cast(kinds[kind])
        for name, (kind, _) in COLUMNS.items()
    )


def frame(pairs: Pairs, graders: GraderGroup) -> pl.DataFrame:
    """Pairs in the columns of `COLUMNS`, an unknown cell being null."""
    one = Coded(np.zeros(len(pairs), dtype=np.int32), (str(graders),))
    nobody = Coded(np.full(len(pairs), -1, dtype=np.int32), ())
    made: dict[str, Any] = {"grader_kind": one, "by_rule": nobody, **pairs.columns}
    made |= {name: getattr(pairs, name) for name in COLUMNS if name not in made}
    made["guess"] = np.where(pairs.guess == NOT_ASKED, np.nan, pairs.guess)
    made["exposure"] = np.where(pairs.exposure == 0, np.nan, pairs.exposure)
    return pl.DataFrame({name: _series(name, made[name]) for name in COLUMNS})


def _series(name: str, cells: Coded | NDArray[Any]) -> Any:
    kind = {str: pl.String, int: pl.Int64, float: pl.Float64}[COLUMNS[name][0]]
    if isinstance(cells, Coded):
        return _words(cells, kind)
    return pl.Series(cells).fill_nan(None).cast(kind) if cells.dtype.kind == "f" else pl.Series(cells).cast(kind)


def _words(cells: Coded, kind: Any = pl.String) -> pl.Series:
    """A null name stands at the end, where a code of -1 finds it."""
    return pl.Series([*cells.names, None], dtype=kind).gather(np.where(cells.codes < 0, len(cells.names), cells.codes))


def rows_csv(table: Table) -> bytes:
    """Rows of a task, a model and a grader as a file that `guildhall analyze savings` reads."""
    columns = {
        name: _words(cells) if isinstance(cells, Coded) else pl.Series(cells).fill_nan(None)
        for name, cells in table.columns.items()
    }
    return csv_of(pl.DataFrame(columns))


def write_csv(counted: Counted, path: Path) -> None:
    """All rows as CSV, some at a time: what a spreadsheet reads takes many times the memory of pairs."""
    pairs, graders, ruled = counted.pairs, counted.policy.graders, counted.by_rule
    with path.open("wb") as out:
        for start in range(0, max(1, len(pairs)), ROWS_AT_ONCE):
            some = np.arange(start, min(start + ROWS_AT_ONCE, len(pairs)))
            out.write(csv_of(frame(pairs.keep(some), graders), header=start == 0))
        if ruled is not None and len(ruled):
            out.write(csv_of(ruled_frame(ruled, graders), header=False))


def code_book(workspace: Workspace, study: Study, counted: Counted) -> bytes:
    """What each column means, what the file is, and what every rule left out of it."""
    names = "the models' own names" if unblinding(workspace.store, study.id).open else "code names of models"
    policy, note = counted.policy, study.design.rehearsal_note
    lines = [
        f"# {study.heading}",
        "",
        *([note, ""] if note else []),
        f"Study `{study.id}`, frozen as `{study.key}`. {counted.n_counted} judgments by {policy.graders} graders "
        f"against `{policy.baseline}` are counted; the file carries {names}. Left out:",
        "",
        *(f"- {n} {rule}" for rule, n in counted.left_out.items() if n),
        *([] if any(counted.left_out.values()) else ["- none"]),
        "",
        "| column | type | meaning |",
        "| --- | --- | --- |",
        *(f"| `{name}` | {kind.__name__} | {words} |" for name, (kind, words) in {**COLUMNS, **SAID}.items()),
        "",
    ]
    return "\n".join(lines).encode()


def csv_of(made: pl.DataFrame, *, header: bool = True) -> bytes:
    """CSV that a spreadsheet cannot take for formulas."""
    words = pl.selectors.string()
    harmless = pl.when(words.str.contains(FORMULA)).then("'" + words).otherwise(words).name.keep()
    out = io.BytesIO()
    made.with_columns(harmless).write_csv(out, include_header=header)
    return out.getvalue()


def _jsonl(made: pl.DataFrame) -> bytes:
    text: str = made.write_ndjson()
    return text.encode()


def _parquet(made: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    made.write_parquet(out)
    return out.getvalue()


FORMATS: dict[str, tuple[str, Callable[[pl.DataFrame], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", csv_of),
    "jsonl": ("application/x-ndjson", _jsonl),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}


def pack_author(author: str, *, sample: int, out: Path, base: Path | None, workspace: Workspace) -> Packed:
    """Pack the given try of an author for every task; a replaced submission gives way to its successor."""
    found: dict[str, Submission] = {}
    known: set[str] = set()
    for submission in workspace.store.each(Submission):
        if not isinstance(submission.author, ModelRun):
            continue
        known.add(submission.author.name)
        if submission.author.name == author and submission.author.sample == sample:
            found[submission.task] = submission
    if not found:
        raise UnknownName(f"author with sample {sample}", author, known=sorted(known))
    tasks = list(latest_tasks(workspace.store).values())
    return pack(found, tasks=tasks, blobs=workspace.blobs, out=out, base=base)
