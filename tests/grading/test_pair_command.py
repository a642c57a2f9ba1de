"""`guildhall grade pair`: two folders and a brief, no workspace, and a verdict that does not hang on the place."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.errors import GuildhallError

HEARD: list[str] = []


@scripted("pair-first-place")
def first_place(turn: Turn) -> Answer:
    """Prefers whatever stands first."""
    HEARD.append("\n".join(said.text for said in turn.messages))
    return Answer(text="A it is.\nVERDICT[A]")


@scripted("pair-silent")
def silent(turn: Turn) -> Answer:
    """Never says a verdict."""
    return Answer(text="Both have merits.")


@scripted("pair-half-silent")
def half_silent(turn: Turn) -> Answer:
    """Has a verdict only where the long memo stands first."""
    first = turn.prompt.index("A long memo") < turn.prompt.index("Short.")
    return Answer(text="A.\nVERDICT[A]" if first else "I would rather not say.")


@pytest.fixture
def works(tmp_path: Path) -> Path:
    (tmp_path / "brief.md").write_text("Write a memo on the budget, as memo.md.")
    for name, words in (("gpt-5-run", "A long memo on the budget, with figures for each year."), ("other", "Short.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memo.md").write_text(words)
    return tmp_path


def pair(folder: Path, *more: str, model: str = "scripted/word-counter", second: str = "other") -> tuple[int, str]:
    arguments = [str(folder / "brief.md"), str(folder / "gpt-5-run"), str(folder / second), "-m", model, *more]
    ran = CliRunner().invoke(app, ["grade", "pair", *arguments])
    if isinstance(ran.exception, GuildhallError):
        return ran.exception.exit_code, f"{ran.output}{ran.exception}"
    return ran.exit_code, ran.output


def answer_of(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output[output.index("{") :])
    return found


def test_the_better_work_wins_in_both_orders_and_the_reason_is_shown(works: Path) -> None:
    code, output = pair(works)
    assert code == 0
    assert "gpt-5-run is better, in every verdict" in output
    assert output.count("Counting words") == 2
    assert output.index("2 calls") < output.index("Counting words"), "the price is said first"


def test_a_judge_that_goes_by_the_place_is_told_and_gives_no_winner(works: Path) -> None:
    HEARD.clear()
    code, output = pair(works, model="scripted/pair-first-place")
    assert code == 0
    assert "changed places" in output and "neither of" in output
    assert len(HEARD) == 2 and not any("gpt-5-run" in said for said in HEARD), "folders' names are not shown"


def test_only_the_price_sends_nothing(works: Path) -> None:
    HEARD.clear()
    code, output = pair(works, "--price", "--json", model="scripted/pair-first-place")
    assert code == 0 and not HEARD
    told = answer_of(output)
    assert told["answer"] is None and told["expected"]["calls"] == 2


def test_a_judge_without_a_verdict_is_an_error_and_not_a_tie(works: Path) -> None:
    code, output = pair(works, model="scripted/pair-silent")
    assert code == 6 and "no verdict in 2 answers" in output


def test_what_is_kept_is_not_asked_again(works: Path) -> None:
    HEARD.clear()
    for _ in range(2):
        code, output = pair(works, "--keep", str(works / "kept"), "--json", model="scripted/pair-first-place")
        assert code == 0 and answer_of(output)["answer"]["flips"] == 1
    assert len(HEARD) == 2


def test_two_judges_kept_in_one_place_do_not_mix(works: Path) -> None:
    kept = ("--keep", str(works / "kept"), "--json")
    pair(works, *kept, model="scripted/pair-first-place")
    answer = answer_of(pair(works, *kept)[1])["answer"]
    assert len(answer["verdicts"]) == 2 and answer["first"] == 1.0 and answer["flips"] == 0


def test_one_order_without_a_verdict_names_no_winner_and_is_no_success(works: Path) -> None:
    code, output = pair(works, model="scripted/pair-half-silent")
    assert code == 6 and "nothing is said of which work is better" in output and "is better, in" not in output


def test_a_brief_s_folder_brings_its_reference_files(works: Path) -> None:
    asked = works / "asked"
    asked.mkdir()
    (works / "brief.md").rename(asked / "brief.md")
    (asked / "figures.csv").write_text("year,sum\n2031,77123\n")
    HEARD.clear()
    arguments = [str(asked), str(works / "gpt-5-run"), str(works / "other"), "-m", "scripted/pair-first-place"]
    assert CliRunner().invoke(app, ["grade", "pair", *arguments]).exit_code == 0
    assert all("77123" in said and "Write a memo" in said for said in HEARD)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "brief.md").write_text("  \n"), "is empty"),
        (lambda folder: (folder / "brief.md").write_bytes(b"\xff\xfe\x00"), "is not text"),
        (lambda folder: (folder / "brief.md").unlink(), "is not there"),
        (lambda folder: (folder / "other" / "memo.md").unlink(), "holds no work"),
        (lambda folder: (folder / "other" / "memo.md").rename(folder / "elsewhere.md"), "holds no work"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(works: Path, spoil: Any, words: str) -> None:
    spoil(works)
    code, output = pair(works)
    assert code == 2 and words in output


def test_one_work_against_itself_is_refused(works: Path) -> None:
    code, output = pair(works, second="gpt-5-run")
    assert code == 2 and "name two" in output


def test_wrong_names_missing_keys_and_dead_servers_end_with_a_sentence(
    works: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, output = pair(works, model="opnai/gpt-5")
    assert code == 2 and "did you mean 'openai'" in output
    code, output = pair(works, model="openai/gpt-5")
    assert code == 2 and "OPENAI_API_KEY" in output
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        code, output = pair(works, model="openai/gpt-4o")
    assert code == 6 and "sk-not-a-key" not in output and "Traceback" not in output
