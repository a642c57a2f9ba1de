"""Figures: from plain data to a Vega-Lite specification, and from that to SVG and PNG."""

from __future__ import annotations

from guildhall.domain.report import BarPanels, Bars, Forest, HeatMap, Lines, Plot
from guildhall.reports.plots.bars import bar_panels, bars, forest, heat_map
from guildhall.reports.plots.frame import Specification, subtitled
from guildhall.reports.plots.lines import lines, timeline


def specification(plot: Plot) -> Specification:
    """What draws a plot, with the lines below its title."""
    drawn = _drawn(plot)
    for words in plot.subtitle:
        drawn = subtitled(drawn, words)
    return drawn


def _drawn(plot: Plot) -> Specification:
    if isinstance(plot, Forest):
        return forest(plot)
    if isinstance(plot, HeatMap):
        return heat_map(plot)
    if isinstance(plot, Bars):
        return bars(plot)
    if isinstance(plot, BarPanels):
        return bar_panels(plot)
    return lines(plot) if isinstance(plot, Lines) else timeline(plot)
