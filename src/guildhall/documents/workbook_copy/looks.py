"""How cells look, resolved to what is seen: colours as RGB, programs' own fonts as one, formats in one spelling."""

from __future__ import annotations

import colorsys
import re
from dataclasses import dataclass, field, fields, replace
from typing import Any

from openpyxl.styles.colors import COLOR_INDEX
from openpyxl.styles.numbers import BUILTIN_FORMATS

from guildhall.documents.xmltrees import Tree, local

_NEAR = 3
FONT, SIZE = "Calibri", 11.0
"""In place of the font a program gives cells for which nobody chose one: it names the program."""
_OFFICE_THEME = str.split(
    """
        FFFFFF 000000 E7E6E6 44546A 4472C4 ED7D31 A5A5A5 FFC000 5B9BD5 70AD47 0563C1 954F72
        """
)
_THEME_ORDER = str.split(
    """
        lt1 dk1 lt2 dk2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink
        """
)
_PALETTE = str.split(
    """
        D9E1F2 B4C6E7 8EA9DB 305496 203764 FCE4D6 F8CBAD F4B084 C65911 833C0C EDEDED DBDBDB C9C9C9 7B7B7B 525252
        FFF2CC FFE699 FFD966 BF8F00 806000 DDEBF7 BDD7EE 9BC2E6 2F75B5 1F4E78 E2EFDA C6E0B4 A9D08E 548235 375623
        D6DCE4 ACB9CA 8497B0 333F4F 222B35 D0CECE AEAAAA 757171 3A3838 161616 F2F2F2 D9D9D9 BFBFBF A6A6A6 808080
        595959 404040 262626 0D0D0D DCE6F1 B8CCE4 95B3D7 366092 244062 F2DCDB E6B8B7 DA9694 963634 632523 EBF1DE
        D8E4BC C4D79B 76933C 4F6228 E4DFEC CCC0DA B1A0C7 60497A 403151 DAEEF3 B7DEE8 92CDDC 31869B 215967 FDE9D9
        FCD5B4 FABF8F E26B0A 974706 C5D9F1 8DB4E2 538DD5 16365C 0F243E DDD9C4 C4BD97 948A54 494529 1D1B10
        """
)
"""The tints of Office's themes as Excel shows them: its arithmetic is its own, and scripts write its results as RGB."""
_LINES = {
    name: number
    for number, name in enumerate(
        str.split(
            """
        none thin medium dashed dotted thick double hair mediumDashed dashDot mediumDashDot dashDotDot
        mediumDashDotDot slantDashDot
        """
        )
    )
}
_PATTERNS = {
    name: number
    for number, name in enumerate(
        str.split(
            """
        none solid mediumGray darkGray lightGray darkHorizontal darkVertical darkDown darkUp darkGrid darkTrellis
        lightHorizontal lightVertical lightDown lightUp lightGrid lightTrellis gray125 gray0625
        """
        )
    )
}
_ACROSS = {
    name: name
    for name in ("left", "center", "right", "fill", "justify", "distributed")
} | {"centerContinuous": "center_across"}  # fmt: skip
_DOWN = {"top": "top", "center": "vcenter", "justify": "vjustify", "distributed": "vdistributed"}
_UNDERLINES = {"single": 1, "double": 2, "singleAccounting": 33, "doubleAccounting": 34}
Edge = tuple[int, str]
"""A line's number and its colour; black has none."""
_NO_EDGE: Edge = (0, "")


