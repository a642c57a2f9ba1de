"""Slides in one plain house look: a headline that says the point, native charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_LEGEND_POSITION
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Inches, Pt

INK, TEAL, AMBER, PALE = (RGBColor.from_string(hue) for hue in ("1F2A44", "1B7F79", "D9822B", "EEF2F6"))
GREY, WHITE = RGBColor.from_string("5B6472"), RGBColor.from_string("FFFFFF")
FONT = "Calibri"


def new_deck() -> Any:
    deck = Presentation()
    deck.slide_width, deck.slide_height = Inches(13.333), Inches(7.5)
    return deck


def add_slide(deck: Any, headline: str, source: str) -> Any:
    """A slide with its point as the title, a rule under it, a source line and its number at the foot."""
    page = deck.slides.add_slide(deck.slide_layouts[5])
    page.shapes.title.left, page.shapes.title.top = Inches(0.6), Inches(0.35)
    page.shapes.title.width, page.shapes.title.height = Inches(12.1), Inches(1.0)
    frame = page.shapes.title.text_frame
    frame.text, frame.word_wrap, frame.vertical_anchor = headline, True, MSO_ANCHOR.MIDDLE
    _style(frame.paragraphs[0], size=26, bold=True, color=INK)
    frame.paragraphs[0].alignment = PP_ALIGN.LEFT
    rule = page.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(0.6), Inches(1.38), Inches(12.1), Inches(0.04))
    rule.fill.solid()
    rule.fill.fore_color.rgb = TEAL
    rule.line.fill.background()
    text(page, source, at=(0.6, 7.0), box=(11.2, 0.35), size=10, color=GREY)
    text(page, str(len(deck.slides)), at=(12.0, 7.0), box=(0.7, 0.35), size=10, color=GREY, align=PP_ALIGN.RIGHT)
    return page


def text(
    page: Any,
    words: str | Sequence[str],
    *,
    at: tuple[float, float],
    box: tuple[float, float],
    size: float = 16,
    bold: bool = False,
    color: Any = INK,
    align: Any = PP_ALIGN.LEFT,
    bullet: bool = False,
) -> None:
    frame = page.shapes.add_textbox(*(Inches(value) for value in (*at, *box))).text_frame
    frame.word_wrap = True
    for number, line in enumerate([words] if isinstance(words, str) else words):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        for part, piece in enumerate(line.split("**")):
            run = paragraph.add_run()
            run.text = f"•  {piece}" if bullet and part == 0 else piece
            run.font.bold = bold or part % 2 == 1
        _style(paragraph, size=size, color=color)
        paragraph.alignment, paragraph.space_after = align, Pt(size * 0.5)


def _style(paragraph: Any, *, size: float, color: Any, bold: bool | None = None) -> None:
    for run in paragraph.runs:
        run.font.name, run.font.size, run.font.color.rgb = FONT, Pt(size), color
        if bold is not None:
            run.font.bold = bold


def tile(page: Any, figure: str, label: str, *, left: float, top: float, width: float = 3.8) -> None:
    """A big figure with the words that give it meaning."""
    shape = page.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(left), Inches(top), Inches(width), Inches(1.75))
    shape.fill.solid()
    shape.fill.fore_color.rgb = PALE
    shape.line.fill.background()
    text(page, figure, at=(left + 0.15, top + 0.05), box=(width - 0.3, 0.8), size=38, bold=True, color=TEAL)
    text(page, label, at=(left + 0.15, top + 0.9), box=(width - 0.3, 0.8), size=14, color=INK)


def bars(
    page: Any,
    categories: Sequence[str],
    series: dict[str, Sequence[float]],
    *,
    at: tuple[float, float],
    box: tuple[float, float],
    shape: str = "0%",
    highlight: int | None = None,
) -> None:
    """A clustered column chart, labelled at the bars instead of with an axis; one bar may stand out."""
    data = CategoryChartData(number_format=shape)
    data.categories = list(categories)
    for name, values in series.items():
        data.add_series(name, values)
    frame = page.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *(Inches(v) for v in (*at, *box)), data)
    chart = frame.chart
    chart.font.size, chart.font.name = Pt(14), FONT
    chart.has_legend = len(series) > 1
    chart.has_title = False
    if chart.has_legend:
        chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.TOP, False
    chart.value_axis.visible = chart.value_axis.has_major_gridlines = False
    chart.value_axis.minimum_scale = 0
    plot = chart.plots[0]
    plot.gap_width, plot.has_data_labels = 60, True
    plot.data_labels.number_format, plot.data_labels.number_format_is_linked = shape, False
    plot.data_labels.position, plot.data_labels.font.size = XL_LABEL_POSITION.OUTSIDE_END, Pt(14)
    for number, one in enumerate(plot.series):
        one.format.fill.solid()
        one.format.fill.fore_color.rgb = (TEAL, AMBER)[number % 2]
    if highlight is not None:
        point = plot.series[0].points[highlight].format.fill
        point.solid()
        point.fore_color.rgb = AMBER


def table(
    page: Any,
    rows: Sequence[Sequence[str]],
    *,
    at: tuple[float, float],
    widths: Sequence[float],
    row_height: float = 0.5,
    size: float = 13,
    right: Sequence[int] = (),
    bold_rows: Sequence[int] = (),
) -> None:
    """A table whose first row is the header."""
    box = (sum(widths), row_height * len(rows))
    made = page.shapes.add_table(len(rows), len(widths), *(Inches(v) for v in (*at, *box))).table
    for column, width in enumerate(widths):
        made.columns[column].width = Inches(width)
    for number, values in enumerate(rows):
        made.rows[number].height = Inches(row_height)
        for column, value in enumerate(values):
            cell = made.cell(number, column)
            cell.text, cell.vertical_anchor = value, MSO_ANCHOR.MIDDLE
            cell.fill.solid()
            cell.fill.fore_color.rgb = INK if number == 0 else (PALE if number in bold_rows else WHITE)
            paragraph = cell.text_frame.paragraphs[0]
            bold = number == 0 or number in bold_rows
            _style(paragraph, size=size, color=WHITE if number == 0 else INK, bold=bold)
            if column in right:
                paragraph.alignment = PP_ALIGN.RIGHT
