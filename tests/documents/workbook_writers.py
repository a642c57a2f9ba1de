# ruff: noqa: E501, C901 - XML and tables read better in long lines
"""The same workbook as several programs write it: one description, and for each program its own ways.

What a person would choose is the same in all; what only a program chooses (its own font, widths, order, stored values,
spelling of formats) is each one's own, as the programs do it.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter

WORDS = [
    "north",
    "south",
    "east",
    "west",
    "audit",
    "claim",
    "invoice",
    "grant",
    "clinic",
    "store",
    "tariff",
    "pipe",
    "relay",
    "rent",
    "payroll",
    "budget",
]
FORMATS = ("General", "0.00", "#,##0", "#,##0.00", "0.0%", "yyyy-mm-dd", '"$"#,##0.00', "#,##0;[Red]-#,##0")
EXCEL_EPOCH = date(1899, 12, 30)


@dataclass
class DescribedCell:
    """What a cell says, and what somebody chose for it."""

    at: str
    value: Any = None
    formula: str = ""
    bold: bool = False
    colour: str = ""
    fill: str = ""
    size: float = 0
    number: str = ""
    box: bool = False
    across: str = ""
    wrap: bool = False
    note: str = ""


@dataclass
class DescribedSheet:
    """One sheet and what somebody chose for it."""

    name: str
    cells: list[DescribedCell] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)
    heights: dict[int, int] = field(default_factory=dict)
    frozen: str = ""
    hidden: bool = False
    hidden_columns: list[str] = field(default_factory=list)


Described = list[DescribedSheet]


def described(seed: int) -> Described:
    """A small workbook of the kind that people hand in."""
    rng = random.Random(seed)
    sheets = [_sheet(rng, f"{rng.choice(WORDS).title()} {number}") for number in range(1, rng.randint(2, 4))]
    if rng.random() < 0.3:
        sheets.append(DescribedSheet("Notes", [DescribedCell("A1", rng.choice(WORDS))], hidden=True))
    return sheets


def _sheet(rng: random.Random, name: str) -> DescribedSheet:
    sheet = DescribedSheet(name)
    columns = rng.randint(3, 7)
    last = get_column_letter(columns)
    title = " ".join(rng.choices(WORDS, k=3)).capitalize()
    sheet.cells.append(DescribedCell("A1", title, bold=True, size=14, across="center" if rng.random() < 0.5 else ""))
    if rng.random() < 0.7:
        sheet.merges.append(f"A1:{last}1")
    for column in range(1, columns + 1):
        letter = get_column_letter(column)
        head = DescribedCell(f"{letter}3", rng.choice(WORDS).title(), bold=True, fill="DDEBF7", box=True, wrap=True)
        sheet.cells.append(head)
        if rng.random() < 0.6:
            sheet.widths[letter] = rng.randint(8, 34)
    rows = rng.randint(4, 14)
    formats = [rng.choice(FORMATS) for _ in range(columns)]
    for row in range(4, 4 + rows):
        for column in range(1, columns + 1):
            if rng.random() < 0.9:
                sheet.cells.append(_cell(rng, f"{get_column_letter(column)}{row}", column, formats[column - 1]))
    total = 4 + rows
    for column in range(2, columns + 1):
        letter = get_column_letter(column)
        formula = rng.choice(("SUM", "AVERAGE", "MAX", "COUNT")) + f"({letter}4:{letter}{total - 1})"
        if rng.random() < 0.3:
            formula = f"IF({formula}>0,ROUND({formula},1),0)"
        sheet.cells.append(
            DescribedCell(f"{letter}{total}", formula=formula, bold=True, number=formats[column - 1], box=True)
        )
    if rng.random() < 0.3:
        sheet.heights[3] = rng.choice((24, 30, 36))
    if rng.random() < 0.2:
        sheet.hidden_columns.append(get_column_letter(columns + 1))
    if rng.random() < 0.4:
        sheet.cells[-1].note = f"Check the {rng.choice(WORDS)}."
    return sheet


def _cell(rng: random.Random, at: str, column: int, number: str) -> DescribedCell:
    if column == 1:
        return DescribedCell(at, f"{rng.choice(WORDS)} {rng.randint(1, 99)}", wrap=rng.random() < 0.1)
    if number == "yyyy-mm-dd":
        return DescribedCell(at, (date(2025, 1, 1) + timedelta(rng.randint(0, 400)) - EXCEL_EPOCH).days, number=number)
    value = round(rng.uniform(-900, 9000), rng.choice((0, 2, 2, 4))) if "%" not in number else round(rng.random(), 4)
    colour = rng.choice(("", "", "", "C00000"))
    return DescribedCell(at, value, number=number, colour=colour, fill="FFF2CC" if rng.random() < 0.08 else "")


def by_openpyxl(book: Described) -> bytes:
    """As scripts do it: fonts without a name, no stored values."""
    made = openpyxl.Workbook()
    made.remove(made["Sheet"])
    thin = Side(style="thin")
    for sheet in book:
        page = made.create_sheet(sheet.name)
        for cell in sheet.cells:
            put = page[cell.at]
            put.value = f"={cell.formula}" if cell.formula else cell.value
            if cell.bold or cell.colour or cell.size:
                put.font = Font(bold=cell.bold, color=cell.colour or None, size=cell.size or None)
            if cell.fill:
                put.fill = PatternFill("solid", start_color=cell.fill)
            if cell.number:
                put.number_format = cell.number
            if cell.box:
                put.border = Border(thin, thin, thin, thin)
            if cell.across or cell.wrap:
                put.alignment = Alignment(horizontal=cell.across or None, wrap_text=cell.wrap or None)
            if cell.note:
                put.comment = Comment(cell.note, "Reviewer")
        for merge in sheet.merges:
            page.merge_cells(merge)
        for letter, width in sheet.widths.items():
            page.column_dimensions[letter].width = width
        for row, height in sheet.heights.items():
            page.row_dimensions[row].height = height
        for letter in sheet.hidden_columns:
            page.column_dimensions[letter].hidden = True
        page.freeze_panes = sheet.frozen or None
        page.sheet_state = "hidden" if sheet.hidden else "visible"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def by_xlsxwriter(book: Described) -> bytes:
    """As scripts do it: formulas store 0."""
    out = io.BytesIO()
    made = xlsxwriter.Workbook(out, {"in_memory": True})
    for sheet in book:
        page = made.add_worksheet(sheet.name)
        merged = {merge.partition(":")[0]: merge for merge in sheet.merges}
        for letter, width in sheet.widths.items():
            page.set_column(f"{letter}:{letter}", width)
        for letter in sheet.hidden_columns:
            page.set_column(f"{letter}:{letter}", None, None, {"hidden": True})
        for row, height in sheet.heights.items():
            page.set_row(row - 1, height)
        for cell in sheet.cells:
            chosen = {
                "bold": cell.bold, "font_color": cell.colour and f"#{cell.colour}", "font_size": cell.size,
                "bg_color": cell.fill and f"#{cell.fill}", "num_format": cell.number, "border": int(cell.box),
                "align": cell.across, "text_wrap": cell.wrap,
            }  # fmt: skip
            chosen = {key: value for key, value in chosen.items() if value}
            look = made.add_format(chosen) if chosen else None
            if cell.at in merged:
                page.merge_range(merged[cell.at], cell.value, look)
            elif cell.formula:
                page.write_formula(cell.at, f"={cell.formula}", look)
            else:
                page.write(cell.at, cell.value, look)
            if cell.note:
                page.write_comment(cell.at, cell.note)
        if sheet.frozen:
            page.freeze_panes(sheet.frozen)
        if sheet.hidden:
            page.hide()
    made.close()
    return out.getvalue()


_THEME = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office Theme"><a:themeElements>'
    '<a:clrScheme name="Office"><a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1><a:lt1><a:sysClr '
    'val="window" lastClr="FFFFFF"/></a:lt1></a:clrScheme></a:themeElements></a:theme>'
)
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'


_FILLS = {
    "DDEBF7": '<fgColor theme="8" tint="0.79998168889431442"/>', "FFF2CC": '<fgColor theme="7" tint="0.79998168889431442"/>'
}  # fmt: skip
"""The colours of the descriptions as Excel's palette has them."""


