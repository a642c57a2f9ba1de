"""E-mail with a personal link in it: queued by what a page did, written and sent by the worker.

The queue names a person by a keyed mark and holds neither their address nor a link: both are made out when the letter
is written, so that nothing in the database lets anybody in.
"""

from __future__ import annotations

import os
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from guildhall.domain.halls import Member, WayIn
from guildhall.domain.values import Line, Value
from guildhall.store.outbox import Channel, Outbox, Parcel
from guildhall.store.settings import read_section
from guildhall.web.access import LINK_S
from guildhall.web.reaching import Reached
from guildhall.web.rendering import environment
from guildhall.web.site import Site, host_of

TIMEOUT_S = 20.0
PASSWORD = "GUILDHALL_SMTP_PASSWORD"  # noqa: S105 - the name of the variable that holds it
INVITATION_S = 72 * 3600.0


class Letter(StrEnum):
    """What a letter is about."""

    INVITATION = "invitation"
    NEW_LINK = "new link"
    ASKED_FOR = "asked for"
    """Somebody at the door gave an address. Whether it is known here, only the letter tells."""


_SUBJECTS = {
    Letter.INVITATION: "You are invited to judge",
    Letter.NEW_LINK: "Your new link",
    Letter.ASKED_FOR: "Your link",
}
_LASTS_S = {Letter.INVITATION: INVITATION_S, Letter.NEW_LINK: INVITATION_S, Letter.ASKED_FOR: LINK_S}


class MailSettings(Value):
    """`[mail]`: the server that takes our letters; its password is in a file beside the settings or the environment."""

    host: str
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    sender: Line
    user: str | None = None
    password_file: str | None = None

    @model_validator(mode="after")
    def _clear_text_stays_here(self) -> Self:
        if self.security == "none" and self.host not in {"localhost", "127.0.0.1", "::1"}:
            raise ValueError("security = 'none' is for a mail server on this very machine")
        return self

    def password(self, folder: Path) -> str:
        if self.password_file:
            return (folder / self.password_file).read_text(encoding="utf-8").strip()
        return os.environ.get(PASSWORD, "")


class Mail:
    """The e-mail of one site; without `[mail]` in the settings there is none, and links are shown to the manager."""

    def __init__(self, site: Site) -> None:
        self.site, self.outbox = site, Outbox(site.store)

    def settings(self) -> MailSettings | None:
        return read_section(self.site.workspace.path, "mail", MailSettings)

    def write_to(self, member: Member, letter: Letter) -> bool:
        """Queue a letter to a person; False when there is no e-mail here or they gave no address."""
        address = (self.site.roster.personal(member.id) or {}).get("email")
        if not address or self.settings() is None:
            return False
        self._post(address, letter)
        return True

    def write_to_address(self, address: str) -> None:
        """Queue a link for whoever has this address; the same is done whether anybody has it or not."""
        self._post(address, Letter.ASKED_FOR)

    def _post(self, address: str, letter: Letter) -> None:
        mark = self.site.roster.mark(address)
        self.outbox.post(Channel.MAIL, target=mark, event=letter.value, facts={}, now=self.site.clock())

    def log(self, *, limit: int = 30) -> list[tuple[Parcel, str]]:
        """The newest letters that managers had written, with whom they are for, by code name."""
        letters = [one for one in self.outbox.log(Channel.MAIL, limit=limit) if one.event != Letter.ASKED_FOR]
        known = [(one, self.site.roster.by_mark(one.target)) for one in letters]
        return [(one, member.code_name if member else "removed") for one, member in known]

    def send_next(self) -> bool:
        """Write and send the letter that is due longest; False when none is due or there is no e-mail here."""
        settings = self.settings()
        if settings is None:
            return False
        parcel = self.outbox.take(Channel.MAIL, now=self.site.clock())
        if parcel is None:
            return False
        answer = self._send(parcel, settings)
        self.outbox.settle(parcel, sent=answer.ok, answer=answer.words, now=self.site.clock(), again=answer.again)
        return True

    def _send(self, parcel: Parcel, settings: MailSettings) -> Reached:
        member = self.site.roster.by_mark(parcel.target)
        address = (self.site.roster.personal(member.id) or {}).get("email") if member else None
        if member is None or not address:
            return Reached(ok=False, words="nobody here has this address", again=False)
        try:
            deliver(self._message(member, address, Letter(parcel.event), settings), settings, self.site)
        except (OSError, smtplib.SMTPException, ValueError) as error:
            return _refused(error)
        return Reached(ok=True, words="taken by the mail server")

    def _message(self, member: Member, address: str, letter: Letter, settings: MailSettings) -> EmailMessage:
        now, lasts_s = self.site.clock(), _LASTS_S[letter]
        token = self.site.door.new_link(member.id, now=now, lasts_s=lasts_s, entry=WayIn.MAIL)
        facts = {"letter": letter.value, "code_name": member.code_name, "hours": lasts_s / 3600}
        message = EmailMessage()
        message["From"], message["To"] = settings.sender, address
        message["Subject"] = f"Guildhall: {_SUBJECTS[letter]}"
        message["Date"], message["Message-ID"] = formatdate(now), make_msgid(domain=host_of(self.site.addresses.app))
        message["Auto-Submitted"] = "auto-generated"
        link = f"{self.site.addresses.app}/enter/{token}"
        message.set_content(environment().get_template("letter.txt").render(**facts, link=link))
        return message


def deliver(message: EmailMessage, settings: MailSettings, site: Site) -> None:
    """Hand a message to the mail server; never in clear text beyond this machine."""
    ours = host_of(site.addresses.app)
    context = ssl.create_default_context()
    made: smtplib.SMTP
    if settings.security == "tls":
        made = smtplib.SMTP_SSL(settings.host, settings.port, ours, timeout=TIMEOUT_S, context=context)
    else:
        made = smtplib.SMTP(settings.host, settings.port, ours, timeout=TIMEOUT_S)
    with made as server:
        if settings.security == "starttls":
            server.starttls(context=context)
        if settings.user:
            server.login(settings.user, settings.password(site.workspace.path))
        server.send_message(message)


def _refused(error: Exception) -> Reached:
    """What went wrong, without the address that a server's words may repeat."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        return Reached(ok=False, words=f"the mail server refused the address ({codes[0]})", again=max(codes) < 500)
    if isinstance(error, smtplib.SMTPResponseException):
        return Reached(ok=False, words=f"the mail server answered {error.smtp_code}")
    return Reached(ok=False, words=f"the mail server was not reached ({type(error).__name__})")
