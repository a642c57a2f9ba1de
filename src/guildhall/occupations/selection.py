"""The whole selection: sectors over the threshold, occupations kept or dropped with reasons, the best paid.

What other thresholds would have chosen is told beside it: each moved alone, over steps around the one that was used.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from guildhall.domain.occupations import DigitalShare, GdpShare, OccupationVerdict, Selection, Shift, Thresholds
from guildhall.domain.values import Value
from guildhall.occupations.digital import TaskStatement, digital_share
from guildhall.occupations.labels import Labeller
from guildhall.occupations.sources import SOURCES, Row, number, read_rows, require_source
from guildhall.occupations.tasks import by_occupation, ratings_of, read_statements

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
    statements = read_statements(require_source(data, "statements"), ratings_of(data))
    tasks = by_occupation(statements, {one.code: one.title for one in paid.kept})
    return Official(paid, placements, read_shares(gdp), tasks)


def digital_shares(official: Official, labeller: Labeller) -> dict[str, DigitalShare]:
    """OEWS code -> digital share."""
    return {code: digital_share(tasks, labeller) for code, tasks in official.tasks.items()}


def select(
    official: Official, digital: Mapping[str, DigitalShare], *, labelled_by: str, thresholds: Thresholds
) -> Selection:
    """Choose occupations: in a large sector, digital enough, and among the best paid of the sector."""
    sectors = [one for one in official.shares if one.share > thresholds.gdp_share]
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
        sectors_on_the_edge=tuple(one.title for one in official.shares if one.share == thresholds.gdp_share),
    )


def paper_occupations() -> tuple[str, ...]:
    """The 44 occupations of the GDPval paper's Table 1, by their official titles."""
    text = files("guildhall.occupations").joinpath("paper_occupations.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def missed_of_the_paper(selection: Selection) -> dict[str, str]:
    """Those of the paper's occupations that were not chosen, each with its verdict."""
    verdicts = {one.title: one.verdict for one in selection.occupations}
    missed = (title for title in paper_occupations() if verdicts.get(title) != "selected")
    return {title: verdicts.get(title, "not among the occupations of this file") for title in missed}


def _judge(
    one: PaidOccupation, placed: Placement | None, digital: DigitalShare, names: dict[str, str], thresholds: Thresholds
) -> OccupationVerdict:
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
    return OccupationVerdict(
        code=one.code,
        title=one.title,
        sector=sector,
        total_wages_usd=one.total_wages_usd,
        employment=one.employment,
        digital=digital,
        verdict=verdict,
    )


def _on_the_edge(one: OccupationVerdict, thresholds: Thresholds) -> bool:
    return one.digital.share is not None and abs(one.digital.share - thresholds.digital_share) < 1e-3


HOURS_A_YEAR = 2080
CATCH_ALL = "All Other"
"""The phrase itself: `Dentists, All Other Specialists` is one too."""


class PaidOccupation(Value):
    """A detailed occupation of OEWS. Total wages are absent where BLS publishes neither salary nor hourly pay."""

    code: str
    title: str
    employment: int | None
    total_wages_usd: float | None
    paid_by: str
    median_hourly_usd: float | None = None


@dataclass(frozen=True)
class Occupations:
    """All detailed occupations, and those that stay once the catch-alls are dropped."""

    detailed: tuple[PaidOccupation, ...]
    kept: tuple[PaidOccupation, ...]

    @property
    def catch_alls(self) -> tuple[PaidOccupation, ...]:
        return tuple(one for one in self.detailed if is_catch_all(one.title))


def read_occupations(path: Path) -> Occupations:
    detailed = tuple(_occupation(row) for row in _detailed(read_rows(path, columns=SOURCES["national"].columns)))
    return Occupations(detailed, tuple(one for one in detailed if not is_catch_all(one.title)))


def is_catch_all(title: str) -> bool:
    return CATCH_ALL in title


def _detailed(rows: Iterable[Row]) -> Iterable[Row]:
    return (row for row in rows if row["O_GROUP"] == "detailed")


def _occupation(row: Row) -> PaidOccupation:
    employment = number(row["TOT_EMP"])
    annual, hourly = number(row["A_MEAN"]), number(row["H_MEAN"])
    # The annual mean where there is one; hourly pay times a full year only where BLS publishes nothing else.
    pay = annual if annual is not None else None if hourly is None else hourly * HOURS_A_YEAR
    total = None if employment is None or pay is None else employment * pay
    return PaidOccupation(
        code=str(row["OCC_CODE"]),
        title=str(row["OCC_TITLE"]).strip(),
        employment=None if employment is None else int(employment),
        total_wages_usd=total,
        paid_by="annual" if annual is not None else "hourly" if hourly is not None else "not published",
        median_hourly_usd=number(row.get("H_MEDIAN")),
    )


JOINED = {"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49"}
"""Two NAICS digits that are one sector."""


@dataclass(frozen=True)
class Placement:
    """Where an occupation's people work: the largest sector, and all of them."""

    naics: str
    employment: Mapping[str, int]


def shipped_shares() -> tuple[GdpShare, ...]:
    """Value added as a share of GDP, second quarter of 2024, for the nine sectors of the paper's Table 1."""
    text = files("guildhall.occupations").joinpath("gdp_shares.toml").read_text(encoding="utf-8")
    return tuple(GdpShare(**entry) for entry in tomllib.loads(text)["sectors"])


def read_shares(path: Path | None) -> tuple[GdpShare, ...]:
    """Shares from a file of the same form, or the shipped ones."""
    if path is None:
        return shipped_shares()
    return tuple(GdpShare(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["sectors"])


def read_placements(path: Path) -> dict[str, Placement]:
    """Occupation code -> sector of largest employment, from OEWS by sector or from the National Employment Matrix."""
    employment: dict[str, dict[str, int]] = {}
    counted = _matrix(path) if is_matrix(path) else _by_sector(path)
    for code, naics, count in counted:
        mine = employment.setdefault(code, {})
        mine[naics] = mine.get(naics, 0) + count
    return {
        code: Placement(max(mine, key=lambda naics: (mine[naics], naics)), mine) for code, mine in employment.items()
    }


def is_matrix(path: Path) -> bool:
    return "matrix" in path.name.casefold()


def _by_sector(path: Path) -> Iterator[tuple[str, str, int]]:
    for row in read_rows(path, columns=SOURCES["by_sector"].columns):
        count = number(row["TOT_EMP"])
        if row["O_GROUP"] == "detailed" and count is not None:
            yield str(row["OCC_CODE"]), sector_code(str(row["NAICS"])), int(count)


def _matrix(path: Path) -> Iterator[tuple[str, str, int]]:
    """Line items only, since the others are their sums; the matrix counts people in thousands."""
    for row in read_rows(path, columns=SOURCES["matrix"].columns):
        count = number(row["2023 Employment"])
        lines = row["Occupation Type"] == row["Industry Type"] == "Line Item"
        naics = str(row["Industry Code"]).strip()
        if lines and count is not None and naics[:2].isdigit():
            yield str(row["Occupation Code"]).strip(), sector_code(naics), round(count * 1000)


def sector_code(naics: str) -> str:
    return naics if "-" in naics else JOINED.get(naics[:2], naics[:2])


DIGITAL_STEPS = (0.40, 0.50, 0.55, 0.60, 0.65, 0.70, 0.80)
GDP_STEPS = (3.0, 4.0, 5.0, 6.0, 8.0)
"""Below the smallest share in the file a lower threshold changes nothing: sectors that are not listed cannot enter."""
SECTOR_STEPS = (3, 4, 5, 6, 8, 10)


def sensitivity(official: Official, digital: Mapping[str, DigitalShare], base: Selection) -> tuple[Shift, ...]:
    """The selection under each other threshold, as who comes in and who goes."""
    before = {one.title for one in base.chosen}
    shifts = []
    for thresholds in _around(base.thresholds):
        found = select(official, digital, labelled_by=base.labeller, thresholds=thresholds)
        after = {one.title for one in found.chosen}
        shifts.append(
            Shift(
                thresholds=thresholds,
                chosen=len(after),
                comes=tuple(sorted(after - before)),
                goes=tuple(sorted(before - after)),
            )
        )
    return tuple(shifts)


def _around(base: Thresholds) -> Iterator[Thresholds]:
    yield from (base.but(digital_share=step) for step in DIGITAL_STEPS if step != base.digital_share)
    yield from (base.but(gdp_share=step) for step in GDP_STEPS if step != base.gdp_share)
    yield from (base.but(per_sector=step) for step in SECTOR_STEPS if step != base.per_sector)
