"""Told to stop, the servers take nothing new, finish what is under way within a limit, and give back what they hold."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sqlalchemy import select

from guildhall.domain.halls import Member, Role
from guildhall.store.outbox import Channel, Outbox, SendState
from guildhall.store.work import WorkState, work_items
from guildhall.store.workspace import Workspace
from guildhall.study.gradings import work_once
from guildhall.web.site import Addresses, Site
from guildhall.web.webhooks import Webhooks
from guildhall.web.worker import WorkerBeside
from tests.web.live import Live
from tests.web.packages import package
from tests.web.processes import Process, guildhall, serving, wait_until
from tests.web.studies import make_task, open_study
from tests.web.test_gradings import send, token


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "workspace") as workspace:
        open_study(workspace, [make_task(number) for number in range(3)], people={"graders_per_set": 1})
    return tmp_path / "workspace"


@contextmanager
def half_sent(port: int, body: bytes = b"address=nobody%40example.org") -> Iterator[socket.socket]:
    """A form of which the server has the first half."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = f"POST /enter/mail HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {len(body)}\r\n"
        kind = "Content-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall((head + kind).encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 100"), "the page is waiting for the form"
        connection.sendall(body[:8])
        yield connection


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_request_under_way_is_answered_while_new_ones_are_refused(path: Path) -> None:
    with serving(path) as server, half_sent(server.port) as connection:
        server.child.send_signal(signal.SIGTERM)
        wait_until(lambda: refuses(server.port), server)
        connection.sendall(b"nobody%40example.org")
        assert connection.recv(4096).startswith(b"HTTP/1.1 ")
        assert server.child.wait() == 0, server.words()


def test_a_request_that_never_ends_is_cut_short_at_the_limit(path: Path) -> None:
    with serving(path, "--stop-within", "1") as server, half_sent(server.port):
        begun = time.monotonic()
        assert server.stop(within_s=24) in {0, 1}, "it took as long as when nobody had set a limit"
        assert time.monotonic() - begun > 0.9


def test_a_server_and_its_worker_end_together(path: Path) -> None:
    with serving(path, worker=True) as server:
        children = Path(f"/proc/{server.child.pid}/task/{server.child.pid}/children")
        [worker] = children.read_text().split()
        wait_until(lambda: "SigCgt" in (status := _status(worker)) and _catches(status, signal.SIGTERM), server)
        assert server.stop() == 0, server.words()
        assert not Path(f"/proc/{worker}").exists()


def _status(pid: str) -> str:
    return Path(f"/proc/{pid}/status").read_text()


def _catches(status: str, number: int) -> bool:
    mask = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(mask >> (number - 1) & 1)


@contextmanager
def working(path: Path, *options: str) -> Iterator[Process]:
    with guildhall("worker", "--workspace", str(path), *options, folder=path.parent) as worker:
        wait_until(lambda: _catches(_status(str(worker.child.pid)), signal.SIGALRM), worker)
        yield worker


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_worker_does_not_wait_for_its_limit(path: Path, number: int) -> None:
    with working(path, "--stop-within", "100000") as worker:
        assert worker.stop(number) == 0, worker.words()


class _Slow(BaseHTTPRequestHandler):
    """Answers when it is told to, and counts."""

    got: list[bytes] = []
    may_answer = threading.Event()

    def do_POST(self) -> None:
        self.got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.may_answer.wait()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        pass


def test_a_delivery_under_way_is_finished_and_noted(path: Path) -> None:
    with (path / "guildhall.toml").open("a") as settings:
        settings.write('\n[webhooks]\nallow = ["127.0.0.0/8"]\n')
    _Slow.got.clear()
    _Slow.may_answer.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as receiver, Workspace.open(path) as workspace:
        threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        manager = site.roster.invite(Member(id="m", code_name="manager-1", role=Role.MANAGER), personal={})
        hooks = Webhooks(site)
        hooks.add(f"http://127.0.0.1:{receiver.server_address[1]}/", ["grading.done"], member=manager.id)
        hooks.ping(hooks.all()[0].id)
        with working(path) as worker:
            wait_until(lambda: _Slow.got, worker)
            worker.child.send_signal(signal.SIGTERM)
            _Slow.may_answer.set()
            assert worker.child.wait() == 0, worker.words()
        [parcel] = Outbox(workspace.store).log(Channel.WEBHOOK)
        assert (parcel.state, parcel.tries, len(_Slow.got)) == (SendState.SENT, 1, 1)
        receiver.shutdown()


@pytest.fixture
def asked(path: Path) -> Iterator[Workspace]:
    """A workspace in which a grading of three tasks waits."""
    live = Live(path).start()
    answer = send(live, token(live), package({f"task-{n}/final_message.md": "Done." for n in range(3)}))
    assert answer.status_code == 202
    live.stop()
    with Workspace.open(path) as workspace:
        yield workspace


def _grading(workspace: Workspace) -> tuple[str, str | None, int]:
    query = select(work_items.c.state, work_items.c.worker, work_items.c.tries).where(work_items.c.kind == "gradings")
    with workspace.store.reading() as connection:
        state, worker, tries = connection.execute(query).one()
    return str(state), worker, int(tries)


def test_a_grading_under_way_is_given_back_and_the_next_worker_ends_it(asked: Workspace) -> None:
    with working(asked.path) as worker:
        wait_until(lambda: _grading(asked)[0] != WorkState.PLANNED, worker)
        assert worker.stop() == 0, worker.words()
    state, holder, _ = _grading(asked)
    assert state in {WorkState.PLANNED, WorkState.DONE} and holder is None, worker.words()
    with guildhall("worker", "--once", "--workspace", str(asked.path), folder=asked.path.parent) as again:
        assert again.child.wait() == 0, again.words()
    assert _grading(asked)[0] == WorkState.DONE


def test_a_grading_stops_between_two_batches_and_stopping_is_no_failed_try(asked: Workspace) -> None:
    asks = iter([False, True])
    assert work_once(asked, worker="a:1:1", clock=time.time, stopping=lambda: next(asks))
    assert _grading(asked) == (WorkState.PLANNED, None, 0)
    assert work_once(asked, worker="b:1:1", clock=time.time)
    assert _grading(asked)[::2] == (WorkState.DONE, 1)


def test_the_limit_is_told_to_whoever_gives_a_wrong_one(path: Path) -> None:
    with guildhall("worker", "--workspace", str(path), "--stop-within", "-1", folder=path.parent) as worker:
        assert worker.child.wait() == 2 and "stop-within" in worker.words()


def test_a_worker_beside_that_dies_is_told_of_and_started_again_until_its_server_is_told_to_stop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    restarts: list[int] = []
    beside = WorkerBeside(
        [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], on_restart=lambda: restarts.append(1)
    )
    first = beside.process
    first.kill()
    deadline = time.monotonic() + 60
    while beside.process is first:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert beside.process.poll() is None and restarts == [1]
    assert "the worker ended by itself (exit code -9); started again in 1 s" in caplog.text
    beside.ended(within_s=10)
    assert beside.process.poll() is not None and restarts == [1]
