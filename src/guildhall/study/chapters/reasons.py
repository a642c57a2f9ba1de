"""Why work lost and won, from coded justifications."""

from __future__ import annotations

from collections.abc import Mapping

from guildhall.analysis.reasons import coder_agreement, reason_shares
from guildhall.domain.reasons import ReasonExample, Reasons, ReasonShare
from guildhall.study.evidence import Evidence, codes
from guildhall.study.reasons import Justification, justifications

EXAMPLES_EACH = 3
LONGEST_EXAMPLE = 600


def reasons_of(evidence: Evidence, by_coder: Mapping[str, Mapping[str, str]]) -> Reasons | None:
    """Shares of labels by the first coder, per model and side, and the agreement of all coders; None without codes."""
    if not by_coder:
        return None
    coder, labels = next(iter(by_coder.items()))
    found = justifications(evidence)
    coded = [one for one in found if one.judgment in labels]
    task_of = {one.judgment: one.task for one in found}
    known = {name: {key: label for key, label in own.items() if key in task_of} for name, own in by_coder.items()}
    return Reasons(
        coder=coder,
        others=tuple(name for name in by_coder if name != coder),
        coded=len(coded),
        blank=sum(not labels[one.judgment] for one in coded),
        uncoded=len(found) - len(coded),
        shares=tuple(_shares(coded, labels)),
        agreement=tuple(
            (name, measured) for name, measured in (coder_agreement(known, task_of) if len(known) > 1 else {}).items()
        ),
        examples=tuple(_examples(coded, labels)),
    )


def _shares(coded: list[Justification], labels: Mapping[str, str]) -> list[ReasonShare]:
    made = []
    for model in sorted({one.model for one in coded}):
        for side in ("lost", "won"):
            own = [one for one in coded if one.model == model and one.side == side]
            if not own:
                continue
            shares = reason_shares([labels[one.judgment] for one in own], codes([one.task for one in own]))
            made += [ReasonShare(model=model, side=side, label=label, share=share) for label, share in shares.items()]
    return made


def _examples(coded: list[Justification], labels: Mapping[str, str]) -> list[ReasonExample]:
    taken: dict[tuple[str, str], int] = {}
    made = []
    for one in coded:
        label = labels[one.judgment]
        if not label or taken.get((one.side, label), 0) >= EXAMPLES_EACH:
            continue
        taken[one.side, label] = taken.get((one.side, label), 0) + 1
        words = one.words if len(one.words) <= LONGEST_EXAMPLE else f"{one.words[:LONGEST_EXAMPLE]} …"
        made.append(
            ReasonExample(
                label=label, side=one.side, model=one.model, task=one.task, judgment=one.judgment, words=words
            )
        )
    return made
