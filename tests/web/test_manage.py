"""The manager's pages: progress, places, graders, disagreements, people, tokens, the log, and names only for two."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser
from sqlalchemy import update
from typer.testing import CliRunner

from guildhall.cli.study import app
from guildhall.domain.authors import ModelRun
from guildhall.domain.boards import Board
from guildhall.domain.halls import Member, Role, SeatState
from guildhall.domain.judgments import Comparison
from guildhall.domain.submissions import Submission
from guildhall.grading.adjudicating import ask_for_one_more
from guildhall.grading.design import expert_submission
from guildhall.store.hall import audit
from guildhall.store.workspace import Workspace
from guildhall.study.boards import count_board
from guildhall.study.unblinding import code_names, shown_names
from guildhall.study.watching import judges_of
from guildhall.web.pages import manage
from guildhall.web.site import Site
from tests.axe import faults
from tests.web.judging import judge_one
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

MODELS = ("model-0", "model-1")
MODEL = ModelRun(name="model-0", model="scripted/none")
PAGES = (
    "/manage",
    "/manage/studies/study",
    "/manage/studies/study/judges",
    "/manage/studies/study/items",
    "/manage/people",
    "/manage/gradings",
    "/manage/tokens",
    "/manage/webhooks",
    "/manage/audit",
)
ITEMS = "/manage/studies/study/items"
KEYS = ("/manage/tokens", "/manage/webhooks")
"""What opens doors or sends things out is for managers alone."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four tasks, two models, two graders a set; two graders have judged all they may. Made once, then copied."""
    path = tmp_path_factory.mktemp("manage") / "workspace"
    with Workspace.create(path) as workspace:
        people = {"graders_per_set": 2, "exposure_limit": 2, "severity_raters": 0}
        open_study(workspace, [make_task(number) for number in range(4)], models=2, people=people)
    served = Live(path).start()
    for ranks in ((1, 2), (1, 1)):
        member = served.invite()
        while judge_one(served.site, member, "study", ranks=ranks):
            pass
    served.stop()
    return path


@pytest.fixture
def hall(judged: Path, tmp_path: Path) -> Iterator[Live]:
    served = Live(shutil.copytree(judged, tmp_path / "workspace")).start()
    yield served
    served.stop()


@pytest.fixture
def manager(hall: Live) -> Visitor:
    return hall.client(hall.invite(Role.MANAGER))


def board_of(site: Site) -> Board:
    return count_board(site.workspace, site.study("study"), now=site.clock())


def test_the_board_counts_what_is_planned_held_and_done(hall: Live) -> None:
    study = hall.site.study("study")
    cells = board_of(hall.site).cells
    assert {cell.model for cell in cells} == set(shown_names(hall.site.workspace, study))
    assert [(cell.planned, cell.held, cell.done) for cell in cells] == [(8, 0, 8), (8, 0, 8)]


