"""The second set for the format checks, concluded: characters in files of five kinds, damage, and links."""

from __future__ import annotations

import io
import json
import wave
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from guildhall.documents.kinds import Kind
from tests.documents.broken_and_sound import Case, Maker, plain
from tests.documents.held_out import EACH, first_words, noise, sentence, web_pdf
from tests.documents.held_out_office import book, box, deck

_RISKY = "\u2011\u200b\u2060\u202e\ue123"
_HARMLESS = ("\u2013", "\u201cso\u201d", "\u4f1a\u8ba1", "\u00a0", "\u00bd \u2265 \u03bc")
_EMOJI = ("\U0001f3af", "\U0001f4a1", "\u26a0\ufe0f", "\U0001f525", "\u2b50")
_SIGNS = ("\u2122 \u00ae", "\u00b1 5 \u2030", "\u2194", "\u2211 \u221a \u221e", "\u00a7 12 \u00b6")
_ODD = "\u2756\u2794\u2726\u261e\u25c6"
_USUAL = "\u2022\u2013\u25e6\u25aa\u00b7"


def file_cases(seed: int) -> list[Case]:
    return [*_character_cases(seed), *_damage_cases(seed), *_link_cases(seed)]


# --- hosts: the same words in files of five kinds ---------------------------------------------------------------


def in_document(*lines: str) -> Maker:
    """Words in the cells of a table and in a heading."""

    def make(path: Path) -> None:
        from docx import Document

        made = Document()
        made.add_heading(lines[0], 2)
        table = made.add_table(rows=len(lines), cols=1, style="Light Grid Accent 1")
        for row, line in zip(table.rows, lines, strict=True):
            row.cells[0].text = line
        made.save(str(path))

    return make


def in_deck(*lines: str) -> Maker:
    """Words in the placeholders of a wide deck."""

    def make(path: Path) -> None:
        from pptx import Presentation
        from pptx.util import Inches

        made = Presentation()
        made.slide_width, made.slide_height = Inches(13.333), Inches(7.5)
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = "Overview of the year"
        slide.placeholders[1].text = "\n".join(lines)
        made.save(str(path))

    return make


def in_book(*lines: str) -> Maker:
    def make(path: Path) -> None:
        import xlsxwriter

        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("Data")
            sheet.set_column(0, 0, 60)
            for row, line in enumerate(lines):
                sheet.write_string(row, 0, line)

    return make


def in_page(*lines: str) -> Maker:
    style = "@page{margin:2cm}body{font:12pt 'Noto Sans','Noto Sans CJK JP','Noto Sans Symbols2','Noto Color Emoji'}"
    return web_pdf(f'<meta charset="utf-8"><style>{style}</style>' + "".join(f"<p>{line}</p>" for line in lines))


def in_text(*lines: str) -> Maker:
    return plain("\n\n".join(lines) + "\n")


_HOSTS: tuple[tuple[Kind, Callable[..., Maker]], ...] = (
    (Kind.DOCX, in_document),
    (Kind.PPTX, in_deck),
    (Kind.XLSX, in_book),
    (Kind.PDF, in_page),
    (Kind.MARKDOWN, in_text),
)


def _character_cases(seed: int) -> list[Case]:
    cases = []
    for number, (kind, host) in enumerate(_HOSTS):
        rng = Random(f"{seed} characters {number}")
        start, end = first_words(rng), first_words(rng)
        shift = (number + seed) % EACH
        risky, harmless = (signs[shift] for signs in (_RISKY, _HARMLESS))
        odd, usual = _ODD[shift], _USUAL[shift]
        points = [sentence(rng, 5) for _ in range(rng.randint(3, 5))]
        for rule, line, broken in (
            ("risky-character", [f"{start}{risky}{end}", sentence(rng)], True),
            ("risky-character", [f"{start} {harmless} {end}", sentence(rng)], False),
            ("emoji", [f"{start} {_EMOJI[shift]} {end}", sentence(rng)], True),
            ("emoji", [f"{start} {_SIGNS[shift]} {end}", sentence(rng)], False),
            ("odd-bullet", [f"{odd} {point}" for point in points], True),
            ("odd-bullet", [f"{usual} {point}" for point in points], False),
        ):
            cases.append(Case(rule, f"{kind.value}-{'odd' if broken else 'fine'}-{shift}", kind, host(*line), broken))
    return cases


