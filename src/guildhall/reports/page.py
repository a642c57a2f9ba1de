"""The report as one self-contained HTML page: no outside request, printable, light and dark, tables under figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from guildhall.domain.findings import Findings
from guildhall.reports import words
from guildhall.reports.chapters import reasons, savings
from guildhall.reports.figures import drawn
from guildhall.reports.plots.frame import FAINT, GRID, GROUND, INK, MARK

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
    made.globals |= {
        "currencies": savings.CURRENCIES,
        "in_currency": savings.in_currency,
        "reasons_words": reasons.reasons_words,
        "savings_words": savings.savings_words,
        "shown_ratios": savings.shown_ratios,
        "shown_tries": savings.SHOWN_TRIES,
    }
    made.filters |= {
        "times": words.times,
        "percent": words.percent,
        "interval": words.interval_percent,
        "plain": words.plain,
        "basis": words.basis,
        "points": words.points,
        "points_interval": words.points_interval,
        "rate_name": words.rate_name,
    }
    return made


_SPOKEN = re.compile(r' (?:role|aria-roledescription|aria-label|aria-hidden)="[^"]*"')


def html_page(findings: Findings, figures: Mapping[str, str] | None = None) -> str:
    """The whole report; the same findings give the same bytes. `figures` are its figures, where drawn already."""
    return _render("report.html", findings, figures or drawn(findings))


def html_body(findings: Findings) -> Markup:
    """The report without head, title and style, for a page that brings its own."""
    return Markup(_render("body.html", findings, drawn(findings)))  # noqa: S704 - rendered with autoescape


def _render(template: str, findings: Findings, figures: Mapping[str, str]) -> str:
    inlined = {name: inline(svg, name) for name, svg in figures.items()}
    ranked = sorted(findings.headline, key=lambda record: -(record.win_or_tie.value or 0))
    return environment().get_template(template).render(findings=findings, ranked=ranked, drawn=inlined)


def inline(svg: str, name: str) -> Markup:
    """An SVG of our own drawing inside the page, in the colours of the page, so that it follows light and dark.

    Its ids get a prefix, since several share one document. Whoever listens to the page is told what the figure is by
    its frame and reads the table beneath, not a mark at a time.
    """
    body = _SPOKEN.sub("", svg[svg.index("<svg") :]).replace("<svg", '<svg aria-hidden="true"', 1)
    for colour, variable in PAGE_COLOURS.items():
        body = body.replace(f'"{colour}"', f'"var({variable})"')
    body = (
        body.replace('id="', f'id="{name}-')
        .replace("url(#", f"url(#{name}-")
        .replace('xlink:href="#', f'xlink:href="#{name}-')
    )
    return Markup(body)  # noqa: S704 - drawn by us; text in it is escaped by the renderer