@dataclass(frozen=True)
class Look:
    """What a reader sees of a cell beside its content; the defaults are those of a cell nobody touched."""

    number: str = "General"
    bold: bool = False
    italic: bool = False
    underline: int = 0
    strike: bool = False
    script: int = 0
    font: str = FONT
    size: float = SIZE
    colour: str = ""
    pattern: int = 0
    fill: str = ""
    fill_behind: str = ""
    left: Edge = _NO_EDGE
    right: Edge = _NO_EDGE
    top: Edge = _NO_EDGE
    bottom: Edge = _NO_EDGE
    diagonal: Edge = _NO_EDGE
    diagonal_way: int = 0
    across: str = ""
    down: str = ""
    wrap: bool = False
    shrink: bool = False
    indent: int = 0
    turned: int = 0
    order: int = 0

    def for_writing(self) -> dict[str, Any]:
        """As XlsxWriter wants it, only what differs from the untouched cell."""
        made: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value == one.default:
                continue
            if isinstance(value, tuple):
                line, colour = value
                made[_WRITTEN[one.name]] = line
                if colour:
                    made["diag_color" if one.name == "diagonal" else f"{one.name}_color"] = f"#{colour}"
            elif one.name in ("colour", "fill", "fill_behind"):
                made[_WRITTEN[one.name]] = f"#{value}"
            else:
                made[_WRITTEN[one.name]] = value
        return made


PLAIN = Look()
_SEEN_WHEN_EMPTY = (
    "pattern", "fill", "fill_behind", "left", "right", "top", "bottom", "diagonal", "diagonal_way",
)  # fmt: skip
_WRITTEN = {
    "number": "num_format", "bold": "bold", "italic": "italic", "underline": "underline", "strike": "font_strikeout",
    "script": "font_script", "font": "font_name", "size": "font_size", "colour": "font_color", "pattern": "pattern",
    "fill": "fg_color", "fill_behind": "bg_color", "left": "left", "right": "right", "top": "top", "bottom": "bottom",
    "diagonal": "diag_border", "diagonal_way": "diag_type", "across": "align", "down": "valign", "wrap": "text_wrap",
    "shrink": "shrink", "indent": "indent", "turned": "rotation", "order": "reading_order",
}  # fmt: skip


