"""Speed and cost as a page of its own, for tables that come from outside a study."""

from __future__ import annotations

from guildhall import __version__
from guildhall.domain.speed_and_cost import SpeedAndCost
from guildhall.reports.page import environment, inline
from guildhall.reports.plots.frame import to_svg
from guildhall.reports.plots.savings import savings_curves, savings_have_curves


def savings_page(found: SpeedAndCost, *, title: str, seed: int = 0) -> str:
    """One self-contained page; hours that no expert stated are announced at its top."""
    drawn = inline(to_svg(savings_curves(found)), "savings") if savings_have_curves(found) else None
    return (
        environment()
        .get_template("savings.html")
        .render(
            savings=found,
            drawn_savings=drawn,
            title=title,
            estimated="estimate" in found.hours_by,
            version=__version__,
            seed=seed,
        )
    )
