"""Every visible file becomes pages, or a counted omission with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from guildhall.documents.kinds import Kind
from guildhall.documents.looking import Documents
from guildhall.documents.render.images import svg_picture
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.render.web import browser
from guildhall.documents.values import LookOutcome
from tests.documents import sound
from tests.documents.hostile import HOSTILE

pytestmark = pytest.mark.xdist_group("office")


@pytest.mark.parametrize(
    ("make", "name", "pages"),
    [
        (sound.docx, "a.docx", 1),
        (sound.xlsx, "a.xlsx", 1),
        (sound.pptx, "a.pptx", 2),
        (sound.pdf, "a.pdf", 1),
        (sound.png, "a.png", 1),
        (sound.wav, "a.wav", 1),
        (sound.stl, "a.stl", 4),
        (sound.step, "a.step", 4),
        (sound.dxf, "a.dxf", 1),
        (sound.notebook, "a.ipynb", 1),
    ],
)
def test_a_sound_file_becomes_pages(make, name: str, pages: int, look: Documents, tmp_path: Path) -> None:
    rendered = look.renderer.render(make(tmp_path / name))
    assert len(rendered.pages) == pages, rendered.omitted
    assert [page.number for page in rendered.pages] == list(range(1, pages + 1))
    assert all(page.image.read_bytes().startswith(b"\x89PNG") and page.width > 30 for page in rendered.pages)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "only words"),
        ("a.md", "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("a.py", "def f():\n    return 1\n"),
        ("a.csv", "a,b\n1,2\n"),
        ("a.html", "<html><body><h1>Title</h1></body></html>"),
        ("a.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>'),
    ],
)
def test_text_becomes_a_page_with_something_on_it(name: str, content: str, look: Documents, tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / name).write_text(content)
    rendered = look.renderer.render(tmp_path / name)
    assert len(rendered.pages) == 1, rendered.omitted
    levels = Image.open(rendered.pages[0].image).convert("L").tobytes()
    assert min(levels) < 128 < max(levels)


def test_a_name_is_no_obstacle_when_the_content_is_an_office_file(look: Documents, tmp_path: Path) -> None:
    outcome = look.render(sound.docx(tmp_path / "letter.pdf"))
    assert (outcome.kind, outcome.outcome, outcome.pages) == (Kind.DOCX, LookOutcome.OK, 1)
    assert "kind-mismatch" in {finding.rule for finding in outcome.findings}


def test_a_package_with_prefixed_tables_is_mended_and_shown(look: Documents, tmp_path: Path) -> None:
    odd = sound.with_prefixed_tables(tmp_path / "odd.docx", sound.docx(tmp_path / "a.docx"))
    rendered = look.renderer.render(odd)
    assert len(rendered.pages) == 1, rendered.omitted


def test_the_font_that_stood_in_is_named(look: Documents, tmp_path: Path) -> None:
    rendered = look.renderer.render(sound.docx(tmp_path / "a.docx", "Words in a font", font="Calibri"))
    assert ("Calibri", "Carlito") in {(font.wanted, font.shown) for font in rendered.fonts_substituted}


def test_hidden_sheets_are_counted(look: Documents, tmp_path: Path) -> None:
    rendered = look.renderer.render(sound.xlsx(tmp_path / "a.xlsx", hidden_sheet=True))
    assert [(one.what, one.count) for one in rendered.omitted] == [("hidden sheets", 1)]


def test_comments_and_notes_do_no_harm_and_are_counted(look: Documents, tmp_path: Path) -> None:
    letter = look.renderer.render(sound.reviewed(tmp_path / "a.docx", authors=(), comment="Is this so?"))
    deck = look.renderer.render(sound.pptx(tmp_path / "a.pptx", notes="Say this slowly"))
    assert (len(letter.pages), len(deck.pages)) == (1, 2), (letter.omitted, deck.omitted)
    assert letter.warnings == ("not on the pages: 1 x comments",)
    assert deck.warnings == ("not on the pages: 1 x slides with notes",)


def test_tracked_changes_look_the_same_whatever_was_rendered_before(look: Documents, tmp_path: Path) -> None:
    first = sound.reviewed(tmp_path / "first.docx", authors=("Ann", "Bob"))
    swapped = sound.reviewed(tmp_path / "swapped.docx", authors=("Bob", "Ann"))
    # Writer takes the first colour for itself with the first text it opens, whatever that is.
    look.renderer.render(sound.docx(tmp_path / "plain.docx"))
    one, other = (look.renderer.render(file).pages[0].image.read_bytes() for file in (first, swapped))
    assert one == other, "the colours tell what was rendered before"


def test_a_wide_sheet_is_not_cut_into_strips(look: Documents, tmp_path: Path) -> None:
    assert len(look.renderer.render(sound.xlsx(tmp_path / "a.xlsx", columns=16)).pages) == 1


def test_the_pdf_of_a_page_view_names_no_author(look: Documents, tmp_path: Path) -> None:
    rendered = look.renderer.render(sound.docx(tmp_path / "a.docx"))
    assert rendered.pdf is not None
    assert b"Canary Author" not in rendered.pdf.read_bytes()


def test_an_archive_shows_its_contents_and_its_members(look: Documents, tmp_path: Path) -> None:
    path = sound.archive(tmp_path / "a.zip", sub__a_dot_txt=b"hello", b_dot_bin=b"\0\1\2\3")
    rendered = look.renderer.render(path)
    assert [page.label for page in rendered.pages] == ["contents 1", "sub/a.txt 1"]
    assert [one.what for one in rendered.omitted] == ["b.bin"]


def test_what_cannot_be_shown_is_an_omission_with_a_reason(look: Documents, tmp_path: Path) -> None:
    (tmp_path / "a.dwg").write_bytes(b"AC1032" + bytes(500))
    outcome = look.render(tmp_path / "a.dwg")
    assert outcome.outcome is LookOutcome.OMITTED
    assert outcome.reason


def test_a_second_call_comes_from_the_cache_without_an_office_or_a_room(look: Documents, tmp_path: Path) -> None:
    path = sound.docx(tmp_path / "a.docx", "Words nobody else has")
    first = look.renderer.render(path)
    nobody: Any = None  # whoever is asked for a page fails
    again = Renderer(look.renderer._cache, nobody, nobody).render(path)
    assert (first.from_cache, again.from_cache) == (False, True)
    assert again.but(from_cache=False) == first


def test_kept_pages_lie_in_a_folder_called_like_the_file(look: Documents, tmp_path: Path, folder: Path) -> None:
    outcome = look.render(sound.pptx(tmp_path / "a.pptx"), out=folder)
    assert [path.name for path in outcome.out] == ["page-001.png", "page-002.png", "document.pdf"]
    assert all(path.is_file() for path in outcome.out)


def test_what_a_drawing_would_load_is_counted_and_not_fetched(look: Documents, tmp_path: Path) -> None:
    rendered = look.renderer.render(HOSTILE["fetches.svg"](tmp_path))
    assert len(rendered.pages) == 1
    assert [(one.what, one.count) for one in rendered.omitted] == [("linked resources", 2)]


def test_a_page_that_needs_its_script_is_shown_as_people_see_it(look: Documents, tmp_path: Path) -> None:
    if browser() is None:
        pytest.skip("no Chromium is here")
    page = (
        "<html><body><script>document.body.innerHTML = '<h1>' + 6 * 7 + '</h1>'</script><img src=x.png></body></html>"
    )
    (tmp_path / "a.html").write_text(page)
    outcome = look.render(tmp_path / "a.html", out=tmp_path / "made")
    assert "42" in look.text(outcome.out[-1])[1]
    assert any("linked resources" in finding.words for finding in outcome.findings)


@pytest.mark.parametrize(
    ("size", "longer"),
    [
        ('width="20mm" height="10mm"', 1600),
        ('width="2in" height="1in"', 1600),
        ('width="80" height="90px"', 1600),
        ('width="100%" height="100%" viewBox="0 0 500 200"', 1600),
        ('viewBox="0 0 .5 .25"', 1600),
    ],
)
def test_a_drawing_is_as_large_as_asked_in_whatever_unit_it_states_its_size(size: str, longer: int) -> None:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="100%" height="100%" fill="red"/></svg>'
    assert abs(max(svg_picture(svg).size) - longer) <= 4
