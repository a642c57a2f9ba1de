"""The kinds of file Guildhall knows: one row a kind, and everything that differs between kinds stands in its row.

Which kind a file is, `guildhall.documents.detection.detect` says; here is what follows from it. Functions are named
as `module:function` below `guildhall.documents` and are imported when first asked for, so that this table is cheap.
To add a kind of file: one row, and the functions it names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import Any, Self


class Family(StrEnum):
    """Kinds that are shown by the same means."""

    OFFICE = "office"
    PDF = "pdf"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    CAD = "cad"
    ARCHIVE = "archive"
    WEB = "web"
    NOTEBOOK = "notebook"
    TEXT = "text"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """What is known of one kind of file."""

    family: Family = Family.OPAQUE
    named: str = ""
    """Endings, separated by blanks, that make a word in a sentence a file's name."""
    also: str = ""
    """Further endings: believed of a file's name, but not looked for in sentences."""
    media_type: str = "application/octet-stream"
    starts: tuple[bytes, ...] = ()
    """The first bytes, any of them."""
    riff: bytes = b""
    """The form that a RIFF container states."""
    parts: tuple[str, ...] = ()
    """Of an Office Open XML package: its main part, then the folder that other programs' packages may keep too."""
    stream: str = ""
    """Of an old Office file: the stream with its content."""
    like: str = ""
    """Kinds of one container, between which a name may err without being wrong."""
    reader: str | None = None
    """(file to read, writer) -> facts: writes the file's words."""
    renderer: str | None = None
    """(file, kind, folder, means) -> pages; None: it cannot be shown."""
    scrubber: str | None = None
    """(data, ledger, about) -> the data by allow-lists; None: only our copy is handed out."""
    freezer: str | None = None
    """(data, ledger, about) -> the data as it is drawn and read: nothing moves, and nobody is named; None: as it is."""
    copier: str | None = None
    """(file, kind, out, looking) -> what a grader is handed to keep, written by us; None: pages and words at most."""
    copied_as: str = ""
    """The kind of that copy, by its ending; empty where it is the kind itself."""
    inline: bool = False
    """A browser shows or plays it itself; all else is a download."""
    for_models: bool = False
    """Models that hear or see take it as it is."""
    demuxer: str = ""
    muxer: str = ""
    """How ffmpeg calls the container when it reads and when it writes it."""
    foreign: str = ""
    """Endings, among the kind's own, of programs that are not run here."""

    @property
    def endings(self) -> tuple[str, ...]:
        """Every ending that claims this kind, lower case and without the dot."""
        return (*self.named.split(), *self.also.split())


_PRINTED: dict[str, Any] = {"copier": "copies:copy_pages", "copied_as": "pdf"}
"""A PDF printed from the pages shown."""
_WORKBOOK: dict[str, Any] = {"copier": "copies:copy_book", "copied_as": "xlsx"}
"""A workbook by one writer, to compute with."""


def _office(named: str = "", also: str = "", **more: Any) -> FileKind:
    shown = "render.rendering:show_office"
    return FileKind(family=Family.OFFICE, named=named, also=also, renderer=shown, **(_PRINTED | more))


def _package(named: str, also: str, folder: str, main: str, module: str, media_type: str, **more: Any) -> FileKind:
    return _office(
        named,
        also,
        media_type=f"application/vnd.openxmlformats-officedocument.{media_type}",
        parts=(f"{folder}/{main}", f"{folder}/"),
        reader=f"extract.{module}:extract_{module}",
        scrubber=f"scrub.{module}:scrub_{module}",
        freezer=f"scrub.{module}:freeze_{module}",
        **more,
    )


def _open_document(ending: str, media_type: str, **more: Any) -> FileKind:
    return _office(
        also=ending,
        media_type=f"application/vnd.oasis.opendocument.{media_type}",
        reader="extract.opendocument:extract_open_document",
        freezer="scrub.opendocument:freeze_open_document",
        **more,
    )


