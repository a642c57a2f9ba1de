"""The report as one self-contained HTML page: no outside request, printable, light and dark, tables under figures."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from guildhall.domain.findings import Findings
from guildhall.reports import words
from guildhall.reports.figures import figures_of
from guildhall.reports.plots.frame import FAINT, GRID, GROUND, INK, MARK, to_svg

TEMPLATES = Path(__file__).parent / "templates"
PAGE_COLOURS = {GROUND: "--sheet", INK: "--ink", FAINT: "--faint", GRID: "--line", MARK: "--accent"}
"""Colours of a figure that belong to the page around it; colours of data stay."""


@cache
def environment() -> Environment:
    """The templates of reports, with numbers in words."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "percent": words.percent,
        "interval": words.interval_percent,
        "plain": words.plain,
        "basis": words.basis,
        "points": words.points,
        "points_interval": words.points_interval,
        "rate_name": words.rate_name,
    }
    return made


def html_page(findings: Findings) -> str:
    """The whole report; the same findings give the same bytes."""
    drawn = {name: inline(to_svg(figure), name) for name, figure in figures_of(findings).items()}
    ranked = sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))
    return environment().get_template("report.html").render(findings=findings, ranked=ranked, drawn=drawn)


def inline(svg: str, name: str) -> Markup:
    """An SVG of our own drawing inside the page, in the colours of the page, so that it follows light and dark.

    Its ids get a prefix, since several share one document.
    """
    body = svg[svg.index("<svg") :]
    for colour, variable in PAGE_COLOURS.items():
        body = body.replace(f'"{colour}"', f'"var({variable})"')
    body = (
        body.replace('id="', f'id="{name}-')
        .replace("url(#", f"url(#{name}-")
        .replace('xlink:href="#', f'xlink:href="#{name}-')
    )
    return Markup(body)  # noqa: S704 - drawn by us; text in it is escaped by the renderer
