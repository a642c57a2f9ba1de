"""`guildhall peer ask`: one question, a few models, a page; the price first, and never a run of nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.errors import GuildhallError
from guildhall.peer.domains import question_domain

QUESTION = "Should a small hospital buy its own laundry, and what decides it?"
FOUR = [f"{name}=scripted/guildhall.peer.scripts:{name}" for name in ("steady", "strict", "generous", "modest")]


def ask(folder: Path, *more: str, models: list[str], question: str = QUESTION) -> tuple[int, str]:
    named = [word for one in models for word in ("-m", one)]
    ran = CliRunner().invoke(app, ["peer", "ask", question, *named, "--results", str(folder), *more])
    if isinstance(ran.exception, GuildhallError):
        return ran.exception.exit_code, f"{ran.output}{ran.exception}"
    return ran.exit_code, ran.output


def test_a_question_ends_in_a_page_and_asked_again_costs_nothing(tmp_path: Path) -> None:
    code, output = ask(tmp_path, models=FOUR)
    assert code == 0
    assert "4 essays, 16 marks (0 without a grade)" in output
    assert output.index("20 calls by 4 models, about $0.00") < output.index("4 essays")
    (page,) = tmp_path.glob("*-question-*/report.html")
    assert QUESTION in page.read_text() or "question-" in page.read_text()


def test_too_few_models_are_told_what_they_cannot_show_before_anything_is_asked(tmp_path: Path) -> None:
    code, output = ask(tmp_path, "--price", models=FOUR[:2])
    assert code == 0 and not list(tmp_path.iterdir())
    assert "two of three components and no interval" in output
    assert "two of three components" not in ask(tmp_path, "--price", models=FOUR)[1]
    assert ask(tmp_path, models=FOUR[:1])[0] == 2


def test_only_the_price_is_json_when_asked_for(tmp_path: Path) -> None:
    code, output = ask(tmp_path, "--price", "--json", models=FOUR)
    assert code == 0
    assert json.loads(output[output.index("{") :]) == {"calls": 20, "usd": 0.0}


def test_a_run_without_one_grade_is_no_success(tmp_path: Path) -> None:
    refusing = [f"r{number}=scripted/guildhall.peer.scripts:refuses" for number in range(2)]
    code, output = ask(tmp_path, models=refusing)
    assert code == 7 and "no mark states a grade" in output


def test_wrong_names_missing_keys_and_dead_servers_leave_no_folder_or_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, output = ask(tmp_path, models=["opnai/gpt-5", "openai/gpt-5"])
    assert code == 2 and "did you mean 'openai'" in output and not list(tmp_path.iterdir())
    code, output = ask(tmp_path, models=["openai/gpt-5", "openai/gpt-4o"])
    assert code == 2 and "OPENAI_API_KEY" in output and not list(tmp_path.iterdir())


@pytest.mark.parametrize("question", ["", "   ", "Why?", "Is {essay} a slot in this question?"])
def test_what_is_no_question_is_refused(tmp_path: Path, question: str) -> None:
    assert ask(tmp_path, models=FOUR, question=question)[0] == 2
    assert not list(tmp_path.iterdir())


def test_the_same_question_is_the_same_subject() -> None:
    one, other = (question_domain(text, words=(150, 400)) for text in (QUESTION, f"  {QUESTION}\n"))
    assert one == other
    assert question_domain("Something else entirely?", words=(150, 400)).id != one.id
