"""The plots of a report, as SVG text made without a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.domain.boswell import label
from guildhall.domain.grades import COMPOSITES, LETTERS, NO_GRADE, NUMERIC
from guildhall.peer.colours import colour_of

_WIDTH = 640
_BLUE, _GREY, _RED = "#2E75B6", "#7F7F7F", "#C55A11"
_AXIS = {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260}


def chart_svg(name: str, found: RunFigures) -> str | None:
    """The plot of that name, or None where the run gives nothing to draw."""
    import altair as alt
    import vl_convert

    drawn = CHARTS[name](alt, found)
    if drawn is None:
        return None
    spec = drawn.configure_axis(**_AXIS).configure_view(stroke=None).to_dict()
    return str(vl_convert.vegalite_to_svg(spec))


def _quotient(alt: Any, found: RunFigures) -> Any:
    sure = found.uncertainty
    rows = []
    for scores in found.quotients.scores:
        interval = sure.interval[scores.model] if sure is not None else None
        low, high = interval or (None, None)
        rows.append({"model": scores.model, "quotient": scores.quotient, "low": low, "high": high})
    order = [row["model"] for row in rows]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("model:N", sort=order, title=None))
    domain = alt.Scale(domain=[0, 100])
    bars = base.mark_bar(color=_BLUE, opacity=0.35).encode(
        x=alt.X("quotient:Q", title="Boswell Quotient", scale=domain)
    )
    rules = base.transform_filter("datum.low != null").mark_rule(color=_BLUE, strokeWidth=2)
    whiskers = rules.encode(x=alt.X("low:Q", scale=domain), x2="high:Q")
    points = base.mark_point(filled=True, size=60, color=_BLUE).encode(x=alt.X("quotient:Q", scale=domain))
    return (bars + whiskers + points).properties(width=_WIDTH, height=22 * len(rows))


def _received(alt: Any, found: RunFigures) -> Any:
    tables = found.tables
    rows = [
        {"author": author, "grader": grader, "grade": cell.grade, "own": cell.own}
        for author in tables.authors
        for grader in tables.graders
        if tables.asked(author=author, grader=grader) and (cell := tables.cell(author=author, grader=grader))
    ]
    if not rows:
        return None
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("grader:N", sort=list(tables.graders), title="grader", axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("author:N", sort=list(tables.authors), title="author"),
    )
    shown = [grade for grade in (*LETTERS, *COMPOSITES, NO_GRADE) if any(row["grade"] == grade for row in rows)]
    scale = alt.Scale(domain=shown, range=[colour_of(grade) for grade in shown])
    tiles = base.mark_rect(stroke="#FFFFFF").encode(color=alt.Color("grade:N", scale=scale, legend=None))
    own = base.transform_filter("datum.own").mark_rect(fill=None, stroke="#7030A0", strokeWidth=2)
    text = base.mark_text(fontSize=11).encode(text="grade:N")
    width = max(_WIDTH, 44 * len(tables.graders))
    return (tiles + own + text).properties(width=width, height=24 * len(tables.authors))


def _bias(alt: Any, found: RunFigures) -> Any:
    known = [row for row in found.tables.bias.graders.values() if row.mean_bias is not None]
    if not known:
        return None
    known.sort(key=lambda row: -(row.mean_bias or 0.0))
    rows = [{"grader": row.grader, "bias": row.mean_bias} for row in known]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("grader:N", sort=[row["grader"] for row in rows], title=None),
            x=alt.X("bias:Q", title="mean bias (positive is lenient)"),
            color=alt.condition("datum.bias > 0", alt.value(_RED), alt.value(_BLUE)),
        )
        .properties(width=_WIDTH, height=22 * len(rows))
    )


def _quality(alt: Any, found: RunFigures) -> Any:
    if found.leniency is None or found.leniency.fit is None:
        return None
    rows = []
    for name, quality in found.leniency.qualities:
        low, high = quality.interval or (None, None)
        rows.append({"model": name, "quality": quality.value, "low": low, "high": high})
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("model:N", sort=[row["model"] for row in rows], title=None))
    ticks = [NUMERIC[letter] for letter in LETTERS]
    axis = alt.Axis(values=ticks, title="corrected quality (4.25 is A+)")
    rules = base.transform_filter("datum.low != null").mark_rule(color=_GREY, strokeWidth=2)
    points = base.mark_point(filled=True, size=70, color=_BLUE).encode(x=alt.X("quality:Q", axis=axis))
    whiskers = rules.encode(x=alt.X("low:Q", scale=alt.Scale(zero=False)), x2="high:Q")
    return (whiskers + points).properties(width=_WIDTH, height=22 * len(rows))


def _speed(alt: Any, found: RunFigures) -> Any:
    rows = [
        {"grader": label(mark.grader), "seconds": mark.seconds}
        for mark in found.run.marks
        if mark.seconds is not None and not mark.cached
    ]
    if not rows:
        return None
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_boxplot(color=_BLUE, extent="min-max")
        .encode(y=alt.Y("grader:N", title=None), x=alt.X("seconds:Q", title="seconds a mark, uncached"))
        .properties(width=_WIDTH, height=22 * len({row["grader"] for row in rows}))
    )


CHARTS: dict[str, Callable[[Any, RunFigures], Any]] = {
    "quotient": _quotient,
    "received": _received,
    "bias": _bias,
    "quality": _quality,
    "speed": _speed,
}