@dataclass
class BookLooks:
    """The looks of a workbook by the numbers its cells use."""

    styles: Tree | None
    theme: Tree | None
    gradients: int = 0
    _known: dict[int, Look] = field(default_factory=dict)
    _blank: dict[int, Look] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._colours = self._theme_colours()
        palette = [str(one.get("rgb", ""))[-6:] for one in self._all("indexedColors", "rgbColor")]
        self._indexed = palette or [code[-6:] for code in COLOR_INDEX]
        self._codes = {str(number): code for number, code in BUILTIN_FORMATS.items()}
        self._codes |= {one.get("numFmtId", ""): one.get("formatCode", "") for one in self._all("numFmts", "numFmt")}
        self._fonts, self._fills = self._all("fonts", "font"), self._all("fills", "fill")
        self._borders, self._cells = self._all("borders", "border"), self._all("cellXfs", "xf")
        base = next(iter([*self._all("cellStyleXfs", "xf"), *self._cells]), None)
        own = _at(self._fonts, "0" if base is None else base.get("fontId", "0"))
        self._own_font, self._own_size = _of(own, "name"), _number(_of(own, "sz"), SIZE)

    def look(self, index: int) -> Look:
        if index not in self._known:
            found = self._cells[index] if 0 <= index < len(self._cells) else None
            self._known[index] = PLAIN if found is None else self._resolved(found)
        return self._known[index]

    def blank(self, index: int) -> Look:
        """The look of an empty cell: only fill and lines are seen where there is no content."""
        if index not in self._blank:
            self._blank[index] = Look(**{name: getattr(self.look(index), name) for name in _SEEN_WHEN_EMPTY})
        return self._blank[index]

    def colour(self, element: Tree | None) -> str:
        """RRGGBB, or nothing where the program chooses."""
        if element is None or element.get("auto") in ("1", "true"):
            return ""
        tint = _number(element.get("tint"), 0.0)
        if element.get("rgb"):
            return _tinted(str(element.get("rgb"))[-6:].upper(), tint)
        if element.get("theme") is not None:
            return _tinted(_at(self._colours, element.get("theme")) or "", tint)
        return _tinted((_at(self._indexed, element.get("indexed")) or "").upper(), tint)

    def _all(self, group: str, name: str) -> list[Tree]:
        found = None if self.styles is None else next(self.styles.iter(f"{{*}}{group}"), None)
        return [] if found is None else [one for one in found if local(one.tag) == name]

    def _theme_colours(self) -> list[str]:
        scheme = None if self.theme is None else next(self.theme.iter("{*}clrScheme"), None)
        if scheme is None:
            return _OFFICE_THEME
        stated = {local(slot.tag): next(iter(slot), None) for slot in scheme}
        found = []
        for name, usual in zip(_THEME_ORDER, _OFFICE_THEME, strict=True):
            one = stated.get(name)
            found.append(usual if one is None else (one.get("lastClr") or one.get("val") or usual)[-6:].upper())
        return found

    def _resolved(self, cell: Tree) -> Look:
        code = self._codes.get(cell.get("numFmtId", "0"), "General")
        return replace(
            PLAIN,
            number=spelled_format(code),
            **self._font(_at(self._fonts, cell.get("fontId"))),
            **self._fill(_at(self._fills, cell.get("fillId"))),
            **self._lines(_at(self._borders, cell.get("borderId"))),
            **_aligned(_child(cell, "alignment")),
        )

    def _font(self, font: Tree | None) -> dict[str, Any]:
        name, size = _of(font, "name"), _number(_of(font, "sz"), self._own_size)
        colour = self.colour(_child(font, "color"))
        return {
            "bold": _on(font, "b"),
            "italic": _on(font, "i"),
            "strike": _on(font, "strike"),
            "underline": _UNDERLINES.get(_of(font, "u") or "single", 0) if _child(font, "u") is not None else 0,
            "script": {"superscript": 1, "subscript": 2}.get(_of(font, "vertAlign"), 0),
            "font": FONT if name in ("", self._own_font) else name[:31],
            "size": SIZE if size == self._own_size else min(max(round(size * 2) / 2, 1.0), 409.0),
            "colour": "" if colour == "000000" else colour,
        }

    def _fill(self, fill: Tree | None) -> dict[str, Any]:
        gradient = _child(fill, "gradientFill")
        if gradient is not None:
            self.gradients += 1
            stop = next(iter(gradient.iter("{*}color")), None)
            return {"pattern": 1, "fill": self.colour(stop)}
        pattern = _child(fill, "patternFill")
        number = 0 if pattern is None else _PATTERNS.get(pattern.get("patternType", "none"), 0)
        front, behind = self.colour(_child(pattern, "fgColor")), self.colour(_child(pattern, "bgColor"))
        if number == 0 or (number == _PATTERNS["gray125"] and not front and not behind):
            return {}
        if number == 1:  # a solid one hides what is behind it
            return {"pattern": 1, "fill": front or "FFFFFF"}
        return {"pattern": number, "fill": front, "fill_behind": behind}

    def _lines(self, border: Tree | None) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, others in {"left": "start", "right": "end", "top": "", "bottom": "", "diagonal": ""}.items():
            line = _child(border, name)
            line = _child(border, others) if line is None and others else line
            number = 0 if line is None else _LINES.get(line.get("style", "none"), 0)
            if number:
                colour = self.colour(_child(line, "color"))
                made[name] = (number, "" if colour == "000000" else colour)
        if border is not None and "diagonal" in made:
            up, down = (border.get(way) in ("1", "true") for way in ("diagonalUp", "diagonalDown"))
            made["diagonal_way"] = up + 2 * down
        if not made.get("diagonal_way"):
            made = {name: line for name, line in made.items() if not name.startswith("diagonal")}
        return made