_OF_PICTURES = "extract.pdf:extract_picture"


def _image(named: str, also: str, media_type: str, **more: Any) -> FileKind:
    return FileKind(
        family=Family.IMAGE,
        named=named,
        also=also,
        media_type=f"image/{media_type}",
        renderer="render.rendering:show_picture",
        **({"reader": _OF_PICTURES, "copier": "copies:copy_picture", "copied_as": "png"} | more),
    )


def _media(family: Family, named: str, also: str, media_type: str, container: tuple[str, str], **more: Any) -> FileKind:
    return FileKind(
        family=family,
        named=named,
        also=also,
        media_type=f"{family}/{media_type}",
        demuxer=container[0],
        muxer=container[1],
        reader="extract.media:extract_media",
        renderer="render.rendering:show_media",
        copier="copies:copy_recording",
        **more,
    )


def _drawing(named: str, also: str, name: str, media_type: str) -> FileKind:
    return FileKind(
        family=Family.CAD,
        named=named,
        also=also,
        media_type=f"model/{media_type}",
        reader=f"extract.drawings:extract_{name}",
        renderer="render.rendering:show_model",
        freezer=f"scrub.cad:scrub_{name}",
        **_PRINTED,
    )


def _archive(named: str, also: str, name: str, media_type: str, **more: Any) -> FileKind:
    return FileKind(
        family=Family.ARCHIVE,
        named=named,
        also=also,
        media_type=f"application/{media_type}",
        reader="extract.reading:extract_archive",
        renderer="copies:show_archive",
        scrubber=f"scrub.archives:scrub_{name}",
        freezer=f"scrub.archives:scrub_{name}",
        copier="copies:copy_archive",
        copied_as="zip",
        **more,
    )


def _text(named: str, also: str, media_type: str, renderer: str = "show_code", **more: Any) -> FileKind:
    return FileKind(
        family=Family.TEXT,
        named=named,
        also=also,
        media_type=media_type,
        reader="extract.plain:extract_text",
        renderer=f"render.rendering:{renderer}",
        scrubber="scrub.markup:scrub_text",
        copier="copies:copy_text",
        **more,
    )


_FOREIGN = "js ts tsx jsx java go rs rb php cs cpp kt swift sol tf"
_CODE = (
    "mjs h c cc hpp pl r jl sql sh bash ps1 bat scala lua m "
    f"vb vba bas css scss yaml yml toml tex bib ino v vhd {_FOREIGN}"
)


