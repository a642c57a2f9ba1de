"""Who is at the door: entry links, sessions, API tokens. Secrets are random, kept as digests, and rotated at entry.

A link is good once, for a quarter of an hour, and only when its holder presses the button on the page it opens: mail
scanners follow links and would burn it otherwise. A session outlives a long sitting; every device can be thrown out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from guildhall.domain.halls import Member, WayIn
from guildhall.domain.values import Digest, Id
from guildhall.errors import InputError, UnknownName
from guildhall.grading.people import Roster
from guildhall.store.access import api_tokens, entry_links, sessions
from guildhall.store.hall import members
from guildhall.store.records import Store

LINK_S = 15 * 60.0
IDLE_S, LONGEST_S = 12 * 3600.0, 7 * 86400.0
SCOPES = {
    "results:read": "studies, their progress and their results",
    "export:read": "judgments, under code names",
    "gradings:read": "gradings this token asked for",
    "gradings:write": "send work in to be graded",
}
"""What a token may be good for, and what each opens."""


@dataclass(frozen=True)
class Session:
    """An open session: whose it is, and the token its forms carry."""

    member: Member
    form_token: str
    token_digest: Digest
    entry: WayIn | None
    """How it was opened; None for sessions from before that was kept."""
    opened_at: float

    @property
    def own(self) -> bool:
        """Whether nobody else can have opened it, as far as people of the web can tell."""
        return self.entry in {WayIn.PASSKEY, WayIn.MAIL, WayIn.OPERATOR}


@dataclass(frozen=True)
class ApiCaller:
    """Who calls: the person who made the token, the token's name and scopes, and its digest, which tells it apart."""

    member: Member
    name: str
    scopes: frozenset[str]
    token_digest: Digest


@dataclass(frozen=True)
class ApiToken:
    """A token as its manager sees it; the secret itself is kept nowhere."""

    token_digest: Digest
    name: str
    scopes: tuple[str, ...]
    made_at: float


class Door:
    """WayIn to one store. `now` is seconds since 1970, handed in by the caller."""

    def __init__(self, store: Store, roster: Roster) -> None:
        self.store, self.roster = store, roster

    def new_link(self, member: Id, *, now: float, lasts_s: float = LINK_S, entry: WayIn = WayIn.OPERATOR) -> str:
        """The token of a link that lets one person in once; `entry` says on what road it reaches them."""
        token = secrets.token_urlsafe(32)
        row = {"token_digest": _digest(token), "member": member, "expires_at": now + lasts_s, "entry": entry}
        with self.store.transaction() as connection:
            connection.execute(entry_links.insert().values(**row))
        return token

    def link_holder(self, token: str, *, now: float) -> Member | None:
        """Whom a link would let in, without using it up."""
        good = (
            entry_links.c.token_digest == _digest(token),
            entry_links.c.used_at.is_(None),
            entry_links.c.expires_at > now,
        )
        with self.store.reading() as connection:
            member = connection.execute(select(entry_links.c.member).where(*good)).scalar()
        return self.roster.get(member) if member else None

    def enter_by_link(self, token: str, *, now: float) -> str | None:
        """Use a link up and open a session; None when it is used, too old or unknown."""
        # One guarded update, so that of two simultaneous presses only one gets in.
        good = (
            entry_links.c.token_digest == _digest(token),
            entry_links.c.used_at.is_(None),
            entry_links.c.expires_at > now,
        )
        with self.store.transaction() as connection:
            used = update(entry_links).where(*good).values(used_at=now)
            row = connection.execute(used.returning(entry_links.c.member, entry_links.c.entry)).first()
            if row is None:
                return None
            return self.open_session(row.member, now=now, entry=WayIn(row.entry) if row.entry else None)

    def open_session(self, member: Id, *, now: float, entry: WayIn | None = None) -> str:
        """A fresh session and its cookie value; nothing a visitor brought along is ever reused."""
        token = secrets.token_urlsafe(32)
        row = {"token_digest": _digest(token), "member": member, "form_token": secrets.token_urlsafe(24)}
        with self.store.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.ends_at < now))
            times = {"opened_at": now, "seen_at": now, "ends_at": now + LONGEST_S}
            connection.execute(sessions.insert().values(**row, **times, entry=entry))
        return token

    def session(self, token: str | None, *, now: float) -> Session | None:
        """The session a cookie opens; its idle clock starts anew, at most once a minute so that reading stays cheap."""
        if not token:
            return None
        digest = _digest(token)
        live = (sessions.c.token_digest == digest, sessions.c.ends_at > now, sessions.c.seen_at > now - IDLE_S)
        query = select(sessions, members.c.body).join(members, members.c.id == sessions.c.member)
        with self.store.glance() as connection:
            row = connection.execute(query.where(*live, members.c.active.is_(True))).first()
        if row is None:
            return None
        if now - row.seen_at > 60:
            with self.store.transaction() as connection:
                connection.execute(update(sessions).where(sessions.c.token_digest == digest).values(seen_at=now))
        entry = WayIn(row.entry) if row.entry else None
        return Session(Member.model_validate_json(row.body), row.form_token, digest, entry, row.opened_at)

    def leave(self, token_digest: Digest) -> None:
        with self.store.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.token_digest == token_digest))

    def leave_everywhere(self, member: Id) -> None:
        with self.store.transaction() as connection:
            connection.execute(delete(sessions).where(sessions.c.member == member))

    def new_api_token(self, member: Id, *, name: str, scopes: Collection[str], now: float) -> str:
        """A token for programs, shown once."""
        unknown = set(scopes) - set(SCOPES)
        if unknown:
            raise InputError(f"{', '.join(sorted(unknown))} is no scope; known: {', '.join(sorted(SCOPES))}")
        token = f"gh_{secrets.token_urlsafe(32)}"
        row = {"token_digest": _digest(token), "name": name, "member": member, "scopes": json.dumps(sorted(scopes))}
        with self.store.transaction() as connection:
            connection.execute(api_tokens.insert().values(**row, made_at=now))
        return token

    def api_tokens(self) -> list[ApiToken]:
        """Tokens that still open the API, newest first."""
        query = select(api_tokens).where(api_tokens.c.revoked_at.is_(None)).order_by(api_tokens.c.made_at.desc())
        with self.store.reading() as connection:
            rows = connection.execute(query).all()
        return [ApiToken(row.token_digest, row.name, tuple(json.loads(row.scopes)), row.made_at) for row in rows]

    def revoke_api_token(self, token_digest: Digest, *, now: float) -> str:
        """Close a token for good; returns its name."""
        open_one = (api_tokens.c.token_digest == token_digest, api_tokens.c.revoked_at.is_(None))
        with self.store.transaction() as connection:
            name = connection.execute(
                update(api_tokens).where(*open_one).values(revoked_at=now).returning(api_tokens.c.name)
            ).scalar()
        if name is None:
            raise UnknownName("token", token_digest[:8], fix="reload the list of tokens")
        return str(name)

    def api_caller(self, token: str) -> ApiCaller | None:
        good = (api_tokens.c.token_digest == _digest(token), api_tokens.c.revoked_at.is_(None))
        with self.store.reading() as connection:
            row = connection.execute(select(api_tokens).where(*good)).first()
        if row is None:
            return None
        return ApiCaller(self.roster.get(row.member), row.name, frozenset(json.loads(row.scopes)), row.token_digest)


def same_token(given: str | None, expected: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())


def _digest(token: str) -> Digest:
    return hashlib.sha256(token.encode()).hexdigest()