def test_a_board_of_many_cells_tells_occupations_and_each_leads_to_its_models(
    hall: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, study = hall.client(hall.invite(Role.MANAGER)), hall.site.study("study")
    models = set(shown_names(hall.site.workspace, study).values())
    monkeypatch.setattr(manage, "MOST_CELLS", 1)
    progress = manager.get("/manage/studies/study").text.partition("As it stands")[0]
    assert "16 of 16" in progress and not any(model in progress for model in models)
    [link] = re.findall(r'href="(\?occupation=[^"]+)"', progress)
    narrowed = manager.get(f"/manage/studies/study{link}").text.partition("As it stands")[0]
    assert "16 of 16" in narrowed and all(model in narrowed for model in models) and "All occupations" in narrowed


def test_an_interval_one_may_look_at_stands_on_completed_tasks_only(hall: Live) -> None:
    found = board_of(hall.site).running
    assert {one.estimate.n_tasks for one in found} == {4}
    assert all("every planned grading is done" in (one.estimate.why_no_interval or "") for one in found)


def test_an_unfinished_study_shows_an_interval_that_may_be_looked_at(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        open_study(workspace, [make_task(number) for number in range(4)], people={"graders_per_set": 1})
    live = Live(tmp_path / "workspace").start()
    try:
        assert board_of(live.site).running == ()
        member = live.invite()
        assert judge_one(live.site, member, "study") and judge_one(live.site, member, "study")
        [one] = board_of(live.site).running
        assert one.estimate.n_tasks == 2 and one.estimate.interval is not None
        low, high = one.estimate.interval
        assert low <= (one.estimate.value or 0) <= high and high - low > 0.4
    finally:
        live.stop()


def test_agreement_that_may_be_looked_at_is_that_of_the_planned_graders(hall: Live, manager: Visitor) -> None:
    [one] = board_of(hall.site).agreement
    # On every set one grader chose and the other tied, so each pair of verdicts is half apart.
    assert (one.grader_kind, one.estimate.value, one.estimate.n_tasks) == ("expert", 0.5, 4)
    assert "graders of one set agree by" in manager.get("/manage/studies/study").text
    [set_] = [one.key for one in hall.site.store.find(Comparison, study="study")][:1]
    ask_for_one_more(hall.site.queue, "study", set_, why="", by=hall.invite(Role.MANAGER), now=hall.site.clock())
    assert judge_one(hall.site, hall.invite(), "study", ranks=(2, 1))
    assert board_of(hall.site).agreement == (one,)


def test_no_page_or_export_names_a_model_before_two_people_unblind(hall: Live, manager: Visitor) -> None:
    exports = [f"/manage/studies/study/export/{ending}" for ending in ("csv", "jsonl", "parquet", "codebook")]
    for path in (*PAGES, *exports):
        answer = manager.get(path)
        assert answer.status_code == 200, path
        assert not any(model.encode() in answer.content for model in MODELS), path


def test_unblinding_takes_two_people_and_is_on_record(hall: Live, manager: Visitor) -> None:
    board, other = "/manage/studies/study", hall.client(hall.invite(Role.AUDITOR))
    assert manager.post(f"{board}/unblind/confirm").status_code == 400
    assert manager.post(f"{board}/unblind", {"why": ""}).status_code == 400
    assert manager.post(f"{board}/unblind", {"why": "the study is closed"}).status_code == 303
    assert manager.post(f"{board}/unblind/confirm").status_code == 400
    assert not any(model in manager.get(board).text for model in MODELS)
    assert other.post(f"{board}/unblind/confirm").status_code == 303
    assert all(model in manager.get(board).text for model in MODELS)
    log = manager.get("/manage/audit").text
    assert "unblinding asked" in log and "unblinding confirmed" in log and "The chain holds" in log


def test_code_names_are_stable_and_differ_between_studies(hall: Live) -> None:
    study = hall.site.study("study")
    alone, together = code_names(study, MODELS[:1], key=b"1"), code_names(study, MODELS, key=b"1")
    assert alone["model-0"] == together["model-0"] and len(set(together.values())) == 2
    assert code_names(study.but(seed=2), MODELS, key=b"1") != together


def test_a_changed_row_of_the_log_is_found(hall: Live, manager: Visitor) -> None:
    with hall.site.store.transaction() as connection:
        connection.execute(update(audit).where(audit.c.seq == 3).values(actor="somebody-else"))
    assert "The chain is broken at 3" in manager.get("/manage/audit").text


def seated(hall: Live) -> tuple[Member, str]:
    """A third grader with a place on a set of their own study."""
    with Workspace.open(hall.path) as workspace:
        open_study(workspace, [make_task(9)], people={"graders_per_set": 1}, name="second")
    member = hall.invite()
    seat = hall.site.queue.claim(member, study="second", design=hall.site.design("second"), now=hall.site.clock())
    assert seat is not None
    return member, seat.id


def test_a_freed_place_keeps_its_draft_and_can_be_taken_by_another(hall: Live, manager: Visitor) -> None:
    _, seat = seated(hall)
    hall.site.queue.save(seat, '{"reason": "half"}', version=0, now=hall.site.clock(), lease_s=3600)
    assert manager.post(f"/manage/places/{seat}/free").status_code == 303
    freed = hall.site.queue.seat(seat)
    assert (freed.state, freed.draft) == (SeatState.EXPIRED, '{"reason": "half"}')
    assert judge_one(hall.site, hall.invite(), "second")
    assert "place freed" in manager.get("/manage/audit").text


def test_a_place_is_reassigned_only_to_somebody_who_may_judge_it(hall: Live, manager: Visitor) -> None:
    _, seat = seated(hall)
    stranger, fit = hall.invite(occupations=("Welders",)), hall.invite()
    refused = manager.post(f"/manage/places/{seat}/reassign", {"grader": stranger.code_name})
    assert refused.status_code == 400 and "not of the task" in refused.text
    assert manager.post(f"/manage/places/{seat}/reassign", {"grader": fit.code_name}).status_code == 303
    assert [one.state for one in hall.site.queue.seats_of(fit.id)] == [SeatState.LIVE]
    assert hall.site.queue.seat(seat).state is SeatState.EXPIRED


def test_graders_page_shows_habits(hall: Live, manager: Visitor) -> None:
    text = manager.get("/manage/studies/study/judges").text
    assert "100&nbsp;%" in text and "unknown" in text


def test_until_unblinding_what_steers_graders_is_told_of_all_models_together(
    hall: Live, manager: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of a work are the same in every study: in one of a single model they would stand beside its name."""
    found = {"expert": Counter({"steer-verdict": 7}), "model-0": Counter({"steer-heading": 2})}
    found["model-1"] = Counter({"steer-heading": 3})
    monkeypatch.setattr("guildhall.web.pages.manage.steering_of", lambda *_: found)
    text = manager.get("/manage/studies/study/judges").text
    told = re.findall(r"<li>([\w -]+): ([\w ,]+)</li>", text)
    assert told == [("expert", "verdict in 7 works"), ("all models", "heading in 5 works")]


def test_graders_page_counts_checks_with_a_known_answer(tmp_path: Path) -> None:
    task = make_task(0)
    expert, model = expert_submission(task), Submission(task=task.id, author=MODEL, text="Done by machine 0.")
    assert expert is not None
    item = {"task": task.id, "better": expert.key, "worse": model.key, "explanation": "Its total is right."}
    with Workspace.create(tmp_path / "workspace") as workspace:
        people = {"graders_per_set": 1, "gold": [item], "gold_share": 0.5, "exposure_limit": 9}
        study = open_study(workspace, [task, *(make_task(number) for number in range(1, 4))], people=people)
    live = Live(tmp_path / "workspace").start()
    try:
        member = live.invite()
        while judge_one(live.site, member, "study"):
            pass
        [judge] = judges_of(live.site.store, study)
        assert (judge.judgments, judge.gold_seen) == (4, 1)
    finally:
        live.stop()


def test_disputed_sets_come_first(hall: Live, manager: Visitor) -> None:
    gaps = re.findall(r"gap <b>(0\.\d\d)</b>", manager.get(ITEMS).text)
    assert len(gaps) == 8 and gaps == sorted(gaps, reverse=True)


def test_a_manager_asks_for_one_grader_more_and_reads_what_they_said(hall: Live, manager: Visitor) -> None:
    before = manager.get(ITEMS).text
    form = re.search(rf'action="({ITEMS}/(\w+)/adjudicate)"', before)
    assert form and before.count("Ask for one grader more") == 8
    back = manager.post(form[1], {"why": "they cannot both be right", "page": "1"})
    assert (back.status_code, back.headers["location"]) == (303, f"{ITEMS}?page=1#set-{form[2]}")
    waiting = manager.get(ITEMS).text
    assert "Nobody on the roster may take it" in waiting and waiting.count("Ask for one grader more") == 7
    assert manager.post(form[1]).status_code == 400
    rows, extra = manager.get("/manage/studies/study/export/csv").content, hall.invite()
    assert "1 of the roster may take it" in manager.get(ITEMS).text
    assert judge_one(hall.site, extra, "study", ranks=(1, 1))
    settled = manager.get(ITEMS).text
    assert "Adjudication" in settled and extra.code_name in settled and re.search(r"as [\w-]+ said", settled)
    assert manager.get("/manage/studies/study/export/csv").content == rows, "it stays out of what estimates rest on"
    log = manager.get("/manage/audit").text
    assert "adjudication asked" in log and "they cannot both be right" in log


def test_an_auditor_reads_disputes_and_asks_for_nothing(hall: Live, manager: Visitor) -> None:
    auditor = hall.client(hall.invite(Role.AUDITOR))
    form = re.search(rf'action="({ITEMS}/\w+/adjudicate)"', manager.get(ITEMS).text)
    seen = auditor.get(ITEMS)
    assert form and seen.status_code == 200 and "adjudicate" not in seen.text
    assert auditor.post(form[1]).status_code == 404


def test_an_export_reads_back_with_its_columns(hall: Live, manager: Visitor) -> None:
    import polars as pl

    rows = list(csv.DictReader(io.StringIO(manager.get("/manage/studies/study/export/csv").text)))
    table = pl.read_parquet(io.BytesIO(manager.get("/manage/studies/study/export/parquet").content))
    book = manager.get("/manage/studies/study/export/codebook").text
    assert len(rows) == table.height == 16 and list(rows[0]) == table.columns
    assert all(f"`{name}`" in book for name in table.columns)
    assert {row["score"] for row in rows} <= {"0.0", "0.5", "1.0"}
    assert manager.get("/manage/studies/study/export/exe").status_code == 404


def test_the_command_writes_the_same_rows_as_the_page(hall: Live, manager: Visitor, tmp_path: Path) -> None:
    out = tmp_path / "out" / "judgments.csv"
    ran = CliRunner().invoke(app, ["export", "study", "--out", str(out), "--workspace", str(hall.path), "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["rows"] == 16
    assert out.read_bytes() == manager.get("/manage/studies/study/export/csv").content
    assert "| `score` | float |" in out.with_name("judgments.codebook.md").read_text()


def test_an_invitation_link_is_shown_once_and_works(hall: Live, manager: Visitor) -> None:
    made = manager.post("/manage/people/invite", {"role": "grader", "occupations": "Editors", "email": "a@b.invalid"})
    link = re.search(r"<code>(http[^<]+)</code>", made.text)
    assert link and "a@b.invalid" not in made.text
    assert "/enter/" not in manager.get("/manage/people").text
    newcomer = hall.client()
    assert newcomer.http.post(link[1].removeprefix(hall.address)).headers["location"] == "/"
    assert newcomer.get("/sets").status_code == 200
    again = manager.post("/manage/people/invite", {"role": "grader", "email": "A@B.invalid "})
    assert again.status_code == 400
    assert manager.post("/manage/people/invite", {"role": "king"}).status_code == 400


def test_who_is_revoked_is_out_at_once(hall: Live, manager: Visitor) -> None:
    member = hall.invite()
    inside = hall.client(member)
    assert inside.get("/sets").status_code == 200
    assert manager.post(f"/manage/people/{member.id}/revoke").status_code == 303
    assert inside.get("/sets").status_code == 303


def test_an_auditor_looks_and_changes_nothing(hall: Live) -> None:
    auditor = hall.client(hall.invite(Role.AUDITOR))
    for path in PAGES:
        assert auditor.get(path).status_code == (404 if path in KEYS else 200)
    assert auditor.post("/manage/people/invite", {"role": "grader"}).status_code == 404


def test_health_needs_no_session_and_says_nothing_else(hall: Live) -> None:
    answers: list[httpx.Response] = [hall.client().get(path) for path in ("/healthz", "/readyz")]
    assert [(one.status_code, one.text) for one in answers] == [(200, "alive\n"), (200, "ready\n")]


def test_axe_finds_nothing_on_the_managers_pages(hall: Live, chrome: Browser) -> None:
    seated(hall)
    context = chrome.new_context(viewport={"width": 1366, "height": 768}, color_scheme="dark")
    tab = context.new_page()
    tab.goto(hall.link(hall.invite(Role.MANAGER)))
    tab.get_by_role("button", name="Come in").click()
    for path in (*PAGES, "/manage/studies/second"):
        tab.goto(hall.address + path)
        assert not (found := faults(tab)), f"{path}: {found}"
    context.close()
