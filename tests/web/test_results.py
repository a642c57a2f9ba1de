"""Public results: nothing before two unblind and one publishes, blind pairs before the reveal, no script needed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, expect

from guildhall.domain.halls import Member, Role, WayIn
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.errors import InputError
from guildhall.grading.opening import layout_of
from guildhall.grading.simulation import simulate_hall
from guildhall.store.audit import broken_links, history
from guildhall.store.workspace import Workspace
from guildhall.study.publishing import publish
from guildhall.study.unblinding import ask_to_unblind, confirm_unblinding
from guildhall.web.access import Session
from tests.axe import faults
from tests.web.authenticator import Authenticator
from tests.web.judging import judge_one
from tests.web.live import Live
from tests.web.studies import make_task, open_study

PEOPLE = {"simulated_graders": 4, "graders_per_set": 3, "severity_raters": 0, "exposure_limit": 2}
SECTORS = ("Information", "Government")


def judged(path: Path) -> None:
    with Workspace.create(path) as workspace:
        tasks = [make_task(number, sector=SECTORS[number % 2]) for number in range(6)]
        tasks.append(make_task(6, sensitive=("violence",)))
        study = open_study(workspace, tasks, models=2, people=PEOPLE)
        simulate_hall(workspace, study, study.design.hall, clock=time.time)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A finished study, still blind and unpublished."""
    path = tmp_path_factory.mktemp("results") / "workspace"
    judged(path)
    served = Live(path).start()
    yield served
    served.stop()


def unblind(hall: Live) -> None:
    one, other = hall.invite(Role.MANAGER), hall.invite(Role.MANAGER)
    now, study = time.time(), hall.site.study("study")
    ask_to_unblind(hall.site.store, study, _here(one, now), why="It is finished.", now=now)
    confirm_unblinding(hall.site.store, study, _here(other, now), now=now)


def _here(member: Member, now: float) -> Session:
    return Session(member, "", "", WayIn.PASSKEY, now)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The same, unblinded by two and published with three pairs."""
    path = tmp_path_factory.mktemp("public") / "workspace"
    judged(path)
    served = Live(path).start()
    unblind(served)
    manager = served.client(served.invite(Role.MANAGER))
    answer = manager.post("/manage/studies/study/publish", {"samples": "3"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/results/study")
    yield served
    served.stop()


def test_a_study_nobody_published_does_not_exist_in_public(hall: Live) -> None:
    visitor = hall.client()
    for path in ("/results/study", "/results/study/pairs/1", "/results/nothing"):
        assert visitor.get(path).status_code == 404
    listed = visitor.get("/results")
    assert listed.status_code == 200 and "Quarterly memos" not in listed.text


def test_results_stay_closed_while_blind_and_to_all_but_managers(hall: Live) -> None:
    manager = hall.client(hall.invite(Role.MANAGER))
    refused = manager.post("/manage/studies/study/publish", {"samples": "1"})
    assert refused.status_code == 400 and "two people" in refused.text
    assert "Not possible now" in manager.get("/manage/studies/study").text
    for role in (Role.GRADER, Role.AUDITOR, Role.AUTHOR):
        asked = hall.client(hall.invite(role)).post("/manage/studies/study/publish", {"samples": "1"})
        assert asked.status_code == 404
    assert hall.client().get("/results/study").status_code == 404


def test_a_study_that_is_still_graded_is_never_published(live: Live) -> None:
    unblind(live)
    assert judge_one(live.site, live.invite(), "study")
    with pytest.raises(InputError, match="still open"):
        publish(live.workspace, live.site.study("study"), live.invite(Role.MANAGER), samples=1, now=time.time())
    assert live.client().get("/results/study").status_code == 404


def test_the_published_page_holds_the_report_and_says_who_graded(public: Live) -> None:
    page = public.client().get("/results/study")
    assert page.status_code == 200
    for words in ("Headline", "By sector", "Agreement between graders", "Did the blind hold?", "Methods", "model-1"):
        assert words in page.text, words
    assert "simulated" in page.text and "<script" not in page.text and "style=" not in page.text
    assert "Quarterly memos" in public.client().get("/results").text


def names_in(live: Live) -> list[str]:
    """Everything by which a maker could be told."""
    submissions = live.site.store.find(Submission)
    names = {"model-0", "model-1", "scripted", "expert-of", "a human expert"}
    return sorted(names | {one.key for one in submissions} | {one.author.key for one in submissions})


def test_a_pair_is_blind_until_the_visitor_chooses(public: Live) -> None:
    visitor = public.client()
    for number in (1, 2, 3):
        page = visitor.get(f"/results/study/pairs/{number}")
        sent = [unquote(unescape(page.text))]
        links = re.findall(r'(?:src|href)="(http://files[^"]+)"', page.text)
        assert len(links) >= 4
        for link in links:
            file = visitor.file(unescape(link))
            assert file.status_code == 200 and "sandbox" in file.headers["content-security-policy"]
            assert "set-cookie" not in file.headers
            sent += [file.content.decode("latin-1"), str(file.headers)]
        for name in names_in(public):
            assert not any(name in text for text in sent), name
        assert "choice=X" not in page.text and "was made by" not in visitor.get(f"{page.url.path}?choice=X").text
        told = visitor.get(f"/results/study/pairs/{number}?choice=A")
        makers = re.findall(r"made by ([\w -]+), <strong>B</strong> by ([\w -]+)\.", told.text)
        assert len(makers) == 1 and "a human expert" in makers[0] and {"model-0", "model-1"} & set(makers[0])
        assert "Of 3 graders" in told.text


def test_only_published_pairs_can_be_seen_and_no_task_that_needs_a_warning(public: Live) -> None:
    visitor = public.client()
    for number in ("0", "4", "-1", "x", "9" * 40, "٣"):
        assert visitor.get(f"/results/study/pairs/{number}").status_code == 404
    facts = history(public.site.store, subject="results of study")[0]["facts"]
    tasks = [public.site.store.get(Comparison, one["comparison"]).task for one in facts["samples"]]
    assert len(set(tasks)) == 3 and "task-6" not in tasks


def test_no_name_a_visitor_gives_their_device_withdraws_results_or_stands_in_the_log(public: Live) -> None:
    """Subjects of the log are looked up by name, and the log outlives whoever is erased."""
    grader = public.client(public.invite())
    for name in ("results of study", "Zuleika's telephone"):
        Authenticator().join(grader, name=name)
    passkey = re.findall(r'action="(/account/passkeys/[\w-]+/remove)"', grader.get("/account").text)[-1]
    assert grader.post(passkey).status_code == 303
    assert public.client().get("/results/study").status_code == 200
    told = str(history(public.site.store, limit=10_000))
    assert told.count("passkey added") == 2 and "passkey removed" in told and "Zuleika" not in told


def test_while_people_judge_a_task_in_another_study_no_public_pair_tells_whose_work_is_whose(tmp_path: Path) -> None:
    """The expert's work recurs in every study of a task: a grader could look up here which side it is there."""
    judged(tmp_path / "workspace")
    served = Live(tmp_path / "workspace").start()
    try:
        unblind(served)
        study, manager = served.site.study("study"), served.invite(Role.MANAGER)
        found = publish(served.workspace, study, manager, samples=3, now=time.time())
        tasks = [served.site.store.get(Comparison, pair.comparison).task for pair in found.samples]
        visitor = served.client()
        link = unescape(re.findall(r'src="(http://files[^"]+)"', visitor.get("/results/study/pairs/1").text)[0])
        assert visitor.file(link).status_code == 200
        design = {"people": {"minimum_reason_words": 3, "severity_raters": 0}}
        wanted = tuple(key for key in study.tasks if key.startswith(f"{tasks[0]}@"))
        again = Study(id="again", title="Again", seed=2, tasks=wanted, design=design)
        served.site.store.add(again)
        layout = layout_of(served.workspace, again)
        served.site.store.add_all(layout.comparisons)
        assert served.site.queue.plan(layout.slots)
        asked = [visitor.get(f"/results/study/pairs/{number}?choice=A").status_code for number in (1, 2, 3)]
        assert asked == [404, 200, 200] and visitor.file(link).status_code == 404
        listed = visitor.get("/results/study").text
        assert "pairs/1" not in listed and "pairs/2" in listed
        anew = publish(served.workspace, study, manager, samples=9, now=time.time())
        shown = {served.site.store.get(Comparison, pair.comparison).task for pair in anew.samples}
        assert shown and tasks[0] not in shown
        while judge_one(served.site, served.invite(), again.id):
            pass
        assert served.site.queue.is_complete(again.id)
        assert visitor.get("/results/study").text.count("/pairs/") == len(anew.samples)
    finally:
        served.stop()


