# ruff: noqa: E501 - XML and tables read better in long lines
"""A copy of a workbook says what the original says, tells nothing of its program, reaches nowhere, and lists what it lacks."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from proofs import ROOT

from guildhall.documents.copies import copy_workbook
from guildhall.documents.looking import Documents
from guildhall.documents.values import CopiedWorkbook
from guildhall.documents.workbook_copy.formulas import NotKept, Vocabulary, spelled
from guildhall.documents.workbook_copy.lacking import ALWAYS
from guildhall.documents.workbook_copy.looks import spelled_format
from guildhall.documents.workbook_copy.writing import write_copy
from tests.documents.hostile_workbooks import HOSTILE_WORKBOOKS, external, package, relations, row
from tests.documents.second_reader import differences, seen
from tests.documents.workbook_writers import WRITERS, described

SAMPLES = sorted((ROOT / "src/guildhall/taskbank/sample").rglob("*.xlsx"))


def copied(data: bytes, folder: Path, name: str = "book.xlsx", kind: str = "xlsx") -> CopiedWorkbook:
    """The copy as the room would write it, before LibreOffice has calculated it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return write_copy(folder / name, folder, kind=kind)


def copy_bytes(data: bytes, folder: Path) -> bytes:
    made = copied(data, folder)
    assert made.out is not None
    return made.out.read_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_the_same_workbook_by_several_programs_gives_one_copy(seed: int, tmp_path: Path) -> None:
    book = described(seed)
    made = {name: copied(write(book), tmp_path / str(at)) for at, (name, write) in enumerate(WRITERS.items())}
    assert len({write(book) for write in WRITERS.values()}) == len(WRITERS)
    assert len({one.out.read_bytes() for one in made.values() if one.out}) == 1
    assert len({one.not_copied for one in made.values()}) == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_copy_says_what_the_original_says_and_copies_to_itself(seed: int, tmp_path: Path) -> None:
    original = tmp_path / "original.xlsx"
    original.write_bytes(WRITERS["openpyxl"](described(seed)))
    first = copy_bytes(original.read_bytes(), tmp_path / "one")
    assert differences(original, tmp_path / "one" / "copy.xlsx") == []
    assert copy_bytes(first, tmp_path / "two") == first


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_sample_workbooks_are_copied_whole(sample: Path, tmp_path: Path) -> None:
    copied(sample.read_bytes(), tmp_path)
    assert differences(sample, tmp_path / "copy.xlsx") == []


Page = Any
FEATURES: dict[str, tuple[str, Callable[[Any, Page], object]]] = {
    "chart": ("1 chart on sheet 'Q3'", lambda book, page: page.insert_chart("D2", _chart(book))),
    "two charts": ("2 charts on sheet 'Q3'", lambda book, page: [page.insert_chart(at, _chart(book)) for at in ("D2", "D20")]),
    "picture": ("1 picture on sheet 'Q3'", lambda book, page: page.insert_image("D2", "p.png", {"image_data": _picture()})),
    "text box": ("1 drawn shape or text box on sheet 'Q3'", lambda book, page: page.insert_textbox("D2", "hello")),
    "button": ("1 form control on sheet 'Q3'", lambda book, page: page.insert_button("D2", {"caption": "Go"})),
    "validation": (
        "1 rule for what may be entered on sheet 'Q3'",
        lambda book, page: page.data_validation("A1", {"validate": "list", "source": ["a", "b"]}),
    ),
    "conditional format": (
        "1 conditional format on sheet 'Q3'",
        lambda book, page: page.conditional_format("A1:A9", {"type": "cell", "criteria": ">", "value": 1}),
    ),
    "data bar": (
        "1 conditional format on sheet 'Q3'",
        lambda book, page: page.conditional_format("A1:A9", {"type": "data_bar", "data_bar_2010": True}),
    ),
    "sparkline": ("1 sparkline on sheet 'Q3'", lambda book, page: page.add_sparkline("B1", {"range": "Q3!A1:A3"})),
    "table": ("1 table frame (its cells are copied) on sheet 'Q3'", lambda book, page: page.add_table("A5:B7")),
    "filter": ("1 filter on sheet 'Q3'", lambda book, page: page.autofilter("A1:B3")),
    "protection": ("protection on sheet 'Q3'", lambda book, page: page.protect("secret")),
    "groups": ("1 group of rows on sheet 'Q3'", lambda book, page: page.set_row(1, None, None, {"level": 1})),
    "split": ("1 split of the window on sheet 'Q3'", lambda book, page: page.split_panes(15, 8)),
    "background": ("1 background picture on sheet 'Q3'", lambda book, page: page.set_background(_picture())),
    "fonts within a cell": (
        "1 cell with several fonts in its words, shown in one on sheet 'Q3'",
        lambda book, page: page.write_rich_string("B1", "a", book.add_format({"bold": True}), "b"),
    ),
    "link": (
        "1 link to follow (its address is a note) on sheet 'Q3'",
        lambda book, page: page.write_url("B1", "https://example.org/x", string="x"),
    ),
    "inner link": ("1 link within the workbook on sheet 'Q3'", lambda book, page: page.write_url("B1", "internal:Q3!A1")),
    "file link": ("1 link to a file or a folder on sheet 'Q3'", lambda book, page: page.write_url("B1", "external:c:\\x.xlsx")),
    "clock": (
        "1 stored value of a formula that follows the clock or chance on sheet 'Q3'",
        lambda book, page: page.write_formula("B1", "=TODAY()"),
    ),
}  # fmt: skip


