"""Each number leads to its judgments, and these judgments give the number again."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.domain.estimates import Estimate
from guildhall.domain.judgments import Judgment
from guildhall.errors import InputError, UnknownName
from guildhall.store.workspace import Workspace
from guildhall.study.reporting import write_study_report
from tests.study.made import judged_study
from tests.study.told import breakdowns

SCORES = {"alpha": [[1.0, 0.5], [0.0, 0.0]] * 4, "be$ta=1": [[0.5, 0.5], [1.0, 0.0]] * 4}


def rows(workspace: Workspace, *words: str) -> dict[str, list[dict[str, object]]]:
    ended = CliRunner().invoke(app, ["study", "rows", *words, "--workspace", str(workspace.path), "--json"])
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    found: dict[str, list[dict[str, object]]] = json.loads(ended.stdout)
    return found


def test_every_query_of_a_report_finds_the_judgments_its_number_counts(workspace: Workspace, tmp_path: Path) -> None:
    report = write_study_report(workspace, judged_study(workspace, "s", SCORES), tmp_path)
    with (tmp_path / "numbers.csv").open(newline="") as lines:
        numbers = list(csv.DictReader(lines))
    told = [cell for one in report.sections for table in one.tables for row in table.rows for cell in row]
    assert len(numbers) == sum(isinstance(cell, Estimate) for cell in told) > 20
    asked = {
        line["query"]: line["n_judgments"]
        for line in numbers
        if line["query"] and line["chapter"] != "order" and line["estimate"] != "pooled"
    }
    assert len(asked) >= 6
    for query, count in asked.items():
        words = shlex.split(query)
        assert words[:4] == ["guildhall", "study", "rows", "s"]
        found = rows(workspace, *words[3:])
        assert len(found["judgments"]) == int(count)
        assert all(workspace.store.get(Judgment, str(key)).ranks for key in found["judgments"])


def test_the_rows_of_a_cell_give_its_counts_again(workspace: Workspace, tmp_path: Path) -> None:
    report = write_study_report(workspace, judged_study(workspace, "s", SCORES), tmp_path)
    for cell in breakdowns(report)["sector"]:
        out = tmp_path / "rows.csv"
        where = ("--where", f"model={cell['model']}", "--where", f"sector={cell['sector']}")
        [rate] = rows(workspace, "s", *where, "--out", str(out))["rates"]
        assert (rate["wins"], rate["ties"], rate["losses"]) == (cell["wins"], cell["ties"], cell["losses"])
        with out.open(newline="") as lines:
            written = list(csv.DictReader(lines))
        assert len(written) == cell["wins"] + cell["ties"] + cell["losses"] and all(
            len(row["judgment"]) == 64 for row in written
        )


@pytest.mark.parametrize(
    ("where", "error"), [("model", InputError), ("model=nobody", UnknownName), ("colour=red", UnknownName)]
)
def test_a_query_nobody_can_answer_is_refused(workspace: Workspace, where: str, error: type[Exception]) -> None:
    judged_study(workspace, "s", SCORES)
    with pytest.raises(error):
        rows(workspace, "s", "--where", where)