class _AsExcel:
    """Styles and texts numbered as Excel numbers them: all fonts named in full, the theme's colours by number."""

    def __init__(self) -> None:
        own = '<font><sz val="12"/><color theme="1"/><name val="Aptos Narrow"/><family val="2"/><scheme val="minor"/></font>'
        self.fonts, self.texts = [own], list[str]()
        self.formats: dict[str, int] = {}
        self.fills = [
            '<fill><patternFill patternType="none"/></fill>',
            '<fill><patternFill patternType="gray125"/></fill>',
        ]
        self.xfs = ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>']

    def style(self, cell: DescribedCell) -> int:
        colour = f'<color rgb="FF{cell.colour}"/>' if cell.colour else '<color theme="1"/>'
        bold, size = "<b/>" * cell.bold, f'<sz val="{cell.size or 12:g}"/>'
        font = f'<font>{bold}{size}{colour}<name val="Aptos Narrow"/><family val="2"/><scheme val="minor"/></font>'
        fill = f'<fill><patternFill patternType="solid">{_FILLS.get(cell.fill, "")}<bgColor indexed="64"/></patternFill></fill>'
        number = {"General": 0, "": 0, "0.00": 2, "#,##0": 3, "#,##0.00": 4}.get(cell.number)
        if number is None:
            code = cell.number.replace("yyyy-mm-dd", "yyyy\\-mm\\-dd;@").replace(";[Red]-", ";[Red]\\-")
            number = self.formats.setdefault(code, 164 + len(self.formats))
        aligned = f"<alignment{f' horizontal={chr(34)}{cell.across}{chr(34)}' * bool(cell.across)}{' wrapText=' + chr(34) + '1' + chr(34) if cell.wrap else ''}/>"
        xf = (
            f'<xf numFmtId="{number}" fontId="{_numbered(self.fonts, font)}" fillId="{_numbered(self.fills, fill) if cell.fill else 0}"'
            f' borderId="{int(cell.box)}" xfId="0" applyFont="1" applyFill="1">{aligned if cell.across or cell.wrap else ""}</xf>'
        )
        return _numbered(self.xfs, xf)


