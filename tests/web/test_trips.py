"""What a hall full of graders asks of the database: every page load and save is paid for a thousand times."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from guildhall.domain.halls import Member, Role, SlotKind, Verdict
from guildhall.grading.submitting import submit
from guildhall.store.outbox import Channel, Outbox, webhooks
from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.site import Addresses, Site
from tests.postgres import Server
from tests.statements import statements
from tests.web.studies import OCCUPATION, make_task, open_study


@pytest.mark.parametrize(("what", "most"), [("beat", 5), ("draft", 5), ("", 4)])
def test_a_grader_at_work_asks_the_database_a_few_times(what: str, most: int, postgres: Server, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", database=postgres.new_database()) as workspace:
        open_study(workspace, [make_task(0)])
        site = Site(workspace, Addresses("http://localhost", "http://files.localhost"))
        member = Member(id="g", code_name="g", role=Role.GRADER, occupations=(OCCUPATION,))
        site.roster.invite(member, personal={})
        seat = site.queue.claim(member, study="study", design=site.design("study"), now=site.clock())
        cookie = site.door.open_session(member.id, now=site.clock())
        session = site.door.session(cookie, now=site.clock())
        assert seat is not None and session is not None
        site.queue.mark_brief_read(seat.id, now=site.clock())
        with TestClient(create_app(site), base_url="http://localhost", cookies={"guildhall": cookie}) as client:
            site.view(seat.id)
            headers = {"x-form-token": session.form_token, "accept": "application/json"}
            path = f"/sets/{seat.id}"
            with statements(workspace.store) as asked:
                answer = client.post(f"{path}/{what}", headers=headers, data={"a": ""}) if what else client.get(path)
        assert answer.status_code == 200
        assert len(asked) <= most, asked


@pytest.mark.parametrize("page", ["items", "judges"])
def test_a_managers_page_asks_as_often_about_thirty_sets_as_about_three(page: str, tmp_path: Path) -> None:
    few, many = (_asked_for(page, tmp_path / str(sets), sets=sets) for sets in (3, 30))
    assert len(few) == len(many), many


def _asked_for(page: str, folder: Path, *, sets: int) -> list[str]:
    """What a page asks when every set is disputed and waits for one grader more, whom it names."""
    with Workspace.create(folder) as workspace:
        people = {"graders_per_set": 2, "adjudicate": True}
        open_study(workspace, [make_task(number) for number in range(sets)], people=people)
        site = Site(workspace, Addresses("http://localhost", "http://files.localhost"))
        graders = [_invited(site, f"g-{number}", Role.GRADER) for number in range(4)]
        # All choose what stands at A, and a set is shown in both orders: each contradicts the other.
        for grader in graders[:2]:
            for _ in range(sets):
                _judge_planned(site, grader)
        cookie = site.door.open_session(_invited(site, "m", Role.MANAGER).id, now=site.clock())
        client = TestClient(create_app(site), base_url="http://localhost", cookies={"guildhall": cookie})
        with client, statements(workspace.store) as asked:
            shown = client.get(f"/manage/studies/study/{page}")
        assert shown.status_code == 200
        assert shown.text.count("of the roster may take it") == (sets if page == "items" else 0)
    return [one.text for one in asked]


def _invited(site: Site, name: str, role: Role) -> Member:
    member = Member(id=name, code_name=name, role=role, occupations=(OCCUPATION,))
    site.roster.invite(member, personal={})
    return member


def _judge_planned(site: Site, grader: Member) -> None:
    design, now = site.design("study"), site.clock()
    seat = site.queue.claim(grader, study="study", design=design, now=now, kinds=(SlotKind.PLANNED,))
    assert seat is not None
    site.queue.mark_brief_read(seat.id, now=now)
    verdict = Verdict(ranks=(1, 2), reason="It answers what was asked for.")
    submit(site.queue, seat, grader, verdict, design=design, submit_key=seat.id, now=now)


def test_judgments_are_counted_for_a_webhook_only_when_the_last_is_in(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        open_study(workspace, [make_task(number) for number in range(3)], people={"graders_per_set": 1})
        site = Site(workspace, Addresses("http://localhost", "http://files.localhost"))
        grader = _invited(site, "g", Role.GRADER)
        row = {"id": "w", "url": "https://hall.invalid/", "events": '["study.complete"]', "member": "g", "sealed": b""}
        with workspace.store.transaction() as connection:
            connection.execute(webhooks.insert().values(**row, made_at=0.0))
        counted = []
        for _ in range(3):
            with statements(workspace.store) as asked:
                _judge_planned(site, grader)
            counted.append(sum("count(slots.holder)" in one.text for one in asked))
        told = Outbox(workspace.store).take(Channel.WEBHOOK, now=site.clock())
    assert counted == [0, 0, 1]
    assert told is not None and told.facts == {"study": "study", "judgments": 3}
