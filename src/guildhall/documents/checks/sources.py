"""Faults that only the source file tells: charts too small, links to files nobody else has, broken files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pikepdf
from PIL import Image

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.kinds import Family, Kind
from guildhall.documents.opc import Opc
from guildhall.documents.packages import read_members
from guildhall.documents.values import Finding, Gravity
from guildhall.documents.xmltrees import Tree, local
from guildhall.errors import GuildhallError

_LOCAL_LINK = re.compile(
    r"(sandbox:/\S*|file://\S+|(?<![\w/])/(?:mnt/data|tmp|home|Users|workspace|outputs?)/\S+|"
    r"\b[A-Za-z]:\\[\w\\. -]+\\\S+|"
    r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\S*)"
)
_MARKDOWN_LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
_WEB = re.compile(r"(?:https?|mailto|tel):", re.IGNORECASE)


def check_links(text: str, targets: Iterable[str], make: FindingMaker) -> Iterator[Finding]:
    """Links that lead to a file on the maker's own machine or to a submitted file: nobody else can follow them."""
    found = [
        *_LOCAL_LINK.findall(text),
        *(t for t in _MARKDOWN_LINK.findall(text) if not _WEB.match(t) and t[0] != "#"),
    ]
    found += [target for target in targets if target and not _WEB.match(target) and not target.startswith("#")]
    for link in sorted({link.rstrip(").,;") for link in found}):
        words = f"A link leads to a file that a reader does not have: {link[:80]!r}."
        yield make.on_file("link", Gravity.MINOR, words)


def office_link_targets(package: Opc) -> list[str]:
    """Where the hyperlinks of an Office file lead, out of the package."""
    return [
        relation.get("Target", "")
        for part in sorted(package.parts)
        for relation in package.relations(part)
        if relation.get("TargetMode") == "External" and relation.get("Type", "").endswith("/hyperlink")
    ]


def pdf_link_targets(path: Path) -> list[str]:
    found = []
    try:
        with pikepdf.open(path) as pdf:
            for page in pdf.pages:
                for annotation in page.get("/Annots", []):
                    action = annotation.get("/A")
                    if action is not None and action.get("/S") in ("/URI", "/Launch", "/GoToR"):
                        found.append(_target(action))
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError):
        return found  # what cannot be opened is the finding of another check
    return found


def _target(action: Any) -> str:
    """Where a link leads: an address, or the name in a file specification."""
    target = action.get("/URI", action.get("/F", ""))
    return str(target.get("/UF", target.get("/F", ""))) if isinstance(target, pikepdf.Dictionary) else str(target)


def check_charts(package: Opc, kind: Kind, make: FindingMaker) -> Iterator[Finding]:
    """Charts drawn by the program itself that are narrower than half the page or slide."""
    if kind is Kind.DOCX:
        document = package.tree("word/document.xml")
        width = _text_page_width(document) if document is not None else None
        frames = list(document.iter("{*}inline", "{*}anchor")) if document is not None else []
        for frame in frames:
            yield from _small_chart(frame, "extent", width, make, page=None)
    elif kind is Kind.PPTX:
        presentation = package.tree("ppt/presentation.xml")
        sizes = list(presentation.iter("{*}sldSz")) if presentation is not None else []
        width = int(sizes[0].get("cx", "0")) or None if sizes else None
        for part, tree in package.trees():
            if found := re.match(r"ppt/slides/slide(\d+)\.xml$", part):
                for frame in tree.iter("{*}graphicFrame"):
                    yield from _small_chart(frame, "ext", width, make, page=int(found[1]))


def _small_chart(
    frame: Tree, extent: str, width: int | None, make: FindingMaker, *, page: int | None
) -> Iterator[Finding]:
    if width is None or next(frame.iter("{*}chart"), None) is None:
        return
    shown = next((int(size.get("cx", "0")) for size in frame.iter(f"{{*}}{extent}") if size.get("cx")), None)
    if shown and shown < 0.49 * width:
        words = f"A chart takes {shown / width:.0%} of the page's width; under half is hard to read."
        yield make.on_file("small-figure", Gravity.MINOR, words).but(page=page)


def _text_page_width(document: Tree) -> int | None:
    size = next(document.iter("{*}pgSz"), None)
    width = next((str(v) for k, v in size.attrib.items() if local(k) == "w"), None) if size is not None else None
    return int(width) * 635 if width and width.isdigit() else None  # a twentieth of a point is 635 EMU


def unreadable(path: Path, kind: Kind) -> str | None:
    """Why a file cannot be opened as what it is, or None when it can."""
    if kind in (Kind.EMPTY, Kind.ENCRYPTED, Kind.UNKNOWN):
        return {
            Kind.EMPTY: "it is empty",
            Kind.ENCRYPTED: "it is locked with a password",
            Kind.UNKNOWN: "it is of no kind that is known",
        }[kind]
    if kind.family is Family.IMAGE and kind is not Kind.SVG:
        return _broken_picture(path)
    if kind is Kind.PDF:
        return _broken_pdf(path)
    if kind in (Kind.JSON, Kind.IPYNB):
        return _broken_json(path)
    return _broken_zip(path) if kind is Kind.ZIP else None


def _broken_picture(path: Path) -> str | None:
    Image.MAX_IMAGE_PIXELS = 200_000_000
    try:
        with Image.open(io.BytesIO(path.read_bytes())) as picture:
            picture.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        return f"its picture cannot be read to the end ({error})"
    return None


def _broken_pdf(path: Path) -> str | None:
    try:
        with pikepdf.open(path, attempt_recovery=False) as pdf:
            return None if len(pdf.pages) else "it has no pages"
    except pikepdf.PasswordError:
        return "it opens only with a password"
    except pikepdf.PdfError as error:
        return f"its structure is damaged ({str(error)[:120]})"


def _broken_zip(path: Path) -> str | None:
    try:
        read_members(path)
    except GuildhallError as error:
        return str(error)
    return None


def _broken_json(path: Path) -> str | None:
    data = path.read_bytes()
    try:
        json.loads(data)
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        lines = [line for line in data.splitlines() if line.strip()]
        return None if len(lines) > 1 and all(_is_json(line) for line in lines[:100]) else f"it is no JSON ({error})"
    return None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
