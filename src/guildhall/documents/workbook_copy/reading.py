"""A workbook read for its copy: what its cells say and how they look, and of all else that it was there."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import replace

from openpyxl.formula.tokenizer import TokenizerError
from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.utils.cell import column_index_from_string
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_ISO8601, to_excel

from guildhall.documents.extract.workbooks import SHEETS, Sheet, Workbook, text_of, unescaped
from guildhall.documents.opc import Opc
from guildhall.documents.workbook_copy import formulas, lacking
from guildhall.documents.workbook_copy.book import (
    LAST_COLUMN,
    LAST_ROW,
    MOST_BLANKS,
    MOST_CELLS,
    MOST_MERGED,
    MOST_SHEETS,
    Box,
    CellContent,
    CopiedBook,
    CopiedCell,
    CopiedSheet,
    ErrorValue,
    Place,
    box_of,
    height_of,
    is_chosen_width,
    name_of,
    number_of,
    place_of,
    rounded,
    width_of,
    words,
)
from guildhall.documents.workbook_copy.formulas import legal_titles, spell_formulas
from guildhall.documents.workbook_copy.lacking import NotCopied, link_id, look_at_sheet, look_through, related
from guildhall.documents.workbook_copy.looks import PLAIN, BookLooks
from guildhall.documents.xmltrees import Tree, local, stream_xml
from guildhall.errors import UnreadableFile

_RENAMED = "name of a sheet that not every program takes, changed|names of sheets that not every program takes, changed"
_UNSTATED_WIDTH = 9.140625
_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
_LINK = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
_THREADED = "[Threaded comment]"


def read_book(data: bytes, *, name: str, missing: NotCopied) -> CopiedBook:
    """A package's sheets, with what is left out added to `missing`."""
    package = Opc(data, name=name, unparsed=SHEETS)
    try:
        book = Workbook(package)
        look_through(package, book.main, missing)
        return _Reader(package, book, missing).read()
    except (KeyError, ValueError, IndexError, OverflowError) as error:
        raise UnreadableFile(name, f"its sheets cannot be read ({type(error).__name__}: {error})") from error


