"""The trend over release dates, as Markdown and CSV."""

from __future__ import annotations

from guildhall.domain.trends import TrendFinding
from guildhall.reports.tables import csv_text, text_table
from guildhall.reports.words import basis, interval_percent, percent, points, points_interval


def trend_markdown(trend: TrendFinding) -> list[str]:
    slope = trend.slope_per_year
    lines = [
        "## Trend over release dates",
        "",
        f"Win or tie changes by {points(slope)} points a year ({points_interval(slope)}); {basis(slope)}. "
        f"Models scatter about the line by {100 * trend.scatter:.1f} points beyond their own error.",
        "",
    ]
    rows = [
        [one.released.isoformat(), one.model, f"{percent(one.rate.value)} ({interval_percent(one.rate)})"]
        for one in trend.points
    ]
    lines += text_table(["released", "model", "win or tie"], rows)
    return [*lines, f"Without a release date: {', '.join(trend.undated)}.", ""] if trend.undated else lines


def trend_csv(trend: TrendFinding) -> str:
    """Models, then the line; `kind` tells them apart."""
    dated = [("model", one.released, one.model, one.rate) for one in trend.points]
    dated += [("line", day, "", at) for day, at in trend.line]
    rows = [[kind, day.isoformat(), model, at.value, *(at.interval or ("", ""))] for kind, day, model, at in dated]
    return csv_text(["kind", "date", "model", "win_or_tie", "low", "high"], rows)
