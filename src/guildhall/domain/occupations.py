"""Occupations as the selection method sees them: large sectors, digital work, pay, and the checks on all of it."""

from __future__ import annotations

from guildhall.domain.values import Value


class GdpShare(Value):
    """A sector's value added as a share of GDP, in percent."""

    naics: str
    title: str
    share: float


class DigitalShare(Value):
    """The digital share of an OEWS occupation and how it was come by."""

    share: float | None
    tasks: int
    rated_tasks: int
    imputed: int
    parts: tuple[str, ...]
    """O*NET titles whose tasks were added together."""
    method: str
    why_absent: str | None = None


class Thresholds(Value):
    """What counts as large (above this share), as digital (at least this), and how many a sector; edges are listed."""

    gdp_share: float = 5.0
    digital_share: float = 0.60
    per_sector: int = 5


class OccupationVerdict(Value):
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
    catch_alls: tuple[str, ...]
    sectors: tuple[GdpShare, ...]
    occupations: tuple[OccupationVerdict, ...]
    selected: dict[str, tuple[str, ...]]
    with_ratings: int
    by_proxy: int
    without_share: int
    edge_cases: tuple[str, ...]
    """Occupations so near the least digital share that one label decides."""
    sectors_on_the_edge: tuple[str, ...] = ()
    """Sectors of exactly the GDP share that others must be above."""

    @property
    def chosen(self) -> tuple[OccupationVerdict, ...]:
        """The selected occupations, sector by sector, best paid first."""
        by_title = {one.title: one for one in self.occupations}
        return tuple(by_title[title] for titles in self.selected.values() for title in titles)

    @property
    def total_pay_usd(self) -> float:
        """What the chosen occupations are paid in all."""
        return sum(one.total_wages_usd or 0.0 for one in self.chosen)


class Shift(Value):
    """What another threshold would have chosen: who comes in and who goes, against the selection itself."""

    thresholds: Thresholds
    chosen: int
    comes: tuple[str, ...]
    goes: tuple[str, ...]


class LabelAgreement(Value):
    """Two labellers on the tasks both labelled: the share they agree on, and kappa, which takes chance out."""

    first: str
    second: str
    tasks: int
    share: float | None
    kappa: float | None


class TaskContent(Value):
    """One occupation's five task-content scores; a score with a missing scale is absent, not zero."""

    code: str
    title: str
    digital_share: float
    is_digital: bool
    scores: dict[str, float | None]


class ContentCorrelation(Value):
    """How one task-content score goes with the digital share over occupations."""

    score: str
    occupations: int
    pearson: float | None
    interval: tuple[float, float] | None
    mean_digital: float | None
    mean_other: float | None
    """Mean scores of occupations at or above the digital threshold, and below it."""


class Validation(Value):
    """The digital share held against the task-content scores of Acemoglu and Autor."""

    labeller: str
    threshold: float
    occupations: tuple[TaskContent, ...]
    correlations: tuple[ContentCorrelation, ...]
    without_scores: int
