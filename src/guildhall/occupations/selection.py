"""The whole selection: sectors over the threshold, occupations kept or dropped with reasons, the best paid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guildhall.domain.values import Value
from guildhall.occupations.digital import DigitalShare, digital_share
from guildhall.occupations.labels import Labeller
from guildhall.occupations.sectors import GdpShare, Placement, read_placements, read_shares
from guildhall.occupations.sources import find_source
from guildhall.occupations.tasks import by_occupation, read_ratings, read_statements
from guildhall.occupations.wages import Occupations, PaidOccupation, read_occupations

ELIGIBLE = "eligible"


class Thresholds(Value):
    """What counts as large, as digital, and how many a sector. "At least", not "above"; edge cases are listed."""

    gdp_share: float = 5.0
    digital_share: float = 0.60
    per_sector: int = 5


class Judged(Value):
    """One occupation with everything that decides on it, and the verdict in words."""

    code: str
    title: str
    sector: str | None
    total_wages_usd: float | None
    employment: int | None
    digital: DigitalShare
    verdict: str


class Selection(Value):
    """The result: counts, every occupation with its verdict, and the chosen ones by sector."""

    thresholds: Thresholds
    labeller: str
    detailed: int
    kept: int
    sectors: tuple[GdpShare, ...]
    occupations: tuple[Judged, ...]
    selected: dict[str, tuple[str, ...]]
    with_ratings: int
    by_proxy: int
    without_share: int
    edge_cases: tuple[str, ...]


def select(
    data: Path, *, labeller: Labeller, labelled_by: str, thresholds: Thresholds, shares: Path | None = None
) -> Selection:
    """Run the selection on a folder of official files."""
    paid = read_occupations(_path(data, "national"))
    placements = read_placements(_path(data, "by_sector"))
    ratings_file = find_source(data, "ratings", required=False)
    statements = read_statements(_path(data, "statements"), read_ratings(ratings_file) if ratings_file else {})
    gathered = by_occupation(statements, {one.code: one.title for one in paid.kept})
    digital = {code: digital_share(tasks, labeller) for code, tasks in gathered.items()}
    sectors = tuple(one for one in read_shares(shares) if one.share >= thresholds.gdp_share)
    return _selection(paid, placements, digital, sectors, thresholds, labelled_by)


def _path(data: Path, name: str) -> Path:
    found = find_source(data, name)
    if found is None:
        raise AssertionError("a required source was not refused")
    return found


def _selection(
    paid: Occupations,
    placements: dict[str, Placement],
    digital: dict[str, DigitalShare],
    sectors: Sequence[GdpShare],
    thresholds: Thresholds,
    labelled_by: str,
) -> Selection:
    names = {one.naics: one.title for one in sectors}
    judged = [_judge(one, placements.get(one.code), digital[one.code], names, thresholds) for one in paid.kept]
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
        detailed=len(paid.detailed),
        kept=len(paid.kept),
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
