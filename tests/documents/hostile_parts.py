"""What hostile files are made of: packages, pictures and PDFs written byte by byte."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

MIB = 1 << 20
BEACON = 59009
"""The port at which files that call home call; whoever listens there hears of it."""

_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/>'
    '<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{type}.main+xml"/></Types>'
)
_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" '
    'Target="{part}"/></Relationships>'
)
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "haha">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)


def zipped(members: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue()


def docx(body: str, *, more: dict[str, bytes | str] | None = None, head: str = "", raw: str | None = None) -> bytes:
    document = raw or f'<?xml version="1.0"?>{head}<w:document {_W} {_R}><w:body>{body}</w:body></w:document>'
    parts: dict[str, bytes | str] = {
        "[Content_Types].xml": _CONTENT_TYPES.format(part="word/document.xml", type="wordprocessingml.document"),
        "_rels/.rels": _RELS.format(kind="officeDocument", part="word/document.xml"),
        "word/document.xml": document,
    }
    return zipped(parts | (more or {}))


def xlsx(rows: str) -> bytes:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    book = f'<workbook {main} {_R}><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
    return zipped(
        {
            "[Content_Types].xml": _CONTENT_TYPES.format(part="xl/workbook.xml", type="spreadsheetml.sheet"),
            "_rels/.rels": _RELS.format(kind="officeDocument", part="xl/workbook.xml"),
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": _RELS.format(kind="worksheet", part="worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>",
        }
    )


def para(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def link(kind: str, target: str) -> str:
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r9" Type="{base}/{kind}" Target="{target}" TargetMode="External"/></Relationships>'
    )


def png(width: int, height: int, rows: bytes) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">L", len(body)) + name + body + struct.pack(">L", zlib.crc32(name + body))

    header = struct.pack(">2L5B", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def pdf(objects: dict[int, bytes], root: int = 1) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (max(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % places.get(number, 0) for number in range(1, max(objects) + 1))
    return bytes(out + b"trailer <</Size %d /Root %d 0 R>>\nstartxref\n%d\n%%%%EOF" % (max(objects) + 1, root, start))


def one_page(content: bytes, *, box: bytes = b"0 0 300 300", catalog: bytes = b"") -> bytes:
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
            2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[" + box + b"]/Contents 4 0 R/Resources<<>>>>",
            4: content,
        }
    )


def flate(data: bytes) -> bytes:
    packed = zlib.compress(data, 9)
    return b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