class Kind(StrEnum):
    """What a file really is; the value is the ending it should have, or a word where it has none."""

    row: FileKind

    def __new__(cls, value: str, row: FileKind | None = None) -> Self:
        if row is None:  # optional only so that `Kind("pdf")` reads well to type checkers
            raise TypeError(f"{value!r} has no row")
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.row = row
        return kind

    DOCX = "docx", _package("docx", "docm dotx dotm", "word", "document", "word", "wordprocessingml.document")
    XLSX = (
        "xlsx",
        _package(
            "xlsx",
            "xlsm xltx xltm",
            "xl",
            "workbook",
            "sheets",
            "spreadsheetml.sheet",
            **_WORKBOOK,
        ),
    )
    PPTX = (
        "pptx",
        _package("pptx", "pptm ppsx potx ppsm", "ppt", "presentation", "slides", "presentationml.presentation"),
    )
    ODT = "odt", _open_document("odt", "text")
    ODS = "ods", _open_document("ods", "spreadsheet", **_WORKBOOK)
    ODP = "odp", _open_document("odp", "presentation")
    RTF = (
        "rtf",
        _office(
            also="rtf",
            media_type="application/rtf",
            starts=(b"{\\rtf",),
            reader="extract.rtf:extract_rtf",
            freezer="scrub.rtf:freeze_rtf",
        ),
    )
    DOC = "doc", _office("doc", media_type="application/msword", stream="WordDocument")
    XLS = "xls", _office("xls", media_type="application/vnd.ms-excel", stream="Workbook", **_WORKBOOK)
    PPT = "ppt", _office("ppt", media_type="application/vnd.ms-powerpoint", stream="PowerPoint Document")
    PDF = (
        "pdf",
        FileKind(
            family=Family.PDF,
            named="pdf",
            media_type="application/pdf",
            reader="extract.pdf:extract_pdf",
            renderer="render.rendering:show_pdf",
            scrubber="scrub.pdf:scrub_pdf",
            **_PRINTED,
        ),
    )
    PNG = (
        "png",
        _image("png", "", "png", scrubber="scrub.images:scrub_png", starts=(b"\x89PNG\r\n\x1a\n",), inline=True),
    )
    JPEG = (
        "jpg",
        _image(
            "jpg jpeg",
            "jpe",
            "jpeg",
            scrubber="scrub.images:scrub_jpeg",
            starts=(b"\xff\xd8\xff",),
            inline=True,
            copied_as="jpg",
        ),
    )
    GIF = "gif", _image("", "gif", "gif", starts=(b"GIF87a", b"GIF89a"), inline=True)
    WEBP = "webp", _image("", "webp", "webp", riff=b"WEBP", inline=True)
    TIFF = (
        "tiff",
        _image("", "tiff tif", "tiff", starts=(b"II*\0", b"MM\0*", b"II+\0"), **_PRINTED),
    )
    BMP = "bmp", _image("", "bmp", "bmp")
    SVG = "svg", _image("", "svg", "svg+xml", reader="extract.plain:extract_svg")
    WAV = "wav", _media(Family.AUDIO, "wav", "", "wav", ("wav", "wav"), riff=b"WAVE", inline=True, for_models=True)
    MP3 = "mp3", _media(Family.AUDIO, "mp3", "", "mpeg", ("mp3", "mp3"), starts=(b"ID3",), inline=True, for_models=True)
    FLAC = (
        "flac",
        _media(Family.AUDIO, "", "flac", "flac", ("flac", "flac"), starts=(b"fLaC",), inline=True, copied_as="wav"),
    )
    OGG = (
        "ogg",
        _media(
            Family.AUDIO, "", "ogg oga opus", "ogg", ("ogg", "ogg"), starts=(b"OggS",), inline=True, copied_as="mp3"
        ),
    )
    M4A = "m4a", _media(Family.AUDIO, "", "m4a", "mp4", ("mov", "ipod"), like="mp4", inline=True, copied_as="mp3")
    MP4 = "mp4", _media(Family.VIDEO, "mp4", "m4v", "mp4", ("mov", "mp4"), like="mp4", inline=True, for_models=True)
    MOV = (
        "mov",
        _media(Family.VIDEO, "", "mov", "quicktime", ("mov", "mov"), like="mp4", for_models=True, copied_as="mp4"),
    )
    MKV = (
        "mkv",
        _media(Family.VIDEO, "", "mkv", "x-matroska", ("matroska", "matroska"), like="matroska", copied_as="mp4"),
    )
    WEBM = (
        "webm",
        _media(Family.VIDEO, "", "webm", "webm", ("matroska", "webm"), like="matroska", inline=True, copied_as="mp4"),
    )
    AVI = "avi", _media(Family.VIDEO, "", "avi", "x-msvideo", ("avi", "avi"), riff=b"AVI ", copied_as="mp4")
    STL = "stl", _drawing("stl", "", "stl", "stl")
    STEP = "step", _drawing("step stp", "p21", "step", "step")
    DXF = "dxf", _drawing("dxf", "", "dxf", "vnd.dxf")
    DWG = "dwg", FileKind(family=Family.CAD, also="dwg", media_type="image/vnd.dwg", starts=(b"AC10",))
    ZIP = "zip", _archive("zip", "", "zip", "zip")
    TAR = "tar", _archive("", "tar", "tar", "x-tar", like="tar")
    GZIP = "gz", _archive("", "gz tgz gzip", "gzip", "gzip", starts=(b"\x1f\x8b",), like="tar")
    SEVENZIP = "7z", FileKind(family=Family.ARCHIVE, also="7z", starts=(b"7z\xbc\xaf\x27\x1c",))
    RAR = "rar", FileKind(family=Family.ARCHIVE, also="rar", starts=(b"Rar!\x1a\x07",))
    HTML = (
        "html",
        FileKind(
            family=Family.WEB,
            named="html",
            also="htm xhtml",
            media_type="text/html",
            like="markup",
            reader="extract.plain:extract_html",
            renderer="render.rendering:show_web_page",
            **_PRINTED,
        ),
    )
    IPYNB = (
        "ipynb",
        FileKind(
            family=Family.NOTEBOOK,
            named="ipynb",
            media_type="application/x-ipynb+json",
            like="json",
            reader="extract.plain:extract_notebook",
            renderer="render.rendering:show_notebook",
            scrubber="scrub.markup:scrub_notebook",
            **_PRINTED,
        ),
    )
    CSV = "csv", _text("csv", "", "text/csv", "show_csv")
    TSV = "tsv", _text("", "tsv", "text/tab-separated-values", "show_tsv")
    JSON = "json", _text("", "json jsonl ndjson geojson", "application/json", "show_json", like="json")
    XML = "xml", _text("", "xml", "application/xml", "show_xml", like="markup")
    MARKDOWN = "md", _text("md", "markdown rmd qmd", "text/markdown", "show_markdown", like="markup")
    CODE = "code", _text("py", _CODE, "text/plain", foreign=_FOREIGN)
    TEXT = "txt", _text("txt", "text log rst srt vtt ini cfg conf env", "text/plain", "show_plain")
    ENCRYPTED = "encrypted office file", FileKind(stream="EncryptedPackage")
    EXECUTABLE = "executable", FileKind(also="executable exe dll so bin", starts=(b"\x7fELF", b"MZ"))
    EMPTY = "empty file", FileKind(reader="extract.plain:extract_text", scrubber="scrub.markup:scrub_text")
    UNKNOWN = "unknown", FileKind(also="unknown")

    @property
    def family(self) -> Family:
        return self.row.family

    @property
    def copied(self) -> Kind:
        """The kind of what a grader is handed to keep, where this kind is copied at all."""
        return Kind(self.row.copied_as) if self.row.copied_as else self

    @property
    def ending(self) -> str | None:
        """The ending such a file should have, with its dot; None where no single one is right."""
        return f".{self.value}" if self.value in self.row.endings else None

    @property
    def is_package(self) -> bool:
        """Whether it is Office Open XML: a zip of XML parts."""
        return bool(self.row.parts)


_BY_ENDING = {ending: kind for kind in Kind for ending in kind.row.endings}
_VALUES = frozenset(Kind)


def claimed_kind(name: str | PurePath) -> Kind | None:
    """The kind a file's name claims, or None when its ending claims nothing we know."""
    return _BY_ENDING.get(PurePath(name).suffix.lower().removeprefix("."))


def copied_name(name: str, kind: Kind) -> str:
    """What a copy is called: as the file is, with the ending of what it now is behind it where that is another."""
    if kind.ending is None or PurePath(name).suffix.lower().removeprefix(".") in kind.row.endings:
        return name
    return f"{name}{kind.ending}"


def kept_kind(name: str) -> Kind:
    """The kind kept under this name; one that this version does not know is unknown, not an error."""
    return Kind(name) if name in _VALUES else Kind.UNKNOWN


def function(name: str) -> Callable[..., Any]:
    """The function that a row names."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"guildhall.documents.{module}"), attribute)
    return found
