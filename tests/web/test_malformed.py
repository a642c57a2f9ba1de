"""Whatever is sent, the answer blames the request: a malformed one never breaks anything on our side."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from guildhall.domain.halls import Role
from guildhall.web.guard import number_in, whole_in
from tests.web.live import Live, Visitor
from tests.web.malformed import (
    CHARSETS,
    DEPTH,
    EVERY,
    NUMBERS,
    Sender,
    answers_in_process,
    answers_over_a_socket,
    multipart,
    served_hall,
)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    served = served_hall(tmp_path_factory.mktemp("malformed") / "workspace")
    yield served
    served.stop()


def test_no_malformed_request_to_any_address_is_a_server_error(hall: Live) -> None:
    seen = answers_in_process(hall, 3 * len(EVERY), seed=1)
    assert len(seen) > 8, "refusals of every sort: the requests get past the door"


def test_no_malformed_bytes_are_a_server_error(hall: Live) -> None:
    seen = answers_over_a_socket(hall, len(EVERY), seed=2)
    assert seen[400] > 20


def test_the_generator_spoils_every_address_in_every_way(hall: Live) -> None:
    sender = Sender(hall, seed=3)
    made = set(sender.turns(len(sender.kinds) * len(EVERY)))
    assert made == {(address, kind) for address in EVERY for kind in sender.kinds}


def seated(hall: Live) -> tuple[Visitor, str]:
    visitor = hall.client(hall.invite())
    seat = visitor.post("/sets/claim").headers["location"].split("/")[2]
    visitor.post(f"/sets/{seat}/brief")
    return visitor, seat


@pytest.mark.parametrize("value", ["nan", "-nan", "half", "1_0_", "--1"])
def test_a_number_that_is_none_is_refused_where_a_script_sends_it(hall: Live, value: str) -> None:
    visitor, seat = seated(hall)
    for path, field in (("beat", "idle_s"), ("beat", "words"), ("draft", "draft_version")):
        assert visitor.post(f"/sets/{seat}/{path}", {"visible": "1", field: value}).status_code == 400, field


@pytest.mark.parametrize("value", NUMBERS, ids=range(len(NUMBERS)))
def test_a_number_is_read_within_its_limits_or_not_at_all(value: str) -> None:
    found, whole = number_in(value, 0, 90), whole_in(value, 999)
    assert found is None or 0 <= found <= 90
    assert whole is None or (0 <= whole <= 999 and value.isascii())


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_form_in_whatever_encoding_is_read_or_refused(hall: Live, charset: str) -> None:
    visitor, seat = seated(hall)
    kind = f"multipart/form-data; boundary=b0undary; charset={charset}".encode("latin-1")
    for text in (b"\\ud800 \\x00", b"\xff\xfe\xd8\x00", b"xn--\xff"):
        body = multipart({"form_token": visitor.token.encode(), "reason": text, "overall": b"A"})
        sent = {b"content-type": kind, b"x-form-token": visitor.token.encode()}
        answer = visitor.http.post(f"/sets/{seat}/draft", content=body, headers=sent)
        assert answer.status_code < 500
        assert visitor.get(f"/sets/{seat}").status_code == 200, "what was kept can be shown"


@pytest.mark.parametrize("inside", ["answer", "client data"])
def test_endless_nesting_at_the_passkey_door_opens_nothing(hall: Live, inside: str) -> None:
    from tests.web.malformed import base64url

    deep = "[" * DEPTH
    told = base64url(f'{{"challenge": "AAAA", "x": {deep}'.encode()) if inside == "client data" else "AAAA"
    response = json.dumps({"clientDataJSON": told})
    answer = f'{{"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {response}, "x": '
    sent = answer + ("1}" if inside == "client data" else deep)
    assert hall.client().http.post("/enter/passkey", data={"credential": sent}).status_code == 403


@pytest.mark.parametrize("path", ["/sets/", "/results/", "/manage/", "/static", "/api/v1/studies/", "/enter/passkey/"])
def test_no_answer_repeats_the_host_that_a_request_names(hall: Live, path: str) -> None:
    visitor = hall.client(hall.invite(Role.MANAGER))
    for host in ("evil.invalid", f"localhost:{hall.port}"):
        answer: httpx.Response = visitor.get(path, headers={"host": host})
        assert answer.status_code in {401, 404}
        assert "evil" not in answer.text + str(answer.headers)
