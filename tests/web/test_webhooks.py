"""Webhooks: signed, tried again, logged; secrets are shown once, and no address inside is ever called unasked."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.halls import Role
from guildhall.errors import InputError
from guildhall.store.hall import audit
from guildhall.store.outbox import PAUSES_S, Channel, SendState, outbox, webhooks
from guildhall.store.workspace import Workspace
from guildhall.web import reaching
from guildhall.web.reaching import checked_url, post
from guildhall.web.webhooks import WINDOW_S, Webhooks, is_genuine, new_secret, signed_headers
from guildhall.web.worker import work_off
from tests.web.judging import judge_one
from tests.web.live import Live, Visitor
from tests.web.receiving import receiver
from tests.web.studies import make_task, open_study

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
NOW = 1_800_000_000.0


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Live]:
    path = tmp_path / "workspace"
    with Workspace.create(path) as workspace:
        people = {"graders_per_set": 1, "severity_raters": 0}
        open_study(workspace, [make_task(number) for number in range(2)], people=people)
    with (path / "guildhall.toml").open("a") as settings:
        settings.write('\n[webhooks]\nallow = ["127.0.0.0/8"]\n')
    served = Live(path).start()
    yield served
    served.stop()


@pytest.fixture
def manager(hall: Live) -> Visitor:
    return hall.client(hall.invite(Role.MANAGER))


def add(manager: Visitor, url: str, *events: str) -> str:
    """Register a webhook on the page; the secret the page shows."""
    data = {"form_token": manager.token, "url": url, "event": list(events)}
    answer = manager.http.post("/manage/webhooks/add", data=data)
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", answer.text)
    assert answer.status_code == 200 and found, answer.text
    return found[0]


def deliver(hall: Live) -> list[tuple[str, int, str | None]]:
    """Make every delivery that is due; how all of them stand."""
    work_off(hall.site)
    deliveries = Webhooks(hall.site).outbox.log(Channel.WEBHOOK)
    return [(one.state, one.tries, one.answer) for one in reversed(deliveries)]


def test_events_arrive_signed_and_tell_no_more_than_the_board(hall: Live, manager: Visitor) -> None:
    with receiver() as other:
        secret = add(manager, other.url, "judgment.submitted", "study.complete")
        grader = hall.invite()
        while judge_one(hall.site, grader, "study"):
            pass
        assert deliver(hall) == [("sent", 1, "204")] * 3
        assert all(is_genuine(secret, headers, body, now=hall.site.clock()) for headers, body in other.got)
        events = [json.loads(body) for _, body in other.got]
    kinds = sorted(event["type"] for event in events)
    assert kinds == ["judgment.submitted", "judgment.submitted", "study.complete"]
    assert len({headers["webhook-id"] for headers, _ in other.got}) == 3
    assert not any(b"model-0" in body or b"expert" in body for _, body in other.got)


def test_a_failed_delivery_is_tried_again_under_the_same_id_with_growing_pauses(hall: Live, manager: Visitor) -> None:
    with receiver() as other:
        secret = add(manager, other.url, "judgment.submitted")
        other.answers = [500, 503]
        assert judge_one(hall.site, hall.invite(), "study")
        assert deliver(hall) == [("waiting", 1, "500")]
        hall.skew_s += PAUSES_S[0] + 1
        assert deliver(hall) == [("waiting", 2, "503")]
        hall.skew_s += PAUSES_S[0] + 1
        assert deliver(hall) == [("waiting", 2, "503")], "the second pause is longer than the first"
        hall.skew_s += PAUSES_S[1]
        assert deliver(hall) == [("sent", 3, "204")]
        assert len({headers["webhook-id"] for headers, _ in other.got}) == 1
        assert len({headers["webhook-timestamp"] for headers, _ in other.got}) == 3
        assert is_genuine(secret, *other.got[-1], now=hall.site.clock())
        assert not is_genuine(secret, *other.got[0], now=hall.site.clock() + WINDOW_S), "an old delivery is a replay"


def test_deliveries_are_given_up_after_the_last_pause_and_at_once_where_it_is_hopeless(
    hall: Live, manager: Visitor
) -> None:
    with receiver() as other:
        add(manager, other.url, "judgment.submitted")
        other.answers = [500] * 20
        assert judge_one(hall.site, hall.invite(), "study")
        for pause in PAUSES_S:
            assert deliver(hall)[0][0] == "waiting"
            hall.skew_s += pause + 1
        assert deliver(hall) == [("given up", len(PAUSES_S) + 1, "500")]
        other.answers = [302]
        assert judge_one(hall.site, hall.invite(), "study")
        assert deliver(hall)[1] == ("given up", 1, "302: redirects are not followed")


def test_a_removed_webhook_is_told_nothing_more(hall: Live, manager: Visitor) -> None:
    with receiver() as other:
        add(manager, other.url, "judgment.submitted")
        assert judge_one(hall.site, hall.invite(), "study")
        [hook] = Webhooks(hall.site).all()
        assert manager.post(f"/manage/webhooks/{hook.id}/remove").status_code == 303
        assert deliver(hall) == [("given up", 1, "the webhook was removed")]
        assert not other.got and manager.post(f"/manage/webhooks/{hook.id}/ping").status_code == 404


def test_the_page_shows_each_delivery_and_a_secret_only_once(hall: Live, manager: Visitor) -> None:
    with receiver() as other:
        secret = add(manager, other.url, "grading.done")
        [hook] = Webhooks(hall.site).all()
        assert manager.post(f"/manage/webhooks/{hook.id}/ping").status_code == 303
        deliver(hall)
        assert [json.loads(body)["type"] for _, body in other.got] == ["ping"]
    pages = [manager.get(path).text for path in ("/manage/webhooks", "/manage/audit")]
    assert ">ping<" in pages[0] and ">sent<" in pages[0] and "204" in pages[0]
    assert not any(secret in text or secret.removeprefix("whsec_") in text for text in pages)
    with hall.site.store.reading() as connection:
        rows = [
            str(dict(row))
            for table in (webhooks, outbox, audit)
            for row in connection.execute(table.select()).mappings()
        ]
    assert rows and not any(secret.removeprefix("whsec_") in row for row in rows)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "ftp://example.org/",
        "https://user:pass@example.org/",
        "https://",
        "javascript:alert(1)",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://[2002:a00:1::]/",
        "https://100.64.0.1/",
        "https://224.0.0.1/",
        "https://example.org/\r\nX-Injected: yes",
        "https://example.org:99999/",
    ],
)
def test_no_address_inside_and_no_plain_http_is_taken(url: str) -> None:
    with pytest.raises(InputError):
        checked_url(url, ())


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "https://127.0.0.1/"])
def test_loopback_is_called_only_where_the_settings_allow_it(url: str) -> None:
    assert checked_url(url, LOOPBACK).hostname == "127.0.0.1"
    with pytest.raises(InputError):
        checked_url(url, ())


def test_a_name_that_leads_inside_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public address beside a private one does not help: whichever answers first would be called."""
    found = [(2, 1, 6, "", (address, 443)) for address in ("93.184.216.34", "10.0.0.7")]
    monkeypatch.setattr("guildhall.web.reaching.socket.getaddrinfo", lambda *_args, **_more: found)
    answer = post("https://rebind.example/", b"{}", {}, allow=())
    assert (answer.ok, answer.again) == (False, False) and "not a public one" in answer.words


