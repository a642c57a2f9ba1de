"""Votes that were made elsewhere, read from a table, an export of Label Studio or arena votes by a mapping file.

The mapping says which column holds what; where it names texts, the rows bring the work too. A row that does not say
whose work stood on which side, who judged, when, or what the verdict was is a fault, and all faults are told at once.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from guildhall.domain.authors import GraderKind
from guildhall.domain.design import EXPERT
from guildhall.domain.values import Id, Line, Value, sha256
from guildhall.errors import FaultsFound, InputError, UnreadableFile
from guildhall.store.rows import read_rows


class StudyFromRows(Value):
    """`[study]`: a study that the rows bring along with their work."""

    id: Id
    title: Line
    baseline: Id = EXPERT


class VoteColumns(Value):
    """`[columns]`: which column holds what. `a` and `b` are the works' texts, where the rows bring the work."""

    task: str = "task"
    rater: str = "rater"
    verdict: str = "verdict"
    a_author: str = "model_a"
    b_author: str = "model_b"
    a_sample: str | None = None
    b_sample: str | None = None
    brief: str | None = None
    a: str | None = None
    b: str | None = None
    sector: str | None = None
    occupation: str | None = None
    reason: str | None = None
    seconds: str | None = None
    at: str | None = None

    @property
    def bring_work(self) -> bool:
        return self.a is not None


class VerdictWords(Value):
    """`[verdicts]`: what the cells say, in any case. `none` are judgments without a verdict, such as "both bad"."""

    a: tuple[str, ...] = ("a", "left", "model_a")
    b: tuple[str, ...] = ("b", "right", "model_b")
    tie: tuple[str, ...] = ("tie",)
    none: tuple[str, ...] = ("both_bad", "tie (bothbad)")


class VoteMapping(Value):
    """A mapping file, whole. `authors` gives the names in the file their names in the study."""

    study: StudyFromRows | None = None
    kind: GraderKind = GraderKind.EXPERT
    judged: date | None = None
    licence: str | None = None
    columns: VoteColumns = VoteColumns()
    verdicts: VerdictWords = VerdictWords()
    authors: dict[str, Id] = {}

    @classmethod
    def read(cls, path: Path | None) -> VoteMapping:
        if path is None:
            return cls()
        try:
            found = cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UnreadableFile(path, f"is no mapping file ({error})") from error
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
            raise FaultsFound(str(path), faults, fix="correct the mapping and try again") from error
        columns = found.columns
        if (found.study is None) == columns.bring_work or columns.bring_work != bool(columns.b and columns.brief):
            raise InputError(
                f"{path}: rows that bring their work need [study] and the columns `brief`, `a` and `b`; "
                "rows about work that is here need none of them"
            )
        return found


class Vote(Value):
    """One row, read: what was shown on A and B, who judged it, and what they said."""

    place: str
    task: Id
    brief: str | None = None
    sector: Line = "not stated"
    occupation: Line = "not stated"
    authors: tuple[Id, Id]
    samples: tuple[int | None, int | None] = (None, None)
    texts: tuple[str, str] | None = None
    rater: str
    ranks: tuple[int, int] | None
    said: str
    reason: str = ""
    seconds: Annotated[float, Field(ge=0)] | None = None
    at: datetime


def votes_of(path: Path, mapping: VoteMapping) -> list[Vote]:
    """Every row of a file, or every fault of it."""
    votes, faults = [], []
    words = {word.casefold(): kind for kind in ("a", "b", "tie", "none") for word in getattr(mapping.verdicts, kind)}
    for number, row in enumerate(_flat(read_rows(path)), 1):
        try:
            votes.append(_vote(f"row {number}", row, mapping, words))
        except ValidationError as error:
            one = error.errors()[0]
            faults.append(f"row {number}: {'.'.join(map(str, one['loc']))}: {one['msg']}")
        except InputError as error:
            faults.append(f"row {number}: {error}")
    if faults:
        what = f"{path}: {len(faults)} of {len(faults) + len(votes)} rows cannot be used"
        raise FaultsFound(what, faults, fix="correct them or the mapping; nothing was brought in")
    return votes


_RANKS: Mapping[str, tuple[int, int] | None] = {"a": (1, 2), "b": (2, 1), "tie": (1, 1), "none": None}


