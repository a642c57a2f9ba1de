"""The roster: people by code name, their personal fields sealed apart, each under a key of its own.

Erasing a person destroys the key: their judgments stay, pseudonymous, and nothing can lead back.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from sqlalchemy import Connection, delete, select, update

from guildhall.domain.authors import GraderKind
from guildhall.domain.halls import Member, Role
from guildhall.domain.values import Digest, Id, Line, Value
from guildhall.errors import FaultsFound, InputError, UnknownName
from guildhall.store.access import entry_links, passkey_challenges, passkeys, sessions
from guildhall.store.database import rewrite
from guildhall.store.hall import member_secrets, members
from guildhall.store.outbox import outbox
from guildhall.store.records import Store
from guildhall.store.rows import read_rows
from guildhall.store.sealing import seal, unseal

_OF_A_PERSON = (passkeys, passkey_challenges, entry_links, sessions)
"""Tables whose rows go with the person."""
_BIRDS = ("avocet", "bittern", "curlew", "dunlin", "egret", "fulmar", "gannet", "heron", "ibis", "kestrel", "lapwing")
_TINTS = ("amber", "azure", "cobalt", "coral", "ebony", "golden", "hazel", "indigo", "ivory", "jade", "lilac", "ochre")


_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x20\x7f]{1,64}@[A-Za-z0-9.-]{1,253}")
"""Plain addresses only: what else mail allows (comments, quotes, lists) has no place in a header we write."""


PeopleKind = Literal[GraderKind.EXPERT, GraderKind.PRACTITIONER, GraderKind.STUDENT, GraderKind.CROWD]
"""What a person may be; a simulated grader is none."""


class Invitation(Value):
    """A row of a roster file: somebody to be invited. The address tells a second run who is there already."""

    email: Annotated[str, Field(pattern=f"^{_ADDRESS.pattern}$")]
    name: str = ""
    employer: str = ""
    role: Role = Role.GRADER
    kind: PeopleKind = GraderKind.EXPERT
    occupations: tuple[Line, ...] = ()
    years: Annotated[float, Field(ge=0, le=80)] | None = None
    author_names: tuple[Id, ...] = ()
    conflicts: tuple[Id, ...] = ()


_LISTS = frozenset({"occupations", "author_names", "conflicts"})


def read_invitations(path: Path) -> list[Invitation]:
    """Everybody in a table (cells of several parts are split at semicolons), or every fault of it."""
    people: dict[str, Invitation] = {}
    faults = []
    for number, row in enumerate(read_rows(path, required=("email",)), 1):
        said = {name: str(cell).strip() for name, cell in row.items() if cell is not None and str(cell).strip()}
        parts = {name: tuple(filter(None, map(str.strip, said[name].split(";")))) for name in _LISTS & set(said)}
        try:
            one = Invitation.model_validate({**said, **parts})
        except ValidationError as error:
            faults += [f"row {number}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
            continue
        if people.setdefault(one.email.casefold(), one) is not one:
            faults.append(f"row {number}: its address stands in an earlier row")
    if faults:
        raise FaultsFound(f"{path}: {len(faults)} faults", faults, fix="correct them; nobody was invited")
    return list(people.values())


class Roster:
    """People of one store. `pepper` is the workspace's own secret, so that marks cannot be guessed from outside."""

    def __init__(self, store: Store, *, pepper: bytes) -> None:
        self.store, self._pepper = store, pepper

    def mark(self, text: str) -> Digest:
        """A keyed digest of a name or address: equal ones can be told, none can be read."""
        return hmac.new(self._pepper, " ".join(text.casefold().split()).encode(), hashlib.sha256).hexdigest()

    def invite(self, member: Member, *, personal: Mapping[str, str]) -> Member:
        """Add a person; `personal` (name, address, employer) is sealed and leaves no other trace."""
        address = personal.get("email")
        with self.store.transaction() as connection:
            if address and not _ADDRESS.fullmatch(address):
                raise InputError("this is not an e-mail address")
            if address and self._marked(connection, address):
                raise InputError("this address is on the roster already; look for it with `guildhall people list`")
            key, sealed = seal(self._pepper, personal)
            connection.execute(members.insert().values(**_row(member)))
            connection.execute(
                member_secrets.insert().values(
                    member=member.id,
                    key=key,
                    sealed=sealed,
                    address_mark=self.mark(address) if address else None,
                )
            )
        return member

    def _marked(self, connection: Connection, address: str) -> bool:
        query = select(member_secrets.c.member).where(member_secrets.c.address_mark == self.mark(address))
        return connection.execute(query).first() is not None

    def invite_person(
        self,
        role: Role,
        *,
        occupations: tuple[str, ...],
        years: float | None,
        personal: Mapping[str, str],
        kind: GraderKind = GraderKind.EXPERT,
        author_names: tuple[Id, ...] = (),
        conflicts: tuple[Id, ...] = (),
    ) -> Member:
        """Add somebody new under a fresh code name; of their employer only a mark stays in the open."""
        employer = personal.get("employer")
        member = Member(
            id=secrets.token_hex(8),
            code_name=new_code_name({one.code_name for one in self.everyone()}),
            role=role,
            grader_kind=kind,
            occupations=occupations,
            years=years,
            employer_mark=self.mark(employer) if employer else None,
            author_names=author_names,
            conflicts=conflicts,
        )
        return self.invite(member, personal=personal)

    def invite_all(self, invitations: Sequence[Invitation]) -> list[tuple[Invitation, Member]]:
        """Add everybody who is not on the roster yet, all or none; who is there is known by their address."""
        with self.store.transaction() as connection:
            new = [one for one in invitations if not self._marked(connection, one.email)]
            return [(one, self._invited(one)) for one in new]

    def _invited(self, one: Invitation) -> Member:
        personal = {name: text for name in ("name", "email", "employer") if (text := getattr(one, name))}
        facts = one.model_dump(include={"occupations", "years", "kind", "author_names", "conflicts"})
        return self.invite_person(one.role, personal=personal, **facts)

    def change(self, member: Member) -> None:
        """Keep new facts about a person (quiz passed, a conflict declared)."""
        with self.store.transaction() as connection:
            connection.execute(update(members).where(members.c.id == member.id).values(**_row(member)))

    def get(self, identity: Id) -> Member:
        with self.store.reading() as connection:
            body = connection.execute(
                select(members.c.body).where(members.c.id == identity, members.c.active.is_(True))
            ).scalar()
        if body is None:
            raise UnknownName("person", identity, fix="`guildhall people list` shows the roster")
        return Member.model_validate_json(body)

    def everyone(self, role: Role | None = None) -> list[Member]:
        query = select(members.c.body).where(members.c.active.is_(True)).order_by(members.c.code_name)
        if role is not None:
            query = query.where(members.c.role == role)
        with self.store.reading() as connection:
            return [Member.model_validate_json(body) for body in connection.execute(query).scalars()]

    def code_names(self, role: Role, *, most: int) -> list[str] | None:
        """Everybody of a role by code name, without opening their records; None when there are more than `most`."""
        active = select(members.c.code_name).where(members.c.active.is_(True), members.c.role == role)
        with self.store.reading() as connection:
            found = connection.execute(active.order_by(members.c.code_name).limit(most + 1)).scalars().all()
        return list(found) if len(found) <= most else None

    def by_code_name(self, code_name: str) -> Member:
        return self.get(self.identity_of(code_name))

    def identity_of(self, code_name: str) -> Id:
        """Whose code name this is or was."""
        with self.store.reading() as connection:
            identity: Id | None = connection.execute(
                select(members.c.id).where(members.c.code_name == code_name)
            ).scalar()
        if identity is None:
            raise UnknownName("person", code_name, fix="`guildhall people list` shows the roster")
        return identity

    def by_mark(self, mark: Digest) -> Member | None:
        """Who has the address of this mark; None when nobody has, or may come in no more."""
        query = (
            select(members.c.body)
            .join(member_secrets, member_secrets.c.member == members.c.id)
            .where(member_secrets.c.address_mark == mark, members.c.active.is_(True))
        )
        with self.store.reading() as connection:
            body = connection.execute(query).scalar()
        return Member.model_validate_json(body) if body else None

    def personal(self, identity: Id) -> dict[str, str] | None:
        """The sealed fields; None once the person was erased."""
        with self.store.reading() as connection:
            row = connection.execute(
                select(member_secrets.c.key, member_secrets.c.sealed).where(member_secrets.c.member == identity)
            ).first()
        return unseal(self._pepper, row.key, row.sealed) if row is not None and row.key is not None else None

    def revoke(self, identity: Id) -> None:
        """Close the door to a person; what they judged stays."""
        with self.store.transaction() as connection:
            connection.execute(update(members).where(members.c.id == identity).values(active=False))

    def erase(self, identity: Id) -> None:
        """Destroy the key to a person's fields, their passkeys, and every mark that could find them again.

        The database is then rewritten, so that no byte of them is left in it. Whom a stopped process left half erased
        is erased by doing it again.
        """
        with self.store.transaction() as connection:
            row = connection.execute(select(members.c.body).where(members.c.id == identity)).one()
            own = member_secrets.c.member == identity
            marks = select(member_secrets.c.address_mark).where(own)
            connection.execute(delete(outbox).where(outbox.c.target.in_(marks)))
            connection.execute(update(member_secrets).where(own).values(key=None, sealed=b"", address_mark=None))
            for table in _OF_A_PERSON:
                connection.execute(delete(table).where(table.c.member == identity))
            left = Member.model_validate_json(row.body).but(employer_mark=None, author_names=(), conflicts=())
            connection.execute(update(members).where(members.c.id == identity).values(**_row(left) | {"active": False}))
        rewrite(self.store.engine, (members, member_secrets, outbox, *_OF_A_PERSON))


def new_code_name(taken: set[str]) -> str:
    """A name that says nothing: a tint, a bird and a number."""
    while True:
        name = f"{secrets.choice(_TINTS)}-{secrets.choice(_BIRDS)}-{secrets.randbelow(900) + 100}"
        if name not in taken:
            return name


def _row(member: Member) -> dict[str, object]:
    found = {name: getattr(member, name) for name in ("id", "code_name", "role", "employer_mark")}
    return {**found, "body": member.canonical().decode(), "active": True}
