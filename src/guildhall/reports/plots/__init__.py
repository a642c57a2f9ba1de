"""Figures: from plain data to SVG."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.report import BarPanels, Bars, Forest, HeatMap, Lines, Plot
from guildhall.reports.plots.bars import bar_panels, bars, forest, heat_map
from guildhall.reports.plots.lines import lines, timeline


def svg_of(plot: Plot, models: Sequence[str] = ()) -> str:
    """A figure drawn; the same plot gives the same bytes. `models` are all there are, the best first."""
    if isinstance(plot, Forest):
        return forest(plot)
    if isinstance(plot, HeatMap):
        return heat_map(plot)
    if isinstance(plot, Bars):
        return bars(plot)
    if isinstance(plot, BarPanels):
        return bar_panels(plot, models)
    return lines(plot, models) if isinstance(plot, Lines) else timeline(plot)