def _chart(book: Any) -> Any:
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": "=Q3!$A$1:$A$3"})
    return chart


def _picture() -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(out, "PNG")
    return out


def made_with(feature: Callable[[Any, Page], object]) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    page = book.add_worksheet("Q3")
    page.write_column("A1", [3, 1, 2])
    feature(book, page)
    book.close()
    return out.getvalue()


@pytest.mark.parametrize("name", FEATURES)
def test_what_a_copy_lacks_is_named_with_its_sheet(name: str, tmp_path: Path) -> None:
    words, feature = FEATURES[name]
    assert copied(made_with(feature), tmp_path).not_copied == (words, *ALWAYS)


def test_a_plain_workbook_lacks_only_what_every_copy_lacks(tmp_path: Path) -> None:
    assert copied(made_with(lambda book, page: None), tmp_path).not_copied == ALWAYS


_RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PARTS = {
    "macros": ("vbaProject", "vbaProject.bin"),
    "1 pivot table": ("pivotTable", "pivotTables/pivotTable1.xml"),
    "1 data connection": ("connections", "connections.xml"),
    "1 query table": ("queryTable", "queryTables/q.xml"),
    "1 link to another workbook": ("externalLink", "externalLinks/externalLink1.xml"),
    "1 slicer": ("slicer", "slicers/slicer1.xml"),
    "1 timeline": ("timeline", "timelines/timeline1.xml"),
    "1 attached XML data": ("customXml", "item1.xml"),
    "1 embedded object": ("oleObject", "embeddings/o.bin"),
    "1 data model": ("powerPivotData", "model/item.data"),
    "1 add-in": ("webextension", "webextensions/w.xml"),
    "something we do not know: crystalBall": ("crystalBall", "crystal.bin"),
}


@pytest.mark.parametrize("words", PARTS)
def test_parts_that_are_not_copied_are_named_and_unknown_ones_by_their_own_name(words: str, tmp_path: Path) -> None:
    kind, part = PARTS[words]
    more: dict[str, str | bytes] = {f"xl/{part}": b"<x/>" if part.endswith("xml") else b"x"}
    data = package(
        row('<c r="A1"><v>1</v></c>'), more=more,
        related=f'<Relationship Id="r8" Type="{_RELS}/{kind}" Target="{part}"/>',
    )  # fmt: skip
    assert copied(data, tmp_path).not_copied == (words, *ALWAYS)


ELEMENTS = {
    "<crystalBall/>": "something we do not know: crystalBall on sheet 'S'",
    '<extLst><ext uri="{1}"><crystal/></ext></extLst>': "something we do not know: crystal on sheet 'S'",
    '<oleObjects><oleObject progId="x"/></oleObjects>': "1 embedded object on sheet 'S'",
    "<scenarios><scenario/></scenarios>": "1 set of scenarios on sheet 'S'",
    '<protectedRanges><protectedRange sqref="A1"/></protectedRanges>': "1 protected range on sheet 'S'",
}


@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_nobody_knows_is_named(element: str, tmp_path: Path) -> None:
    data = package(row('<c r="A1"><v>1</v></c>'), after=element)
    assert copied(data, tmp_path).not_copied == (ELEMENTS[element], *ALWAYS)


def test_a_part_that_nothing_leads_to_is_named(tmp_path: Path) -> None:
    data = package(row('<c r="A1"><v>1</v></c>'), more={"xl/secret.bin": b"x"})
    assert copied(data, tmp_path).not_copied == ("something we do not know: secret.bin", *ALWAYS)