def spelled_format(code: str) -> str:
    """A number format in one spelling: programs escape, colour and name places differently for the same looks."""
    if code.strip().casefold() in ("", "general", "standard"):
        return "General"
    made = "".join(map(_format_token, _FORMAT_TOKEN.finditer(code)))
    made = made.removesuffix(";@") if made != "@" else made
    return made[:255] or "General"


_FORMAT_TOKEN = re.compile(
    r'(?P<escaped>\\.)|(?P<words>"[^"]*"?)|(?P<bracket>\[[^\]]*\])|(?P<filler>[_*].)|(?P<general>General)'
    r"|(?P<half>AM/PM|A/P)|(?P<clock>[yYmMdDhHsSeEgGbB]+)|(?P<other>.)",
    re.DOTALL | re.IGNORECASE,
)
_BARE = frozenset("$-+/():!^&'~{}<>= €£¥")
_HUES = {one.casefold(): one for one in ("Black", "Blue", "Cyan", "Green", "Magenta", "Red", "White", "Yellow")}


def _format_token(found: re.Match[str]) -> str:
    text = found[0]
    match found.lastgroup:
        case "escaped":
            return _shown(text[1:])
        case "words":
            return _shown(text.strip('"'))
        case "general":
            return "General"
        case "half":
            return text.upper()
        case "clock":
            return text.upper() if text[0] in "eE" else text.lower()
        case "bracket":
            inside = text[1:-1]
            if inside.startswith("$"):
                return _shown(inside[1:].partition("-")[0])
            if inside.casefold() in ("h", "hh", "m", "mm", "s", "ss"):
                return text.lower()
            return f"[{_HUES.get(inside.casefold(), inside)}]"
        case _:
            return text


def _shown(words: str) -> str:
    """Words that stand in a format as themselves."""
    if all(letter in _BARE for letter in words):
        return words
    return f"\\{words}" if len(words) == 1 else f'"{words}"'


def _aligned(alignment: Tree | None) -> dict[str, Any]:
    if alignment is None:
        return {}
    turned = int(_number(alignment.get("textRotation"), 0))
    turned = 270 if turned == 255 else 90 - turned if 90 < turned <= 180 else turned if turned <= 90 else 0
    return {
        "across": _ACROSS.get(alignment.get("horizontal", ""), ""),
        "down": _DOWN.get(alignment.get("vertical", ""), ""),
        "wrap": alignment.get("wrapText") in ("1", "true"),
        "shrink": alignment.get("shrinkToFit") in ("1", "true"),
        "indent": min(max(int(_number(alignment.get("indent"), 0)), 0), 250),
        "turned": turned,
        "order": {"1": 1, "2": 2}.get(alignment.get("readingOrder", ""), 0),
    }


def _tinted(colour: str, tint: float) -> str:
    """Lighter towards white or darker towards black, by the share that the format states."""
    if not re.fullmatch(r"[0-9A-F]{6}", colour):
        return ""
    if not tint:
        return colour
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    hue, light, depth = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    mixed = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), depth)
    made = [round(part * 255) for part in mixed]
    near = (
        shown
        for shown in _PALETTE
        if all(abs(one - other) <= _NEAR for one, other in zip(made, bytes.fromhex(shown), strict=True))
    )
    return next(near, bytes(made).hex().upper())


def _child(element: Tree | None, name: str) -> Tree | None:
    return None if element is None else next((one for one in element if local(one.tag) == name), None)


def _of(element: Tree | None, name: str) -> str:
    found = _child(element, name)
    return "" if found is None else found.get("val", "")


def _on(element: Tree | None, name: str) -> bool:
    found = _child(element, name)
    return found is not None and found.get("val", "1") not in ("0", "false")


def _at(row: list[Any], index: str | None) -> Any:
    number = int(index) if index and index.isascii() and index.isdigit() else -1
    return row[number] if 0 <= number < len(row) else None


def _number(text: str | None, otherwise: float) -> float:
    try:
        return float(text) if text else otherwise
    except ValueError:
        return otherwise
