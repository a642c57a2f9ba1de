"""A model labels tasks: asked once each, read strictly, and what it did not say is not made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.occupations import app
from guildhall.domain.values import sha256
from guildhall.engine.calls import Reply
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.occupations.labels import from_file, read_label
from guildhall.occupations.selection import read_official
from guildhall.store.workspace import Workspace
from tests.occupations.test_validation import spread, write_contents


@scripted("desk-clerk")
def desk_clerk(turn: Turn) -> Answer:
    if "frames" in turn.prompt:
        return Answer(text="It depends.")
    return Answer(text="DIGITAL" if "financial" in turn.prompt else "`NOT DIGITAL`")


def reply(text: str) -> Reply:
    return Reply.model_validate({"call": sha256(b"call"), "text": text, "usage": {}, "made_at": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("DIGITAL", True),
        ("not digital.", False),
        ("**DIGITAL**\n", True),
        ("The task is DIGITAL", None),
        ("DIGITAL\nNOT DIGITAL", None),
        ("", None),
    ],
)
def test_only_the_two_answers_asked_for_are_read(text: str, label: bool | None) -> None:
    assert read_label(reply(text))[0] is label


def test_labels_by_a_model_become_a_file_that_the_selection_takes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Workspace.create(tmp_path / "workspace").close()
    monkeypatch.chdir(tmp_path / "workspace")
    command = ["label", "--data", str(data), "--model", "scripted/desk-clerk", "--out", "labels.csv"]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert shown.exit_code == 0 and "2 tasks labelled, 1 digital" in shown.output
    labeller = from_file(Path("labels.csv"))
    said = {one.task: labeller(one) for one in read_official(data).statements}
    assert said == {
        "Analyze financial records and write reports.": True,
        "Carry and load boxes.": False,
        "Weld and repair frames.": None,
    }
    assert "neither DIGITAL nor NOT DIGITAL" in Path("labels.csv").read_text()


def test_the_page_tells_the_selection_its_sensitivity_and_its_validation(data: Path, tmp_path: Path) -> None:
    command = ["select", "--data", str(data), "--out", str(tmp_path / "page.html")]
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    bare = (tmp_path / "page.html").read_text()
    assert "Not done:" in bare and "O*NET Work Activities" in bare
    write_contents(data, spread(6, ["13-2011.00", "51-4121.00"]))
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert "Accountants and Auditors" in page and "digital share at least 0.70" in page
    assert "non-routine cognitive: analytical" in page and "https://" not in page
