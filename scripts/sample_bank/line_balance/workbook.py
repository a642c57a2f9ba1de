"""The engineer's workbook: standard times, both balances, the checks, all in live formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font

from sample_bank import finish, sheet
from sample_bank.line_balance.study import ALLOWANCE, DEMAND, ELEMENTS, NOW, OUTLIER, PLANT, PRODUCT, THEN, observations

FIRST = 5
LAST = FIRST + len(ELEMENTS) - 1


def write(path: Path) -> None:
    book = Workbook()
    summary: Any = book.active
    summary.title = "Summary"
    _fill_times(book.create_sheet("Standard times"))
    _fill_checks(book.create_sheet("Precedence check"))
    _fill_summary(summary)
    finish.save_workbook(book, path, title=f"Line balance, {PRODUCT}", author=PLANT)


def _fill_times(page: Any) -> None:
    row = sheet.title(
        page,
        f"Standard times, {PRODUCT} (seconds)",
        f"Normal = mean x rating; standard = normal x (1 + {ALLOWANCE:.0%}) for manual elements, mean for the automatic"
        " cycle; the struck reading is left out",
    )
    labels = [
        "Element",
        "Description",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "Mean",
        "Rating",
        "Normal",
        "Standard",
        "Station now",
        "Station new",
    ]
    row = sheet.header(page, row, labels)
    now, then = (
        {key: number for number, station in enumerate(plan, start=1) for key in station} for plan in (NOW, THEN)
    )
    for element in ELEMENTS:
        kept = f"C{row}:H{row}"
        if element.key == OUTLIER[0]:
            kept = ",".join(f"{column}{row}" for number, column in enumerate("CDEFGH") if number != OUTLIER[1])
        standard = f"=I{row}" if element.machine else f"=K{row}*(1+{ALLOWANCE})"
        values = [
            element.key,
            element.text,
            *observations()[element.key],
            f"=AVERAGE({kept})",
            element.rating,
            f"=I{row}*J{row}",
            standard,
            now[element.key],
            then[element.key],
        ]
        row = sheet.put(page, row, values, formats={**dict.fromkeys(range(2, 9), "0.0"), 9: "0%", 10: "0.0", 11: "0.0"})
        if element.key == OUTLIER[0]:
            page["CDEFGH"[OUTLIER[1]] + str(row - 1)].font = Font(name=sheet.FONT, size=10, strike=True, color="C0392B")
    sheet.put(
        page,
        row,
        ["Total", None, *[None] * 8, f"=SUM(K{FIRST}:K{LAST})", f"=SUM(L{FIRST}:L{LAST})"],
        formats={10: "0.0", 11: "0.0"},
    )
    sheet.total(page, row, last=14)
    sheet.lay_out(page, [9, 30, 7, 7, 7, 7, 7, 7, 8, 8, 9, 10, 10, 10], freeze="C5")


def _fill_checks(page: Any) -> None:
    row = sheet.title(
        page,
        "Precedence check of the new balance",
        "Each element must sit at the same station as, or after, what comes before it",
    )
    row = sheet.header(page, row, ["Before", "After", "Station before", "Station after", "Result"])
    place = {element.key: FIRST + number for number, element in enumerate(ELEMENTS)}
    first = row
    for element in ELEMENTS:
        for before in element.after:
            values = [
                before,
                element.key,
                f"='Standard times'!N{place[before]}",
                f"='Standard times'!N{place[element.key]}",
                f'=IF(C{row}<=D{row},"ok","VIOLATED")',
            ]
            row = sheet.put(page, row, values)
    sheet.put(
        page,
        row,
        [
            "All",
            None,
            None,
            None,
            f'=IF(COUNTIF(E{first}:E{row - 1},"ok")=ROWS(E{first}:E{row - 1}),"all respected","VIOLATED")',
        ],
    )
    sheet.total(page, row, last=5)
    sheet.lay_out(page, [12, 12, 16, 16, 18], landscape=False)


def _fill_summary(page: Any) -> None:
    row = sheet.title(page, f"{PLANT}: {PRODUCT} line, today and rebalanced", "Seconds per pump unless stated")
    row = sheet.header(page, row, ["Time available and takt", "Value"])
    data = [
        ("Shift less unpaid lunch, minutes", 480, sheet.WHOLE),
        ("Less two breaks and start-up meeting, minutes", -30, sheet.WHOLE),
        ("Available, minutes", "=B5+B6", sheet.WHOLE),
        ("Demand, pumps a day", DEMAND, sheet.WHOLE),
        ("Takt", "=B7*60/B8", "0.0"),
        ("Total standard time", f"=SUM('Standard times'!L{FIRST}:L{LAST})", "0.0"),
        ("Fewest stations possible", "=ROUNDUP(B10/B9,0)", "0"),
    ]
    for label, value, shape in data:
        row = sheet.put(page, row, [label, value], formats={1: shape})
    row = start = sheet.header(page, row + 1, ["Station", "Today", "New", "Takt", "Elements today", "Elements new"])
    for number in range(1, 8):
        times = [
            f"=SUMIF('Standard times'!{column}{FIRST}:{column}{LAST},A{row},'Standard times'!L{FIRST}:L{LAST})"
            for column in "MN"
        ]
        plans = [" ".join(plan[number - 1]) if number <= len(plan) else "-" for plan in (NOW, THEN)]
        row = sheet.put(
            page, row, [number, *times, "=$B$9", *plans], formats={1: '0.0;-0.0;"-"', 2: '0.0;-0.0;"-"', 3: "0.0"}
        )
    end = row - 1
    row = sheet.header(page, row + 1, ["Result", "Today", "New"])
    span = {"B": f"B{start}:B{end}", "C": f"C{start}:C{end}"}
    results = [
        ("Stations and operators", '=COUNTIF({span},">0")', "0"),
        ("Cycle (slowest station)", "=MAX({span})", "0.0"),
        ("Pumps a day", "=INT($B$7*60/{column}{cycle})", sheet.WHOLE),
        ("Short of demand, pumps a day", "=MAX(0,$B$8-{column}{made})", '0;-0;"0"'),
        (
            "Balance efficiency (work / stations x cycle)",
            "=SUM({span})/({column}{staff}*{column}{cycle})",
            sheet.PERCENT,
        ),
        ("Balance delay", "=1-{column}{efficiency}", sheet.PERCENT),
        (
            "Labor cost per pump, at demand or at output if lower, $",
            "={column}{staff}*8*31/MIN($B$8,{column}{made})",
            "0.00",
        ),
        ("Slack at the slowest station against takt", "=1-{column}{cycle}/$B$9", "0.0%;-0.0%"),
    ]
    rows = {"staff": row, "cycle": row + 1, "made": row + 2, "efficiency": row + 4}
    for label, formula, shape in results:
        values = [formula.format(span=span[column], column=column, **rows) for column in "BC"]
        row = sheet.put(page, row, [label, *values], formats={1: shape, 2: shape})
    sheet.put(
        page,
        row,
        ["One operator released, a year (8 h x $31 x 245 days), $", None, "=8*31*245"],
        formats={2: sheet.WHOLE},
    )
    sheet.total(page, row, last=3)
    _add_chart(page, start, end, below=row + 2)
    sheet.lay_out(page, [50, 12, 12, 10, 16, 16], one_page=True, landscape=False)


def _add_chart(page: Any, start: int, end: int, *, below: int) -> None:
    chart = BarChart()
    chart.title, chart.height, chart.width = "Station time against takt (s)", 8, 21
    chart.add_data(Reference(page, min_col=2, max_col=4, min_row=start - 1, max_row=end), titles_from_data=True)
    chart.set_categories(Reference(page, min_col=1, min_row=start, max_row=end))
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.title = "Station"
    for series, color in zip(chart.series, ("1B7F79", "D9822B", "9AA4B2"), strict=True):
        series.graphicalProperties.solidFill = color
    page.add_chart(chart, f"A{below}")
