"""`report --compare`: two reports found, held side by side, gated and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from guildhall.domain.differences import StudyDifference
from guildhall.domain.report import Report
from guildhall.errors import UnreadableFile
from guildhall.reports.differences import difference_html, difference_json, difference_markdown, difference_plot
from guildhall.reports.figures import write_figure
from guildhall.reports.old_reports import read_report as read_any_format
from guildhall.study.differences import difference_between
from guildhall.study.gate import hold_against, parse_condition

REPORT = "report.json"


def is_report(name: str) -> bool:
    """Whether a name means a written report: its folder, or its JSON file. Anything else is a study's id."""
    path = Path(name)
    return path.suffix == ".json" or (path / REPORT).is_file()


def read_report(name: str) -> Report:
    """The findings of a written report, or `UnreadableFile`."""
    path = Path(name) / REPORT if Path(name).is_dir() else Path(name)
    try:
        return read_any_format(json.loads(path.read_bytes()))
    except OSError as error:
        raise UnreadableFile(
            path, error.strerror or "cannot be read", fix="write it with `guildhall report`"
        ) from error
    except ValueError as error:
        why = f"{error.error_count()} fields differ" if isinstance(error, ValidationError) else "it is not JSON"
        fix = "write the report again with this version"
        raise UnreadableFile(path, f"is not the JSON of a report ({why})", fix=fix) from error


def compare_reports(
    names: tuple[str, str],
    *,
    of_study: Callable[[str], Report],
    fail_if: Sequence[str] = (),
    matches: Mapping[str, str] | None = None,
) -> StudyDifference:
    """The second report less the first, with every condition of the gate decided; `of_study` finds a study's report."""
    conditions = [parse_condition(text) for text in fail_if]
    first, second = (read_report(name) if is_report(name) else of_study(name) for name in names)
    found = difference_between(first, second, matches=matches)
    return found.but(gate=hold_against(conditions, found.models))


def write_difference(found: StudyDifference, folder: Path) -> None:
    """The comparison as page, Markdown, JSON and figure."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "difference.html").write_text(difference_html(found), encoding="utf-8")
    (folder / "difference.md").write_text(difference_markdown(found), encoding="utf-8")
    (folder / "difference.json").write_text(difference_json(found), encoding="utf-8")
    if found.models:
        write_figure(difference_plot(found), folder, "differences")