def _damage_cases(seed: int) -> list[Case]:
    rng = Random(f"{seed} damage")

    def spoilt(make: Maker, spoil: Callable[[bytes], bytes]) -> Maker:
        def made(path: Path) -> None:
            make(path)
            path.write_bytes(spoil(path.read_bytes()))

        return made

    def halved(data: bytes) -> bytes:
        return data[: int(len(data) * rng.uniform(0.3, 0.7))]

    def zeroed(data: bytes) -> bytes:
        return data[:200] + bytes(len(data) - 400) + data[-200:]

    book, slides, page = in_book(sentence(rng)), in_deck(sentence(rng)), in_page(sentence(rng))
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []})
    return [
        Case("unreadable", "half-book", Kind.XLSX, spoilt(book, halved), True),
        Case("unreadable", "zeroed-deck", Kind.PPTX, spoilt(slides, zeroed), True),
        Case("unreadable", "half-pdf", Kind.PDF, spoilt(page, halved), True),
        Case("unreadable", "locked-pdf", Kind.PDF, _locked(page, user="secret"), True),
        Case("unreadable", "half-jpeg", Kind.JPEG, spoilt(_jpeg(rng), halved), True),
        Case("unreadable", "half-zip", Kind.ZIP, spoilt(_zip, halved), True),
        Case("unreadable", "half-notebook", Kind.IPYNB, plain(notebook[:-9]), True),
        Case("unreadable", "book", Kind.XLSX, book, False),
        Case("unreadable", "deck", Kind.PPTX, slides, False),
        Case("unreadable", "owner-locked-pdf", Kind.PDF, _locked(page, user=""), False),
        Case("unreadable", "jpeg", Kind.JPEG, _jpeg(rng), False),
        Case("unreadable", "zip", Kind.ZIP, _zip, False),
        Case("unreadable", "notebook", Kind.IPYNB, plain(notebook), False),
        Case("unreadable", "sound", Kind.WAV, _wav, False),
    ]


def _locked(make: Maker, *, user: str) -> Maker:
    def locked(path: Path) -> None:
        import pikepdf

        make(path)
        with pikepdf.open(path, allow_overwriting_input=True) as pdf:
            pdf.save(path, encryption=pikepdf.Encryption(owner="owner", user=user))

    return locked


def _jpeg(rng: Random) -> Maker:
    picture = noise(rng)

    def make(path: Path) -> None:
        from PIL import Image

        with Image.open(io.BytesIO(picture)) as opened:
            opened.save(path, "JPEG")

    return make


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes/readme.txt", "Words in an archive. " * 200)


def _wav(path: Path) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(2)
        sound.setsampwidth(2)
        sound.setframerate(22_050)
        sound.writeframes(bytes(range(256)) * 400)


def _link_cases(seed: int) -> list[Case]:
    rng = Random(f"{seed} links")
    words = first_words(rng)

    def cell(target: str) -> Maker:
        return book(lambda to, _: to.write_url(0, 0, target, string=words))

    def slide(target: str) -> Maker:
        def fill(at: Any) -> None:
            box(at, 1, 1, 8, 1, words)
            at.shapes[0].text_frame.paragraphs[0].runs[0].hyperlink.address = target

        return deck(fill)

    return [
        Case("link", "cell-to-file", Kind.XLSX, cell(r"external:C:\Users\x\plan.docx"), True),
        Case("link", "slide-to-file", Kind.PPTX, slide("file:///Users/x/Desktop/plan.xlsx"), True),
        Case("link", "text-to-folder", Kind.TEXT, plain(f"{words}: /mnt/data/plan_final.xlsx"), True),
        Case("link", "notes-to-picture", Kind.MARKDOWN, plain(f"{words} ![chart](./chart.png)"), True),
        Case("link", "page-to-file", Kind.PDF, in_page(f'<a href="file:///tmp/plan.docx">{words}</a>'), True),
        Case("link", "cell-to-sheet", Kind.XLSX, cell("internal:'Data'!A9"), False),
        Case("link", "slide-to-web", Kind.PPTX, slide("https://example.org/statistics"), False),
        Case("link", "page-to-mail", Kind.PDF, in_page(f'<a href="mailto:desk@example.org">{words}</a>'), False),
        Case("link", "notes-inside", Kind.MARKDOWN, plain(f"# {words}\n\nSee [below](#{words.split()[0]})."), False),
        Case("link", "only-a-name", Kind.TEXT, plain(f"{words}; figures are in Appendix B."), False),
    ]
