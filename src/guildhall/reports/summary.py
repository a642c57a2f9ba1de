"""The first sentences of a report: who does best, how sure that is, and how far graders agree."""

from __future__ import annotations

from guildhall.domain.findings import Findings, ModelRecord
from guildhall.reports.words import interval_percent, percent

HALF = 0.5


def ranked(findings: Findings) -> list[ModelRecord]:
    """Models, the one that wins or ties most first."""
    return sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))


def in_short(findings: Findings) -> tuple[str, ...]:
    """What a hurried reader should take away, in numbers that stand further down with all their counts."""
    if not findings.headline:
        return ()
    best = ranked(findings)[0]
    rate = best.win_or_tie
    does = f"{best.model} does best of {len(findings.headline)} models" if len(findings.headline) > 1 else best.model
    sentences = [
        f"{does}: its work wins or ties against the {findings.baseline} in {percent(rate.value)} of comparisons "
        f"({interval_percent(rate)}), wins outright in {percent(best.win.value)}, over {rate.n_tasks} tasks.",
        _against_half(best),
    ]
    for group in findings.groups:
        if group.name == "agreement":
            one = group.figures[0].estimate
            sentences.append(
                f"Two graders of the same work agree {percent(one.value)} of the time ({interval_percent(one)})."
            )
    return tuple(sentences)


def _against_half(best: ModelRecord) -> str:
    if best.win_or_tie.interval is None:
        return f"How sure that is cannot be said: {best.win_or_tie.why_no_interval}."
    low, high = best.win_or_tie.interval
    if low > HALF:
        return "All of the interval lies above one half."
    if high < HALF:
        return "All of the interval lies below one half."
    return "The interval holds one half, so these judgments do not say on which side of it the truth lies."


def contents(findings: Findings) -> list[tuple[str, str]]:
    """The chapters of the page: where each stands, and its title."""
    chapters = [
        ("headline", "Headline", True),
        ("breakdowns", "Breakdowns", findings.breakdowns),
        ("trend", "Trend over release dates", findings.trend),
        ("ablations", "What one setting does", findings.ablations),
        ("savings", "Speed and cost", findings.savings),
        ("reasons", "Why work lost and won", findings.reasons),
        ("calibration", "Stated confidence against outcomes", findings.calibrations),
        *((group.name, group.title, True) for group in findings.groups),
        ("methods", "Methods", True),
    ]
    return [(name, title) for name, title, present in chapters if present]
