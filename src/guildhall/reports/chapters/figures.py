"""A chapter of plain figures: each an estimate with its name, as one table and one forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Column, Figure, Forest, ReportTable, Section

MOST_ENTRIES = 36
"""So many lines of a chapter, the first, are what one can read in a figure."""
Named = tuple[str, Estimate]


def figure_section(
    name: str,
    title: str,
    words: str,
    figures: Sequence[Named],
    *,
    form: Literal["percent", "number"] = "number",
    traced: bool = False,
) -> Section | None:
    """None without any figure. `traced`: the figures rest on all counted judgments."""
    if not figures:
        return None
    columns = (Column(name="figure", title="figure"), Column(name="estimate", title="estimate", form=form))
    table = ReportTable(name=name, columns=columns, rows=tuple(figures), traced=traced)
    plot = Forest(title=title, entries=tuple(figures[:MOST_ENTRIES]), form=form)
    if len(figures) > MOST_ENTRIES:
        plot = plot.but(subtitle=(f"the first {MOST_ENTRIES} of {len(figures)} lines; the table holds all",))
    figure = Figure(name=name, says=title, plot=plot)
    return Section(name=name, title=title, words=(words,), figures=(figure,), tables=(table,))
