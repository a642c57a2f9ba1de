"""E-mail: links reach people through a mail server, nothing secret waits, and nobody learns who is on the roster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_string
from email.policy import default
from pathlib import Path

import pytest
from pydantic import ValidationError

from guildhall.domain.halls import Role
from guildhall.store.access import entry_links
from guildhall.store.outbox import PAUSES_S, outbox
from guildhall.store.workspace import Workspace
from guildhall.web.mail import MailSettings
from guildhall.web.worker import work_off
from tests.web.live import Live, Visitor
from tests.web.mailing import MailServer, mail_server

ADDRESS = "ada@example.org"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as known:
        yield known


@pytest.fixture
def hall(tmp_path: Path, server: MailServer) -> Iterator[Live]:
    path = tmp_path / "workspace"
    Workspace.create(path).close()
    configure(path, port=server.port)
    served = Live(path).start()
    yield served
    served.stop()


def configure(path: Path, *, port: int, security: str = "none") -> None:
    plain = (path / "guildhall.toml").read_text().split("\n[mail]")[0]
    lines = ["", "[mail]", 'host = "127.0.0.1"', f"port = {port}", f'security = "{security}"']
    (path / "guildhall.toml").write_text(plain + "\n".join([*lines, 'sender = "Guildhall <hall@example.org>"', ""]))


@pytest.fixture
def manager(hall: Live) -> Visitor:
    return hall.client(hall.invite(Role.MANAGER))


def send(hall: Live) -> list[tuple[str, int, str | None]]:
    work_off(hall.site)
    with hall.site.store.reading() as connection:
        rows = connection.execute(outbox.select().order_by(outbox.c.made_at)).all()
    return [(row.state, row.tries, row.answer) for row in rows]


def link_in(hall: Live, text: str) -> str:
    body = message_from_string(text, policy=default).get_content()
    found = re.search(rf"{re.escape(hall.address)}(/enter/\S+)", body)
    assert found, body
    return found[1]


def test_an_invitation_goes_by_mail_and_its_link_lets_in(hall: Live, manager: Visitor, server: MailServer) -> None:
    page = manager.post("/manage/people/invite", {"role": "grader", "email": ADDRESS})
    assert "on its way" in page.text and "/enter/" not in page.text
    assert send(hall) == [("sent", 1, "taken by the mail server")]
    [(to, text)] = server.letters
    letter = message_from_string(text, policy=default)
    assert to == ADDRESS == letter["To"] and letter["Subject"] == "Guildhall: You are invited to judge"
    guest = hall.client()
    assert guest.http.post(link_in(hall, text)).headers["location"] == "/"
    assert guest.get("/sets").status_code == 200
    assert ">sent<" in manager.get("/manage/people").text


def test_without_an_address_or_a_mail_server_the_manager_hands_the_link_over(hall: Live, manager: Visitor) -> None:
    assert f"{hall.address}/enter/" in manager.post("/manage/people/invite", {"role": "grader"}).text
    settings = hall.path / "guildhall.toml"
    settings.write_text(settings.read_text().split("\n[mail]")[0])
    assert f"{hall.address}/enter/" in manager.post("/manage/people/invite", {"role": "grader", "email": ADDRESS}).text
    assert not send(hall) and hall.client().http.post("/enter/mail", data={"email": ADDRESS}).status_code == 404


def test_nothing_that_waits_holds_an_address_or_a_link(hall: Live, manager: Visitor) -> None:
    manager.post("/manage/people/invite", {"role": "grader", "email": ADDRESS})
    with hall.site.store.reading() as connection:
        rows = [str(dict(row)) for row in connection.execute(outbox.select()).mappings()]
        links = connection.execute(entry_links.select()).all()
    assert len(rows) == 1 and ADDRESS not in rows[0] and "/enter/" not in rows[0] and not links


def test_the_door_says_the_same_to_a_known_and_an_unknown_address(hall: Live, server: MailServer) -> None:
    known = hall.site.roster.invite_person(Role.GRADER, occupations=(), years=None, personal={"email": ADDRESS})
    gone = hall.site.roster.invite_person(Role.GRADER, occupations=(), years=None, personal={"email": "x@example.org"})
    hall.site.roster.revoke(gone.id)
    pages = []
    for address in (ADDRESS, "nobody@example.org", "x@example.org"):
        answer = hall.client().http.post("/enter/mail", data={"email": address})
        pages.append((answer.status_code, re.sub(r'nonce="[^"]+"', "", answer.text)))
    assert len(set(pages)) == 1 and pages[0][0] == 200
    states = sorted(send(hall))
    assert states == [("given up", 1, "nobody here has this address")] * 2 + [("sent", 1, "taken by the mail server")]
    [(to, text)] = server.letters
    guest = hall.client()
    assert to == ADDRESS and guest.http.post(link_in(hall, text)).status_code == 303
    assert known.code_name in guest.get("/sets").text


def test_nobody_can_flood_an_address(hall: Live, server: MailServer) -> None:
    hall.site.roster.invite_person(Role.GRADER, occupations=(), years=None, personal={"email": ADDRESS})
    for spelling in (ADDRESS, ADDRESS.upper()) * 5:
        hall.client().http.post("/enter/mail", data={"email": spelling})
    send(hall)
    assert len(server.letters) == 3


def test_a_letter_is_tried_again_and_a_refused_address_is_not(hall: Live, manager: Visitor, server: MailServer) -> None:
    server.refuse = 451
    manager.post("/manage/people/invite", {"role": "grader", "email": ADDRESS})
    assert send(hall) == [("waiting", 1, "the mail server refused the address (451)")]
    server.refuse = 550
    hall.skew_s += PAUSES_S[0] + 1
    assert send(hall) == [("given up", 2, "the mail server refused the address (550)")]
    assert ADDRESS not in manager.get("/manage/people").text


def test_no_link_is_ever_sent_in_clear_text_where_it_must_not_be(
    hall: Live, manager: Visitor, server: MailServer
) -> None:
    configure(hall.path, port=server.port, security="starttls")
    manager.post("/manage/people/invite", {"role": "grader", "email": ADDRESS})
    assert send(hall) == [("waiting", 1, "the mail server was not reached (SMTPNotSupportedError)")]
    assert not server.letters and not any(line.startswith(("MAIL", "RCPT")) for line in server.said)
    with pytest.raises(ValidationError, match="on this very machine"):
        MailSettings(host="smtp.example.org", sender="a@example.org", security="none")


@pytest.mark.parametrize(
    "address",
    [
        "a@example.org\r\nBcc: everybody@example.org",
        "a@example.org, b@example.org",
        "a <a@example.org>",
        '"a\r\n"@example.org',
        "a@exam\nple.org",
        "a@[127.0.0.1]",
        "plain",
        "a@b@c",
    ],
)
def test_an_address_cannot_write_headers(hall: Live, manager: Visitor, server: MailServer, address: str) -> None:
    answer = manager.post("/manage/people/invite", {"role": "grader", "email": address})
    assert answer.status_code == 400 and "not an e-mail address" in answer.text
    hall.client().http.post("/enter/mail", data={"email": address})
    send(hall)
    assert not server.letters
