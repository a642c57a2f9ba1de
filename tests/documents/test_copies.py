"""What graders are handed is written by us: of every kind, from what is seen, the same bytes each time."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from guildhall.documents.copies import recode_picture, recode_recording, rewrite_text
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Family, Kind, copied_name
from guildhall.documents.looking import Documents
from guildhall.documents.render.printing import PrintedPage, printed_pdf
from guildhall.domain.prepared import PlacedText
from tests.documents.canary_files import MADE, MEDIA, made
from tests.documents.leaks import CANARY, leaks

QUICK = (Kind.PDF, Kind.PNG, Kind.ZIP, Kind.IPYNB)
"""Kinds of which a whole copy is made here; the proof `copies-canaries` takes them all."""
PICTURES = [kind for kind in MADE if kind.family is Family.IMAGE and kind.copied.family is Family.IMAGE]


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.value)
def test_whatever_can_be_shown_has_its_way_of_being_handed_out(kind: Kind) -> None:
    row = kind.row
    assert (row.copier is None) is (row.renderer is None)
    assert row.copier is not None or not row.copied_as
    assert kind.copied.copied is kind.copied, "what is handed out is of a kind that stays what it is"


@pytest.mark.parametrize("kind", QUICK, ids=lambda kind: kind.value)
def test_a_copy_holds_nothing_of_its_maker_and_is_the_same_each_time(
    kind: Kind, tmp_path: Path, look: Documents
) -> None:
    original = made(kind, tmp_path)
    assert leaks(original.read_bytes())
    copies = [look.copied(original, out=tmp_path / str(number)) for number in range(2)]
    assert [one.kind for one in copies] == [kind.copied] * 2
    first, second = (one.out.read_bytes() for one in copies if one.out)
    assert first == second and leaks(first) == []
    assert original.read_bytes()[:4000] not in first


@pytest.mark.parametrize("kind", PICTURES, ids=lambda kind: kind.value)
def test_a_picture_keeps_its_pixels_and_nothing_else(kind: Kind, tmp_path: Path) -> None:
    original = made(kind, tmp_path)
    copied = recode_picture(original, tmp_path, kind=kind.value, to=kind.copied.value)
    assert copied.out is not None and leaks(copied.out.read_bytes()) == []
    with Image.open(copied.out) as picture:
        picture.load()
        assert not {"icc_profile", "exif", "xmp", "comment", "dpi", "gamma", "photoshop"} & set(picture.info)


def test_a_picture_that_moves_goes_on_moving(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "green", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:], duration=[100, 200, 300], loop=0)
    copied = recode_picture(tmp_path / "a.gif", tmp_path, kind="gif", to="png")
    assert copied.out is not None
    with Image.open(copied.out) as picture:
        assert getattr(picture, "n_frames", 1) == 3 and getattr(picture, "is_animated", False)


@pytest.mark.parametrize("kind", [Kind.FLAC, Kind.MKV], ids=lambda kind: kind.value)
def test_a_recording_is_encoded_again_with_the_same_bytes_each_time(kind: Kind, tmp_path: Path) -> None:
    assert kind in MEDIA
    original = made(kind, tmp_path)
    written = []
    for number in range(2):
        out = tmp_path / str(number)
        out.mkdir()
        copied = recode_recording(original, out, kind=kind.value, to=kind.copied.value)
        assert copied.out is not None
        written.append(copied.out.read_bytes())
    assert written[0] == written[1] and leaks(written[0]) == []


def test_captions_and_subtitles_do_not_travel_in_a_film(tmp_path: Path) -> None:
    (tmp_path / "words.srt").write_text(f"1\n00:00:00,000 --> 00:00:01,000\n{CANARY}\n")
    film = tmp_path / "film.mkv"
    source = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x48:r=5", "-i", str(tmp_path / "words.srt")]
    subprocess.run(["ffmpeg", "-v", "error", *source, "-c:s", "srt", str(film)], check=True)
    assert leaks(film.read_bytes())
    copied = recode_recording(film, tmp_path, kind="mkv", to="mp4")
    assert copied.out is not None and leaks(copied.out.read_bytes()) == []


@given(text=st.text())
def test_a_text_is_what_a_reader_sees_of_it(text: str) -> None:
    seen = visible(text)
    assert visible(seen) == seen
    assert not {"\r", "\ufeff", "\u200b", "\u2060", "\U000e0041", "\u202e", "\x00"} & set(seen)


@given(bits=st.lists(st.sampled_from("\u200b\u200c\u200d\ufeff\u2060\ufe00\ufe0e"), min_size=2, max_size=40))
def test_no_message_hides_between_letters(bits: list[str]) -> None:
    assert visible(f"word{''.join(bits)}s") == "words"
    assert len(visible(f"é{''.join(bits)}s")) <= 3, "one sign may shape the letter before it"


def test_signs_that_shape_letters_stay() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert visible(f"{family} ❤\ufe0f میز\u200cها") == f"{family} ❤\ufe0f میز\u200cها"


def test_a_text_is_written_in_one_way(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffitem,amount  \r\nrent,12\u200b\r\n\r\n\r\n".encode())
    (tmp_path / "b.csv").write_bytes("item,amount\nrent,12".encode("utf-16"))
    for name in ("a", "b"):
        (tmp_path / f"out-{name}").mkdir()
        copied = rewrite_text(tmp_path / f"{name}.csv", tmp_path / f"out-{name}", to="csv")
        assert copied.out is not None and copied.out.read_bytes() == b"item,amount\nrent,12\n"


def test_words_over_printed_pages_can_be_selected_and_searched(tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    Image.new("L", (850, 1100), "white").save(picture)
    many = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 300))
    lines = ("Harbour dues 1200", "Über 中文 😀", many)
    placed = [
        PlacedText(text=words, left=1000, top=1000 * row, width=6000, height=200) for row, words in enumerate(lines)
    ]
    data = printed_pdf([PrintedPage(picture, placed), PrintedPage(picture)], dpi=110)
    with pypdfium2.PdfDocument(io.BytesIO(data)) as document:
        assert len(document) == 2
        words = document[0].get_textpage().get_text_bounded()
        assert [line for line in lines if line in words] == list(lines)
        left, bottom, right, top = document[0].get_textpage().get_charbox(0)
        width, height = document[0].get_size()
        assert left == pytest.approx(0.1 * width, abs=1) and right > left
        assert 0.97 * height < top <= 1.01 * height and bottom < top


def test_an_archive_is_a_tree_of_copies_under_plain_names(tmp_path: Path, look: Documents) -> None:
    inner, outer = io.BytesIO(), tmp_path / "a.zip"
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("deep.txt", "deep\r\n")
    with zipfile.ZipFile(outer, "w") as packed:
        packed.comment = CANARY.encode()
        packed.writestr(f"Users/{CANARY}/notes.txt", "words\r\n")
        packed.writestr(f"__MACOSX/{CANARY}", "x")
        packed.writestr("inner.zip", inner.getvalue())
        packed.writestr("program.exe", b"MZ\x90\0\3\0" + bytes(range(256)) + CANARY.encode())
    copied = look.copied(outer, out=tmp_path / "out")
    assert copied.out is not None and leaks(copied.out.read_bytes()) == []
    with zipfile.ZipFile(copied.out) as packed:
        assert packed.namelist() == ["inner.zip", "notes.txt"] and packed.read("notes.txt") == b"words\n"
    assert [one.partition(": ")[0] for one in copied.not_copied] == ["program.exe"]


def test_a_copy_is_called_by_what_it_is() -> None:
    assert copied_name("A-1.docx", Kind.PDF) == "A-1.docx.pdf"
    assert copied_name("photo.jpeg", Kind.JPEG) == "photo.jpeg"
    assert copied_name("model.py", Kind.CODE) == "model.py"
