"""The report as one self-contained HTML page: no outside request, printable, light and dark, tables under figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from guildhall.domain.findings import Findings
from guildhall.reports import words
from guildhall.reports.chapters import calibration, reasons, savings
from guildhall.reports.figures import drawn
from guildhall.reports.plots.frame import FAINT, GRID, GROUND, INK, MARK
from guildhall.reports.summary import contents, in_short, ranked

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
        "calibration_words": calibration.WORDS,
        "currencies": savings.CURRENCIES,
        "in_currency": savings.in_currency,
        "reasons_words": reasons.reasons_words,
        "savings_unknown": savings.unknown_ratios,
        "savings_words": savings.savings_words,
        "shown_ratios": savings.shown_ratios,
        "shown_tries": savings.SHOWN_TRIES,
    }
    made.filters |= {
        "times": _unbroken(words.times),
        "percent": _unbroken(words.percent),
        "interval": _unbroken(words.interval_percent),
        "plain": _unbroken(words.plain),
        "basis": words.basis,
        "figure": _unbroken(words.figure_words),
        "points": words.points,
        "points_interval": _unbroken(words.points_interval),
        "rate_name": words.rate_name,
        "unbroken": _unbroken(str),
    }
    return made


def _unbroken(written: Callable[..., str]) -> Callable[..., str]:
    """The same words with a number, its unit and the ends of an interval kept on one line."""

    def kept_together(*values: Any, **named: Any) -> str:
        return _ENDS.sub("\\1\u00a0to\u00a0\\2", written(*values, **named)).replace(" %", "\u00a0%")

    return kept_together


_ENDS = re.compile(r"([\d.]) to ([+-]?\d)")
ON_PAGE = 1.2
"""Figures stand on the page so much larger than they are drawn, all alike, so that letters keep one size."""
_SIZE = re.compile(r'width="([\d.]+)" height="[\d.]+"')
_SPOKEN = re.compile(r' (?:role|aria-roledescription|aria-label|aria-hidden)="[^"]*"')


def html_page(findings: Findings, figures: Mapping[str, str] | None = None) -> str:
    """The whole report; the same findings give the same bytes. `figures` are its figures, where drawn already."""
    return _render("report.html", findings, figures or drawn(findings))


def html_body(findings: Findings) -> Markup:
    """The report without head, title and style, for a page that brings its own."""
    return Markup(_render("body.html", findings, drawn(findings)))  # noqa: S704 - rendered with autoescape


def _render(template: str, findings: Findings, figures: Mapping[str, str]) -> str:
    inlined = {name: inline(svg, name) for name, svg in figures.items()}
    return (
        environment()
        .get_template(template)
        .render(
            findings=findings,
            ranked=ranked(findings),
            drawn=inlined,
            contents=contents(findings),
            in_short=in_short(findings),
        )
    )


def inline(svg: str, name: str) -> Markup:
    """An SVG of our own drawing inside the page, in the colours of the page, so that it follows light and dark.

    Its ids get a prefix, since several share one document. Whoever listens to the page is told what the figure is by
    its frame and reads the table beneath, not a mark at a time.
    """
    body = _SPOKEN.sub("", svg[svg.index("<svg") :]).replace("<svg", '<svg aria-hidden="true"', 1)
    body = _SIZE.sub(lambda found: f'width="{ON_PAGE * float(found[1]):.0f}"', body, count=1)
    for colour, variable in PAGE_COLOURS.items():
        body = body.replace(f'"{colour}"', f'"var({variable})"')
    body = (
        body.replace('id="', f'id="{name}-')
        .replace("url(#", f"url(#{name}-")
        .replace('xlink:href="#', f'xlink:href="#{name}-')
    )
    return Markup(body)  # noqa: S704 - drawn by us; text in it is escaped by the renderer
