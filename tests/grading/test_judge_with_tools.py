"""A judge with tools, truly in its sandbox: it opens the files themselves, and nothing there tells who made them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

import openpyxl
import pytest

from guildhall.documents.looking import Documents
from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.judges import JudgePlan, PanelPlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.prices import Price
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.prices import Prices
from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from guildhall.engine.solver import ONE_DATE
from guildhall.engine.terms import Limits, Terms
from guildhall.errors import InputError
from guildhall.grading.judges.asking import Kept, orders
from guildhall.grading.judges.desk import JudgeDesk, Workbench
from guildhall.grading.judges.graders import ByModel, ByPanel
from guildhall.grading.judges.queue import judge
from guildhall.grading.judges.verdicts import AskingOutcome, build_worked_question
from guildhall.judging.preparing import Preparer
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from tests.grading.judge_cases import LISTED, unpacked
from tests.grading.scripted_judges import SEEN

SECRETS = ("Zanzibar-9", "Quillfeather", "zanzibar-maker")
PRICED = Prices({"scripted/recounter": Price(input_usd=1.0, output_usd=1.0, as_of=date(2026, 1, 1))})


@scripted("test-wanderer")
def wanderer(turn: Turn) -> Answer:
    return Answer(text="", tools=(ToolUse("bash", {"command": "true"}),))


@cache
def ledger(author: str, total: float) -> bytes:
    book = openpyxl.Workbook()
    book.properties.creator = book.properties.lastModifiedBy = author
    for row in (["item", "amount"], ["rent", 1200.0], ["power", 85.5], ["Total", total]):
        book.worksheets[0].append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


class Case:
    """One task with an expert's right workbook and a model's wrong one, and a desk with a sandbox."""

    def __init__(self, workspace: Workspace, looking: Documents) -> None:
        model, expert, maker = SECRETS
        note = FileRef(name="note.txt", digest=workspace.blobs.put(b"Rent and power of March."))
        self.task = Task(
            id="t", sector="Information", occupation="Editors", brief="Add up note.txt.", reference_files=(note,)
        )
        right = self._made(workspace, Expert(code_name=expert), expert, 1285.5)
        wrong = self._made(workspace, ModelRun(name=model, model=f"{maker}/{model}"), model, 1300.0)
        self.right, self.wrong = right, wrong
        self.comparison = Comparison(study="s", task="t", submissions=(right.key, wrong.key))
        workspace.store.add_all([self.task, right, wrong, self.comparison])
        self.workspace = workspace
        self.preparer = Preparer(workspace, looking)
        bench = Workbench(looking.renderer.render, at_once=2)
        self.desk = JudgeDesk(workspace, self.preparer, [self.task], workbench=bench)

    @staticmethod
    def _made(workspace: Workspace, author: Expert | ModelRun, name: str, total: float) -> Submission:
        file = FileRef(name=f"{name} ledger.xlsx", digest=workspace.blobs.put(ledger(name, total)))
        return Submission(task="t", author=author, files=(file,), made_at=datetime(2026, 1, 1, tzinfo=UTC))

    def judged(
        self, name: str, *, run: str = "tools", comparison: Comparison | None = None, **limits: int
    ) -> AskingOutcome:
        plan = JudgePlan(name=name, model=f"scripted/{name}", tools=True)
        terms = Terms(run=run, limits=Limits(**limits), prices=PRICED)
        return judge(ByModel(plan), [comparison or self.comparison], desk=self.desk, terms=terms, sweeps=1)


@pytest.fixture(scope="module")
def ready(look, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose files are made ready once for all tests."""
    path = tmp_path_factory.mktemp("ready") / "workspace"
    with Workspace.create(path) as workspace:
        made = Case(workspace, look)
        for one in (made.right, made.wrong):
            made.desk.prepared(one.key)
        made.desk.references(made.task)
    return path


@pytest.fixture
def case(ready: Path, look, tmp_path: Path) -> Iterator[Case]:
    shutil.copytree(ready, tmp_path / "workspace")
    with Workspace.open(tmp_path / "workspace") as workspace:
        yield Case(workspace, look)


def test_a_judge_with_tools_recomputes_and_decides_by_it(case):
    assert case.judged("recounter").verdicts == 2
    kept = case.workspace.store.find(Judgment)
    assert {one.order for one in kept} == set(orders(case.comparison))
    for one in kept:
        assert one.outcome(case.right.key, case.wrong.key) == "win", one.reason
        assert "1 wrong totals" in one.reason and one.omissions == {"A": 0, "B": 0}
        assert one.usage.calls == 2 and one.usage.cost_usd > 0 and one.wall_s > 0
        assert one.grader.settings["tools"] is True
    spent = Ledger(case.workspace.store).spent(run="tools").usage
    assert spent.calls == 4 and spent.cost_usd == pytest.approx(sum(one.usage.cost_usd for one in kept))


