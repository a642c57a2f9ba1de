"""Format checks: broken made files are found out, sound ones are left alone, and a finding shows its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.documents.checks.checking import CheckLimits, check_file, odd_bullets, risky_letters
from guildhall.documents.checks.legibility import is_common
from guildhall.documents.kinds import Kind
from guildhall.documents.values import Gravity
from tests.documents import sound
from tests.documents.broken_and_sound import BODY, Case, all_cases, drawn, text, words

FLAT = [case for case in all_cases() if not case.office]


@pytest.mark.parametrize("case", FLAT, ids=lambda case: f"{case.rule}-{case.name}")
def test_a_broken_file_is_found_out_and_a_sound_one_is_not(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "made"
    case.make(path)
    rules = {finding.rule for finding in check_file(path, kind=case.kind, pdf=None, limits=case.limits)}
    assert (case.rule in rules) is case.broken


def test_a_finding_has_its_page_its_box_a_picture_and_a_sentence(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "faint.pdf"
    drawn(BODY, BODY + text(60, 300, "Pale", colour="0.95 0.95 0.95"))(path)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (finding,) = check_file(path, kind=Kind.PDF, pdf=None, pictures=pictures)
    assert (finding.rule, finding.severity, finding.page) == ("low-contrast", Gravity.MAJOR, 2)
    assert finding.box is not None
    left, top, right, bottom = finding.box
    assert left == pytest.approx(60 / 600, abs=0.01)
    assert (top + bottom) / 2 == pytest.approx(1 - 304 / 800, abs=0.01)
    assert right < 0.2
    assert finding.picture is not None
    with Image.open(finding.picture) as shown:
        assert shown.width > 10
    assert finding.words.endswith(".")


def test_the_same_page_turned_by_a_quarter_has_the_same_fault_at_the_turned_place(tmp_path: Path) -> None:
    import pikepdf

    path, turned = tmp_path / "upright.pdf", tmp_path / "turned.pdf"
    drawn(BODY + text(60, 100, "Pale", colour="0.95 0.95 0.95"))(path)
    with pikepdf.open(path) as pdf:
        pdf.pages[0].Rotate = 90
        pdf.save(turned)
    (upright,) = check_file(path, kind=Kind.PDF, pdf=None)
    (sideways,) = check_file(turned, kind=Kind.PDF, pdf=None)
    assert upright.box is not None
    assert sideways.box is not None
    left, top, right, bottom = upright.box
    assert sideways.box == pytest.approx((1 - bottom, left, 1 - top, right), abs=0.01)


def test_words_on_words_are_seen_when_every_letter_is_drawn_for_itself(tmp_path: Path) -> None:
    def letter_by_letter(x: float, y: float, line: str) -> str:
        return "".join(text(x + 9 * place, y, letter) for place, letter in enumerate(line))

    drawn(BODY + letter_by_letter(60, 300, "network") + letter_by_letter(64, 302, "percent"))(tmp_path / "crossed.pdf")
    drawn(BODY + letter_by_letter(60, 300, "network") + letter_by_letter(64, 330, "percent"))(tmp_path / "apart.pdf")
    assert {found.rule for found in check_file(tmp_path / "crossed.pdf", kind=Kind.PDF, pdf=None)} == {"overlap"}
    assert check_file(tmp_path / "apart.pdf", kind=Kind.PDF, pdf=None) == ()


@pytest.mark.parametrize(
    ("shown", "cut"),
    [("Quarterly re", True), ("Quarterly revenue by region", False), ("Quarterly", False)],
)
def test_words_that_end_under_the_next_cell_are_cut_off(shown: str, cut: bool, tmp_path: Path) -> None:
    """A converter may leave out what the next cell hides, so that the page alone looks sound."""
    from openpyxl import Workbook

    book = Workbook()
    assert book.active is not None
    book.active.append(["Quarterly revenue by region", "North"])
    book.save(tmp_path / "book.xlsx")
    drawn(text(60, 700, shown) + text(260, 700, "North"))(tmp_path / "book.pdf")
    found = check_file(tmp_path / "book.xlsx", kind=Kind.XLSX, pdf=tmp_path / "book.pdf")
    assert [(one.rule, one.page) for one in found] == ([("cut-off", 1)] if cut else [])


def test_a_note_of_one_line_is_no_blank_page(tmp_path: Path) -> None:
    drawn(text(60, 760, "All there is to say"))(tmp_path / "note.pdf")
    drawn(BODY, text(60, 760, "All there is to say"))(tmp_path / "header.pdf")
    assert check_file(tmp_path / "note.pdf", kind=Kind.PDF, pdf=None) == ()
    assert [found.page for found in check_file(tmp_path / "header.pdf", kind=Kind.PDF, pdf=None)] == [2]


def test_an_archive_cut_short_is_unreadable(tmp_path: Path) -> None:
    path = sound.archive(tmp_path / "a.zip", a_dot_txt=b"words")
    assert check_file(path, kind=Kind.ZIP, pdf=None) == ()
    path.write_bytes(path.read_bytes()[:-30])
    assert [found.rule for found in check_file(path, kind=Kind.ZIP, pdf=None)] == ["unreadable"]


@pytest.mark.parametrize("mark", "\u261e\u2756\u2794\u2726\u2705")
def test_any_picture_that_begins_lines_is_an_odd_bullet(mark: str) -> None:
    assert odd_bullets(f"{mark} one\n{mark} two") == {mark: 2}


def test_an_office_file_that_could_not_be_shown_is_unreadable(tmp_path: Path) -> None:
    words("Some words")(tmp_path / "made.docx")
    (finding,) = check_file(tmp_path / "made.docx", kind=Kind.DOCX, pdf=None)
    assert finding.rule == "unreadable"


def test_pages_past_the_limit_of_the_check_are_said_to_be_unchecked(tmp_path: Path) -> None:
    drawn(BODY, BODY, BODY)(tmp_path / "long.pdf")
    (finding,) = check_file(tmp_path / "long.pdf", kind=Kind.PDF, pdf=None, limits=CheckLimits(most_checked=2))
    assert finding.rule == "unchecked-pages"
    assert "2 of 3" in finding.words


@pytest.mark.parametrize(
    ("name", "common"),
    [
        ("Arial", True),
        ("ABCDEF+Arial-BoldMT", True),
        ("Times New Roman,Bold", True),
        ("Noto Serif CJK JP", True),
        ("Montserrat", False),
        ("Gotham-Book", False),
        ("ABCDEF+Futura", False),
        ("Arialish", False),
    ],
)
def test_common_fonts_are_known_by_name_whatever_their_style(name: str, common: bool) -> None:
    assert is_common(name) is common


@given(st.text(alphabet=st.characters(codec="latin-1", categories=("L", "N", "P", "Zs")), max_size=200))
def test_plain_western_text_has_no_risky_character(content: str) -> None:
    assert risky_letters(content) == {}


@given(st.lists(st.sampled_from(["- one", "• two", "* three", "1. four", "plain words"]), max_size=10))
def test_usual_bullets_are_never_odd(lines: list[str]) -> None:
    assert odd_bullets("\n".join(lines)) == {}
