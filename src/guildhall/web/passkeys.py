"""Passkeys: a person who came in by a link adds one, or several, and from then on comes in without waiting for a link.

A question to an authenticator is answered once, within minutes, by somebody the device has recognised; the answer is
bound to this site's own host name, so that no other site can ask in our name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import delete, func, select, update
from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import bytes_to_base64url
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from guildhall.domain.halls import Member, WayIn
from guildhall.domain.values import Digest, Id, sha256
from guildhall.errors import InputError, UnknownName
from guildhall.store.access import passkey_challenges, passkeys
from guildhall.web.site import Site, host_of

CHALLENGE_S = 300.0
MOST = 10
NAME = "Guildhall"
_RECOGNISED = UserVerificationRequirement.REQUIRED
_CHOICE = AuthenticatorSelectionCriteria(resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_RECOGNISED)


Verified = TypeVar("Verified")
_BYTES = r"^[A-Za-z0-9_-]*$"


class _Response(BaseModel, frozen=True):
    clientDataJSON: str = Field(pattern=_BYTES)  # noqa: N815 - the names are the standard's
    attestationObject: str | None = Field(default=None, pattern=_BYTES)  # noqa: N815
    authenticatorData: str | None = Field(default=None, pattern=_BYTES)  # noqa: N815
    signature: str | None = Field(default=None, pattern=_BYTES)
    userHandle: str | None = Field(default=None, pattern=_BYTES)  # noqa: N815


class _Answer(BaseModel, frozen=True):
    """What an authenticator answered. Nothing but these fields reaches the library that checks it."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,512}$")
    rawId: str = Field(pattern=_BYTES)  # noqa: N815
    type: str
    response: _Response


class _ClientData(BaseModel, frozen=True):
    challenge: str = Field(pattern=_BYTES)


@dataclass(frozen=True)
class Passkey:
    """A passkey as its holder sees it."""

    credential: str
    name: str
    added_at: float
    used_at: float | None
    own: bool | None = None


