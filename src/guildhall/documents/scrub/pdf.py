"""PDF: Info, XMP, attachments, private data, signatures, scripts and thumbnails go; pages stay as they are drawn."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import pikepdf
from pikepdf import Array, Name, Page, PdfError, Token, TokenFilter, TokenType

from guildhall.documents.scrub.images import blank_profile, scrub_jpeg, scrub_jpeg_2000
from guildhall.documents.scrub.names import SIGNATURE, ScrubContext, ScrubLedger, bare_name, tells_a_machine
from guildhall.errors import CannotScrub

_CATALOG_KEPT = frozenset(
    [
        "/Type",
        "/Version",
        "/Extensions",
        "/Pages",
        "/PageLabels",
        "/Names",
        "/Dests",
        "/ViewerPreferences",
        "/PageLayout",
        "/PageMode",
        "/Outlines",
        "/OpenAction",
        "/AcroForm",
        "/StructTreeRoot",
        "/MarkInfo",
        "/Lang",
        "/OutputIntents",
        "/OCProperties",
    ]
)
_DESCRIBING_KEYS = {
    "/Metadata": "XMP",
    "/PieceInfo": "private application data",
    "/LastModified": "private application data",
    "/Thumb": "page thumbnails",
    "/AF": "attachments",
    "/CreatorInfo": "private application data",
    "/JS": "scripts",
    "/NM": "annotation ids",
    "/PTEX.FileName": "names of included files",
    "/PTEX.InfoDict": "names of included files",
    "/PTEX.PageNumber": "names of included files",
    "/SpiderInfo": "web capture",
}
_DROPPED_NAMES = {
    "/EmbeddedFiles": "attachments",
    "/JavaScript": "scripts",
    "/IDS": "web capture",
    "/URLS": "web capture",
}
_VIEWER = re.compile(r"""\sxfa:APIVersion=(["'])[^"']*\1""")
"""In the rich text of a comment: the program, with its build, that the comment was written in."""
_FIXED_DATE = "D:20000101000000Z"
_DEEPEST = 60


def scrub_pdf(data: bytes, ledger: ScrubLedger, _context: ScrubContext | None = None) -> bytes:
    """The same pages in a file whose bytes depend on them alone; opened only when it needs no password."""
    try:
        with pikepdf.open(io.BytesIO(data)) as pdf:
            if pdf.is_encrypted:
                ledger.clean("encryption with an empty password", "removed")
            _clean_catalog(pdf, ledger)
            for item in pdf.objects:
                _clean_object(pdf, item, ledger)
            scrub_contents(pdf, ledger)
            for key in ("/Info", "/ID"):
                if key in pdf.trailer:
                    del pdf.trailer[key]
            pdf.trailer.Info = pdf.make_indirect(pikepdf.Dictionary(Producer=SIGNATURE))
            ledger.clean("Info dictionary and producer", "made uniform")
            out = io.BytesIO()
            pdf.save(out, deterministic_id=True, encryption=False, compress_streams=True, fix_metadata_version=False)
    except pikepdf.PasswordError as error:
        raise CannotScrub("PDF", "it opens only with a password") from error
    except pikepdf.PdfError as error:
        raise CannotScrub("PDF", f"it is damaged ({error})") from error
    return out.getvalue()


def _clean_catalog(pdf: pikepdf.Pdf, ledger: ScrubLedger) -> None:
    root = pdf.Root
    if "/Collection" in root:
        raise CannotScrub("PDF", "it is a portfolio whose attachments are its content")
    if bool(root.get("/NeedsRendering", False)):
        raise CannotScrub("PDF", "it is an XFA form, drawn by its own program")
    form = root.get("/AcroForm")
    if form is not None and "/XFA" in form:
        del form["/XFA"]
        ledger.clean("XFA copy of the form", "removed")
    names = root.get("/Names")
    for tree, place in _DROPPED_NAMES.items():
        if names is not None and tree in names:
            del names[tree]
            ledger.clean(place, "removed")
    for arrangement in _arrangements_of_layers(root):
        if "/Creator" in arrangement:
            del arrangement["/Creator"]
            ledger.clean("private application data", "removed")
    action = root.get("/OpenAction")
    if action is not None and _is_dictionary(action) and action.get("/S") != "/GoTo":
        del root["/OpenAction"]
        ledger.clean("scripts", "removed")
    for key in set(root.keys()) - _CATALOG_KEPT:
        del root[key]
        ledger.clean(_DESCRIBING_KEYS.get(key, "other catalog entries"), "removed")


def _arrangements_of_layers(root: Any) -> list[Any]:
    layers = root.get("/OCProperties", {})
    return [*([layers["/D"]] if "/D" in layers else []), *layers.get("/Configs", [])]


def _clean_object(pdf: pikepdf.Pdf, item: Any, ledger: ScrubLedger) -> None:
    for dictionary in _dictionaries(item, 0):
        for key, place in _DESCRIBING_KEYS.items():
            if key in dictionary:
                del dictionary[key]
                ledger.clean(place, "removed")
        _clean_annotation(dictionary, ledger)
        _shorten_paths(dictionary, ledger)
        if dictionary.get("/FT") == "/Sig" and "/V" in dictionary:
            del dictionary["/V"]
            ledger.clean("digital signatures", "removed")
    if _is_stream(item):
        _clean_stream(pdf, item, ledger)


def _dictionaries(item: Any, depth: int) -> Iterator[Any]:
    """A dictionary or stream and the direct ones inside it; indirect ones come by themselves."""
    if depth > _DEEPEST or (depth and item.is_indirect):
        return
    if isinstance(item, (pikepdf.Dictionary, pikepdf.Stream)):
        yield item
        children = [value for _, value in item.items()]
    elif isinstance(item, pikepdf.Array):
        children = list(item)
    else:
        return
    for child in children:
        if isinstance(child, pikepdf.Object):
            yield from _dictionaries(child, depth + 1)


def _clean_annotation(annotation: Any, ledger: ScrubLedger) -> None:
    if "/Rect" not in annotation or "/Subtype" not in annotation:
        return
    if "/T" in annotation and annotation.get("/Subtype") != "/Widget":  # there it is the name of a form's field
        annotation["/T"] = ledger.alias(str(annotation["/T"]))
        ledger.clean("people", "renamed")
    for key in ("/M", "/CreationDate"):
        if key in annotation:
            annotation[key] = _FIXED_DATE
            ledger.clean("times of comments and changes", "made uniform")
    if "/RC" in annotation:
        annotation["/RC"] = _VIEWER.sub("", str(annotation["/RC"]))
    if annotation.get("/Subtype") == "/FileAttachment" and "/FS" in annotation:
        del annotation["/FS"]
        ledger.clean("attachments", "removed")


def _shorten_paths(dictionary: Any, ledger: ScrubLedger) -> None:
    for key in ("/F", "/UF", "/URI", "/Alt", "/D"):
        value = dictionary.get(key)
        if isinstance(value, pikepdf.String) and tells_a_machine(str(value)):
            dictionary[key] = bare_name(str(value))
            ledger.clean("folders in links", "shortened")


def _clean_stream(pdf: pikepdf.Pdf, stream: Any, ledger: ScrubLedger) -> None:
    """Photographs lose their EXIF, colour profiles their words; the coded picture is copied."""
    if stream.get("/Subtype") == "/Image":
        _clean_picture(pdf, stream, ledger)
    elif "/N" in stream and "/Type" not in stream and "/FunctionType" not in stream:
        profile = stream.read_bytes()
        if profile[36:40] == b"acsp":
            stream.write(blank_profile(profile))
            ledger.clean("colour profile texts", "blanked")


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


def _is_dictionary(item: Any) -> bool:
    return isinstance(item, pikepdf.Dictionary)


def _is_stream(item: Any) -> bool:
    return isinstance(item, pikepdf.Stream)


_SUSPECT = (b"%", b"\xff\xd8\xff")
"""The signs of a remark and of a photograph; a page with neither is not taken apart."""


def scrub_contents(pdf: Any, ledger: ScrubLedger) -> None:
    """Every page that may hold either; all other commands are copied as they stand, and shared ones stay shared."""
    seen: dict[tuple[tuple[int, int], ...], Any] = {}
    for page in pdf.pages:
        streams = _streams(page)
        key = tuple(stream.objgen for stream in streams)
        if key not in seen:
            plain = _sieved(page, streams, ledger)
            seen[key] = None if plain is None else pdf.make_stream(plain)
        if seen[key] is not None:
            page.Contents = seen[key]


def _sieved(page: Any, streams: list[Any], ledger: ScrubLedger) -> bytes | None:
    """The page's commands without remarks and EXIF; None where there is nothing to take out."""

    class Sieve(TokenFilter):
        changed = False

        def handle_token(self, token: Token) -> Token | list[Token]:  # type: ignore[override] # always called with one
            if token.type_ is TokenType.comment:
                self.changed = True
                ledger.clean("remarks between drawing commands", "removed")
                return []
            if token.type_ is TokenType.inline_image and token.raw_value.startswith(b"\xff\xd8"):
                photograph = _plain_photograph(token.raw_value, ledger)
                self.changed |= photograph != token.raw_value
                return Token(TokenType.inline_image, photograph)
            return token

    sieve = Sieve()
    try:
        if not any(sign in stream.read_bytes() for stream in streams for sign in _SUSPECT):
            return None
        plain = Page(page).get_filtered_contents(sieve)
    except PdfError:
        return None  # nothing can be drawn, or read, from a stream that does not unpack
    return plain if sieve.changed else None


def _streams(page: Any) -> list[Any]:
    contents = page.get("/Contents")
    if contents is None:
        return []
    return list(contents) if isinstance(contents, Array) else [contents]


def _plain_photograph(data: bytes, ledger: ScrubLedger) -> bytes:
    try:
        return scrub_jpeg(data, ledger)
    except CannotScrub:
        return data
