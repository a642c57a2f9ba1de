# ruff: noqa: E501, ICN001 - XML and tables read better in long lines
"""A small reader of workbooks that shares nothing with the package: what a copy is compared by."""

from __future__ import annotations

import posixpath
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BUILT_IN = dict(enumerate(["General", "0", "0.00", "#,##0", "#,##0.00"])) | {
    5: "$#,##0_);($#,##0)", 6: "$#,##0_);[Red]($#,##0)", 7: "$#,##0.00_);($#,##0.00)", 8: "$#,##0.00_);[Red]($#,##0.00)",
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: "_(* #,##0_);_(* (#,##0);_(* -_);_(@_)", 42: "_($* #,##0_);_($* (#,##0);_($* -_);_(@_)",
    43: "_(* #,##0.00_);_(* (#,##0.00);_(* -??_);_(@_)", 44: "_($* #,##0.00_);_($* (#,##0.00);_($* -??_);_(@_)",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip


@dataclass
class SeenSheet:
    """What a sheet says: values and formulas by place, number formats of filled cells, merges."""

    values: dict[str, str | float] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    merges: set[str] = field(default_factory=set)
    hidden: bool = False


def seen(path: Path) -> dict[str, SeenSheet]:
    with zipfile.ZipFile(path) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        rels = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        targets = {one.get("Id"): one.get("Target", "").removeprefix("/xl/") for one in rels}
        texts = _texts(archive)
        formats = _formats(archive)
        return {
            sheet.get("name", ""): _sheet(
                archive.read(posixpath.normpath(f"xl/{targets[sheet.get(_ID)]}")), texts, formats, sheet.get("state")
            )
            for sheet in book.iter(f"{_MAIN}sheet")
            if "chartsheet" not in targets[sheet.get(_ID)]
        }


def _texts(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    table = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
    return [_text(item) for item in table.findall(f"{_MAIN}si")]


def _text(item: ElementTree.Element) -> str:
    runs = [run for run in item if run.tag != f"{_MAIN}rPh"]
    joined = "".join(text.text or "" for run in runs for text in run.iter(f"{_MAIN}t"))
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), joined).replace("\r\n", "\n")


def _formats(archive: zipfile.ZipFile) -> list[str]:
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = {int(one.get("numFmtId", 0)): one.get("formatCode", "") for one in styles.iter(f"{_MAIN}numFmt")}
    cells = styles.find(f"{_MAIN}cellXfs")
    numbers = [int(one.get("numFmtId", 0)) for one in cells] if cells is not None else []
    return [plain_format(codes.get(number, _BUILT_IN.get(number, f"built-in {number}"))) for number in numbers]


def plain_format(code: str) -> str:
    """A format without the marks that change nothing: escapes, quotes, language, case of letters for dates."""
    code = re.sub(r"\[\$([^\]-]*)(-[^\]]*)?\]", r"\1", code)
    return re.sub(r'[\\"]', "", code).removesuffix(";@").casefold()


def _sheet(data: bytes, texts: list[str], formats: list[str], state: str | None) -> SeenSheet:
    root = ElementTree.fromstring(data)
    made = SeenSheet(hidden=state in ("hidden", "veryHidden"))
    for cell in root.iter(f"{_MAIN}c"):
        at, kind = cell.get("r", ""), cell.get("t", "n")
        value, formula, inline = (cell.find(f"{_MAIN}{name}") for name in ("v", "f", "is"))
        words = _text(inline) if inline is not None else "" if value is None else value.text or ""
        if words and kind == "n":
            made.values[at] = float(f"{float(words):.15g}")
        elif words:
            made.values[at] = texts[int(words)] if kind == "s" else words
        if formula is not None:
            made.formulas[at] = plain_formula(formula.text or "(shared)")
        if at in made.values or at in made.formulas:
            made.formats[at] = formats[int(cell.get("s", 0))]
    made.values = {at: value for at, value in made.values.items() if value != ""}
    made.merges = {merge.get("ref", "") for merge in root.iter(f"{_MAIN}mergeCell")}
    return made


def plain_formula(formula: str) -> str:
    """A formula without blanks, prefixes of newer functions and quotes around plain sheet names; texts as they are."""
    pieces = re.split(r'("(?:[^"]|"")*")', formula)
    for at in range(0, len(pieces), 2):
        plain = re.sub(r"_xlfn\.|_xlws\.", "", pieces[at])
        plain = re.sub(r"'([A-Za-z_][A-Za-z0-9_]*)'!", r"\1!", plain)
        plain = re.sub(r"(?<![\w.$])([0-9]+)\.0+(?![0-9])", r"\1", plain)
        pieces[at] = re.sub(r"(?<=[-+*/^&=<>(,;])\s+|\s+(?=[-+*/^&=<>),;])|\s+$|^\s+", "", plain)
    return "".join(pieces)


def differences(before: Path, after: Path) -> list[str]:
    """Where two workbooks say different things; stored values of formulas may differ, since each program has its own."""
    first, second = seen(before), seen(after)
    found = [] if list(first) == list(second) else [f"sheets {list(first)} became {list(second)}"]
    for name in first.keys() & second.keys():
        one, other = first[name], second[name]
        found += [f"{name}: hidden {one.hidden} became {other.hidden}"] * (one.hidden != other.hidden)
        found += [f"{name}: merges differ {sorted(one.merges ^ other.merges)[:4]}"] * (one.merges != other.merges)
        for at in one.values.keys() | other.values.keys():
            if at not in one.formulas and one.values.get(at) != other.values.get(at):
                found.append(f"{name}!{at}: {one.values.get(at)!r} became {other.values.get(at)!r}")
        for at in one.formulas.keys() | other.formulas.keys():
            formula, copied = one.formulas.get(at), other.formulas.get(at)
            if formula != copied and formula != "(shared)":
                found.append(f"{name}!{at}: ={formula} became ={copied}")
        for at in one.formats.keys() & other.formats.keys():
            if one.formats[at] != other.formats[at]:
                found.append(f"{name}!{at}: format {one.formats[at]!r} became {other.formats[at]!r}")
    return found
