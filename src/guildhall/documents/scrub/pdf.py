"""PDF by allow-lists: keys, names, drawing commands and tables of fonts that draw or say something stay.

The file is walked from its catalog. A dictionary keeps the keys of `pdf.toml`; what only joins two places (resources,
colourants, layers, destinations) is numbered; streams are written anew by their kind. Pages stay as they are drawn.
"""

from __future__ import annotations

import io
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pikepdf
from fontTools.agl import AGL2UV  # type: ignore[import-untyped]
from pikepdf import Array, Dictionary, Name, Object, Stream, String

from guildhall.documents.scrub.fonts import plain_cff, plain_font, plain_type_1
from guildhall.documents.scrub.images import blank_profile, scrub_jpeg, scrub_jpeg_2000
from guildhall.documents.scrub.names import SIGNATURE, ScrubContext, ScrubLedger, bare_name
from guildhall.errors import CannotScrub

_FIXED_DATE = "D:20000101000000Z"
_MAPS = frozenset({"/Font", "/XObject", "/ExtGState", "/ColorSpace", "/Pattern", "/Shading", "/Properties"})
"""Of a page's resources: names of the maker's choice, numbered in the commands that use them."""
_SAID = frozenset({"/Contents", "/Title", "/V", "/DV", "/CA", "/AC", "/Opt"})
"""Keys whose strings a reader sees."""
_TEXT_OPERATORS = frozenset({"Tj", "TJ", "'", '"'})
_DATA = frozenset({"/JBIG2Globals", "/Contents", "/Lookup"})
"""Where streams stand that draw by their bytes."""
_GLYPH = re.compile(r"/(?:[A-Za-z]{0,6}\d{1,5}|uni[0-9A-F]{4,8}|u[0-9A-F]{4,6}|[A-Za-z]{1,2})(?:\.[a-z0-9]{1,5})?")
_CMAP = re.compile(rb"\d+\s+begin(codespacerange|bfchar|bfrange|cidchar|cidrange|notdefrange)(.*?)end\1", re.DOTALL)
_CHOSEN, _WORDS = re.compile(rb"/[^\s/()<>\[\]{}%]+"), re.compile(rb"\((?:\\.|[^\\)])*\)|%[^\r\n]*")
_NO_CODE = re.compile(rb"[^<>\[\]\s0-9A-Fa-f]")


@cache
def _lists() -> dict[str, frozenset[str]]:
    with Path(__file__).with_name("pdf.toml").open("rb") as file:
        return {name: frozenset(words.split()) for name, words in tomllib.load(file).items()}


