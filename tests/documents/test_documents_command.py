"""The command line: one line a file, in the promised shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.documents import app
from tests.documents import sound

pytestmark = pytest.mark.xdist_group("office")
FIELDS = {"file", "kind", "outcome", "reason", "pages", "findings", "out"}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def lines(*words: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "delivered"
    folder.mkdir()
    sound.png(folder / "chart.png")
    (folder / "notes.txt").write_text("As an AI language model I made this.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder


@pytest.mark.parametrize("command", ["show", "text", "render", "check", "tells"])
def test_every_file_of_a_folder_has_its_line(command: str, files: Path) -> None:
    told = lines(command, str(files))
    assert [Path(str(line["file"])).name for line in told] == ["broken.pdf", "chart.png", "notes.txt"]
    assert all(set(line) == FIELDS | ({"text"} if command == "text" else set()) for line in told)
    assert all(line["outcome"] == "ok" or line["reason"] for line in told)


def test_scrubbed_copies_are_named_by_side_and_number(files: Path, tmp_path: Path) -> None:
    told = lines(
        "scrub", str(files / "chart.png"), str(files / "notes.txt"), "--out", str(tmp_path / "s"), "--side", "B"
    )
    assert [line["out"] for line in told] == [[str(tmp_path / "s" / "B-1.png")], [str(tmp_path / "s" / "B-2.txt")]]


def test_rendered_pages_go_where_they_are_wanted(files: Path, tmp_path: Path) -> None:
    (told,) = lines("render", str(files / "chart.png"), "--out", str(tmp_path / "pages"))
    assert told["out"] == [str(tmp_path / "pages" / "chart.png" / "page-001.png")]


def test_a_missing_file_is_a_line_with_a_reason(tmp_path: Path) -> None:
    (told,) = lines("show", str(tmp_path / "nothing.pdf"))
    assert (told["outcome"], told["kind"]) == ("omitted", "unknown")


def test_people_see_the_words_of_a_file(files: Path) -> None:
    result = CliRunner().invoke(app, ["text", str(files / "notes.txt")])
    assert "As an AI language model" in result.stdout
