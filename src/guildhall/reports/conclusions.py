"""The first sentences of a report: who does best, how sure that is, and how far graders agree."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GraderGroup, GroupKind
from guildhall.domain.report import Section
from guildhall.reports.number_format import shown

HALF = 0.5


def conclusions(sections: Sequence[Section], *, baseline: str, group: GraderGroup) -> tuple[str, ...]:
    """What a hurried reader should take away, in numbers that stand further down with all their counts."""
    found = {section.name: section for section in sections}
    rows = found["headline"].table("headline").rows if "headline" in found else ()
    if not rows:
        return ()
    model, *_, win, either, _half = rows[0]
    assert isinstance(win, Estimate) and isinstance(either, Estimate)  # noqa: S101 - as the headline lays them out
    does = f"{model} does best of {len(rows)} models" if len(rows) > 1 else str(model)
    rate = shown(either, "percent")
    return (
        *_who_judged(group),
        f"{does}: its work wins or ties against the {baseline} in {rate.value} of comparisons ({rate.interval}), "
        f"wins outright in {shown(win, 'percent').value}, over {either.n_tasks} tasks.",
        _against_half(either),
        *_agreement(found.get("agreement")),
    )


def _who_judged(group: GraderGroup) -> tuple[str, ...]:
    """Where nobody looked at the work, that comes first."""
    if group.kind is GroupKind.CONSTANT:
        return (f"Nobody judged this work: the figures are those of the constant rule {group.name}.",)
    if group.kind is GroupKind.SIMULATED:
        return ("Only simulated graders judged: the figures say nothing about any model.",)
    return ()


def _against_half(rate: Estimate) -> str:
    if rate.interval is None:
        return f"How sure that is cannot be said: {rate.why_no_interval}."
    low, high = rate.interval
    if low > HALF:
        return "All of the interval lies above one half."
    if high < HALF:
        return "All of the interval lies below one half."
    return "The interval holds one half, so these judgments do not say on which side of it the truth lies."


def _agreement(section: Section | None) -> tuple[str, ...]:
    if section is None or not section.tables or not section.tables[0].rows:
        return ()
    one = next((cell for cell in section.tables[0].rows[0] if isinstance(cell, Estimate)), None)
    if one is None:
        return ()
    words = shown(one, "percent")
    return (f"Two graders of the same work agree {words.value} of the time ({words.interval}).",)