def test_publishing_is_in_the_audit_log_and_can_be_undone(tmp_path: Path) -> None:
    judged(tmp_path / "workspace")
    served = Live(tmp_path / "workspace").start()
    try:
        unblind(served)
        manager = served.invite(Role.MANAGER)
        inside = served.client(manager)
        assert inside.post("/manage/studies/study/publish", {"samples": "99"}).status_code == 400
        assert inside.post("/manage/studies/study/publish", {"samples": "2"}).status_code == 303
        page = inside.get("/results/study/pairs/1")
        link = unescape(re.findall(r'src="(http://files[^"]+)"', page.text)[0])
        assert inside.file(link).status_code == 200
        assert "Withdraw the results" in inside.get("/manage/studies/study").text
        assert inside.post("/manage/studies/study/withdraw").status_code == 303
        for path in ("/results/study", "/results/study/pairs/1"):
            assert served.client().get(path).status_code == 404
        assert inside.file(link).status_code == 404, "links of withdrawn results are dead"
        rows = history(served.site.store, subject="results of study")
        assert [(row["action"], row["actor"]) for row in rows] == [
            ("results withdrawn", manager.code_name),
            ("results published", manager.code_name),
        ]
        assert broken_links(served.site.store) == []
    finally:
        served.stop()


def test_a_visitor_without_script_judges_a_pair_and_learns_who_made_it(public: Live, chrome: Browser) -> None:
    context = chrome.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(public.address + "/results")
    tab.get_by_role("link", name="Quarterly memos").click()
    tab.get_by_role("link", name="Pair 1").click()
    expect(tab.get_by_text("was made by")).to_have_count(0)
    tab.get_by_label("B is better").check()
    tab.get_by_role("button", name="Choose, and show who made them").click()
    expect(tab.get_by_text("You said: B is better")).to_be_visible()
    expect(tab.get_by_text("was made by")).to_be_visible()
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 390)])
def test_axe_finds_nothing_on_the_public_pages(public: Live, chrome: Browser, scheme: str, width: int) -> None:
    context = chrome.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    tab = context.new_page()
    for path in ("/results", "/results/study", "/results/study/pairs/1", "/results/study/pairs/1?choice=tie"):
        tab.goto(public.address + path)
        assert not (found := faults(tab)), f"{path}: {found}"
    context.close()
