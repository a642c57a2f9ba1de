"""What a hall full of graders asks of the database: every page load and save is paid for a thousand times."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from guildhall.domain.halls import Member, Role
from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.site import Addresses, Site
from tests.postgres import Server
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
        asked: list[str] = []
        event.listen(workspace.store.engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
        with TestClient(create_app(site), base_url="http://localhost", cookies={"guildhall": cookie}) as client:
            site.view(seat.id)
            asked.clear()
            headers = {"x-form-token": session.form_token, "accept": "application/json"}
            path = f"/sets/{seat.id}"
            answer = client.post(f"{path}/{what}", headers=headers, data={"a": ""}) if what else client.get(path)
        assert answer.status_code == 200
        assert len(asked) <= most, asked