class Passkeys:
    """The passkeys of one site. Options are JSON for the browser; answers come back as the JSON it made."""

    def __init__(self, site: Site) -> None:
        self.site, self.store = site, site.store
        self._host, self._origin = host_of(site.addresses.app), site.addresses.app

    def of(self, member: Id) -> list[Passkey]:
        """A person's passkeys, oldest first."""
        query = select(passkeys).where(passkeys.c.member == member).order_by(passkeys.c.added_at)
        with self.store.reading() as connection:
            rows = connection.execute(query).all()
        return [Passkey(row.credential, row.name, row.added_at, row.used_at, row.own) for row in rows]

    def options_to_add(self, member: Member) -> str:
        """The question a browser puts to an authenticator to make a new passkey."""
        known = [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.credential)) for one in self.of(member.id)]
        options = generate_registration_options(
            rp_id=self._host,
            rp_name=NAME,
            user_id=member.id.encode(),
            user_name=member.code_name,
            challenge=self._ask(member.id),
            authenticator_selection=_CHOICE,
            exclude_credentials=known,
        )
        return options_to_json(options)

    def add(self, member: Member, answer: str, *, name: str, own: bool) -> None:
        """Keep the passkey an authenticator made; `InputError` when its answer does not hold.

        It is its holder's `own` where nobody else can have opened the session it is added in.
        """
        given = _read_answer(answer)
        challenge = self._answered(given, member=member.id)
        made = _checked(
            lambda: verify_registration_response(
                credential=given.model_dump(),
                expected_challenge=challenge,
                expected_rp_id=self._host,
                expected_origin=self._origin,
                require_user_verification=True,
            )
        )
        row = {"credential": bytes_to_base64url(made.credential_id), "public_key": made.credential_public_key}
        with self.store.transaction() as connection:
            mine = select(func.count()).select_from(passkeys).where(passkeys.c.member == member.id)
            if connection.execute(mine).scalar_one() >= MOST:
                raise InputError(f"you have {MOST} passkeys; remove one first")
            if connection.execute(select(passkeys).where(passkeys.c.credential == row["credential"])).first():
                raise InputError("this passkey is known already")
            more = {"member": member.id, "sign_count": made.sign_count, "added_at": self.site.clock(), "name": name}
            more["own"] = own
            connection.execute(passkeys.insert().values(**row, **more))

    def options_to_enter(self) -> str:
        """The question for whoever wants to come in: which person it is, their passkey tells."""
        options = generate_authentication_options(
            rp_id=self._host, challenge=self._ask(None), user_verification=_RECOGNISED
        )
        return options_to_json(options)

    def enter(self, answer: str) -> str | None:
        """A new session for the holder of a passkey; None when the answer does not hold or the person may not enter."""
        try:
            given = _read_answer(answer)
            challenge = self._answered(given, member=None)
            found = self._known(given)
            checked = _checked(
                lambda: verify_authentication_response(
                    credential=given.model_dump(),
                    expected_challenge=challenge,
                    expected_rp_id=self._host,
                    expected_origin=self._origin,
                    credential_public_key=found.public_key,
                    credential_current_sign_count=found.sign_count,
                    require_user_verification=True,
                )
            )
            member = self.site.roster.get(found.member)
        except InputError:
            return None
        now = self.site.clock()
        with self.store.transaction() as connection:
            mine = passkeys.c.credential == found.credential
            connection.execute(update(passkeys).where(mine).values(sign_count=checked.new_sign_count, used_at=now))
            entry = None if found.own is None else WayIn.PASSKEY if found.own else WayIn.HANDED
            return self.site.door.open_session(member.id, now=now, entry=entry)

    def remove(self, member: Id, credential: str) -> None:
        """Forget one of a person's own passkeys; anybody else's is as unknown as one that never was."""
        mine = (passkeys.c.credential == credential, passkeys.c.member == member)
        with self.store.transaction() as connection:
            if not connection.execute(delete(passkeys).where(*mine)).rowcount:
                raise UnknownName("passkey", credential[:12], fix="reload the page")

    def _ask(self, member: Id | None) -> bytes:
        challenge, now = secrets.token_bytes(32), self.site.clock()
        with self.store.transaction() as connection:
            connection.execute(delete(passkey_challenges).where(passkey_challenges.c.expires_at < now))
            row = {"challenge_digest": sha256(challenge), "member": member, "expires_at": now + CHALLENGE_S}
            connection.execute(passkey_challenges.insert().values(**row))
        return challenge

    def _answered(self, answer: _Answer, *, member: Id | None) -> bytes:
        """The question an answer is about, used up by it; `InputError` when it was not ours to this person."""
        challenge = _challenge_in(answer)
        digest: Digest = sha256(challenge)
        asked = (passkey_challenges.c.challenge_digest == digest, passkey_challenges.c.expires_at > self.site.clock())
        same = passkey_challenges.c.member.is_(None) if member is None else passkey_challenges.c.member == member
        with self.store.transaction() as connection:
            if not connection.execute(delete(passkey_challenges).where(*asked, same)).rowcount:
                raise InputError("this took too long or was sent twice; try again")
        return challenge

    def _known(self, answer: _Answer) -> Any:
        with self.store.reading() as connection:
            row = connection.execute(select(passkeys).where(passkeys.c.credential == answer.id)).first()
        if row is None:
            raise UnknownName("passkey", "given", fix="come in by a link and add it")
        return row


def _read_answer(text: str) -> _Answer:
    """An answer as it was sent; `InputError` for any other text."""
    try:
        return _Answer.model_validate_json(text)
    except ValidationError as error:
        raise InputError("this is no answer of an authenticator") from error


def _challenge_in(answer: _Answer) -> bytes:
    try:
        told = _ClientData.model_validate_json(base64url_to_bytes(answer.response.clientDataJSON))
        return base64url_to_bytes(told.challenge)
    except ValueError as error:
        raise InputError("this is no answer of an authenticator") from error


def _checked(verify: Callable[[], Verified]) -> Verified:
    try:
        return verify()
    except Exception as error:
        raise InputError("the passkey could not be checked; try again") from error
