"""Several judges as one: which of them sit on a comparison, and how their verdicts make one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan, PanelPlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import FREE
from guildhall.domain.values import canonical_json, sha256
from guildhall.errors import InputError
from guildhall.grading.judges.asking import Asked, Place
from guildhall.grading.judges.desk import Desk
from guildhall.judging.requests import recordings


def seated(panel: PanelPlan, comparison: Comparison, sweep: int, media: set[str]) -> tuple[JudgePlan, ...]:
    """Who sits on one sweep of a comparison: by seed, the same for every order, so that orders can be compared.

    Work with sound or moving pictures goes to members that take them; when there is none, to all, and what they
    cannot take is a counted omission.
    """
    if not panel.members:
        raise InputError(f"panel {panel.name!r} has no members; name its judges under [[judges]]")
    able = [member for member in panel.members if media <= set(member.takes)] or list(panel.members)
    if panel.draw is None or panel.draw >= len(able):
        return tuple(able)
    rng = Random(sha256(canonical_json([panel.seed, comparison.key, sweep])))
    return tuple(rng.sample(able, panel.draw))


def deal(panel: PanelPlan, asked: Asked, desk: Desk) -> list[tuple[JudgePlan, Asked]]:
    """A wanted verdict with each member that sits on it."""
    media = set().union(*(recordings(desk.prepared(key)) for key in asked.comparison.submissions))
    return [(member, asked) for member in seated(panel, asked.comparison, asked.sweep, media)]


def combine(panel: PanelPlan, place: Place, verdicts: Sequence[Judgment]) -> Judgment:
    """One verdict from the members' on the same order of the same sweep.

    Sides are ranked by their mean rank, weighted; equal means tie. A member's failure takes no part and is said; when
    all failed the panel failed too.
    """
    comparison, order, sweep = place
    valid = [one for one in verdicts if one.ranks is not None]
    usage = sum((one.usage for one in verdicts if one.usage), start=FREE)
    told = f"{len(valid)} of {len(verdicts)} members gave a verdict"
    failures = "; ".join(sorted(str(one.failure) for one in verdicts if one.failure))
    ranks = _ranked(valid, panel.weights, len(order)) if valid else None
    return Judgment(
        comparison=comparison,
        grader=panel.grader,
        order=order,
        ranks=ranks,
        failure=None if ranks else f"no member gave a verdict: {failures}",
        reason=told if ranks else "",
        sweep=sweep,
        usage=usage,
        omissions=verdicts[0].omissions,
        made_at=max(one.made_at for one in verdicts),
    )


def _ranked(valid: Sequence[Judgment], weights: Mapping[str, float], places: int) -> tuple[int, ...]:
    said = [(one.ranks, weights.get(one.grader.name, 1.0)) for one in valid if isinstance(one.grader, ModelGrader)]
    means = [sum(ranks[place] * weight for ranks, weight in said if ranks) for place in range(places)]
    return tuple(1 + sum(other < own - 1e-9 for other in means) for own in means)
