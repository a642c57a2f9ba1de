"""The frame around every page of a member: the places their role may go, and what their search finds.

A search tells nothing that the pages behind it would not: graders find their own sets, authors their own tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from guildhall.domain.halls import Member, Role, SeatState
from guildhall.taskbank.review.board import board
from guildhall.web.access import Session
from guildhall.web.site import Site


@dataclass(frozen=True)
class MenuEntry:
    """A page of its own in the bar at the left."""

    address: str
    words: str
    icon: str

    def holds(self, path: str) -> bool:
        """Whether a page belongs here; /review/people is a place of its own beside /review."""
        return path == self.address or (path.startswith(f"{self.address}/") and path not in _ADDRESSES)


_WORK = MenuEntry("/sets", "My work", "work")
_TASKS = MenuEntry("/tasks", "My tasks", "write")
_BOARD = MenuEntry("/review", "Review board", "review")
_REVIEWERS = MenuEntry("/review/people", "Authors and reviewers", "people")
_STUDIES = MenuEntry("/manage", "Studies", "studies")
_PEOPLE = MenuEntry("/manage/people", "People", "people")
_SERVICE = MenuEntry("/manage/gradings", "Grading service", "service")
_TOKENS = MenuEntry("/manage/tokens", "Tokens", "key")
_WEBHOOKS = MenuEntry("/manage/webhooks", "Webhooks", "hook")
_AUDIT = MenuEntry("/manage/audit", "Audit log", "log")
_ADDRESSES = frozenset(place.address for place in (_REVIEWERS, _PEOPLE, _SERVICE, _TOKENS, _WEBHOOKS, _AUDIT))
_TEAM = (("Manage", (_STUDIES, _PEOPLE)), ("Task bank", (_BOARD, _REVIEWERS)))
PLACES: dict[Role, tuple[tuple[str, tuple[MenuEntry, ...]], ...]] = {
    Role.GRADER: (("Grade", (_WORK,)),),
    Role.AUTHOR: (("Write", (_TASKS,)),),
    Role.REVIEWER: (("Write", (_TASKS, _BOARD)),),
    Role.MANAGER: (*_TEAM, ("Machine", (_SERVICE, _TOKENS, _WEBHOOKS)), ("Record", (_AUDIT,))),
    Role.AUDITOR: (*_TEAM, ("Machine", (_SERVICE,)), ("Record", (_AUDIT,))),
}
"""What stands at the left, by role; a test opens every place as its role."""


@dataclass(frozen=True)
class SearchHit:
    """One thing that can be sought: where it is, what it is called, and what more is told of it."""

    address: str
    words: str
    about: str = ""

    def fits(self, sought: list[str]) -> bool:
        text = f"{self.words} {self.about}".casefold()
        return all(one in text for one in sought)


def sought_in(site: Site, session: Session, words: str) -> dict[str, list[SearchHit]]:
    """Whatever holds all the words, by kind, among what the visitor may see."""
    sought = words.casefold().split()
    found = (
        {kind: [hit for hit in hits if hit.fits(sought)] for kind, hits in _seen_by(site, session)} if sought else {}
    )
    return {kind: hits for kind, hits in found.items() if hits}


def _seen_by(site: Site, session: Session) -> Iterator[tuple[str, list[SearchHit]]]:
    member = session.member
    groups = PLACES[member.role]
    yield "Pages", [SearchHit(place.address, place.words, group) for group, places in groups for place in places]
    if member.role is Role.GRADER:
        yield "My sets", _sets(site, session)
        return
    yield "Tasks", _tasks(site, member)
    if member.role in (Role.MANAGER, Role.AUDITOR):
        yield (
            "Studies",
            [SearchHit(f"/manage/studies/{_quoted(one.id)}", one.heading, one.id) for one in site.studies()],
        )
        people = site.roster.everyone()
        yield (
            "People",
            [SearchHit("/manage/people", one.code_name, ", ".join((one.role, *one.occupations))) for one in people],
        )


def _sets(site: Site, session: Session) -> list[SearchHit]:
    """Their open sets, by what their own list of work says of them."""
    seats = [one for one in site.queue.seats_of(session.member.id) if one.state in (SeatState.LIVE, SeatState.EXPIRED)]
    tasks = [(seat, site.task(seat.slot)) for seat in seats if site.may_judge(session, seat.slot.study)]
    return [SearchHit(f"/sets/{seat.id}", task.title or task.occupation, task.occupation) for seat, task in tasks]


def _tasks(site: Site, member: Member) -> list[SearchHit]:
    cards = board(site.store, now=site.clock())
    own = [card for card in cards if card.author == member.code_name]
    seen = own if member.role is Role.AUTHOR else [card for card in cards if card.version or card in own]
    return [
        SearchHit(
            f"/tasks/{_quoted(card.task)}{'' if card.version else '/edit'}",
            card.title,
            f"{card.occupation}, {card.lane}",
        )
        for card in seen
    ]


def _quoted(name: str) -> str:
    return quote(name, safe="")