def test_what_was_worked_on_once_is_never_worked_on_again(case):
    case.judged("recounter")
    assert case.judged("recounter") == AskingOutcome()
    other = case.comparison.but(study="another")
    case.workspace.store.add(other)
    again = case.judged("recounter", run="elsewhere", comparison=other)
    assert again.verdicts == 2, "the same question of another study is answered from what is kept"
    assert Ledger(case.workspace.store).spent().usage.calls == 4
    costs = [one.usage for one in case.workspace.store.find(Judgment, comparison=other.key)]
    assert all(usage.calls == 0 and usage.cost_usd == 0.0 for usage in costs)


def test_nothing_sent_or_placed_names_an_author_or_tells_the_time_of_making(case):
    SEEN.clear()
    LISTED.clear()
    assert case.judged("test-lister").verdicts == 2, [one.failure for one in case.workspace.store.find(Judgment)]
    assert len(SEEN) == len(LISTED) == 2
    stamp = datetime.fromisoformat(ONE_DATE).timestamp()
    searched = [request.encode() for request in SEEN]
    for listed in LISTED:
        assert set(listed) == {"A-1.xlsx", "B-1.xlsx", "reference_files/note.txt"}
        for digest, changed in listed.values():
            assert changed == stamp
            searched += unpacked(case.workspace.blobs.read(digest))
    assert len(searched) > 20
    for secret in SECRETS:
        assert not [data for data in searched if secret.lower().encode() in data.lower()]


def test_sides_that_are_alike_are_one_question_paid_for_once(case):
    twin = case.right.but(author=ModelRun(name="twin", model="maker/twin"))
    pair = Comparison(study="s", task="t", submissions=(case.right.key, twin.key))
    case.workspace.store.add_all([twin, pair])
    assert case.judged("recounter", comparison=pair).verdicts == 2
    kept = case.workspace.store.find(Judgment)
    assert {one.ranks for one in kept} == {(1, 1)}
    assert sorted(one.usage.calls for one in kept) == [0, 2] == [0, Ledger(case.workspace.store).spent().usage.calls]


def test_a_judge_that_never_ends_is_stopped_and_counted(case):
    ended = case.judged("test-wanderer", item_turns=3)
    assert (ended.verdicts, ended.failures) == (0, 2)
    assert {one.failure.partition(":")[0] for one in case.workspace.store.find(Judgment)} == {"turn limit"}
    grader = ByModel(JudgePlan(name="test-wanderer", model="scripted/test-wanderer", tools=True))
    kept = Kept(case.workspace.store, grader.graders())
    assert len(list(kept.missing([case.comparison], sweeps=1, again=True))) == 2


def test_a_file_that_could_not_be_cleaned_is_not_placed_and_is_counted(case):
    torn = FileRef(name="torn.xlsx", digest=case.workspace.blobs.put(b"PK\x03\x04 not a workbook"))
    other = case.wrong.but(files=(*case.wrong.files, torn))
    pair = Comparison(study="s", task="t", submissions=(case.right.key, other.key))
    case.workspace.store.add_all([other, pair])
    (asked, *_) = Kept(case.workspace.store, ()).missing([pair], sweeps=1, again=False)
    put = build_worked_question(JudgePlan(name="j", model="scripted/recounter", tools=True), asked, case.desk)
    assert sum(put.omissions.values()) == 1 and put.request.count("is not here") == 1
    assert len(put.files) == 3


def test_a_judge_with_tools_sits_on_panels(case):
    members = (
        JudgePlan(name="recounter", model="scripted/recounter", tools=True),
        JudgePlan(name="word-counter", model="scripted/word-counter"),
    )
    panel = ByPanel(PanelPlan(name="panel", members=members, weights={"recounter": 2.0}))
    judge(panel, [case.comparison], desk=case.desk, terms=Terms(run="p"), sweeps=1)
    verdicts = case.workspace.store.find(Judgment, grader=panel.plan.grader.key)
    assert [one.outcome(case.right.key, case.wrong.key) for one in verdicts] == ["win", "win"]


def test_tools_make_another_judge_and_need_a_sandbox(case):
    plain = JudgePlan(name="recounter", model="scripted/recounter")
    with_tools = plain.but(tools=True)
    assert {one.key for one in ByModel(plain).graders()}.isdisjoint(one.key for one in ByModel(with_tools).graders())
    bare = JudgeDesk(case.workspace, case.preparer, [case.task])
    with pytest.raises(InputError, match="no sandbox"):
        judge(ByModel(with_tools), [case.comparison], desk=bare, terms=Terms(run="r"), sweeps=1)
