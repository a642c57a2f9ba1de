"""Workbooks read in one pass: every filled cell with its formula beside the value the file stores for it.

openpyxl is imported where it is used: it takes a tenth of a second, and rooms look at few workbooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

from guildhall.documents.opc import Opc
from guildhall.documents.xmltrees import Tree, attribute, local, stream_xml, write_xml
from guildhall.errors import UnreadableFile

SHEETS = "xl/worksheets/"
"""Where sheets lie by custom; they are read as streams, since a tree of a large one would not fit into memory."""

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True)
class SheetCell:
    """A filled cell as its sheet writes it; `formula` is empty where a shared one was written at its first cell."""

    place: str
    kind: str
    style: str
    value: str | None
    formula: str | None = None
    shared: str | None = None

    @property
    def column(self) -> str:
        return self.place.rstrip("0123456789")


@dataclass
class Sheet:
    """One sheet; its rows may be read once."""

    name: str
    state: str
    """Empty for one that is shown; else `hidden` or `veryHidden`."""
    book: Workbook
    part: str
    content: bytes | None
    _shared: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def hidden(self) -> bool:
        return bool(self.state)

    @property
    def holds_cells(self) -> bool:
        return self.content is not None

    def rows(self) -> Iterator[tuple[int, list[SheetCell]]]:
        """The rows that hold something, by number, with their filled cells."""
        number = 0
        for row in stream_xml(self.content or b"<row/>", name=self.name, tag="row"):
            number = int(row.get("r") or number + 1)
            cells = [cell for cell in _cells(row, number) if cell.value is not None or cell.formula is not None]
            if cells:
                self._shared |= {
                    cell.shared: (cell.formula, cell.place) for cell in cells if cell.shared and cell.formula
                }
                yield number, cells

    def formula(self, cell: SheetCell) -> str | None:
        """The formula with its equals sign, moved to this cell where the sheet states it for another one."""
        if cell.formula is None:
            return None
        if cell.formula or cell.shared not in self._shared:
            return f"={cell.formula}"
        from openpyxl.formula.translate import Translator

        stated, origin = self._shared[cell.shared]
        return str(Translator(f"={stated}", origin).translate_formula(cell.place))

    def value(self, cell: SheetCell) -> str | None:
        """The stored value as a reader would write it down; None when the file stores none."""
        if cell.value is None:
            return None
        match cell.kind:
            case "s":
                return self.book.strings[int(cell.value)]
            case "b":
                return "TRUE" if cell.value == "1" else "FALSE"
            case "n":
                return self.book.number(cell.value, cell.style)
            case _:
                return unescaped(cell.value)


class Workbook:
    """A workbook's sheets in their order, and the tables its cells refer to."""

    def __init__(self, package: Opc) -> None:
        self._package = package
        main = next((part for part in self._related("", "officeDocument")), "xl/workbook.xml")
        self.main = main
        book = package.tree(main)
        if book is None:
            raise UnreadableFile(package.name, "its sheets cannot be read (no table of sheets in XML)")
        self.since_1904 = any(attribute(part, "date1904") in ("1", "true") for part in book.iter("{*}workbookPr"))
        relations = {relation.get("Id"): relation for relation in package.relations(main)}
        self.sheets = [self._sheet(sheet, relations.get(attribute(sheet, "id"))) for sheet in book.iter("{*}sheet")]

    def _sheet(self, listed: Tree, relation: Tree | None) -> Sheet:
        name = listed.get("name", "")
        part = None if relation is None else self._package.target(self.main, relation)
        if relation is None or part is None:
            raise UnreadableFile(self._package.name, f"its sheets cannot be read ({name!r} is not in the file)")
        content = None
        if relation.get("Type", "").endswith("/worksheet"):
            found = self._package.parts[part]
            content = found if isinstance(found, bytes) else write_xml(found)
        state = listed.get("state", "visible")
        return Sheet(name, "" if state == "visible" else state, self, part, content)

    def _related(self, part: str, kind: str) -> Iterator[str]:
        for relation in self._package.relations(part):
            if relation.get("Type", "").rpartition("/")[2] == kind:
                target = self._package.target(part, relation)
                if target is not None:
                    yield target

    @cached_property
    def strings(self) -> list[str]:
        """The texts that cells refer to by number."""
        tables = (self._package.tree(part) for part in self._related(self.main, "sharedStrings"))
        return [text_of(item) for table in tables if table is not None for item in table]

    def number(self, text: str, style: str) -> str:
        """A number, a date or a length of time, as the cell's style asks."""
        number = float(text)
        shape = self._formats.get(style, "")
        if shape:
            from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

            epoch = CALENDAR_MAC_1904 if self.since_1904 else CALENDAR_WINDOWS_1900
            try:
                return _moment(from_excel(number, epoch, timedelta=shape == "length"))
            except (ValueError, OverflowError):
                return text
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else str(number)

    @cached_property
    def _formats(self) -> dict[str, str]:
        """Styles that show a number as a "date" or as a "length" of time."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

        shapes = {}
        for part in self._related(self.main, "styles"):
            styles = self._package.tree(part)
            if styles is None:
                continue
            codes = {str(number): code for number, code in BUILTIN_FORMATS.items()}
            codes |= {found.get("numFmtId", ""): found.get("formatCode", "") for found in styles.iter("{*}numFmt")}
            cells = next((group for group in styles if local(group.tag) == "cellXfs"), ())
            for index, style in enumerate(cells):
                code = codes.get(style.get("numFmtId", ""), "")
                if is_timedelta_format(code):
                    shapes[str(index)] = "length"
                elif is_date_format(code):
                    shapes[str(index)] = "date"
        return shapes


def _cells(row: Tree, number: int) -> Iterator[SheetCell]:
    place = ""
    for element in row:
        if local(element.tag) != "c":
            continue
        place = element.get("r") or _right_of(place, number)
        parts = {local(part.tag): part for part in element}
        formula, value = parts.get("f"), parts.get("v")
        text = text_of(parts["is"]) if "is" in parts else None if value is None else value.text
        yield SheetCell(
            place,
            element.get("t", "n"),
            element.get("s", "0"),
            text,
            None if formula is None else _stated(formula),
            None if formula is None else formula.get("si"),
        )


def _stated(formula: Tree) -> str:
    if formula.get("t") == "dataTable":
        return f"TABLE({formula.get('r1', '')},{formula.get('r2', '')})"
    return formula.text or ""


def _right_of(place: str, number: int) -> str:
    from openpyxl.utils import column_index_from_string, get_column_letter

    letters = place.rstrip("0123456789")
    return f"{get_column_letter(column_index_from_string(letters) + 1 if letters else 1)}{number}"


def text_of(item: Tree) -> str:
    """The words of a string that may be written in several runs, without the reading aids of Japanese."""
    runs = (run for run in item if local(run.tag) != "rPh")
    return unescaped("".join(text.text or "" for run in runs for text in run.iter("{*}t")))


def unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return f"{value.total_seconds():g} s" if isinstance(value, timedelta) else str(value)
