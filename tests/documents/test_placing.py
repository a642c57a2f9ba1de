"""Words laid over the pictures of pages: each stands where its ink is, on pages turned and cropped too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
from PIL import Image

from guildhall.documents.extract import pdf
from guildhall.documents.extract.pdf import place_words
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.kinds import Kind
from guildhall.documents.looking import Documents
from guildhall.documents.render.pdf_pages import draw_pages
from guildhall.documents.values import Omission, Rendered
from guildhall.domain.prepared import PLACES, PlacedText
from guildhall.errors import UnreadableFile
from tests.documents.broken_and_sound import drawn


def words(text: str, x: float, y: float, *, turned: bool = False) -> str:
    matrix = f"0 1 -1 0 {x} {y} Tm" if turned else f"{x} {y} Td"
    return f"BT /F1 24 Tf {matrix} ({text}) Tj ET "


def laid_over(path: Path) -> dict[str, PlacedText]:
    return {one.text: one for one in place_words(path, path.parent, max_pages=9).pages.get(1, ())}


def ink_in(picture: Any, placed: PlacedText) -> float:
    """The share of a page's ink that lies in a box."""
    dark = np.asarray(picture.convert("L")) < 128
    height, width = dark.shape
    rows = slice(placed.top * height // PLACES, -(-(placed.top + placed.height) * height // PLACES))
    columns = slice(placed.left * width // PLACES, -(-(placed.left + placed.width) * width // PLACES))
    return float(dark[rows, columns].sum() / dark.sum())


@pytest.mark.parametrize("turned_by", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
@pytest.mark.parametrize("upwards", [False, True])
def test_a_box_holds_the_ink_of_its_words(tmp_path: Path, turned_by: int, cropped: bool, upwards: bool) -> None:
    path = tmp_path / "one.pdf"
    drawn(words("Harbour dues", 200, 300, turned=upwards))(path)
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.pages[0].Rotate = turned_by
        if cropped:
            pdf.pages[0].CropBox = [100, 150, 580, 700]
        pdf.save(path)
    placed = laid_over(path)["Harbour dues"]
    [page] = draw_pages(path, tmp_path).pages
    assert ink_in(Image.open(page.image), placed) > 0.99
    assert placed.width * placed.height < PLACES**2 / 20, "and little else"


def test_what_stands_apart_is_told_apart_and_what_stands_together_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "columns.pdf"
    drawn(words("Harbour dues of May", 50, 700) + words("1200", 400, 700) + words("Sum", 50, 600))(path)
    assert list(laid_over(path)) == ["Harbour dues of May", "1200", "Sum"]


def test_marks_of_lists_are_no_words_whether_letters_or_shapes(tmp_path: Path) -> None:
    def page(mark: str, blank: str) -> str:
        items = [mark + words(f"{item}{blank}", 90, 700 - 40 * at) for at, item in enumerate(("North 1200", "South"))]
        return words(f"Harbour{blank * 2} dues{blank}", 50, 750) + " ".join(items)

    shown = []
    for number, (mark, blank) in enumerate({"70 705 9 9 re f ": "", words("\\267", 70, 700): " ", "": " "}.items()):
        path = tmp_path / f"{number}.pdf"
        drawn(page(mark, blank))(path)
        shown.append((list(laid_over(path)), extract_file(path, kind=Kind.PDF).text))
    assert shown == [(["Harbour dues", "North 1200", "South"], "# Page 1\nHarbour dues\nNorth 1200\nSouth")] * 3


def test_marks_that_count_or_can_be_filled_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rated.pdf"
    drawn(words("\\267\\267\\267 good", 50, 700) + words("a \\267 b", 50, 600))(path)
    assert list(laid_over(path)) == ["\u2022\u2022\u2022 good", "a \u2022 b"]


def test_boxes_are_of_the_ink_whatever_a_font_says_of_its_lines(tmp_path: Path) -> None:
    boxes = []
    for number, (up, down) in enumerate([(700, -200), (1900, -900)]):
        path = tmp_path / f"{number}.pdf"
        drawn(words("Harbour dues", 50, 700) + words("1200", 400, 700))(path)
        with pikepdf.open(path, allow_overwriting_input=True) as pdf:
            font = pdf.pages[0].Resources.Font.F1
            font.Subtype = pikepdf.Name.TrueType
            font.FirstChar, font.LastChar, font.Widths = 0, 255, pikepdf.Array([600] * 256)
            about = f"<</Type/FontDescriptor/FontName/Odd/Flags 32/Ascent {up}/Descent {down}/ItalicAngle 0/StemV 80"
            about += f"/CapHeight 700/FontBBox[0 {down} 1000 {up}]>>"
            font.BaseFont, font.FontDescriptor = pikepdf.Name.Odd, pikepdf.Object.parse(about.encode())
            pdf.save(path)
        boxes.append(laid_over(path))
    assert boxes[0] == boxes[1]
    assert list(boxes[0]) == ["Harbour dues", "1200"]


def test_words_beyond_the_page_are_not_laid_over_it(tmp_path: Path) -> None:
    path = tmp_path / "beyond.pdf"
    drawn(words("seen", 50, 700) + words("unseen", 50, 900) + words("outside", -400, 400))(path)
    assert list(laid_over(path)) == ["seen"]


def test_what_cannot_be_printed_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "odd.pdf"
    drawn(words("a\\002b\\177c", 50, 700))(path)
    assert all(letter.isprintable() for text in laid_over(path) for letter in text)


def test_past_its_limit_a_page_has_no_words_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "two.pdf"
    drawn(words("one", 50, 700), words("two", 50, 700) + words("three", 50, 100))(path)
    monkeypatch.setattr(pdf, "MOST_PIECES", 2)
    assert set(place_words(path, tmp_path, max_pages=9).pages) == {1}


def test_a_file_that_is_no_pdf_has_none_and_says_so(tmp_path: Path, look: Documents) -> None:
    path = tmp_path / "no.pdf"
    path.write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        place_words(path, tmp_path, max_pages=9)
    assert (
        look.layer(path, Rendered(kind=Kind.PDF, renderer="none", omitted=(Omission(what="file", reason="no"),))).pages
        == {}
    )


def test_words_of_a_file_that_is_no_pdf_come_from_the_pdf_its_pages_are_drawn_from(
    tmp_path: Path, look: Documents
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Harbour dues\n\nThe sum is 1200.\n")
    rendered = look.renderer.render(path)
    assert rendered.pdf is not None
    placed = {one.text: one for one in look.layer(path, rendered).pages[1]}
    assert list(placed) == ["Harbour dues", "The sum is 1200."]
    picture = Image.open(rendered.pages[0].image)
    assert sum(ink_in(picture, one) for one in placed.values()) > 0.99
