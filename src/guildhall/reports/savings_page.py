"""Speed and cost as a page of its own, for tables that come from outside a study."""

from __future__ import annotations

from guildhall import __version__
from guildhall.analysis.speed_and_cost import SpeedAndCost
from guildhall.reports.chapters.savings import savings_section
from guildhall.reports.page import environment, inline
from guildhall.reports.plots import specification
from guildhall.reports.svg import to_svg


def savings_page(found: SpeedAndCost, *, title: str, seed: int = 0) -> str:
    """One self-contained page; hours that no expert stated are announced at its top."""
    section = savings_section(found)
    figures = section.figures if section is not None else ()
    return (
        environment()
        .get_template("savings.html")
        .render(
            section=section,
            found=found,
            drawn={one.name: inline(to_svg(specification(one.plot)), one.name) for one in figures},
            title=title,
            estimated="estimate" in found.hours_by,
            version=__version__,
            seed=seed,
        )
    )
