"""What exists in a hall, and who may go to which of its addresses: a sound request about real things, to be spoiled."""

from __future__ import annotations

import json
import random
from urllib.parse import quote_from_bytes

from guildhall.domain.halls import Role
from guildhall.store.access import passkeys
from guildhall.web.access import SCOPES
from guildhall.web.drafts import desk_of
from guildhall.web.passkeys import Passkeys
from guildhall.web.permissions import Permission
from tests.taskbank.reviewing import VETTED, draft_task
from tests.web.live import Live

Headers = list[tuple[bytes, bytes]]
FILE = Permission("GET", "/f/{token}/{name}")
"""The one address of the deliverables' own origin."""
OCCUPATIONS = ("Editors", "Accountants and Auditors")


class Entitled:
    """Somebody of each role, each with something of their own."""

    def __init__(self, live: Live, rng: random.Random) -> None:
        self.site, self.rng = live.site, rng
        self.members = {role: live.invite(role, occupations=OCCUPATIONS, years=9.0, vetting=VETTED) for role in Role}
        grader, author = self.members[Role.GRADER], self.members[Role.AUTHOR]
        self.asking = grader.id
        self.victim = live.invite()
        visitor, writer = live.client(grader), live.client(author)
        self.seat = visitor.post("/sets/claim").headers["location"].split("/")[2]
        visitor.post(f"/sets/{self.seat}/brief")
        self.own_task = writer.post("/tasks/new").headers["location"].split("/")[2]
        self.task = f"memo-{grader.id}"
        desk_of(self.site).submit(draft_task(self.task), author, now=self.site.clock())
        self.credential = f"key-{grader.id}"
        row = {"credential": self.credential, "member": self.victim.id, "public_key": b"k", "sign_count": 0}
        with self.site.store.transaction() as connection:
            connection.execute(passkeys.insert().values(**row, added_at=1.0))
        maker = self.members[Role.MANAGER].id
        self.token = self.site.door.new_api_token(maker, name="all", scopes=SCOPES, now=self.site.clock())

    def target(self, address: Permission, value: bytes | None = None) -> bytes:
        """The address about something real; one open part of it holds the value instead, where one is given."""
        parts = address.path.split("/")
        open_parts = [index for index, part in enumerate(parts) if part.startswith("{")]
        hit = self.rng.choice(open_parts) if value is not None and open_parts else None
        for index in open_parts:
            named = value if index == hit and value is not None else self._name(parts[index], address).encode()
            parts[index] = quote_from_bytes(named, safe="")
        return "/".join(parts).encode()

    def _name(self, part: str, address: Permission) -> str:
        now = self.site.clock()
        known = {
            "{study}": "study",
            "{study_id}": "study",
            "{seat}": self.seat,
            "{task}": self.own_task if _is_writing(address) else self.task,
            "{member}": self.victim.id,
            "{passkey}": self.credential,
            "{token}": self.site.door.new_link(self.victim.id, now=now),
            "{ending}": "csv",
            "{number}": "1",
            "{file}": "A.1",
            "{name}": "memo.docx",
        }
        if address is FILE:
            known["{token}"] = self.site.signer.dumps([self.seat, "A.1"])
        return known.get(part, "0" * 64)

    def headers(self, address: Permission) -> Headers:
        """What lets a caller of this address in, and lets their form count."""
        if address.scope:
            return [(b"authorization", f"Bearer {self.token}".encode())]
        if not address.roles:
            return []
        role = Role.AUTHOR if _is_writing(address) else self.rng.choice(address.roles)
        self.asking, now = self.members[role].id, self.site.clock()
        cookie = self.site.door.open_session(self.asking, now=now)
        session = self.site.door.session(cookie, now=now)
        token = session.form_token if session else ""
        return [(b"cookie", f"guildhall={cookie}".encode()), (b"x-form-token", token.encode())]

    def question(self, *, adding: bool) -> str:
        """A question to an authenticator, by whoever's headers were asked for last or by nobody known."""
        desk = Passkeys(self.site)
        made = desk.options_to_add(self.site.roster.get(self.asking)) if adding else desk.options_to_enter()
        return str(json.loads(made)["challenge"])


def _is_writing(address: Permission) -> bool:
    return address.path.endswith(("/edit", "/revise"))
