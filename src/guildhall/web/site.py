"""What every page needs at hand: the workspace, the door, the queue, the signer of file links, the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NoReturn

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from guildhall.domain.halls import HallDesign, Slot, WayIn
from guildhall.domain.judgments import BlindedView, Comparison
from guildhall.domain.reviews import Draft
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id
from guildhall.errors import InputError, StoreError, UnknownName
from guildhall.grading.gold import GoldDesk
from guildhall.grading.opening import sealed_orders
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue, Seat
from guildhall.grading.viewing import view_of
from guildhall.store.audit import record
from guildhall.store.wordings import Wordings, newest_study
from guildhall.store.workspace import Workspace
from guildhall.study.boards import Boards
from guildhall.study.publishing import SamplePair, publication, sample_of, sample_view
from guildhall.web.access import Door, Session
from guildhall.web.pulse import Pulse

FILE_LINK_S = 12 * 3600
VIEWS_AT_HAND = 2048
"""Views kept in memory, some kilobytes each: enough for everybody who is in the hall on its busiest day."""
_SEEN_BY_ANOTHER = (
    "You came in by a link that a manager has seen, and this study is blind to its managers too. Ask at the door for a "
    "link to your own address, or ask whoever runs the server for one; then your sets are here."
)
DRAFT = "draft:"
"""Begins the name under which links mean a draft's files instead of a seat's."""
PUBLIC = "public:"
"""Begins the name under which links mean a published pair's files."""


@dataclass(frozen=True)
class Addresses:
    """Where the app and the deliverables live: two host names, so that no cookie of one is ever sent to the other."""

    app: str
    files: str

    def __post_init__(self) -> None:
        if host_of(self.app) == host_of(self.files):
            raise InputError(
                f"the app and the deliverables share the host name {host_of(self.app)!r}; give them different ones "
                "(a second port is not a second origin for cookies), for example localhost and files.localhost"
            )

    @property
    def https(self) -> bool:
        return self.app.startswith("https://")


def host_of(address: str) -> str:
    from urllib.parse import urlsplit

    return (urlsplit(address).hostname or "").casefold()


class Site:
    """One workspace as the web sees it."""

    def __init__(self, workspace: Workspace, addresses: Addresses, *, clock: Callable[[], float] = time.time) -> None:
        self.workspace, self.addresses, self.clock = workspace, addresses, clock
        self.store, self.blobs = workspace.store, workspace.blobs
        self.roster = Roster(self.store, pepper=workspace.secret)
        self.door = Door(self.store, self.roster)
        self.queue = Queue(self.store, order_key=sealed_orders(workspace))
        self._wordings = Wordings(self.store)
        self.boards = Boards(self.workspace, clock=clock)
        self.pulse = Pulse(self._database_answers)
        self.view = lru_cache(maxsize=VIEWS_AT_HAND)(self._view)

    def _database_answers(self) -> bool:
        try:
            with self.store.glance() as connection:
                return connection.execute(text("SELECT 1")).scalar() == 1
        except (SQLAlchemyError, StoreError):
            return False

    @cached_property
    def signer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.workspace.secret, salt="deliverable")

    def study(self, identity: Id) -> Study:
        """The newest frozen form of a study."""
        return newest_study(self.store, identity)

    def design(self, identity: Id) -> HallDesign:
        """The rules of human grading as the study file gave them."""
        return self.study(identity).design.hall

    def studies(self) -> list[Study]:
        newest = {study.id: study for study in self.store.each(Study)}
        return list(newest.values())

    def seat(self, identity: str, session: Session) -> Seat:
        """A grader's own seat; anybody else's is as unknown as one that never was."""
        seat = self.queue.seat(identity)
        if seat.member != session.member.id:
            raise UnknownName("seat", identity, fix="go back to your list of work")
        if not self.may_judge(session, seat.slot.study):
            self.refuse_to_show(session, seat.slot.study)
        return seat

    def may_judge(self, session: Session, study: Id) -> bool:
        """A study that takes two people to unblind is not shown behind a link that a manager has seen."""
        return session.entry is not WayIn.HANDED or self.study(study).design.blinding != "two-person"

    def refuse_to_show(self, session: Session, study: Id) -> NoReturn:
        """Refuse sets to whoever may be a manager in a grader's place; the try is kept."""
        facts = {"entry": session.entry}
        actor = session.member.code_name
        record(self.store, at=self.clock(), actor=actor, action="sets refused", subject=study, facts=facts)
        raise HTTPException(403, _SEEN_BY_ANOTHER)

    def desk(self, study: Id) -> GoldDesk:
        return GoldDesk(self.queue, self.roster, study=study, design=self.design(study))

    def sensitive(self, seat: Seat) -> tuple[str, ...]:
        """What a grader is warned of before they see the brief."""
        return self.task(seat.slot).sensitive

    def task(self, slot: Slot) -> Task:
        """What a slot is about, in the wording its study pinned."""
        return self._wordings.task(self.store.get(Comparison, slot.comparison))

    def _view(self, seat: str) -> BlindedView:
        view = self._made_view(seat)
        files = [*view.reference_files, *(file for side in view.sides for file in side.files)]
        for digest in {one for file in files for one in (file.digest, file.text, *(page.image for page in file.pages))}:
            with suppress(StoreError):  # said where the file is asked for
                if digest:
                    self.blobs.found(digest)  # brought from an object store now, for all sides alike
        return view

    def _made_view(self, seat: str) -> BlindedView:
        if seat.startswith(DRAFT):
            from guildhall.study.reviewing import draft_view  # documents are loaded only where files are looked at

            return draft_view(self.store, self.store.get(Draft, seat.removeprefix(DRAFT)).task)
        if seat.startswith(PUBLIC):
            return sample_view(self.store, self._public_pair(seat))
        return view_of(self.store, self.queue.seat(seat).slot)

    def _public_pair(self, name: str) -> SamplePair:
        report, number, study = name.removeprefix(PUBLIC).split(":", 2)
        found = publication(self.store, study)
        if found is None or found.report != report:
            raise UnknownName("published pair", name)
        return sample_of(self.store, found, int(number))

    def file_link(self, seat: str, what: str, name: str) -> str:
        """A link to a deliverable that is good for this seat only: links of two graders cannot be compared."""
        return f"{self.addresses.files}/f/{self.signer.dumps([seat, what])}/{name}"

    def read_link(self, token: str) -> tuple[str, str] | None:
        try:
            seat, what = self.signer.loads(token, max_age=FILE_LINK_S)
        except (BadSignature, ValueError):
            return None
        if str(seat).startswith(PUBLIC):
            self._public_pair(str(seat))  # results may have been withdrawn since the link was made
        return str(seat), str(what)
