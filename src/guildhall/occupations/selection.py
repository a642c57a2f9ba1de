"""The whole selection: sectors over the threshold, occupations kept or dropped with reasons, the best paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from guildhall.domain.occupations import DigitalShare, GdpShare, Judged, Selection, Thresholds
from guildhall.occupations.digital import TaskStatement, digital_share
from guildhall.occupations.labels import Labeller
from guildhall.occupations.sectors import Placement, read_placements, read_shares
from guildhall.occupations.sources import find_source, require_source
from guildhall.occupations.tasks import by_occupation, read_ratings, read_statements
from guildhall.occupations.wages import Occupations, PaidOccupation, read_occupations

ELIGIBLE = "eligible"


@dataclass(frozen=True)
class Official:
    """The official files of one folder, read once: occupations with pay, where their people work, what they do."""

    paid: Occupations
    placements: Mapping[str, Placement]
    shares: Sequence[GdpShare]
    tasks: Mapping[str, Sequence[TaskStatement]]
    """OEWS code -> task statements, for the occupations that are no catch-alls."""

    @property
    def statements(self) -> list[TaskStatement]:
        return [one for tasks in self.tasks.values() for one in tasks]


def read_official(data: Path, *, gdp: Path | None = None) -> Official:
    """Read a folder of official files; a missing one is named with where to get it."""
    paid = read_occupations(require_source(data, "national"))
    placements = read_placements(require_source(data, "matrix", "by_sector"))
    rated = find_source(data, "ratings")
    statements = read_statements(require_source(data, "statements"), read_ratings(rated) if rated else {})
    tasks = by_occupation(statements, {one.code: one.title for one in paid.kept})
    return Official(paid, placements, read_shares(gdp), tasks)


def digital_shares(official: Official, labeller: Labeller) -> dict[str, DigitalShare]:
    """OEWS code -> digital share."""
    return {code: digital_share(tasks, labeller) for code, tasks in official.tasks.items()}


def select(
    official: Official, digital: Mapping[str, DigitalShare], *, labelled_by: str, thresholds: Thresholds
) -> Selection:
    """Choose occupations: in a large sector, digital enough, and among the best paid of the sector."""
    sectors = [one for one in official.shares if one.share >= thresholds.gdp_share]
    names = {one.naics: one.title for one in sectors}
    judged = [
        _judge(one, official.placements.get(one.code), digital[one.code], names, thresholds)
        for one in official.paid.kept
    ]
    selected: dict[str, tuple[str, ...]] = {}
    verdicts: dict[str, str] = {}
    for sector in sectors:
        eligible = [one for one in judged if one.sector == sector.title and one.verdict == ELIGIBLE]
        ranked = sorted(eligible, key=lambda one: -(one.total_wages_usd or 0.0))
        selected[sector.title] = tuple(one.title for one in ranked[: thresholds.per_sector])
        for place, one in enumerate(ranked, 1):
            verdicts[one.code] = "selected" if place <= thresholds.per_sector else f"digital, but place {place} by pay"
    final = tuple(one.but(verdict=verdicts.get(one.code, one.verdict)) for one in judged)
    return Selection(
        thresholds=thresholds,
        labeller=labelled_by,
        detailed=len(official.paid.detailed),
        kept=len(official.paid.kept),
        catch_alls=tuple(one.title for one in official.paid.catch_alls),
        sectors=tuple(sectors),
        occupations=final,
        selected=selected,
        with_ratings=sum(one.digital.method == "ratings" for one in final),
        by_proxy=sum(one.digital.method == "task frequency" for one in final),
        without_share=sum(one.digital.share is None for one in final),
        edge_cases=tuple(one.title for one in final if _on_the_edge(one, thresholds)),
    )


def _judge(
    one: PaidOccupation, placed: Placement | None, digital: DigitalShare, names: dict[str, str], thresholds: Thresholds
) -> Judged:
    sector = names.get(placed.naics) if placed else None
    if placed is None:
        verdict = "its employment by sector is not published"
    elif sector is None:
        verdict = f"works mostly in sector {placed.naics}, which is under the GDP threshold"
    elif one.total_wages_usd is None:
        verdict = "its pay is not published"
    elif digital.share is None:
        verdict = f"has no digital share: {digital.why_absent}"
    elif digital.share < thresholds.digital_share:
        verdict = f"digital share {digital.share:.3f} is under {thresholds.digital_share:.2f}"
    else:
        verdict = ELIGIBLE
    return Judged(
        code=one.code,
        title=one.title,
        sector=sector,
        total_wages_usd=one.total_wages_usd,
        employment=one.employment,
        digital=digital,
        verdict=verdict,
    )


def _on_the_edge(one: Judged, thresholds: Thresholds) -> bool:
    return one.digital.share is not None and abs(one.digital.share - thresholds.digital_share) < 1e-3
