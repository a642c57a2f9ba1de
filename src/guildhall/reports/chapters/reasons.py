"""Why work lost and won, from coded justifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.reasons import coder_agreement, reason_shares
from guildhall.domain.estimates import Estimate
from guildhall.domain.report import BarPanel, BarPanels, Column, Figure, Quotation, ReportTable, Section
from guildhall.reports.number_format import at_level, shown

EXAMPLES_EACH = 3
LONGEST_EXAMPLE = 600
SIDES = {"lost": "Why work lost", "won": "Why work won"}
ByCoder = Mapping[str, Mapping[str, str]]


class _Said(NamedTuple):
    judgment: str
    side: str
    model: str
    task: str
    words: str


class ReasonShare(NamedTuple):
    model: str
    side: str
    label: str
    share: Estimate


class WhyWorkLost:
    """Shares of labels by the first coder, per model and side, and the agreement of all coders; None without codes."""

    needs = frozenset({Need.REASONS, Need.JUSTIFICATIONS})

    def section(self, evidence: Evidence) -> Section | None:
        by_coder = _by_coder(evidence)
        if not by_coder:
            return None
        coder, labels = next(iter(by_coder.items()))
        found = [_Said(*row) for row in evidence.facts[Need.JUSTIFICATIONS].iter_rows()]
        coded = [one for one in found if one.judgment in labels]
        agreed = _agreement(by_coder, {one.judgment: one.task for one in found}, evidence.level)
        words = _words(coder, list(by_coder)[1:], coded, len(found), labels, agreed)
        return reasons_section(
            coder, list(_shares(coded, labels, evidence)), agreed, words, tuple(_examples(coded, labels))
        )


def reasons_section(
    coder: str,
    shares: Sequence[ReasonShare],
    agreed: Mapping[str, Estimate],
    words: tuple[str, ...],
    examples: tuple[Quotation, ...],
) -> Section:
    """Shares as bars and as a table, coders' agreement, and graders' own words."""
    tables = [_table(shares)] if shares else []
    if agreed:
        columns = (Column(name="figure", title="figure"), Column(name="agreement", title="estimate", form="number"))
        title = "Agreement of coders"
        tables.append(ReportTable(name="coders", title=title, columns=columns, rows=tuple(agreed.items()), folded=True))
    panels = tuple(
        BarPanel(title=title, bars=tuple((one.label, one.model, one.share) for one in shares if one.side == side))
        for side, title in SIDES.items()
        if any(one.side == side for one in shares)
    )
    sure = f", with {at_level(shares[0].share.level)} intervals" if shares else ""
    plot = BarPanels(title="Reasons graders gave", subtitle=(f"coded by {coder}{sure}",), panels=panels)
    figure = Figure(name="reasons", says="Reasons for losing and winning", plot=plot)
    return Section(
        name="reasons",
        title="Why work lost and won",
        words=words,
        figures=(figure,) if shares else (),
        tables=tuple(tables),
        quotations=examples,
    )


def _by_coder(evidence: Evidence) -> ByCoder:
    found: dict[str, dict[str, str]] = {}
    for coder, judgment, label in evidence.facts[Need.REASONS].iter_rows():
        found.setdefault(coder, {})[judgment] = label
    return found


def _agreement(by_coder: ByCoder, task_of: Mapping[str, str], level: float) -> dict[str, Estimate]:
    known = {name: {key: label for key, label in own.items() if key in task_of} for name, own in by_coder.items()}
    return dict(coder_agreement(known, task_of, level=level)) if len(known) > 1 else {}


def _words(
    coder: str,
    others: Sequence[str],
    coded: Sequence[_Said],
    n_found: int,
    labels: Mapping[str, str],
    agreed: Mapping[str, Estimate],
) -> tuple[str, ...]:
    """Who coded what, and how far coders agree."""
    blank = sum(not labels[one.judgment] for one in coded)
    first = (
        f"Graders' justifications, each coded by {coder} into the one label that names its main reason. "
        f"{len(coded)} were coded, {blank} of them left blank because no one reason stands out; "
        f"{n_found - len(coded)} were not coded."
    )
    if not agreed:
        return (first, "One coder only: nothing says how far another would agree.")
    told = "; ".join(f"{name} {shown(one, 'number').line}" for name, one in agreed.items())
    return (first, f"Agreement with {', '.join(others)}: {told}.")


def _shares(coded: Sequence[_Said], labels: Mapping[str, str], evidence: Evidence) -> Iterator[ReasonShare]:
    level = evidence.level
    for model in evidence.models:
        for side in SIDES:
            own = [one for one in coded if one.model == model and one.side == side]
            if own:
                tasks = np.unique([one.task for one in own], return_inverse=True)[1].astype(np.intp)
                for label, share in reason_shares([labels[one.judgment] for one in own], tasks, level=level).items():
                    yield ReasonShare(model, side, label, share)


def _table(shares: Sequence[ReasonShare]) -> ReportTable:
    return ReportTable(
        name="reasons",
        columns=(
            Column(name="model", title="model"),
            Column(name="side", title="side"),
            Column(name="reason", title="reason"),
            Column(name="share", title="share", form="percent"),
        ),
        rows=tuple(shares),
        traced=True,
        folded=True,
    )


def _examples(coded: Sequence[_Said], labels: Mapping[str, str]) -> Iterator[Quotation]:
    taken: dict[tuple[str, str], int] = {}
    for one in coded:
        label = labels[one.judgment]
        if not label or taken.get((one.side, label), 0) >= EXAMPLES_EACH:
            continue
        taken[one.side, label] = taken.get((one.side, label), 0) + 1
        words = one.words if len(one.words) <= LONGEST_EXAMPLE else f"{one.words[:LONGEST_EXAMPLE]} …"
        source = f"{one.model} on {one.task}; judgment {one.judgment[:16]}"
        yield Quotation(under=f"{one.side}, {label}", words=words, source=source)