def scrub_pdf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The same pages in a file whose bytes depend on them alone; opened only when it needs no password."""
    try:
        with pikepdf.open(io.BytesIO(data)) as pdf:
            _refuse_what_draws_itself(pdf.Root)
            _Sieve(pdf, ledger).walk()
            for key in ("/Info", "/ID"):
                if key in pdf.trailer:
                    del pdf.trailer[key]
            pdf.trailer.Info = pdf.make_indirect(Dictionary(Producer=SIGNATURE))
            out = io.BytesIO()
            pdf.save(out, deterministic_id=True, encryption=False, compress_streams=True, fix_metadata_version=False)
    except pikepdf.PasswordError as error:
        raise CannotScrub("PDF", "it opens only with a password") from error
    except pikepdf.PdfError as error:
        raise CannotScrub("PDF", f"it is damaged ({error})") from error
    return out.getvalue()


def _refuse_what_draws_itself(root: Any) -> None:
    if "/Collection" in root:
        raise CannotScrub("PDF", "it is a portfolio whose attachments are its content")
    if bool(root.get("/NeedsRendering", False)):
        raise CannotScrub("PDF", "it is an XFA form, drawn by its own program")


class _Sieve:
    """One document while it is walked; names of the maker's choice are numbered over the whole of it."""

    def __init__(self, pdf: pikepdf.Pdf, ledger: ScrubLedger) -> None:
        self.pdf, self.ledger = pdf, ledger
        self.names: dict[str, str] = {}
        self.seen: set[tuple[int, int]] = set()
        self.places = _destinations(pdf)
        self.waiting: list[tuple[Object, str]] = []

    def walk(self) -> None:
        root = self.pdf.Root
        for key in set(root.keys()) - _lists()["catalog"]:
            del root[key]
            self.ledger.clean("keys not known to show anything", "left out")
        self.waiting.append((root, ""))
        while self.waiting:
            item, key = self.waiting.pop()
            if item.is_indirect:
                if item.objgen in self.seen:
                    continue
                self.seen.add(item.objgen)
            if isinstance(item, Array):
                self._array(item, key)
            elif isinstance(item, (Dictionary, Stream)):
                self._dictionary(item, key)
        for page in self.pdf.pages:
            self._page(page)

    def name(self, name: str) -> str:
        """A name that PDF itself has, or a number in the place of one that somebody chose."""
        if name in _lists()["names"] or name in _lists()["keys"]:
            return name
        return self.names.setdefault(name, f"/N{len(self.names) + 1}")

    def _array(self, array: Any, key: str) -> None:
        coded = len(array) == 4 and array[0] == Name.Indexed
        for place, value in enumerate(list(array)):
            kept = self._value(value, "/Lookup" if coded and place == 3 else key)
            if isinstance(value, String) and not coded and key != "/Opt":
                kept = String("")
            if kept is None:
                array[place] = String("") if isinstance(value, String) else Name("/N")
            elif kept is not value:
                array[place] = kept

    def _dictionary(self, item: Any, role: str) -> None:
        chosen = role in ("map", "/CharProcs", "/Colorants") or (role in ("/N", "/R", "/D") and _all_streams(item))
        if "/FontFile" in str(item.keys()) or "/BaseFont" in item:
            self._font_names(item)
        if "/Rect" in item and "/Subtype" in item:
            self._annotation(item)
        for key in list(item.keys()):
            value = item[key]
            if not chosen and key not in _lists()["keys"]:
                self._leave_out(item, key)
                continue
            kept = (
                self._destination(value) if key == "/Dest" or (key == "/D" and item.get("/S") == Name.GoTo) else value
            )
            kept = None if kept is None else self._value(kept, "map" if role == "resources" and key in _MAPS else key)
            if kept is None or (isinstance(kept, String) and not _is_said(key)):
                self._leave_out(item, key)
            elif chosen and self.name(key) != key:
                del item[key]
                item[self.name(key)] = kept
            elif kept is not value:
                item[key] = kept
        if isinstance(item, Stream):
            self._stream(item, role)

    def _leave_out(self, item: Any, key: str) -> None:
        if key not in ("/Length", "/Filter", "/DecodeParms"):
            del item[key]
            self.ledger.clean("keys not known to show anything", "left out")

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, Name):
            if key == "/Differences":
                return value if _is_glyph(str(value)) else Name(self.name(str(value)))
            if key in ("/BaseFont", "/FontName", "/CMapName"):
                return value
            return Name(self.name(str(value)))
        if isinstance(value, (Array, Dictionary, Stream)):
            role = "resources" if key in ("/Resources", "/DR") else key
            self.waiting.append((value, role))
            return value
        if isinstance(value, String):
            return self._string(str(value), value, key)
        return value

    def _string(self, text: str, value: Any, key: str) -> Any:
        if key in ("/M", "/CreationDate"):
            return String(_FIXED_DATE)
        if key == "/URI":
            return value if re.match(r"(https?|mailto|ftp):", text, re.IGNORECASE) else String(bare_name(text))
        if key == "/DA":
            return String(re.sub(r"/[^\s/()<>\[\]{}%]+", lambda found: self.name(found[0]), text.partition("%")[0]))
        if key == "/Name":
            return String(f"Layer {self.ledger.number(text)}")
        if key in ("/Registry", "/Ordering"):
            return value if text in _lists()["orderings"] else String("Identity" if key == "/Ordering" else "Adobe")
        return value

    def _annotation(self, item: Any) -> None:
        if "/T" in item:
            widget = item.get("/Subtype") == Name.Widget
            person = str(item["/T"])
            item["/T"] = String(f"f{self.ledger.number(person)}" if widget else self.ledger.alias(person))
        if item.get("/FT") == Name.Sig and "/V" in item:
            del item["/V"]
        if item.get("/Subtype") == Name.FileAttachment and "/FS" in item:
            self.ledger.omit("attachments", "left out of a file that is handed out")

    def _font_names(self, item: Any) -> None:
        """An embedded font is called by a number; one that is not is found by its name."""
        descriptor = item.get("/FontDescriptor", item)
        for one in item.get("/DescendantFonts", []):
            descriptor = one.get("/FontDescriptor", descriptor)
        embedded = any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
        for key in ("/BaseFont", "/FontName"):
            if key in item and (embedded or item.get("/Subtype") == Name.Type3):
                item[key] = Name(f"/AAAAAA+F{self.ledger.number(str(item[key]))}")

    def _destination(self, value: Any) -> Any:
        """Where a link leads, told outright instead of by a name."""
        if isinstance(value, (String, Name)):
            return self.places.get(str(value))
        return value

    def _stream(self, stream: Any, role: str) -> None:
        kind = str(stream.get("/Subtype", ""))
        if role in ("/FontFile", "/FontFile2", "/FontFile3"):
            self._font(stream, role, kind)
        elif role in ("/ToUnicode", "/UseCMap") or stream.get("/Type") == Name.CMap or role == "/Encoding":
            stream.write(_plain_cmap(stream.read_bytes()))
        elif kind == "/Image":
            _clean_picture(self.pdf, stream, self.ledger)
        elif kind == "/Form" or "/PatternType" in stream or role == "/CharProcs" or "/BBox" in stream:
            stream.write(self._commands(stream))
        elif stream.read_bytes()[36:40] == b"acsp":
            stream.write(blank_profile(stream.read_bytes()))
        elif not {"/FunctionType", "/ShadingType"} & set(stream.keys()) and role not in _DATA:
            stream.write(b"")
            self.ledger.clean("streams not known to show anything", "left out")

    def _font(self, stream: Any, role: str, kind: str) -> None:
        data = stream.read_bytes()
        plain = plain_font if role == "/FontFile2" or kind == "/OpenType" else plain_cff
        if role == "/FontFile":
            made, lengths = plain_type_1(data, int(stream.get("/Length1", 0)), int(stream.get("/Length2", 0)))
            stream.write(made)
            stream.Length1, stream.Length2, stream.Length3 = lengths
            return
        stream.write(plain(data))
        if role == "/FontFile2":
            stream.Length1 = len(stream.read_bytes())

    def _page(self, page: Any) -> None:
        if "/Contents" in page:
            page.Contents = self.pdf.make_stream(self._commands(page.obj))

    def _commands(self, drawn: Any) -> bytes:
        """The commands that draw, with what they draw; marks for programs are left out, layers stay."""
        kept, open_marks = [], list[bool]()
        for instruction in pikepdf.parse_content_stream(drawn):
            if isinstance(instruction, pikepdf.ContentStreamInlineImage):
                kept.append(self._inline(instruction))
                continue
            operator, operands = str(instruction.operator), list(instruction.operands)
            if operator in ("BMC", "BDC"):
                open_marks.append(operator == "BDC" and operands[:1] == [Name.OC] and isinstance(operands[-1], Name))
            shows = operator in _lists()["operators"]
            if operator in ("BMC", "BDC", "EMC"):
                shows = open_marks[-1] if operator != "EMC" else bool(open_marks) and open_marks.pop()
            if shows:
                says = operator in _TEXT_OPERATORS
                plain = [one for one in operands if says or not isinstance(one, (String, Dictionary))]
                plain = [self._operand(one, operator) for one in plain]
                kept.append(pikepdf.ContentStreamInstruction(plain, instruction.operator))
        made: bytes = pikepdf.unparse_content_stream(kept)
        return made

    def _inline(self, drawn: Any) -> Any:
        """A small picture among the commands; a photograph loses what it says about itself."""
        head, _, _ = drawn.iimage.unparse().partition(b"ID")
        plain = _CHOSEN.sub(
            lambda found: self.name(found[0].decode("latin-1")).encode("latin-1"), _WORDS.sub(b"", head)
        )
        data = drawn.iimage.read_raw_bytes()
        data = scrub_jpeg(data, self.ledger) if data.startswith(b"\xff\xd8") else data
        return pikepdf.parse_content_stream(self.pdf.make_stream(plain + b"ID " + data + b"\nEI\n"))[0]

    def _operand(self, operand: Any, operator: str) -> Any:
        if isinstance(operand, Name):
            return Name(self.name(str(operand)))
        if isinstance(operand, Array) and operator not in _TEXT_OPERATORS:
            return Array([one for one in operand if not isinstance(one, (String, Dictionary, Name))])
        return operand


