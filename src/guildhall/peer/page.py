"""The report as one HTML page that needs nothing else: plots inlined, no script, no network."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.peer.charts import chart_svg
from guildhall.peer.sections import sections


def write_page(path: Path, found: RunFigures) -> Path:
    """Write the report's page."""
    path.write_text(page(found), encoding="utf-8")
    return path


def page(found: RunFigures) -> str:
    """The page; every name and word from outside is escaped, the plots are ours."""
    from jinja2 import Environment

    template = files("guildhall.peer").joinpath("templates", "report.html").read_text(encoding="utf-8")
    shown = list(sections(found))
    charts = {section.chart: chart_svg(section.chart, found) for section in shown if section.chart}
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(title=shown[0].title, sections=shown, charts=charts)