def test_an_answer_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "LONGEST_S", 0.5)
    hung_up = threading.Event()

    def drip(server: socket.socket) -> None:
        stream, _ = server.accept()
        with stream:
            try:
                while True:  # until we are hung up on, however long that takes
                    stream.sendall(b"H")
                    time.sleep(0.02)
            except OSError:
                hung_up.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,), daemon=True)
        thread.start()
        answer = post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, allow=LOOPBACK)
        assert not answer.ok
        assert hung_up.wait()
        thread.join()


@given(
    body=st.binary(max_size=200),
    at=st.integers(0, 600),
    changed=st.sampled_from(["body", "id", "time", "secret", "nothing"]),
)
def test_a_signature_holds_for_what_was_signed_and_for_a_while(body: bytes, at: int, changed: str) -> None:
    secret = new_secret()
    headers = signed_headers(secret, "d1", body, now=NOW)
    if changed == "body":
        body += b"x"
    elif changed == "id":
        headers["webhook-id"] = "d2"
    elif changed == "time":
        headers["webhook-timestamp"] = str(int(NOW) + 1)
    elif changed == "secret":
        secret = new_secret()
    assert is_genuine(secret, headers, body, now=NOW + at) == (changed == "nothing" and at <= WINDOW_S)


def test_a_signature_is_made_as_the_public_convention_says() -> None:
    """The worked example of the convention: its own secret, id, time and payload."""
    secret, delivery = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    headers = signed_headers(secret, delivery, b'{"test": 2432232314}', now=1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_two_workers_never_make_one_delivery_twice(hall: Live, manager: Visitor) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with receiver() as other:
        add(manager, other.url, "grading.done")
        hooks = Webhooks(hall.site)
        for number in range(20):
            hooks.outbox.announce("grading.done", {"grading": str(number)}, now=hall.site.clock())
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: deliver(hall), range(4)))
        assert sorted(json.loads(body)["data"]["grading"] for _, body in other.got) == sorted(map(str, range(20)))
        assert {one.state for one in hooks.outbox.log(Channel.WEBHOOK)} == {SendState.SENT}