def test_what_is_hidden_stays_hidden_and_is_said(tmp_path: Path) -> None:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    shown, hidden, very = (book.add_worksheet(name) for name in ("Shown", "Hidden", "Very"))
    for page in (shown, hidden, very):
        page.write("A1", 1)
    hidden.hide()
    very.very_hidden()
    shown.set_row(4, None, None, {"hidden": True})
    shown.set_column("C:D", None, None, {"hidden": True})
    book.close()
    made = copied(out.getvalue(), tmp_path)
    said = ("sheet 'Hidden' is hidden", "sheet 'Very' is hidden")
    assert made.kept_hidden == (*said, "1 hidden row on sheet 'Shown'", "2 hidden columns on sheet 'Shown'")
    assert [sheet.hidden for sheet in seen(tmp_path / "copy.xlsx").values()] == [False, True, True]
    page_xml = part_of(tmp_path / "copy.xlsx", "xl/worksheets/sheet1.xml")
    assert re.findall(r'<row r="(\d+)"[^>]*hidden="1"', page_xml) == ["5"]
    assert re.findall(r'<col min="(\d+)" max="(\d+)"[^>]*hidden="1"', page_xml) == [("3", "4")]


def part_of(path: Path, name: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode()


def test_panes_widths_notes_and_tab_colours_are_copied(tmp_path: Path) -> None:
    def dress(book: Any, page: Page) -> None:
        page.freeze_panes(1, 2)
        page.set_column("B:B", 30)
        page.set_row(2, 40)
        page.write_comment("A1", "Look here", {"author": "Canary"})
        page.set_tab_color("#112233")
        page.hide_gridlines(2)

    copied(made_with(dress), tmp_path)
    page = part_of(tmp_path / "copy.xlsx", "xl/worksheets/sheet1.xml")
    for wanted in (
        'xSplit="2" ySplit="1"',
        'width="30.7109375"',
        'customHeight="1"',
        'rgb="FF112233"',
        'showGridLines="0"',
    ):
        assert wanted in page
    notes = part_of(tmp_path / "copy.xlsx", "xl/comments1.xml")
    assert "Look here" in notes and "Canary" not in notes


REFUSED = (
    'WEBSERVICE("http://x")', '_xlfn.WEBSERVICE("http://x")', "cmd|'/c calc'!A1", "[1]S!A1", "'[b.xlsx]S'!A1", "'C:\\[b]S'!A1",
    "'\\\\h\\s\\[b]S'!A1", "'file:///x'#$S.A1", "Other!A1", "Unknown", "Sales[Amount]", "MyMacro(1)", 'RTD("a","b")',
    'HYPERLINK("file:///x")', 'HYPERLINK("\\\\h")', 'HYPERLINK("http://"&A1)', 'HYPERLINK(A1)', "GETPIVOTDATA(1)", 'CALL("k")',
    'IMAGE("http://x")', "INDIRECT(\"'http://x'#$S.A1\")", 'SUM(1,"', 'DDE("a","b","c")', "S:Other!A1", "INFO(\"directory\")",
)  # fmt: skip


@pytest.mark.parametrize("formula", REFUSED)
def test_a_formula_that_could_reach_out_is_no_formula_of_the_copy(formula: str, tmp_path: Path) -> None:
    with pytest.raises(NotKept):
        spelled(formula, Vocabulary({"s": "S"}))
    quoted = formula.replace("&", "&amp;").replace("<", "&lt;")
    made = copied(package(row(f'<c r="A1"><f>{quoted}</f><v>7</v></c>')), tmp_path)
    assert seen(tmp_path / "copy.xlsx")["S"].values == {"A1": 7.0}
    assert "formula" in made.not_copied[0] and not made.formulas


SPELLINGS = {
    "SUM( A1 , b2 )": "SUM(A1,B2)",
    "sum(A1:A3) + 1.50": "SUM(A1:A3)+1.5",
    "'S'!a1": "S!A1",
    "'my sheet'!$a$1": "'My Sheet'!$A$1",
    "_xlfn.STDEV.S(A1:A2)": "_xlfn.STDEV.S(A1:A2)",
    "STDEV.S(A1:A2)": "_xlfn.STDEV.S(A1:A2)",
    '"a  ""b"" sum( "&A1': '"a  ""b"" sum( "&A1',
    "true": "TRUE",
    "A1:A3 A2:B2": "A1:A3 A2:B2",
    "HYPERLINK(\"https://example.org\",\"x\")": 'HYPERLINK("https://example.org","x")',
    "rate*2": "Rate*2",
}  # fmt: skip


@pytest.mark.parametrize("formula", SPELLINGS)
def test_formulas_have_one_spelling(formula: str) -> None:
    words = Vocabulary({"s": "S", "my sheet": "My Sheet"}, {"rate": "Rate"})
    assert spelled(formula, words).text == SPELLINGS[formula]


@given(st.text(alphabet="ABS!'[]|#$:\\/\"(),+ 1.hx", max_size=40))
@settings(max_examples=300, deadline=None)
def test_no_formula_that_is_kept_holds_a_mark_of_another_file_outside_its_texts(formula: str) -> None:
    try:
        made = spelled(formula, Vocabulary({"s": "S"})).text
    except NotKept:
        return
    outside_texts = "".join(made.split('"')[::2])
    assert not set(outside_texts) & set("[]|\\"), made


@pytest.mark.parametrize(
    ("one", "other"),
    [("yyyy\\-mm\\-dd", "yyyy-mm-dd"), ("[$-409]D/M/YYYY;@", "d/m/yyyy"), ('"$"#,##0.00', "$#,##0.00"),
     ("[$$-409]#,##0.00", "$#,##0.00"), ("[RED]0", "[Red]0"), ("GENERAL", "General"), ("[HH]:MM", "[hh]:mm")],
)  # fmt: skip
def test_number_formats_have_one_spelling(one: str, other: str) -> None:
    assert spelled_format(one) == spelled_format(other)


@given(st.text(alphabet='0#?.,%[]"\\;_*@-$ ymdhsAPM/Red€x', max_size=25))
@settings(max_examples=300, deadline=None)
def test_a_number_format_keeps_its_meaning_and_its_one_spelling(code: str) -> None:
    made = spelled_format(code)
    assert spelled_format(made) == made or '"' in code or "\\" in code or "[" in code
    assert 0 < len(made) <= 255


def test_a_text_table_keeps_what_is_no_plain_number_as_words(tmp_path: Path) -> None:
    made = copied(b'id;amount;when\r\n007;12.50;2025-01-02\r\n=1+1;-3;"a\r\nb"\r\n', tmp_path, "t.csv", "csv")
    assert made.out is not None and not made.formulas
    values = seen(made.out)["Sheet1"].values
    wanted = {"A2": "007", "B2": 12.5, "C2": "2025-01-02", "A3": "=1+1", "B3": -3.0, "C3": "a\nb"}
    assert {at: values[at] for at in wanted} == wanted


def test_no_word_of_its_making_is_in_a_copy(tmp_path: Path) -> None:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    book.set_properties({"author": "Canary", "company": "Canary", "title": "Canary"})
    book.set_custom_property("Canary", "Canary")
    page = book.add_worksheet("S")
    page.write("A1", "words", book.add_format({"bold": True}))
    page.set_header("&CCanary")
    page.set_vba_name("Canary")
    book.define_name("Canary", "=S!$A$1")
    book.close()
    data = copy_bytes(out.getvalue(), tmp_path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert not [name for name in archive.namelist() if b"Canary" in archive.read(name)]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def calculated(look: Documents, book: Path, out: Path) -> CopiedWorkbook:
    return copy_workbook(book, out, office=look.office, rooms=look.rooms)


@pytest.mark.xdist_group("office")
class TestInRooms:
    """With LibreOffice, and as users call it."""

    def test_formulas_store_what_libreoffice_computes_whatever_the_file_stored(
        self, look: Documents, tmp_path: Path
    ) -> None:
        books = []
        for stored in ("<v>99</v>", "", "<v>0</v>"):
            data = package(
                row('<c r="A1"><v>2</v></c>', f'<c r="B1"><f>A1*21</f>{stored}</c>', '<c r="C1"><f>TODAY()</f></c>')
            )
            (tmp_path / "in.xlsx").write_bytes(data)
            made = calculated(look, tmp_path / "in.xlsx", tmp_path / "out.xlsx")
            assert made.out == tmp_path / "out.xlsx" and made.withheld is None
            books.append(made.out.read_bytes())
        assert len(set(books)) == 1
        sheet = seen(tmp_path / "out.xlsx")["S"]
        assert sheet.values == {"A1": 2.0, "B1": 42.0} and sheet.formulas["B1"] == "A1*21"

    @pytest.mark.parametrize("name", ["late-laughs.xlsx", "beyond.xlsx", "garbage.xls"])
    def test_a_hostile_workbook_is_withheld_with_its_reason(self, name: str, look: Documents, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(HOSTILE_WORKBOOKS[name]())
        made = calculated(look, tmp_path / name, tmp_path / "out.xlsx")
        assert made.out is None and made.withheld
        assert not (tmp_path / "out.xlsx").exists()

    def test_what_is_no_workbook_is_withheld(self, look: Documents, tmp_path: Path) -> None:
        (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\n")
        assert "no workbook" in (calculated(look, tmp_path / "a.pdf", tmp_path / "o.xlsx").withheld or "")


def test_there_are_at_least_forty_hostile_workbooks() -> None:
    assert len(HOSTILE_WORKBOOKS) >= 40


def test_an_outside_link_is_neither_kept_nor_shown(tmp_path: Path) -> None:
    data = package(
        row('<c r="A1"><v>1</v></c>'), links=external("hyperlink", "\\\\server\\share"),
        after='<hyperlinks><hyperlink ref="A1" r:id="r1"/></hyperlinks>',
    )  # fmt: skip
    assert relations("") and b"server" not in copy_bytes(data, tmp_path)
    assert "server" not in part_of(tmp_path / "copy.xlsx", "xl/worksheets/sheet1.xml")
