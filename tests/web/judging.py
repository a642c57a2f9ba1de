"""Judgments for the manager's pages, made through the queue without a browser."""

from __future__ import annotations

from guildhall.domain.halls import Member, Verdict
from guildhall.grading.gold import next_set
from guildhall.grading.submitting import submit
from guildhall.web.site import Site


def judge_one(site: Site, member: Member, study: str, *, ranks: tuple[int, ...] = (1, 2)) -> bool:
    """Let a grader judge the next set as told; False when there is none for them."""
    design, now = site.design(study), site.clock()
    seat = next_set(site.queue, site.roster, member, study=study, design=design, now=now)
    if seat is None:
        return False
    tie = "both good" if len(set(ranks)) == 1 else None
    site.queue.mark_brief_read(seat.id, now=now)
    verdict = Verdict(ranks=ranks, tie_kind=tie, reason="It answers what was asked for.")
    submit(site.queue, seat, member, verdict, design=design, submit_key=seat.id, now=now)
    return True
