"""The documents line by line: 300 rows, each with a place that exists and a test that exists, or what it lacks."""

from __future__ import annotations

import ast
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from scripts.sources import PAGE, page_of, read_lines

from guildhall.cli.peer_run import _reported
from guildhall.domain.grades import NUMERIC
from guildhall.domain.judgments import CRITERIA, OBJECTIVE, SUBJECTIVE
from guildhall.domain.variants import BriefVariant
from guildhall.peer.domains import shipped_domains
from guildhall.peer.plan import PeerModel
from guildhall.peer.reader import read_grade
from guildhall.peer.session import Options, plan_of, start
from guildhall.peer.statements import LADDER, RECOVERY
from guildhall.store.workspace import Workspace
from guildhall.study.deriving import mean_token_ratio
from tests.peer.runs import made_run

ROOT = Path(__file__).parent.parent.parent
LINES = read_lines()
WORKS = [line for line in LINES if line.state == "works"]


def test_there_are_three_hundred_lines_and_none_twice() -> None:
    assert len(LINES) == len({line.number for line in LINES}) == 300
    assert Counter(line.number[0] for line in LINES) == {"G": 59, "P": 161, "B": 80}


def test_a_line_that_works_names_its_place_and_its_test_and_any_other_says_why() -> None:
    for line in LINES:
        assert line.where and bool(line.test) is (line.state == "works"), line.number


def test_few_lines_differ_on_purpose() -> None:
    assert 0 < sum(line.state == "differs" for line in LINES) <= 15


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_that_a_line_names_exists() -> None:
    gone = [
        line.number for line in WORKS for file, _, name in [line.test.partition("::")] if name not in functions_of(file)
    ]
    assert gone == []


def test_every_command_and_every_module_that_a_line_names_exists() -> None:
    """Commands are those of the reference, which is made from the program; addresses begin with a stroke."""
    reference = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"^### `(guildhall [^`]+)`", reference, re.MULTILINE))
    gone = []
    for line in WORKS:
        if line.where.startswith("guildhall "):
            gone += [line.number] * (line.where not in commands)
        elif not line.where.startswith("/"):
            path = ROOT / "src" / "guildhall" / line.where.replace(".", "/")
            gone += [line.number] * (not (path.with_suffix(".py").is_file() or path.is_dir()))
    assert gone == []


def test_the_page_is_made_from_the_lines() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(LINES), "run: python -m scripts.sources"


def test_objective_and_subjective_criteria_are_five_each_and_stand_apart() -> None:
    assert (len(OBJECTIVE), len(SUBJECTIVE)) == (5, 5) and not set(OBJECTIVE) & set(SUBJECTIVE)
    assert CRITERIA == OBJECTIVE + SUBJECTIVE
    template = (ROOT / "src/guildhall/web/templates/compare.html").read_text(encoding="utf-8")
    assert 'scope="rowgroup">{{ kind }}' in template


def test_the_thirteen_letters_have_their_published_numbers() -> None:
    assert list(NUMERIC.values()) == [4.25, 4.0, 3.75, 3.25, 3.0, 2.75, 2.25, 2.0, 1.75, 1.25, 1.0, 0.75, 0.0]
    assert "".join(NUMERIC) == "A+AA-B+BB-C+CC-D+DD-F"


PATTERNS = {
    "B+ grade": "B+",
    "The grade is A-": "A-",
    'grade "A-"': "A-",
    "Well argued throughout.\n\nB-": "B-",
    "Final grade: A+": "A+",
    "Grade for this essay: B": "B",
    "A- grade for this essay": "A-",
    "I assign a grade of B+.": "B+",
    "I assign B+.": "B+",
    "Grade assignment: A-": "A-",
    "grade assignment = A-": "A-",
    "Overall grade: C+": "C+",
    "Grade A-": "A-",
    "It is an A- grade": "A-",
    "Grade: [A-]": "A-",
    "Overall, a B+ is appropriate.": "B+",
    "In conclusion, I would give it a B.": "B",
    "This essay deserves a B+.": "B+",
    "My final grade would be a B-.": "B-",
    "A- overall": "A-",
    "Evaluation: B+": "B+",
    "Assessment: B+": "B+",
    "Rating: A-": "A-",
}


@pytest.mark.parametrize("text", PATTERNS)
def test_one_example_of_each_of_the_23_published_patterns_is_read(text: str) -> None:
    assert len(PATTERNS) == 23
    assert read_grade(text).grade == PATTERNS[text]


def test_a_recovered_grade_is_told_when_a_run_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    reading = read_grade("A fair essay.\n\ngrade: b+")
    assert (reading.grade, LADDER[reading.rule].tier) == ("B+", RECOVERY)
    names, low = ("ada", "bob"), "A fair essay.\n\ngrade: b+"
    run = made_run({(author, grader): low if grader == "bob" else "A" for author in names for grader in names})
    models = [PeerModel(name=name, model=f"scripted/{name}") for name in names]
    plan = plan_of(next(iter(shipped_domains().values())), models, Options())
    _reported(start(plan, results=tmp_path, now=datetime(2026, 1, 1, tzinfo=UTC)), run, None)
    said = capsys.readouterr()
    assert "recovered a grade by the rule `lower case`: bob gave ada B+" in said.err + said.out


def test_the_mean_length_of_shorter_briefs_is_told(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        for task, brief in (("one", "a b"), ("two", "a b c d e f"), ("one", "a b c d")):
            original = "a b c d e f g h i j"
            workspace.store.add(BriefVariant.of(task, original, brief, left_out=("how to approach",), made_by="me"))
        mean, n = mean_token_ratio(workspace)
        assert n == 2 and mean == pytest.approx(0.5), "the newest of each task counts"