def _is_said(key: str) -> bool:
    return key in _SAID or key in ("/T", "/M", "/CreationDate", "/DA", "/URI", "/Name", "/Registry", "/Ordering")


def _all_streams(item: Any) -> bool:
    return not isinstance(item, Stream) and all(isinstance(value, Stream) for _, value in item.items())


def _is_glyph(name: str) -> bool:
    return name[1:].partition(".")[0] in AGL2UV or bool(_GLYPH.fullmatch(name)) or name == "/.notdef"


def _destinations(pdf: pikepdf.Pdf) -> dict[str, Any]:
    """Places by the names that links call them by."""
    found: dict[str, Any] = {}
    try:
        root: Any = pdf.Root
        named = root.get("/Names", {}).get("/Dests")
        entries = [*(pikepdf.NameTree(named).items() if named is not None else ()), *root.get("/Dests", {}).items()]
        for name, place in entries:
            where = place.get("/D") if isinstance(place, Dictionary) else place
            if isinstance(where, Array):
                found[str(name)] = where
    except (pikepdf.PdfError, TypeError, ValueError, AttributeError):
        return found
    return found


def _plain_cmap(data: bytes) -> bytes:
    """Which code means which letter, and nothing else."""
    blocks = []
    for found in _CMAP.finditer(re.sub(rb"%[^\r\n]*", b"", data)):
        head = found[0].split(None, 1)[0]
        blocks.append(head + b" begin" + found[1] + _NO_CODE.sub(b"", found[2]) + b"end" + found[1])
    wide = b"/WMode 1 def\n" if re.search(rb"/WMode\s+1", data) else b""
    used = re.search(rb"/((?:Identity|UniGB|UniJIS|UniKS|UniCNS)[\w-]{0,20})\s+usecmap", data)
    front = b"/" + used[1] + b" usecmap\n" if used else b""
    head = b"/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /F def\n/CMapType 2 def\n"
    return front + head + wide + b"\n".join(blocks) + b"\nendcmap\nend\nend\n"


def _clean_picture(pdf: pikepdf.Pdf, stream: Any, ledger: ScrubLedger) -> None:
    """A JPEG or JPEG 2000, also one that was packed a second time, as text or by deflating it."""
    filters, settings = stream.get("/Filter"), stream.get("/DecodeParms")
    chain = list(filters) if isinstance(filters, Array) else [filters]
    scrub = {"/DCTDecode": scrub_jpeg, "/JPXDecode": scrub_jpeg_2000}.get(str(chain[-1]))
    if scrub is None:
        return
    all_settings = list(settings) if isinstance(settings, Array) else [settings]
    coded = stream.read_raw_bytes()
    if len(chain) > 1:
        packed = pdf.make_stream(b"")
        packed.write(coded, filter=Array(chain[:-1]), decode_parms=Array(all_settings[:-1]) if settings else None)
        coded = packed.read_bytes()
    stream.write(scrub(coded, ledger), filter=Name(str(chain[-1])), decode_parms=all_settings[-1])