class _Reader:
    """One pass over one package."""

    def __init__(self, package: Opc, book: Workbook, missing: NotCopied) -> None:
        self.package, self.book, self.missing = package, book, missing
        styles = next(related(package, book.main, "styles"), None)
        self.looks = BookLooks(styles, next(related(package, book.main, "theme"), None))
        self.texts, self.mixed = _texts(package, book.main)
        self.cells = 0
        self.kept = [sheet for sheet in book.sheets if sheet.holds_cells]
        if not self.kept:
            raise UnreadableFile(package.name, "holds no sheet of cells")

    def read(self) -> CopiedBook:
        if len(self.kept) > MOST_SHEETS:
            raise UnreadableFile(self.package.name, f"has more than {MOST_SHEETS} sheets")
        sheets = [self._sheet(sheet) for sheet in self.kept]
        if self.looks.gradients:
            self.missing.add(
                "fill that changes colour, shown in one|fills that change colour, shown in one",
                count=self.looks.gradients,
            )
        titles = legal_titles([sheet.name for sheet in sheets])
        titled = {sheet.name.casefold(): title for sheet, title in zip(sheets, titles, strict=True)}
        for sheet, title in zip(sheets, titles, strict=True):
            self.missing.add(_RENAMED, count=sheet.name != title)
            sheet.name = title
        names = spell_formulas(sheets, titled, self.package.tree(self.book.main), self.missing)
        return CopiedBook(sheets, names, since_1904=self.book.since_1904)

    # cells

    def _sheet(self, sheet: Sheet) -> CopiedSheet:
        made = CopiedSheet(sheet.name, hidden=sheet.state)
        shared: dict[str, tuple[str, str]] = {}
        row_styles: dict[int, int] = {}
        rest: list[Tree] = []

        def rows() -> Generator[Tree, None, None]:
            rest.append((yield from stream_xml(sheet.content or b"<worksheet/>", name=sheet.name, tag="row")))

        number = grouped = mixed = 0
        for row in rows():
            number = int(row.get("r") or number + 1)
            if not 1 <= number <= LAST_ROW:
                raise UnreadableFile(self.package.name, f"has a row number {number}, which no sheet has")
            if row.get("hidden") in ("1", "true"):
                made.hidden_rows.add(number)
            if row.get("customHeight") in ("1", "true") and row.get("ht"):
                made.heights[number] = height_of(float(row.get("ht", "0")))
            if row.get("customFormat") in ("1", "true"):
                row_styles[number] = int(row.get("s", "0"))
            grouped += row.get("outlineLevel", "0") not in ("", "0")
            mixed += self._row(row, number, made, shared)
        self.missing.add("group of rows|groups of rows", sheet=sheet.name, count=grouped > 0)
        self.missing.add(
            "cell with several fonts in its words, shown in one|cells with several fonts in their words, shown in one",
            sheet=sheet.name,
            count=mixed,
        )
        root = rest[0]
        look_at_sheet(self.package, sheet, root, self.missing)
        column_styles = self._columns(root, made)
        self._around(root, sheet, made)
        self._blanks(made, row_styles, column_styles)
        _frame_merged(made)
        return made

    def _row(self, row: Tree, number: int, made: CopiedSheet, shared: dict[str, tuple[str, str]]) -> int:
        column = mixed = 0
        for element in row:
            if local(element.tag) != "c":
                continue
            stated = element.get("r")
            column = column_index_from_string(stated.rstrip("0123456789").replace("$", "")) if stated else column + 1
            if column > LAST_COLUMN:
                raise UnreadableFile(self.package.name, f"has a cell in column {column}, which no sheet has")
            cell = CopiedCell(style=int(element.get("s", "0")))
            mixed += self._content(element, cell, (number, column), shared)
            made.cells[number, column] = cell
            self.cells += 1
            if self.cells > MOST_CELLS:
                raise UnreadableFile(self.package.name, f"has more than {MOST_CELLS} cells")
        return mixed

    def _content(self, element: Tree, cell: CopiedCell, at: Place, shared: dict[str, tuple[str, str]]) -> bool:
        """Fill in what the cell says; True when its words are in several fonts."""
        parts = {local(part.tag): part for part in element}
        kind, value, formula = element.get("t", "n"), parts.get("v"), parts.get("f")
        text = None if value is None else value.text
        mixed = False
        if "is" in parts and kind == "inlineStr":
            cell.value = words(text_of(parts["is"]))
            mixed = len(parts["is"].findall("{*}r")) > 1
        elif text is not None:
            cell.value = self._value(kind, text)
            mixed = kind == "s" and int(text) in self.mixed
        if formula is not None:
            self._formula(formula, cell, at, shared)
        return mixed

    def _value(self, kind: str, text: str) -> CellContent | None:
        match kind:
            case "s":
                return words(self.texts[int(text)])
            case "b":
                return text.strip() in ("1", "true")
            case "e":
                return ErrorValue(text if text in _ERRORS else "#VALUE!")
            case "d":
                epoch = CALENDAR_MAC_1904 if self.book.since_1904 else CALENDAR_WINDOWS_1900
                moment = from_ISO8601(text)  # type: ignore[no-untyped-call]
                return None if moment is None else rounded(float(to_excel(moment, epoch)))  # type: ignore[no-untyped-call]
            case "n":
                return rounded(float(text)) if text.strip() else None
            case _:
                return words(unescaped(text))

    def _formula(self, formula: Tree, cell: CopiedCell, at: Place, shared: dict[str, tuple[str, str]]) -> None:
        kind, text = formula.get("t", "normal"), formula.text or ""
        if kind == "dataTable":
            self.missing.add("cell of a what-if table, kept as its value|cells of what-if tables, kept as their values")
            return
        if kind == "shared" and text:
            shared[formula.get("si", "")] = (text, name_of(at))
        elif kind == "shared" and formula.get("si", "") in shared:
            stated, origin = shared[formula.get("si", "")]
            try:
                text = Translator(f"={stated}", origin).translate_formula(name_of(at))[1:]
            except (TranslatorError, TokenizerError, IndexError, ValueError):
                text = ""
        if not text:
            self.missing.add(formulas.UNREADABLE)
            return
        cell.formula = text.strip().removeprefix("=")
        if kind == "array":
            cell.array = box_of(formula.get("ref", "")) or (*at, *at)

    # what stands around the cells

    def _columns(self, root: Tree, made: CopiedSheet) -> dict[int, int]:
        """Widths that somebody chose; the number of each column's style."""
        shape = next(root.iter("{*}sheetFormatPr"), None)
        usual = number_of(None if shape is None else shape.get("defaultColWidth"), _UNSTATED_WIDTH)
        made.rows_start_hidden = shape is not None and shape.get("zeroHeight") in ("1", "true")
        tall = None if shape is None else shape.get("defaultRowHeight")
        made.heights = {
            row: height
            for row, height in made.heights.items()
            if tall is None or height != height_of(number_of(tall, 0))
        }
        styles: dict[int, int] = {}
        for column in root.iter("{*}col"):
            first, last = int(column.get("min", "1")), min(int(column.get("max", "1")), LAST_COLUMN)
            width, hidden = column.get("width"), column.get("hidden") in ("1", "true")
            chosen = column.get("customWidth") in ("1", "true") or (
                width is not None and column.get("customWidth") is None
            )
            for number in range(max(first, 1), last + 1):
                if hidden:
                    made.hidden_columns.add(number)
                elif chosen and is_chosen_width(number_of(width, usual), usual):
                    made.widths[number] = width_of(number_of(width, usual))
                styles[number] = int(column.get("style", "0"))
        return styles

    def _around(self, root: Tree, sheet: Sheet, made: CopiedSheet) -> None:
        view = next(root.iter("{*}sheetView"), None)
        if view is not None:
            made.gridlines = view.get("showGridLines", "1") not in ("0", "false")
            made.from_right = view.get("rightToLeft") in ("1", "true")
            if view.get("showFormulas") in ("1", "true"):
                self.missing.add("view that shows formulas|views that show formulas", sheet=sheet.name)
            if view.get("showZeros") in ("0", "false"):
                self.missing.add("view that hides zeros|views that hide zeros", sheet=sheet.name)
        for pane in root.iter("{*}pane"):
            if pane.get("state") in ("frozen", "frozenSplit"):
                down, across = (int(number_of(pane.get(way), 0)) for way in ("ySplit", "xSplit"))
                made.frozen = (min(max(down, 0), LAST_ROW - 1), min(max(across, 0), LAST_COLUMN - 1))
        made.tab = self.looks.colour(next(root.iter("{*}tabColor"), None))
        taken: set[Place] = set()
        for merge in root.iter("{*}mergeCell"):
            box = box_of(merge.get("ref", ""))
            if box and box[:2] != box[2:]:
                self._merge(box, sheet, made, taken)
        self._comments(sheet, made)
        for link in root.iter("{*}hyperlink"):
            self._link(link, sheet, made)

    def _merge(self, box: Box, sheet: Sheet, made: CopiedSheet, taken: set[Place]) -> None:
        top, left, bottom, right = box
        size = (bottom - top + 1) * (right - left + 1)
        inside = (
            {(row, col) for row in range(top, bottom + 1) for col in range(left, right + 1)}
            if size <= MOST_MERGED
            else set()
        )
        if not inside or len(taken) + size > MOST_BLANKS:
            self.missing.add("merge too large to copy|merges too large to copy", sheet=sheet.name)
        elif inside & taken:
            self.missing.add("merge that overlaps another|merges that overlap others", sheet=sheet.name)
        else:
            taken |= inside
            made.merged.append(box)

    def _comments(self, sheet: Sheet, made: CopiedSheet) -> None:
        for tree in related(self.package, sheet.part, "comments"):
            authors = [(author.text or "").strip() for author in tree.iter("{*}author")]
            for comment in tree.iter("{*}comment"):
                at, said = (
                    place_of(comment.get("ref", "")),
                    words("".join(text.text or "" for text in comment.iter("{*}t"))),
                )
                for author in filter(None, authors):
                    said = said.removeprefix(f"{author}:").lstrip("\n ")
                if at and said.strip() and not said.startswith(_THREADED):
                    made.notes.setdefault(at, []).append(said)
        for tree in related(self.package, sheet.part, "threadedComment"):
            for comment in tree.iter("{*}threadedComment"):
                at, said = (
                    place_of(comment.get("ref", "")),
                    words("".join(text.text or "" for text in comment.iter("{*}text"))),
                )
                if at and said.strip():
                    made.notes.setdefault(at, []).append(said)

    def _link(self, link: Tree, sheet: Sheet, made: CopiedSheet) -> None:
        """An address is shown as a note, so that nothing in the copy leads anywhere by itself."""
        at = place_of(link.get("ref", "").partition(":")[0])
        relation = lacking.relation_of(self.package, sheet.part, link_id(link)) if link_id(link) else None
        target = "" if relation is None else relation.get("Target", "")
        if not target:
            self.missing.add("link within the workbook|links within the workbook", sheet=sheet.name)
        elif at and _LINK.match(target):
            made.notes.setdefault(at, []).append(f"Link: {target}")
            self.missing.add(
                "link to follow (its address is a note)|links to follow (their addresses are notes)", sheet=sheet.name
            )
        else:
            self.missing.add("link to a file or a folder|links to files or folders", sheet=sheet.name)

    # looks

    def _blanks(self, made: CopiedSheet, row_styles: Mapping[int, int], column_styles: Mapping[int, int]) -> None:
        """Give each cell its look; drop cells that show nothing, and all beyond the last that says something."""
        filled = {at for at, cell in made.cells.items() if cell.value is not None or cell.formula}
        filled |= set(made.notes) | {box[:2] for box in made.merged} | {box[2:] for box in made.merged}
        last_row, last_column = max((at[0] for at in filled), default=0), max((at[1] for at in filled), default=0)
        seen_rows = {row: style for row, style in row_styles.items() if row <= last_row}
        seen_columns = {
            column: style for column, style in column_styles.items()
            if column <= last_column and self.looks.blank(style) != PLAIN
        }  # fmt: skip
        wanted: dict[Place, int] = {}
        beyond = 0
        for row in sorted(seen_rows):
            if self.looks.blank(seen_rows[row]) != PLAIN and len(wanted) < MOST_BLANKS:
                wanted |= {(row, column): seen_rows[row] for column in range(1, last_column + 1)}
        if len(seen_columns) * last_row <= MOST_BLANKS:
            wanted |= {
                (row, column): style
                for column, style in seen_columns.items() for row in range(1, last_row + 1) if row not in seen_rows
            }  # fmt: skip
        else:
            beyond += len(seen_columns)
        for at, style in wanted.items():
            made.cells.setdefault(at, CopiedCell(style=style))
        kept: dict[Place, CopiedCell] = {}
        blanks = 0
        for at in sorted(made.cells):
            cell = made.cells[at]
            if cell.value is not None or cell.formula:
                cell.look = self.looks.look(cell.style)
            else:
                cell.look = self.looks.blank(cell.style)
                if cell.look == PLAIN:
                    continue
                blanks += 1
                if at[0] > last_row or at[1] > last_column or blanks > MOST_BLANKS:
                    beyond += 1
                    continue
            kept[at] = cell
        made.cells = kept
        self.missing.add(
            "area of coloured or framed empty cells beyond the last filled one|", sheet=made.name, count=beyond > 0
        )


def _frame_merged(made: CopiedSheet) -> None:
    """All cells of a merge take its first one's look, with the outer lines wherever they were stated."""
    for top, left, bottom, right in made.merged:
        first = made.cells.setdefault((top, left), CopiedCell())
        below, beside = made.cells.get((bottom, left)), made.cells.get((top, right))
        look = first.look
        if below is not None and look.bottom == PLAIN.bottom:
            look = replace(look, bottom=below.look.bottom)
        if beside is not None and look.right == PLAIN.right:
            look = replace(look, right=beside.look.right)
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                made.cells.setdefault((row, column), CopiedCell()).look = look


def _texts(package: Opc, main: str) -> tuple[list[str], set[int]]:
    """The texts that cells refer to by number, and which of them are in several fonts."""
    items = [item for table in related(package, main, "sharedStrings") for item in table if local(item.tag) == "si"]
    return [text_of(item) for item in items], {at for at, item in enumerate(items) if len(item.findall("{*}r")) > 1}
