"""The API: tokens with scopes and nothing else, promised shapes, words for what is wrong, and no 500 for anybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from guildhall.domain.halls import Role
from guildhall.store.workspace import Workspace
from guildhall.web.access import SCOPES
from guildhall.web.api.app import api_app
from guildhall.web.security import RateLimit
from tests.web.calling import Real, call_everything, new_grading
from tests.web.judging import judge_one
from tests.web.live import Live
from tests.web.studies import make_task, open_study

MODEL = "model-0"
PATHS = {
    "/api/v1/studies": "results:read",
    "/api/v1/studies/study/progress": "results:read",
    "/api/v1/studies/study/results": "results:read",
    "/api/v1/studies/study/judgments": "export:read",
    "/api/v1/judges": "gradings:read",
    "/api/v1/gradings": "gradings:read",
}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A study of six tasks, three of them judged, and one nobody has judged."""
    path = tmp_path_factory.mktemp("api") / "workspace"
    with Workspace.create(path) as workspace:
        people = {"graders_per_set": 1, "severity_raters": 0}
        open_study(workspace, [make_task(number) for number in range(6)], people=people)
        open_study(workspace, [make_task(9)], name="untouched")
    with (path / "guildhall.toml").open("a") as settings:
        settings.write("\n[gradings]\ngradings_per_day = 100_000\nmost_bytes = 100_000\n")
    served = Live(path).start()
    member = served.invite()
    for ranks in ((1, 2), (2, 1), (1, 1)):
        assert judge_one(served.site, member, "study", ranks=ranks)
    yield served
    served.stop()


def token(hall: Live, *scopes: str) -> dict[str, str]:
    manager = hall.invite(Role.MANAGER)
    made = hall.site.door.new_api_token(manager.id, name=f"test-{manager.id}", scopes=scopes, now=hall.site.clock())
    return {"Authorization": f"Bearer {made}"}


@pytest.mark.parametrize(("path", "scope"), PATHS.items())
def test_a_call_needs_a_token_with_the_scope_and_a_session_is_no_token(hall: Live, path: str, scope: str) -> None:
    visitor = hall.client(hall.invite(Role.MANAGER))
    assert visitor.get(path).status_code == 401
    assert visitor.get(path, headers={"Authorization": "Bearer gh_guessed"}).status_code == 401
    assert visitor.get(path, headers=token(hall, *(set(PATHS.values()) - {scope}))).status_code == 403
    assert hall.client().get(path, headers=token(hall, scope)).status_code == 200


def test_a_revoked_token_and_a_revoked_maker_open_nothing(hall: Live) -> None:
    visitor, headers = hall.client(), token(hall, "results:read")
    newest = hall.site.door.api_tokens()[0]
    hall.site.door.revoke_api_token(newest.token_digest, now=hall.site.clock())
    assert visitor.get("/api/v1/studies", headers=headers).status_code == 401
    maker = hall.invite(Role.MANAGER)
    made = hall.site.door.new_api_token(maker.id, name="t", scopes=["results:read"], now=hall.site.clock())
    hall.site.roster.revoke(maker.id)
    assert visitor.get("/api/v1/studies", headers={"Authorization": f"Bearer {made}"}).status_code == 401


def test_answers_have_the_promised_shape_and_no_models_name(hall: Live) -> None:
    visitor, headers = hall.client(), token(hall, "results:read", "export:read")
    answers = {path: visitor.get(path, headers=headers) for path in PATHS if "studies" in path}
    assert not any(MODEL in one.text for one in answers.values())
    listed, progress, found = (one.json() for one in list(answers.values())[:3])
    assert {line["id"] for line in listed["studies"]} == {"study", "untouched"}
    assert (progress["planned"], progress["done"], progress["unblinded"]) == (6, 3, False)
    assert progress["running"][0]["half_tie"]["interval"] is not None
    [record] = found["headline"]
    assert (found["complete"], found["counts"]["judgments"]) == (False, 3)
    assert {"value", "interval", "level", "estimand", "unit", "n_tasks", "method", "why_no_interval"} <= set(
        record["win"]
    )
    assert record["wins"] + record["ties"] + record["losses"] == 3 and record["ties"] == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/studies/nowhere/results", 404),
        ("/api/v1/studies/untouched/results", 409),
        ("/api/v1/studies/study/results?graders=martians", 400),
        ("/api/v1/studies/study/judgments?ending=exe", 422),
        ("/api/v1/nothing", 404),
    ],
)
def test_what_cannot_be_answered_is_said_in_words(hall: Live, path: str, status: int) -> None:
    answer = hall.client().get(path, headers=token(hall, "results:read", "export:read"))
    assert answer.status_code == status and answer.json()["detail"]


def test_a_token_that_calls_too_often_waits(hall: Live) -> None:
    client = TestClient(api_app(hall.site, calls=RateLimit(per_minute=1, burst=2)))
    headers = token(hall, "results:read")
    assert [client.get("/studies", headers=headers).status_code for _ in range(3)] == [200, 200, 429]


def test_the_api_page_shows_every_operation_without_a_script(hall: Live) -> None:
    schema = hall.client().get("/api/v1/openapi.json").json()
    text = hall.client().get("/api/v1/docs").text
    assert all(f"/api/v1{path}" in text for path in schema["paths"]) and "<script" not in text


def test_no_generated_call_breaks_the_api(hall: Live) -> None:
    headers = token(hall, *SCOPES)
    real = Real("study", new_grading(hall.site, headers))
    called = call_everything(hall.site, headers, real=real, examples=5)
    schema = hall.client().get("/api/v1/openapi.json").json()
    assert len(called) == sum(len(operations) for operations in schema["paths"].values())
