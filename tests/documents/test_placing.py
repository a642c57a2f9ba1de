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
