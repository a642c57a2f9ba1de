"""The commands people script against."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from guildhall.analysis.boswell.run_figures import run_figures
from guildhall.cli.peer import app
from guildhall.errors import InputError
from guildhall.peer.folder import write_run
from guildhall.reports.boswell_files import write_run_report
from tests.peer.runs import SQUARE, STARTED, made_run

RUNNER = CliRunner()
SHOWN = ("ada", "bob", "cyd", "dee")


def called(*words: str) -> str:
    result = RUNNER.invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    five = {(a, g): "AABBC"["abcde".index(a)] for a in "abcde" for g in "abcde"}
    four = {pair: grade for pair, grade in five.items() if "e" not in pair}
    for run in (
        made_run(SQUARE, domain="square"),
        made_run(five, domain="letters"),
        made_run(dict.fromkeys(five, "F"), domain="letters", started_at=STARTED - timedelta(days=1)),
        made_run(four, domain="few"),
    ):
        write_run(folder / run.run, run)
    return folder


def test_read_grade_prints_a_line_a_reply(tmp_path):
    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": "x", "text": "Fine.\\n\\nGrade: A-/B+"}\n\n{"text": "I cannot grade this."}\n')
    lines = [json.loads(line) for line in called("read-grade", str(file)).splitlines()]
    assert list(lines[0]) == ["id", "grade", "rule", "span", "confidence", "reason"]
    assert (lines[0]["id"], lines[0]["grade"], lines[0]["span"]) == ("x", "A-/B+", [14, 19])
    assert (lines[1]["id"], lines[1]["grade"], lines[1]["reason"]) == (2, "N/A", "refused")


@pytest.mark.parametrize("content", ["not json\n", '["a list"]\n', '{"words": "no text"}\n', '{"text": 3}\n'])
def test_a_file_that_holds_no_replies_is_refused_in_words(tmp_path, content):
    file = tmp_path / "broken.jsonl"
    file.write_text(content)
    result = RUNNER.invoke(app, ["read-grade", str(file)])
    assert type(result.exception).__name__ in ("UnreadableFile", "UnknownName")


def test_quotient_prints_the_documented_rows(results):
    [folder] = results.glob("*20260306*-letters")
    rows = json.loads(called("quotient", str(folder), "--json"))
    documented = ["model", "quotient", "grade", "components", "performance", "evaluation", "efficiency", "rank"]
    assert list(rows[0])[:8] == documented
    assert all((row["interval"] is None) == (row["why_no_interval"] is not None) for row in rows)
    assert all(row["rank_interval"][0] <= row["rank"] <= row["rank_interval"][1] for row in rows)
    published = json.loads(called("quotient", str(folder), "--as-published", "--json"))
    assert list(published[0])[:8] == documented
    assert "interval" not in published[0]


def test_aggregate_takes_the_latest_run_of_each_domain_and_marks_who_missed_one(results):
    folders = [str(path) for path in results.iterdir() if not path.name.endswith("square")]
    rows = {row["model"]: row for row in json.loads(called("aggregate", *folders, "--json"))}
    assert rows["a"]["by_domain"]["letters"] > 50, "the older run of all F is left out"
    assert rows["a"]["complete"] and not rows["e"]["complete"]
    assert rows["e"]["rank"] == 5
    every = {row["model"]: row for row in json.loads(called("aggregate", *folders, "--all-runs", "--json"))}
    assert every["a"]["by_domain"]["letters"] < rows["a"]["by_domain"]["letters"]


def test_a_run_that_is_given_twice_or_played_again_is_refused_before_anything_is_averaged(results, tmp_path):
    [folder] = results.glob("*-few")
    twice = RUNNER.invoke(app, ["aggregate", str(folder), str(folder)])
    assert isinstance(twice.exception, InputError) and "is given twice" in str(twice.exception)
    four = {(a, g): "AABB"["abcd".index(a)] for a in "abcd" for g in "abcd"}
    write_run(tmp_path / "again", made_run(four, domain="few", started_at=STARTED + timedelta(days=2)))
    replayed = RUNNER.invoke(app, ["aggregate", str(folder), str(tmp_path / "again"), "--all-runs"])
    assert isinstance(replayed.exception, InputError) and "the same, word for word" in str(replayed.exception)
    both = RUNNER.invoke(app, ["aggregate", str(results), "--all-runs"])
    assert both.exit_code == 0 and "letters: 2 runs; each counts" in both.stderr


def test_na_report_says_who_is_hard_to_read_and_shows_how_replies_end(results):
    found = json.loads(called("na-report", str(results), "--json"))
    assert found["overall"]["unread"] == 1
    assert found["by_grader"][0]["name"] == "bob"
    assert found["by_author"][0]["name"] == "cyd"
    assert found["shapes"][0] == {"reason": "refused", "count": 1, "examples": ["I cannot assign a grade to this."]}
    assert "1 of" in called("na-report", str(results))


def test_report_and_rebuild_work_from_a_folder_and_from_a_file(results, tmp_path):
    [folder] = results.glob("*-square")
    assert "Grades received" in called("report", str(folder))
    assert json.loads(called("rebuild", str(folder), "--json"))["written"]
    assert json.loads(called("report", str(folder / "full_results.json"), "--json"))["quotients"]
    write_run_report(tmp_path / "out", run_figures(made_run(SQUARE), draws=10))
    assert (tmp_path / "out" / "report.md").exists()


def test_in_a_narrow_terminal_every_table_still_names_its_models(results):
    [folder] = results.glob("*-square")
    shown = called("quotient", str(folder))
    assert max(map(len, shown[shown.index("model") :].partition("Perf.")[0].splitlines())) <= 80
    rows = [line.split()[0] for line in shown.splitlines() if line.split()[:1] and line.split()[0] in SHOWN]
    assert sorted(rows) == sorted(SHOWN)


def test_domains_are_listed_made_and_checked(tmp_path):
    assert {row["id"] for row in json.loads(called("domains", "list", "--json"))} >= {"pol_sci_1", "humanities_1"}
    path = tmp_path / "history_1.toml"
    called("domains", "new", str(path), "--title", "History")
    assert json.loads(called("domains", "check", str(path), "--json"))["remarks"] == []
    assert "sound" in called("domains", "check", str(path))


def test_a_public_run_is_imported_and_its_quotients_come_back(realdata, tmp_path):
    file = realdata / "boswell" / "20250306-173332-pol_sci_1" / "full_results.json"
    facts = json.loads(called("import", str(file), "--results", str(tmp_path), "--json"))
    assert (facts["essays"], facts["marks"]) == (17, 289)
    rows = {row["model"]: row for row in json.loads(called("quotient", facts["folder"], "--as-published", "--json"))}
    assert rows["o1-mini"]["quotient"] == 92.99
    assert rows["Claude-3.7-Sonnet"]["quotient"] == 71.21
    assert rows["DeepSeek-R1-Full"]["quotient"] == 94.12


def test_a_public_run_of_our_own_making_is_read(tmp_path):
    public = {
        "domain": {"name": "Made up", "description": "..."},
        "essays": {"one": "An essay.", "two two": "Another."},
        "grades": {
            grader: {
                author: {"feedback": "Grade: B", "grade": "B", "numeric_grade": 3.0} for author in ("one", "two two")
            }
            for grader in ("one", "two two")
        },
        "run_timestamp": "2026-01-02 03:04:05",
        "cost": {"essay_costs": {}},
        "timing": {"model_timing": {"essay": {"one": 10.0, "two two": 0.001}, "grading": {"one": {"one": 1.0}}}},
        "boswell_quotient": {},
    }
    file = tmp_path / "20260102-030405-made_up" / "full_results.json"
    file.parent.mkdir()
    file.write_text(json.dumps(public))
    rows = {row["model"]: row for row in json.loads(called("quotient", str(file), "--as-published", "--json"))}
    assert rows["two two"]["performance"] == pytest.approx(100 * 3 / 4.25)
    assert json.loads(called("import", str(file), "--results", str(tmp_path / "r"), "--json"))["read_differently"] == 0
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({**public, "essays": 3}))
    assert type(RUNNER.invoke(app, ["import", str(broken)]).exception).__name__ == "UnreadableFile"
