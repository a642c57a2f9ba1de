"""The figures of a report as files."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.report import Plot, Report, RunReport
from guildhall.reports.plots import specification
from guildhall.reports.svg import svg_to_png, to_svg


def plots_of(report: Report | RunReport) -> dict[str, Plot]:
    """Every plot of a report by the name of its file."""
    return {figure.name: figure.plot for section in report.sections for figure in section.figures}


def drawn(report: Report | RunReport) -> dict[str, str]:
    """Every figure as SVG."""
    return {name: to_svg(specification(plot)) for name, plot in plots_of(report).items()}


def write_figure(plot: Plot, folder: Path, name: str) -> str:
    """Draw a figure as SVG and PNG into a folder; the SVG."""
    svg = to_svg(specification(plot))
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{name}.png").write_bytes(svg_to_png(svg))
    return svg
