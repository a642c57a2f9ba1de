"""A PDF printed from pages that were drawn: their pictures, and over them, unseen, the words to select and search.

Written here from first to last, so that it holds nothing but pixels, words and where they stand: the same pages give
the same bytes, whichever program made the file they were drawn from. A page's picture keeps the very compressed rows of
its PNG, which a PDF can hold as they are.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guildhall.domain.prepared import PLACES, PlacedText
from guildhall.errors import UnreadableFile

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3}
"""Of the kinds of PNG that pages are kept as: grey levels and colours, eight bits each."""
_CODES = 255
"""Letters a font of the old kind can tell apart; further letters need further fonts."""


@dataclass(frozen=True)
class PrintedPage:
    """The picture of a page as it is shown, and the words on it."""

    image: Path
    words: Sequence[PlacedText] = ()


def printed_pdf(pages: Sequence[PrintedPage], *, dpi: int) -> bytes:
    """All pages as one PDF."""
    letters = sorted({letter for page in pages for piece in page.words for letter in piece.text})
    fonts = range(-(-len(letters) // _CODES))
    code_of = {letter: divmod(place, _CODES) for place, letter in enumerate(letters)}
    file = _Objects()
    tree = file.reserve()
    named = {f"F{number}": file.reserve() for number in fonts}
    resources = "".join(f"/{name} {_to(number)}" for name, number in named.items())
    kids = []
    for page in pages:
        rows = _Rows.of(page.image)
        width, height = (side * 72 / dpi for side in (rows.width, rows.height))
        picture = file.add_stream(rows.data, rows.entries())
        content = file.add_stream(zlib.compress(_content(page.words, code_of, width, height), 6), "/Filter/FlateDecode")
        kids.append(
            file.add(
                f"<</Type/Page/Parent {_to(tree)}/MediaBox[0 0 {width:.2f} {height:.2f}]/Contents {_to(content)}"
                f"/Resources<</XObject<</P {_to(picture)}>>/Font<<{resources}>>>>>>"
            )
        )
    for number, name in zip(fonts, named, strict=True):
        file.put(named[name], _font(file, letters[number * _CODES : (number + 1) * _CODES]))
    file.put(tree, f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(map(_to, kids))}]>>")
    return file.written(root=file.add(f"<</Type/Catalog/Pages {_to(tree)}>>"))


@dataclass(frozen=True)
class _Rows:
    """The compressed rows of a PNG that we wrote."""

    width: int
    height: int
    channels: int
    data: bytes

    @classmethod
    def of(cls, image: Path) -> _Rows:
        content = image.read_bytes()
        if not content.startswith(_SIGNATURE):
            raise UnreadableFile(image, "is no PNG, as every page is")
        found: dict[bytes, list[bytes]] = {}
        at = len(_SIGNATURE)
        while at + 12 <= len(content):
            (length,) = struct.unpack_from(">I", content, at)
            found.setdefault(content[at + 4 : at + 8], []).append(content[at + 8 : at + 8 + length])
            at += length + 12
        width, height, bits, colours, *_, interlaced = struct.unpack(">IIBBBBB", found[b"IHDR"][0])
        if bits != 8 or colours not in _CHANNELS or interlaced:
            raise UnreadableFile(image, "is no PNG of eight bits in grey or colour, as every page is")
        return cls(width, height, _CHANNELS[colours], b"".join(found[b"IDAT"]))

    def entries(self) -> str:
        space = "DeviceRGB" if self.channels == 3 else "DeviceGray"
        return (
            f"/Type/XObject/Subtype/Image/Width {self.width}/Height {self.height}/ColorSpace/{space}/BitsPerComponent 8"
            f"/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors {self.channels}/Columns {self.width}>>"
        )


def _content(words: Sequence[PlacedText], code_of: dict[str, tuple[int, int]], width: float, height: float) -> bytes:
    """The picture over the whole page, then each piece of words in its box."""
    lines = [f"q {width:.2f} 0 0 {height:.2f} 0 0 cm /P Do Q", "BT 3 Tr"]
    for piece in words:
        lines.append(f"{_matrix(piece, width, height)} Tm")
        font = None
        for letter in piece.text:
            found, code = code_of[letter]
            lines.append(f"/F{found} 1 Tf" if found != font else "")
            lines.append(f"<{code + 1:02X}> Tj")
            font = found
    return " ".join(filter(None, [*lines, "ET"])).encode()


def _matrix(piece: PlacedText, width: float, height: float) -> str:
    """Where the first letter stands, how wide each is and how high; a narrow high box holds words that climb."""
    left, across = (part * width / PLACES for part in (piece.left, piece.width))
    top, down = (part * height / PLACES for part in (piece.top, piece.height))
    bottom, letters = height - top - down, len(piece.text)
    if letters > 1 and down > 1.5 * across:
        return f"0 {down / letters:.3f} {-across:.3f} 0 {left + 0.8 * across:.2f} {bottom:.2f}"
    return f"{across / letters:.3f} 0 0 {down:.3f} {left:.2f} {bottom + 0.2 * down:.2f}"


def _font(file: _Objects, letters: Sequence[str]) -> str:
    """A font that draws nothing: every letter is as wide as high, and says which one it is."""
    nothing = file.add_stream(b"1000 0 0 -200 1000 800 d1", "")
    told = [f"<{code:02X}> <{letter.encode('utf-16-be').hex().upper()}>" for code, letter in enumerate(letters, 1)]
    blocks = [told[start : start + 100] for start in range(0, len(told), 100)]
    mapped = "\n".join(f"{len(block)} beginbfchar\n{chr(10).join(block)}\nendbfchar" for block in blocks)
    map_to = file.add_stream(_CMAP.format(mapped=mapped).encode(), "")
    return (
        "<</Type/Font/Subtype/Type3/FontBBox[0 -200 1000 800]/FontMatrix[.001 0 0 .001 0 0]"
        f"/CharProcs<</g {_to(nothing)}>>/Encoding<</Type/Encoding/Differences[1{'/g' * len(letters)}]>>"
        f"/FirstChar 1/LastChar {len(letters)}/Widths[{' '.join(['1000'] * len(letters))}]/ToUnicode {_to(map_to)}>>"
    )


_CMAP = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CMapType 2 def
1 begincodespacerange
<00> <FF>
endcodespacerange
{mapped}
endcmap
CMapName currentdict /CMap defineresource pop
end
end"""


class _Objects:
    """Numbered objects and, at the end, the file that holds them."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def reserve(self) -> int:
        self._held.append(b"null")
        return len(self._held)

    def put(self, number: int, content: str) -> None:
        self._held[number - 1] = content.encode()

    def add(self, content: str) -> int:
        number = self.reserve()
        self.put(number, content)
        return number

    def add_stream(self, data: bytes, entries: str) -> int:
        self._held.append(b"<<%s/Length %d>>stream\n%s\nendstream" % (entries.encode(), len(data), data))
        return len(self._held)

    def written(self, *, root: int) -> bytes:
        parts, places, at = [b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"], [], 15
        for number, content in enumerate(self._held, 1):
            places.append(at)
            parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
            at += len(parts[-1])
        table = "".join(f"{place:010} 00000 n \n" for place in places)
        count = len(places) + 1
        parts.append(
            f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<</Size {count}/Root {_to(root)}>>\n"
            f"startxref\n{at}\n%%EOF\n".encode()
        )
        return b"".join(parts)


def _to(number: int) -> str:
    return f"{number} 0 R"