def _numbered(row: list[str], one: str) -> int:
    if one not in row:
        row.append(one)
    return row.index(one)


def by_hand(book: Described) -> bytes:
    """A package put together from Excel's own parts: theme, calculation chain, printer settings, shared formulas' kin."""
    excel = _AsExcel()
    parts: dict[str, str] = {}
    sheets = rels = types = chain = ""
    for number, sheet in enumerate(book, start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet_as_excel(sheet, excel)
        state = ' state="hidden"' * sheet.hidden
        sheets += f'<sheet name="{escape(sheet.name)}" sheetId="{number * 3}"{state} r:id="rId{number}"/>'
        rels += f'<Relationship Id="rId{number}" Type="{_REL}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        types += f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        chain += "".join(f'<c r="{cell.at}" i="{number * 3}"/>' for cell in sheet.cells if cell.formula)
        notes = [cell for cell in sheet.cells if cell.note]
        if notes:
            said = "".join(
                f'<comment ref="{cell.at}" authorId="0" shapeId="0"><text><r><rPr><b/><sz val="9"/></rPr><t>Reviewer:</t></r>'
                f'<r><rPr><sz val="9"/></rPr><t xml:space="preserve">\n{cell.note}</t></r></text></comment>' for cell in notes
            )  # fmt: skip
            parts[f"xl/comments{number}.xml"] = (
                f"{_HEAD}<comments {_MAIN}><authors><author>Reviewer</author></authors><commentList>{said}</commentList></comments>"
            )
            parts[f"xl/worksheets/_rels/sheet{number}.xml.rels"] = _relations(
                f'<Relationship Id="rId1" Type="{_REL}/comments" Target="../comments{number}.xml"/>'
            )
            types += f'<Override PartName="/xl/comments{number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"/>'
    more = {
        "theme": "theme/theme1.xml",
        "styles": "styles.xml",
        "sharedStrings": "sharedStrings.xml",
        "calcChain": "calcChain.xml",
    }
    rels += "".join(
        f'<Relationship Id="rId{90 + at}" Type="{_REL}/{kind}" Target="{part}"/>'
        for at, (kind, part) in enumerate(more.items())
    )
    parts["xl/workbook.xml"] = (
        f'{_HEAD}<workbook {_MAIN} xmlns:r="{_REL}"><fileVersion appName="xl" lastEdited="7" rupBuild="27328"/>'
        f'<workbookPr defaultThemeVersion="202300"/><bookViews><workbookView xWindow="-110" windowWidth="19420"/></bookViews>'
        f'<sheets>{sheets}</sheets><calcPr calcId="191029"/></workbook>'
    )
    parts["xl/_rels/workbook.xml.rels"] = _relations(rels)
    parts["xl/theme/theme1.xml"] = _HEAD + _THEME
    parts["xl/calcChain.xml"] = f"{_HEAD}<calcChain {_MAIN}>{chain}</calcChain>"
    parts["xl/sharedStrings.xml"] = (
        f"{_HEAD}<sst {_MAIN}>"
        + "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in excel.texts)
        + "</sst>"
    )
    parts["xl/styles.xml"] = _styles_as_excel(excel)
    parts["_rels/.rels"] = _relations(
        f'<Relationship Id="rId1" Type="{_REL}/officeDocument" Target="xl/workbook.xml"/>'
    )
    parts["[Content_Types].xml"] = (
        f'{_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f'{types}</Types>'
    )  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("[Content_Types].xml", *sorted(parts.keys() - {"[Content_Types].xml"})):
            archive.writestr(name, parts[name])
    return out.getvalue()


def _relations(inside: str) -> str:
    return f'{_HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'


def _styles_as_excel(excel: _AsExcel) -> str:
    line = '<{0} style="thin"><color indexed="64"/></{0}>'
    box = "".join(line.format(edge) for edge in ("left", "right", "top", "bottom")) + "<diagonal/>"
    formats = "".join(
        f'<numFmt numFmtId="{at}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for code, at in excel.formats.items()
    )
    return (
        f"{_HEAD}<styleSheet {_MAIN}>"
        + (f"<numFmts>{formats}</numFmts>" if formats else "")
        + f"<fonts>{''.join(excel.fonts)}</fonts>"
        f"<fills>{''.join(excel.fills)}</fills><borders><border><left/><right/><top/><bottom/><diagonal/></border><border>{box}</border></borders>"
        f'<cellStyleXfs><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs>{"".join(excel.xfs)}</cellXfs>'
        '<cellStyles><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles><dxfs count="0"/></styleSheet>'
    )


def _sheet_as_excel(sheet: DescribedSheet, excel: _AsExcel) -> str:
    rows: dict[int, str] = {}
    for cell in sheet.cells:
        row = int("".join(filter(str.isdigit, cell.at)))
        style = excel.style(cell)
        if cell.formula:
            inside = f'<c r="{cell.at}" s="{style}"><f>{escape(cell.formula)}</f><v>{row * 1.25}</v></c>'
        elif isinstance(cell.value, str):
            inside = f'<c r="{cell.at}" s="{style}" t="s"><v>{_numbered(excel.texts, cell.value)}</v></c>'
        else:
            inside = f'<c r="{cell.at}" s="{style}"><v>{cell.value!r}</v></c>'
        rows[row] = rows.get(row, "") + inside
    written = ""
    for row, cells in sorted(rows.items()):
        tall = f' ht="{sheet.heights[row]}" customHeight="1"' if row in sheet.heights else ' ht="16"' * (row == 1)
        written += f'<row r="{row}" spans="1:9"{tall} x14ac:dyDescent="0.2">{cells}</row>'
    shown = {letter: f'width="{width + 0.7109375}" customWidth="1"' for letter, width in sheet.widths.items()}
    shown |= dict.fromkeys(sheet.hidden_columns, 'width="0" hidden="1" customWidth="1"')
    order = sorted(shown, key=lambda letter: openpyxl.utils.column_index_from_string(letter))
    columns = "".join(
        f'<col min="{at}" max="{at}" {shown[letter]}/>'
        for letter in order
        for at in [openpyxl.utils.column_index_from_string(letter)]
    )
    pane = '<pane ySplit="3" topLeftCell="A4" activePane="bottomLeft" state="frozen"/>' * bool(sheet.frozen)
    merges = "".join(f'<mergeCell ref="{merge}"/>' for merge in sheet.merges)
    return (
        f'{_HEAD}<worksheet {_MAIN} xmlns:r="{_REL}" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac">'
        f'<sheetViews><sheetView workbookViewId="0">{pane}<selection activeCell="B2" sqref="B2"/></sheetView></sheetViews>'
        f'<sheetFormatPr baseColWidth="10" defaultColWidth="8.83203125" defaultRowHeight="16" x14ac:dyDescent="0.2"/>'
        + (f"<cols>{columns}</cols>" if columns else "") + f"<sheetData>{written}</sheetData>"
        + (f"<mergeCells>{merges}</mergeCells>" if merges else "")
        + '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>'
    )  # fmt: skip


def by_libreoffice(book: Described, folder: Path) -> bytes:
    """As LibreOffice saves what it has opened: every default spelled out. (Without a screen it forgets frozen panes.)"""
    source, out = folder / "book.xlsx", folder / "saved"
    source.write_bytes(by_xlsxwriter(book))
    return converted(source, out, "xlsx").read_bytes()


def converted(source: Path, out: Path, ending: str) -> Path:
    """The file as LibreOffice saves it in another form."""
    profile = f"-env:UserInstallation=file://{out.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", ending, "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out / f"{source.stem}.{ending.partition(':')[0]}"


WRITERS: dict[str, Callable[[Described], bytes]] = {
    "openpyxl": by_openpyxl, "XlsxWriter": by_xlsxwriter, "Excel's parts": by_hand,
}  # fmt: skip

_EXCELJS = """
const ExcelJS = require('exceljs'); const fs = require('fs');
(async () => { for (const job of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const book = new ExcelJS.Workbook();
  for (const s of job.book) {
    const page = book.addWorksheet(s.name, {state: s.hidden ? 'hidden' : 'visible',
      views: s.frozen ? [{state: 'frozen', ySplit: 3}] : []});
    for (const c of s.cells) {
      const put = page.getCell(c.at);
      put.value = c.formula ? {formula: c.formula} : c.value;
      const font = {}; if (c.bold) font.bold = true; if (c.size) font.size = c.size;
      if (c.colour) font.color = {argb: 'FF' + c.colour};
      if (Object.keys(font).length) put.font = font;
      if (c.fill) put.fill = {type: 'pattern', pattern: 'solid', fgColor: {argb: 'FF' + c.fill}};
      if (c.number) put.numFmt = c.number;
      const thin = {style: 'thin'};
      if (c.box) put.border = {top: thin, left: thin, bottom: thin, right: thin};
      const alignment = {}; if (c.across) alignment.horizontal = c.across; if (c.wrap) alignment.wrapText = true;
      if (Object.keys(alignment).length) put.alignment = alignment;
      if (c.note) put.note = c.note;
    }
    for (const m of s.merges) page.mergeCells(m);
    for (const [k, v] of Object.entries(s.widths)) page.getColumn(k).width = v;
    for (const k of s.hidden_columns) page.getColumn(k).hidden = true;
    for (const [k, v] of Object.entries(s.heights)) page.getRow(Number(k)).height = v;
  }
  await book.xlsx.writeFile(job.out);
}})();
"""


def by_exceljs(books: dict[Path, Described], modules: Path) -> None:
    """Many at once; `modules` is the folder `node_modules` that has exceljs."""
    jobs = [{"out": str(out), "book": [asdict(sheet) for sheet in book]} for out, book in books.items()]
    node = shutil.which("node") or "node"
    subprocess.run(
        [node, "-e", _EXCELJS], input=json.dumps(jobs).encode(), check=True, capture_output=True, timeout=600,
        env={"NODE_PATH": str(modules), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
