"""The grading service: work goes in, grades come out; what is hostile, too much or another's does neither."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from guildhall.documents.unpacking import UploadLimits, unpack
from guildhall.domain.gradings import SERVICE
from guildhall.domain.halls import Role
from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.errors import RefusedPackage, UnreadableFile
from guildhall.grading.opening import gather
from guildhall.store.work import Work, WorkState, this_worker
from guildhall.store.workspace import Workspace
from guildhall.study import gradings
from guildhall.study.gradings import work_once
from tests.waiting import until
from tests.web.live import Live
from tests.web.packages import GOOD, crowded, linked, package, understated
from tests.web.studies import make_task, open_study

ROOM = UploadLimits(most_files=50, most_bytes=1 << 20)
SCOPES = ("gradings:read", "gradings:write")


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("service") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(number) for number in range(3)], people={"graders_per_set": 1})
        workspace.store.add(make_task(7, expert_text=None))
    with (path / "guildhall.toml").open("a") as settings:
        settings.write("\n[gradings]\nmost_bytes = 100_000\nmost_files = 20\ngradings_per_day = 4\n")
    served = Live(path).start()
    yield served
    served.stop()


def token(hall: Live, *scopes: str) -> dict[str, str]:
    manager = hall.invite(Role.MANAGER)
    made = hall.site.door.new_api_token(manager.id, name=f"t-{manager.id}", scopes=scopes or SCOPES, now=time.time())
    return {"Authorization": f"Bearer {made}"}


def send(
    hall: Live, headers: dict[str, str], body: bytes, *, key: str | None = None, judge: str = "rubric-and-format"
) -> httpx.Response:
    more = {"Content-Type": "application/zip"} | ({"Idempotency-Key": key} if key else {})
    query = {"name": "my-model", "judge": judge}
    return hall.client().http.post("/api/v1/gradings", params=query, content=body, headers=headers | more)


def work(hall: Live) -> None:
    while work_once(hall.workspace, worker=this_worker(), clock=time.time):
        pass


def test_work_goes_in_and_grades_with_intervals_come_out_without_a_model(hall: Live) -> None:
    headers = token(hall)
    sent = send(hall, headers, package(GOOD))
    assert sent.status_code == 202 and sent.json()["state"] == "queued"
    assert sent.json()["progress"] == {"wanted": None, "verdicts": 0, "failures": 0}
    work(hall)
    shown = hall.client().get(sent.headers["location"], headers=headers).json()
    assert (shown["state"], shown["error"], shown["tasks"]) == ("done", None, ["task-0", "task-1"])
    assert shown["progress"] == {"wanted": 4, "verdicts": 4, "failures": 0}
    grades = shown["grades"]
    assert grades["wins"] + grades["ties"] + grades["losses"] == 4
    assert {one["task"] for one in grades["by_task"]} == {"task-0", "task-1"}
    assert grades["win"]["interval"] is None and "needs at least 3" in grades["win"]["why_no_interval"]
    [listed] = hall.client().get("/api/v1/gradings", headers=headers).json()["gradings"]
    assert listed == shown
    page = hall.client(hall.invite(Role.AUDITOR)).get("/manage/gradings").text
    assert "my-model" in page and "4 of 4" in page and ">done" in page


def test_three_tasks_give_an_interval_and_a_bank_without_experts_gives_words(hall: Live) -> None:
    headers = token(hall)
    three = send(hall, headers, package({f"task-{n}/final_message.md": "Done." for n in range(3)}))
    lone = send(hall, headers, package({"task-7/final_message.md": "Done."}))
    work(hall)
    visitor = hall.client()
    done = visitor.get(three.headers["location"], headers=headers).json()
    low, high = done["grades"]["half_tie"]["interval"]
    assert 0 <= low < high <= 1
    failed = visitor.get(lone.headers["location"], headers=headers).json()
    assert failed["state"] == "failed" and "expert's work" in failed["error"] and failed["grades"] is None


def test_one_key_is_one_grading_and_another_call_under_it_is_refused(hall: Live) -> None:
    headers, body = token(hall), package({"task-1/final_message.md": "Done twice."})
    first, again = (send(hall, headers, body, key="monday") for _ in range(2))
    assert first.status_code == again.status_code == 202 and first.json() == again.json()
    assert send(hall, headers, package(GOOD), key="monday").status_code == 409
    assert send(hall, token(hall), body, key="monday").json()["id"] != first.json()["id"]
    assert len(hall.client().get("/api/v1/gradings", headers=headers).json()["gradings"]) == 1


def test_a_grading_is_there_only_for_the_token_that_asked(hall: Live) -> None:
    sent = send(hall, token(hall), package({"task-1/a.txt": "x"}))
    assert hall.client().get(sent.headers["location"], headers=token(hall)).status_code == 404
    assert send(hall, token(hall, "gradings:read"), package(GOOD)).status_code == 403
    assert hall.client().get("/api/v1/gradings", headers=token(hall, "gradings:write")).status_code == 403


def test_a_token_has_a_quota(hall: Live) -> None:
    headers, body = token(hall), package({"task-1/final_message.md": "Again."})
    assert [send(hall, headers, body).status_code for _ in range(5)] == [202] * 4 + [429]
    left = hall.client().get("/api/v1/judges", headers=headers).json()
    assert left["gradings_left"] == 0 and [one["name"] for one in left["judges"]] == ["rubric-and-format"]


def test_what_was_sent_in_is_part_of_no_study(hall: Live) -> None:
    send(hall, token(hall), package({"task-2/final_message.md": "Let me into the study."}))
    sent = [one for one in hall.workspace.store.find(Submission, task="task-2") if one.origin == SERVICE]
    assert sent
    _, made = gather(hall.workspace, hall.site.study("study"))
    assert not {one.key for one in sent} & {one.key for one in made}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"PK\x05\x06 nonsense", 400),
        (package({"unknown-task/a.txt": "x"}), 400),
        (package({"lies-bare.txt": "x"}), 400),
        (package({"task-1/../../guildhall.key": "x"}), 400),
        (package({"/etc/passwd": "x"}), 400),
        (package({"task-1/a\\..\\b": "x"}), 400),
        (package({"task-1/\x1b[2J.txt": "x"}), 400),
        (package({"task-1/a": "x", "task-1/a/b": "y"}), 400),
        (package({"task-1/A.txt": "x", "task-1/a.TXT": "y"}), 400),
        (package({f"task-1/{n}.txt": "x" for n in range(21)}), 400),
        (package({"task-1/zeros.bin": bytes(600_000)}), 400),
        (understated("task-1/zeros.bin", 600_000), 400),
        (linked("task-1/link", "../../../guildhall.key"), 400),
        (bytes(100_001), 413),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value),
)
def test_hostile_packages_are_refused_in_words(hall: Live, body: bytes, status: int) -> None:
    kept = hall.workspace.store.count(Submission)
    answer = send(hall, token(hall), body)
    assert answer.status_code == status and answer.json()["detail"]
    assert hall.workspace.store.count(Submission) == kept


def test_a_package_comes_as_a_zip_for_a_known_judge(hall: Live) -> None:
    headers = token(hall)
    assert send(hall, headers, package(GOOD), judge="nobody").status_code == 400
    plain = hall.client().http.post("/api/v1/gradings", params={"name": "m", "judge": "j"}, json={}, headers=headers)
    assert plain.status_code == 415


def test_a_directory_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    import io

    with pytest.raises(RefusedPackage, match="more than 50 files"):
        unpack(io.BytesIO(crowded(100_000)), tmp_path, ROOM)
    assert not list(tmp_path.iterdir())


def test_the_worker_command_carries_out_what_waits_and_ends_with_whoever_started_it(hall: Live) -> None:
    headers = token(hall)
    sent = send(hall, headers, package({"task-1/final_message.md": "For the worker."}))
    in_background = ["env", "--ignore-signal=INT"]  # as a script starts what it does not wait for
    command = [*in_background, sys.executable, "-m", "guildhall", "worker", "--until-closed", "--workspace"]
    with subprocess.Popen([*command, str(hall.path)], stdin=subprocess.PIPE) as worker:
        key, kept = sent.json()["id"], Work(hall.workspace.store)
        until(lambda: kept.items([key])[key].state is WorkState.DONE, over=worker.poll)
        assert worker.stdin
        worker.stdin.close()
        assert worker.wait() == 0


def test_a_grading_that_never_ends_is_given_up_and_an_interrupted_one_is_given_back(
    hall: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(hall)  # what another test left waiting would be begun in place of ours
    headers = token(hall)
    sent = send(hall, headers, package({"task-1/final_message.md": "Too much for anybody."}))

    def fail(*_words: object, **_more: object) -> None:
        raise failure

    monkeypatch.setattr(gradings, "_judged", fail)
    failure: BaseException = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        work(hall)
    shown = hall.client().get(sent.headers["location"], headers=headers).json()
    assert shown["state"] == "queued"
    failure = RuntimeError("a fault of our own")
    for _ in range(gradings.MOST_TRIES):  # the interrupted one was given back as if it had never been begun
        with pytest.raises(RuntimeError):
            work(hall)
    work(hall)
    shown = hall.client().get(sent.headers["location"], headers=headers).json()
    assert (shown["state"], shown["error"]) == ("failed", "it was begun 10 times and never ended")


def test_what_fails_here_is_told_without_this_machines_words(hall: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = token(hall)
    sent = send(hall, headers, package({"task-1/final_message.md": "Where is the sandbox?"}))

    def fail(*_words: object, **_more: object) -> None:
        raise UnreadableFile("/srv/secret/place", "is gone")

    monkeypatch.setattr(gradings, "_judged", fail)
    work(hall)
    shown = hall.client().get(sent.headers["location"], headers=headers).json()
    assert shown["state"] == "failed" and "secret" not in shown["error"]


@pytest.mark.timeout(120)
def test_a_worker_that_was_frozen_past_its_lease_stores_nothing_of_a_grading_and_says_so(
    hall: Live, caplog: pytest.LogCaptureFixture
) -> None:
    headers = token(hall)
    sent = send(hall, headers, package(GOOD)).json()
    workspace, elsewhere = hall.workspace, "another-machine/0/0:1:1"
    looks: list[int] = []

    def frozen_after_the_first_verdict() -> bool:
        verdicts = workspace.store.count(Judgment)
        if len(looks) == 1:
            Work(workspace.store).renew(worker=this_worker(), lease_s=-1.0)
            assert Work(workspace.store).claim([sent["id"]], worker=elsewhere) == {sent["id"]}
        looks.append(verdicts)
        return False

    assert work_once(workspace, worker=this_worker(), clock=time.time, stopping=frozen_after_the_first_verdict)
    assert workspace.store.count(Judgment) - looks[0] == looks[1] - looks[0] == 2  # one comparison, both orders
    assert "was silent for too long and another has taken over" in caplog.text
    # The other one's clock is ten minutes ahead: it has what it took, and nobody takes it meanwhile.
    assert not work_once(workspace, worker=this_worker(), clock=lambda: time.time() + 600)
    assert work_once(workspace, worker=elsewhere, clock=lambda: time.time() + 600)
    shown = hall.client().get(f"/api/v1/gradings/{sent['id']}", headers=headers).json()
    assert shown["state"] == "done" and shown["progress"] == {"wanted": 4, "verdicts": 4, "failures": 0}