def _vote(place: str, row: Mapping[str, Any], mapping: VoteMapping, words: Mapping[str, str]) -> Vote:
    columns = mapping.columns
    verdict = _cell(row, columns.verdict)
    kind = words.get(verdict.casefold())
    if kind is None:
        raise InputError(f"{verdict!r} is no verdict; name it under [verdicts]")
    authors = [mapping.authors.get(name, name) for name in (_cell(row, columns.a_author), _cell(row, columns.b_author))]
    samples = [_whole(_cell(row, name)) if name else None for name in (columns.a_sample, columns.b_sample)]
    if authors[0] == authors[1] and samples[0] == samples[1]:
        raise InputError(f"{authors[0]!r} stands on both sides, so nothing says whose work stood where")
    brief = _said(row[columns.brief], "user") if columns.brief and columns.brief in row else None
    texts = (_said(row.get(str(columns.a)), "assistant"), _said(row.get(str(columns.b)), "assistant"))
    if columns.bring_work and not (brief and all(texts)):
        raise InputError("its brief or one of its two works is empty")
    more = {name: _cell(row, column) for name in ("sector", "occupation") if (column := getattr(columns, name))}
    return Vote(
        place=place,
        task=_cell(row, columns.task) if columns.task in row or not brief else f"q-{sha256(brief.encode())[:12]}",
        brief=brief,
        authors=(authors[0], authors[1]),
        samples=(samples[0], samples[1]),
        texts=texts if columns.bring_work else None,
        rater=_cell(row, columns.rater),
        ranks=_RANKS[kind],
        said=verdict,
        reason=str(row.get(columns.reason) or "") if columns.reason else "",
        seconds=None if not columns.seconds or row.get(columns.seconds) in {None, ""} else row[columns.seconds],
        at=_when(row.get(columns.at) if columns.at else None, mapping),
        **more,
    )


def _cell(row: Mapping[str, Any], column: str) -> str:
    """A cell that must say something."""
    if column not in row:
        raise InputError(f"has no column {column!r}")
    text = str(row[column] if row[column] is not None else "").strip()
    if not text:
        raise InputError(f"its {column} is empty")
    return text


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"{text!r} is no number of a try")
    return int(text)


def _when(cell: Any, mapping: VoteMapping) -> datetime:
    if cell in {None, ""}:
        if mapping.judged is None:
            raise InputError("nothing says when it was judged; give `judged = DATE` in the mapping, or a column `at`")
        return datetime.combine(mapping.judged, time(), UTC)
    try:
        found = datetime.fromtimestamp(float(cell), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        try:
            found = TypeAdapter(datetime).validate_python(cell)
        except ValidationError as error:
            raise InputError(f"{cell!r} is no time") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _said(cell: Any, role: Literal["user", "assistant"]) -> str:
    """A text, or what one side said in a conversation: all of the user's words, the last of the assistant's."""
    turns = cell
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            turns = json.loads(cell)
        except (ValueError, RecursionError):
            return cell.strip()
    if not isinstance(turns, list) or not all(isinstance(turn, dict) and "content" in turn for turn in turns):
        return str(cell or "").strip()
    said = [str(turn["content"] or "") for turn in turns if turn.get("role") == role]
    return ("\n\n".join(said) if role == "user" else (said or [""])[-1]).strip()


def _flat(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Rows as they are; a task of Label Studio is a row for each annotation, its data beside its answers by name."""
    for row in rows:
        if not isinstance(row.get("annotations"), list) or not isinstance(row.get("data"), dict):
            yield {name: _choice(cell) for name, cell in row.items()}
            continue
        for one in row["annotations"]:
            if not isinstance(one, dict) or one.get("was_cancelled"):
                continue
            answers = {
                str(part.get("from_name")): _choice([part.get("value")])
                for part in one.get("result") or ()
                if isinstance(part, dict)
            }
            by = one.get("completed_by")
            rater = by.get("email") or by.get("id") if isinstance(by, dict) else by
            about = {"rater": rater, "annotation": one.get("id"), "at": one.get("created_at")}
            yield {**row["data"], **about, "seconds": one.get("lead_time"), **answers}


def _choice(cell: Any) -> Any:
    """What was chosen, where a cell holds an answer of Label Studio; else the cell."""
    if isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], dict):
        for name in ("selected", "choices", "text"):
            if name in cell[0]:
                found = cell[0][name]
                return found[0] if isinstance(found, list) and len(found) == 1 else found
    return cell
