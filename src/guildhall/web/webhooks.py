"""Webhooks: which addresses are told of which events. Secrets are sealed under the workspace's key and shown once.

Signatures of webhooks, after the public Standard Webhooks convention, so that receivers find ready-made checks. The
signature covers the delivery's id, the time it was sent and the body. A receiver refuses what is older than the
window and, within it, an id it has seen: then nothing can be replayed.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from pydantic import field_validator
from sqlalchemy import select, update

from guildhall.domain.values import Id, Value, canonical_json
from guildhall.errors import InputError, UnknownName
from guildhall.store.outbox import EVENTS, Channel, Outbox, Parcel, webhooks
from guildhall.store.settings import read_section
from guildhall.web.reaching import Network, Reached, checked_url, post
from guildhall.web.site import Site

WINDOW_S = 300.0
PREFIX = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signed_headers(secret: str, delivery: str, body: bytes, *, now: float) -> dict[str, str]:
    """The headers that show who sent a body, and when."""
    stamp = str(int(now))
    return {
        "webhook-id": delivery,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{_signature(secret, delivery, stamp, body)}",
    }


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, *, now: float, window_s: float = WINDOW_S) -> bool:
    """Whether a delivery was signed with the secret within the window. Header names are in lower case."""
    delivery, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not stamp.isascii() or not stamp.isdecimal() or len(stamp) > 12 or abs(now - int(stamp)) > window_s:
        return False
    wanted = _signature(secret, delivery, stamp, body)
    given = [
        part.removeprefix("v1,") for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")
    ]
    return any(hmac.compare_digest(one.encode(), wanted.encode()) for one in given)


def _signature(secret: str, delivery: str, stamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, f"{delivery}.{stamp}.".encode() + body, "sha256")).decode()


PING = "ping"
MOST = 50


class WebhookSettings(Value):
    """`[webhooks]`: networks beyond the public internet that may be called, such as `127.0.0.0/8` on a laptop."""

    allow: tuple[str, ...] = ()

    @field_validator("allow")
    @classmethod
    def _are_networks(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for one in given:
            ipaddress.ip_network(one)
        return given

    def networks(self) -> tuple[Network, ...]:
        return tuple(ipaddress.ip_network(one) for one in self.allow)


@dataclass(frozen=True)
class Webhook:
    """A webhook as its manager sees it."""

    id: str
    url: str
    events: tuple[str, ...]
    made_at: float


class Webhooks:
    """The webhooks of one site."""

    def __init__(self, site: Site) -> None:
        self.site, self.store, self.outbox = site, site.store, Outbox(site.store)
        self._seal = Fernet(base64.urlsafe_b64encode(site.workspace.key_for("webhooks")))

    def allowed(self) -> tuple[Network, ...]:
        settings = read_section(self.site.workspace.path, "webhooks", WebhookSettings)
        return settings.networks() if settings else ()

    def add(self, url: str, events: Collection[str], *, member: Id) -> str:
        """Register an address; returns the secret it is signed with, which is shown this once."""
        unknown = set(events) - set(EVENTS)
        if unknown or not events:
            raise InputError(f"choose among the events {', '.join(EVENTS)}")
        checked_url(url, self.allowed())
        if len(self.all()) >= MOST:
            raise InputError(f"there are {MOST} webhooks already; remove one first")
        secret = new_secret()
        row = {"id": secrets.token_hex(8), "url": url, "events": json.dumps(sorted(events)), "member": member}
        with self.store.transaction() as connection:
            sealed = self._seal.encrypt(secret.encode())
            connection.execute(webhooks.insert().values(**row, sealed=sealed, made_at=self.site.clock()))
        return secret

    def all(self) -> list[Webhook]:
        """Webhooks that are told something, newest first."""
        query = select(webhooks).where(webhooks.c.revoked_at.is_(None)).order_by(webhooks.c.made_at.desc())
        with self.store.reading() as connection:
            return [_webhook(row) for row in connection.execute(query)]

    def remove(self, identity: str) -> Webhook:
        """Tell an address nothing more; what waits for it is not sent either."""
        removed = update(webhooks).where(webhooks.c.id == identity, webhooks.c.revoked_at.is_(None))
        with self.store.transaction() as connection:
            row = connection.execute(removed.values(revoked_at=self.site.clock()).returning(webhooks)).first()
        if row is None:
            raise UnknownName("webhook", identity, fix="reload the list")
        return _webhook(row)

    def ping(self, identity: str) -> None:
        """Send a harmless event, to see whether the other side gets it."""
        if identity not in {one.id for one in self.all()}:
            raise UnknownName("webhook", identity, fix="reload the list")
        self.outbox.post(Channel.WEBHOOK, target=identity, event=PING, facts={}, now=self.site.clock())

    def deliver_next(self) -> bool:
        """Make the delivery that is due longest; False when none is due."""
        parcel = self.outbox.take(Channel.WEBHOOK, now=self.site.clock())
        if parcel is None:
            return False
        answer = self._deliver(parcel)
        self.outbox.settle(parcel, sent=answer.ok, answer=answer.words, now=self.site.clock(), again=answer.again)
        return True

    def _deliver(self, parcel: Parcel) -> Reached:
        query = select(webhooks).where(webhooks.c.id == parcel.target, webhooks.c.revoked_at.is_(None))
        with self.store.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            return Reached(ok=False, words="the webhook was removed", again=False)
        try:
            secret = self._seal.decrypt(row.sealed).decode()
        except InvalidToken:
            return Reached(ok=False, words="the workspace's key was changed; make the webhook anew", again=False)
        body = canonical_json(event_of(parcel))
        headers = signed_headers(secret, parcel.id, body, now=self.site.clock())
        return post(row.url, body, {**headers, "Content-Type": "application/json"}, allow=self.allowed())


def event_of(parcel: Parcel) -> dict[str, Any]:
    """What a receiver reads: the same at every try."""
    at = datetime.fromtimestamp(parcel.made_at, UTC).isoformat()
    return {"type": parcel.event, "timestamp": at, "data": parcel.facts}


def _webhook(row: Any) -> Webhook:
    return Webhook(row.id, row.url, tuple(json.loads(row.events)), row.made_at)
