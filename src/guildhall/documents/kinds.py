"""The kinds of file Guildhall knows, and the families that are shown in the same way.

Which kind a file is, `guildhall.documents.detection.detect` says; here is only the vocabulary.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath


class Family(StrEnum):
    """Kinds that are rendered by the same means."""

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


class Kind(StrEnum):
    """What a file really is; the value is the extension it should have, or a word where it has none."""

    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    PDF = "pdf"
    PNG = "png"
    JPEG = "jpg"
    GIF = "gif"
    WEBP = "webp"
    TIFF = "tiff"
    BMP = "bmp"
    SVG = "svg"
    WAV = "wav"
    MP3 = "mp3"
    FLAC = "flac"
    OGG = "ogg"
    M4A = "m4a"
    MP4 = "mp4"
    MOV = "mov"
    MKV = "mkv"
    WEBM = "webm"
    AVI = "avi"
    STL = "stl"
    STEP = "step"
    DXF = "dxf"
    DWG = "dwg"
    ZIP = "zip"
    TAR = "tar"
    GZIP = "gz"
    SEVENZIP = "7z"
    RAR = "rar"
    HTML = "html"
    IPYNB = "ipynb"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    XML = "xml"
    MARKDOWN = "md"
    CODE = "code"
    TEXT = "txt"
    ENCRYPTED = "encrypted office file"
    EXECUTABLE = "executable"
    EMPTY = "empty file"
    UNKNOWN = "unknown"

    @property
    def family(self) -> Family:
        return _FAMILY.get(self, Family.OPAQUE)


_FAMILY: dict[Kind, Family] = {
    **dict.fromkeys(
        (Kind.DOCX, Kind.XLSX, Kind.PPTX, Kind.ODT, Kind.ODS, Kind.ODP, Kind.RTF, Kind.DOC, Kind.XLS, Kind.PPT),
        Family.OFFICE,
    ),
    Kind.PDF: Family.PDF,
    **dict.fromkeys(
        (Kind.PNG, Kind.JPEG, Kind.GIF, Kind.WEBP, Kind.TIFF, Kind.BMP, Kind.SVG),
        Family.IMAGE,
    ),
    **dict.fromkeys((Kind.WAV, Kind.MP3, Kind.FLAC, Kind.OGG, Kind.M4A), Family.AUDIO),
    **dict.fromkeys((Kind.MP4, Kind.MOV, Kind.MKV, Kind.WEBM, Kind.AVI), Family.VIDEO),
    **dict.fromkeys((Kind.STL, Kind.STEP, Kind.DXF, Kind.DWG), Family.CAD),
    **dict.fromkeys((Kind.ZIP, Kind.TAR, Kind.GZIP, Kind.SEVENZIP, Kind.RAR), Family.ARCHIVE),
    Kind.HTML: Family.WEB,
    Kind.IPYNB: Family.NOTEBOOK,
    **dict.fromkeys(
        (Kind.CSV, Kind.TSV, Kind.JSON, Kind.XML, Kind.MARKDOWN, Kind.CODE, Kind.TEXT),
        Family.TEXT,
    ),
}

_CODE = (
    "py js mjs ts tsx jsx java c h cc cpp hpp cs go rs rb php pl r jl sql sh bash ps1 bat swift kt scala lua m "
    "vb vba bas css scss yaml yml toml tex bib tf ino v vhd sol"
)
_EXTENSIONS: dict[str, Kind] = {kind.value: kind for kind in Kind if kind.value.isalnum() and kind != Kind.CODE}
_EXTENSIONS |= {
    **dict.fromkeys(("docm", "dotx", "dotm"), Kind.DOCX),
    **dict.fromkeys(("xlsm", "xltx", "xltm"), Kind.XLSX),
    **dict.fromkeys(("pptm", "ppsx", "potx", "ppsm"), Kind.PPTX),
    **dict.fromkeys(("jpeg", "jpe"), Kind.JPEG),
    **dict.fromkeys(("tif",), Kind.TIFF),
    **dict.fromkeys(("oga", "opus"), Kind.OGG),
    **dict.fromkeys(("m4v",), Kind.MP4),
    **dict.fromkeys(("stp", "p21"), Kind.STEP),
    **dict.fromkeys(("tgz", "gzip"), Kind.GZIP),
    **dict.fromkeys(("htm", "xhtml"), Kind.HTML),
    **dict.fromkeys(("markdown", "rmd", "qmd"), Kind.MARKDOWN),
    **dict.fromkeys(("text", "log", "rst", "srt", "vtt", "ini", "cfg", "conf", "env"), Kind.TEXT),
    **dict.fromkeys(("jsonl", "ndjson", "geojson"), Kind.JSON),
    **dict.fromkeys(("exe", "dll", "so", "bin"), Kind.EXECUTABLE),
    **dict.fromkeys(_CODE.split(), Kind.CODE),
}


def claimed_kind(name: str | PurePath) -> Kind | None:
    """The kind a file's name claims, or None when its extension claims nothing we know."""
    return _EXTENSIONS.get(PurePath(name).suffix.lower().removeprefix("."))
