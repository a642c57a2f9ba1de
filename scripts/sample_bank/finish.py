"""Saving Office files so that two runs give the same bytes, with cached values in every formula cell."""

from __future__ import annotations

import io
import re
import subprocess
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

FIXED = datetime(2026, 3, 2, 9, 0)  # noqa: DTZ001  Office stores wall-clock times
_STAMP = FIXED.strftime("%Y-%m-%dT%H:%M:%SZ")
_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</dcterms:)")


def save_word(document: Any, path: Path, *, title: str, author: str) -> None:
    _describe(document.core_properties, title, author)
    _save_zip(document, path)


def save_slides(deck: Any, path: Path, *, title: str, author: str) -> None:
    _describe(deck.core_properties, title, author)
    _save_zip(deck, path)


def save_workbook(book: Any, path: Path, *, title: str, author: str) -> None:
    """Save, let LibreOffice calculate, and write its results back as the cached value of each formula."""
    book.properties.title, book.properties.creator = title, author
    book.properties.created = book.properties.modified = FIXED
    _save_zip(book, path)
    values = _calculated_values(path)
    path.write_bytes(_steady_zip(path.read_bytes(), values))


def save_pdf(source: Path, path: Path, *, title: str, author: str) -> None:
    """Print an Office file to PDF by LibreOffice and strip what differs from run to run."""
    import pikepdf

    with tempfile.TemporaryDirectory() as scratch:
        _convert(source, "pdf", Path(scratch))
        with pikepdf.open(Path(scratch) / f"{source.stem}.pdf") as pdf:
            if "/Metadata" in pdf.Root:
                del pdf.Root.Metadata
            stamp = FIXED.strftime("D:%Y%m%d%H%M%SZ")
            for key in ("/ID", "/DocChecksum"):
                if key in pdf.trailer:
                    del pdf.trailer[key]
            for key in list(pdf.docinfo):
                del pdf.docinfo[key]
            pdf.docinfo["/Title"], pdf.docinfo["/Author"] = title, author
            pdf.docinfo["/CreationDate"] = pdf.docinfo["/ModDate"] = stamp
            path.parent.mkdir(parents=True, exist_ok=True)
            pdf.save(path, deterministic_id=True)


def _describe(properties: Any, title: str, author: str) -> None:
    properties.title, properties.author, properties.last_modified_by = title, author, author
    properties.created = properties.modified = FIXED
    properties.comments = "Sample data: invented for the Guildhall sample bank"


def _save_zip(document: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    document.save(buffer)
    path.write_bytes(_steady_zip(buffer.getvalue()))


def _steady_zip(data: bytes, values: dict[str, dict[str, Any]] | None = None) -> bytes:
    """The same archive with fixed times inside and out; embedded workbooks are treated alike."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            body = source.read(name)
            if name.endswith(".xlsx"):
                body = _steady_zip(body)
            elif name == "docProps/core.xml":
                body = _DATES.sub(rb"\g<1>" + _STAMP.encode() + rb"\g<2>", body)
            elif values and name in values:
                body = _with_cached_values(body, values[name])
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            target.writestr(info, body)
    return out.getvalue()


def _convert(source: Path, kind: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as profile:
        command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to", kind]
        subprocess.run([*command, "--outdir", folder, source], check=True, capture_output=True, timeout=180)


def _calculated_values(path: Path) -> dict[str, dict[str, Any]]:
    """Per sheet part of the saved file: formula cell -> its value as LibreOffice calculates it."""
    import openpyxl

    with tempfile.TemporaryDirectory() as scratch:
        _convert(path, "xlsx", Path(scratch))
        calculated = openpyxl.load_workbook(Path(scratch) / path.name, data_only=True)
        written = openpyxl.load_workbook(path)
        found: dict[str, dict[str, Any]] = {}
        for number, sheet in enumerate(written.worksheets, start=1):
            cells = found.setdefault(f"xl/worksheets/sheet{number}.xml", {})
            for cell in (cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"):
                value = calculated[sheet.title][cell.coordinate].value
                if value is None or (isinstance(value, str) and value.startswith(("#", "Err:"))):
                    raise ValueError(f"{path.name}: {sheet.title}!{cell.coordinate} {cell.value} gives {value!r}")
                cells[cell.coordinate] = value
        return found


def _with_cached_values(xml: bytes, values: dict[str, Any]) -> bytes:
    from lxml import etree
    from openpyxl.utils.datetime import to_excel

    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    root = etree.fromstring(xml)
    for cell in root.iter(f"{space}c"):
        value = values.get(cell.get("r", ""))
        if cell.find(f"{space}f") is None or value is None:
            continue
        for stale in cell.findall(f"{space}v"):
            cell.remove(stale)
        cached = etree.SubElement(cell, f"{space}v")
        if isinstance(value, bool):
            cell.set("t", "b")
            cached.text = str(int(value))
        elif isinstance(value, str):
            cell.set("t", "str")
            cached.text = value
        else:
            cell.attrib.pop("t", None)
            cached.text = repr(value if isinstance(value, int | float) else to_excel(value))
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
