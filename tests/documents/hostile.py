"""Files made to hurt whoever opens them: bombs, loops, lies, escapes. Each maker writes one file into a folder."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.documents.hostile_parts import LAUGHS, MIB, docx, flate, link, one_page, para, pdf, png, xlsx, zipped

Maker = Callable[[Path], Path]
HOSTILE: dict[str, Maker] = {}


def hostile(name: str) -> Callable[[Maker], Maker]:
    def keep(maker: Maker) -> Maker:
        HOSTILE[name] = maker
        return maker

    return keep


def _add(name: str, content: Callable[[], bytes]) -> None:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content())
        return path

    HOSTILE[name] = make


# Office packages
_add("bomb-in-media.docx", lambda: docx(para("x"), more={"word/media/a.bin": bytes(600 * MIB)}))
_add("laughs.docx", lambda: docx(para("&j;"), head=LAUGHS))
_add("quadratic.docx", lambda: docx(para("&a;" * 50_000), head=f'<!DOCTYPE x [<!ENTITY a "{"x" * 50_000}">]>'))
_add("reads-passwd.docx", lambda: docx(para("&a;"), head='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'))
_add(
    "fetches-entity.docx",
    lambda: docx(para("&a;"), head='<!DOCTYPE x [<!ENTITY a SYSTEM "http://127.0.0.1:59009/a">]>'),
)
_add("not-xml.docx", lambda: docx("", raw="<w:document"))
_add("macro.docm", lambda: docx(para("x"), more={"word/vbaProject.bin": b"\xd0\xcf\x11\xe0Attribut AutoOpen Shell"}))
_add(
    "remote-template.docx",
    lambda: docx(
        para("x"), more={"word/_rels/document.xml.rels": link("attachedTemplate", "http://127.0.0.1:59009/t.dotm")}
    ),
)
_add(
    "remote-picture.docx",
    lambda: docx(para("x"), more={"word/_rels/document.xml.rels": link("image", "http://127.0.0.1:59009/p.png")}),
)
_add("deep-tables.docx", lambda: docx("<w:tbl><w:tr><w:tc>" * 1500 + para("x") + "</w:tc></w:tr></w:tbl>" * 1500))
_add("many-paragraphs.docx", lambda: docx(para("endless ") * 400_000))
_add("huge-word.docx", lambda: docx(para("x" * (24 * MIB))))
_add(
    "far-cell.xlsx",
    lambda: xlsx('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
)
_add(
    "calls-out.xlsx",
    lambda: xlsx(
        '<row r="1"><c r="A1"><f>WEBSERVICE("http://127.0.0.1:59009/x")</f></c>'
        '<c r="B1"><f>cmd|" /c calc"!A0</f></c></row>'
    ),
)
_add("circular.xlsx", lambda: xlsx('<row r="1"><c r="A1"><f>B1+1</f></c><c r="B1"><f>A1+1</f></c></row>'))
_add(
    "long-chain.xlsx",
    lambda: xlsx("".join(f'<row r="{n}"><c r="A{n}"><f>A{n + 1}+1</f></c></row>' for n in range(1, 60_000))),
)
_add(
    "many-rows.xlsx", lambda: xlsx("".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 500_000)))
)
_add(
    "laughs.odt",
    lambda: zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<?xml version='1.0'?>{LAUGHS}<x>&j;</x>",
        }
    ),
)
_add("deep.rtf", lambda: b"{\\rtf1 " + b"{" * 200_000 + b"x" + b"}" * 200_000 + b"}")
_add(
    "garbage.doc", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le") + os.urandom(60_000)
)
_add("program.docx", lambda: b"MZ\x90\0" + bytes(5000))

# Archives
_add("bomb.zip", lambda: zipped({f"{n}.txt": bytes(100 * MIB) for n in range(6)}))
_add("many-members.zip", lambda: zipped({f"{n}.txt": b"" for n in range(20_000)}))
_add("leaves.zip", lambda: zipped({"../../../../tmp/guildhall-escaped.txt": b"out", "ok.txt": b"in"}))
_add("absolute.zip", lambda: zipped({"/tmp/guildhall-escaped.txt": b"out"}))
_add("drive.zip", lambda: zipped({"C:\\guildhall-escaped.txt": b"out"}))
_add("nameless.zip", lambda: zipped({"NAMELESS": b"whose?", "ok.txt": b"in"}).replace(b"NAMELESS", bytes(8)))
_add("cut.zip", lambda: zipped({"a.txt": os.urandom(5000)})[:2000])
_add("bomb.gz", lambda: gzip.compress(bytes(700 * MIB), compresslevel=9))


@hostile("lying-sizes.zip")
def lying_sizes(folder: Path) -> Path:
    """Its table of contents claims ten bytes for half a gibibyte."""
    data = bytearray(zipped({"a.txt": bytes(500 * MIB)}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = data.index(mark)
        data[start + offset : start + offset + 4] = (10).to_bytes(4, "little")
    return _written(folder / "lying-sizes.zip", bytes(data))


@hostile("overlapping.zip")
def overlapping(folder: Path) -> Path:
    """A thousand names for the same packed megabytes."""
    data = zipped({"a.txt": bytes(20 * MIB)})
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entries = b"".join(data[start:end].replace(b"a.txt", f"{n:05}".encode()) for n in range(1000))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, len(entries), start, 0)
    return _written(folder / "overlapping.zip", data[:start] + entries + tail)


@hostile("nested.zip")
def nested(folder: Path) -> Path:
    inner = zipped({f"{n}.txt": bytes(30 * MIB) for n in range(4)})
    for _ in range(6):
        inner = zipped({f"{n}.zip": inner for n in range(4)})
    return _written(folder / "nested.zip", inner)


@hostile("link.zip")
def link_in_zip(folder: Path) -> Path:
    entry = zipfile.ZipInfo("passwd")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    path = folder / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    return path


@hostile("leaves.tar")
def leaving_tar(folder: Path) -> Path:
    path = folder / "leaves.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("../../guildhall-escaped.txt")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"out"))
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
    return path


# Pictures
_add("gigapixel.png", lambda: png(65_000, 65_000, bytes(8 * MIB)))
_add("cut.png", lambda: png(2000, 2000, os.urandom(20_000)))
_add(
    "huge.jpg",
    lambda: (
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x11\x08\xff\xff\xff\xff\3\1\x11\0\2\x11\0\3\x11\0\xff\xd9"
    ),
)
_add(
    "frames.gif",
    lambda: (
        b"GIF89a\x10\0\x10\0\x80\0\0\0\0\0\xff\xff\xff"
        + 60_000
        * (
            b"\x21\xf9\4\0\0\0\0\0\x2c\0\0\0\0\x10\0\x10\0\0\2\x0e\x84\x8f\xa9\xcb\xed\x0f\xa3\x9c\xb4\xda\x8b\xb3\x3e\5\0"
        )
        + b";"
    ),
)
_add("loop.tiff", lambda: b"II*\0\x08\0\0\0" + struct.pack("<H", 0) + struct.pack("<L", 8))
_add(
    "laughs.svg",
    lambda: f'<?xml version="1.0"?>{LAUGHS}<svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>'.encode(),
)
_add(
    "fetches.svg",
    lambda: (
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'
        b'<image xlink:href="http://127.0.0.1:59009/x.png" width="9" height="9"/>'
        b'<image xlink:href="file:///etc/passwd" width="9" height="9"/></svg>'
    ),
)
_add(
    "endless.svg",
    lambda: b'<svg xmlns="http://www.w3.org/2000/svg" width="1e9" height="1e9"><rect width="9" height="9"/></svg>',
)

# PDF
_add(
    "kids-loop.pdf",
    lambda: pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 99999999>>"}),
)
_add(
    "many-pages.pdf",
    lambda: pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[" + b"3 0 R " * 20_000 + b"]/Count 20000>>",
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
        }
    ),
)
_add("giant-page.pdf", lambda: one_page(b"<</Length 0>>stream\n\nendstream", box=b"0 0 1000000000 1000000000"))
_add("stream-bomb.pdf", lambda: one_page(flate(b"0 0 m 9 9 l S " * (40 * MIB))))
_add(
    "script.pdf",
    lambda: one_page(
        flate(b"0 0 m 9 9 l S"),
        catalog=b"/OpenAction<</S/JavaScript/JS(while(1){})>>/AA<</WC<</S/Launch/F(/bin/sh)>>>>",
    ),
)
_add("cut.pdf", lambda: one_page(flate(b"0 0 m"))[:120])
_add(
    "locked.pdf",
    lambda: one_page(flate(b"0 0 m")).replace(
        b"/Root 1 0 R",
        b"/Root 1 0 R/ID[(a)(b)]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O(" + b"x" * 32 + b")/U(" + b"y" * 32 + b")>>",
    ),
)
_add("garbage.pdf", lambda: b"%PDF-1.4\n" + os.urandom(50_000))

# Media and models
_add("cut.mp4", lambda: b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + os.urandom(3000))
_add(
    "playlist.mp4",
    lambda: (
        b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXTINF:1,\nhttp://127.0.0.1:59009/x.ts\n"
    ),
)
_add(
    "claims-4-gib.wav",
    lambda: (
        b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0data\xff\xff\xff\xff"
        + bytes(999)
    ),
)
_add("nan.stl", lambda: bytes(80) + (2).to_bytes(4, "little") + struct.pack("<12fH", *[float("nan")] * 12, 0) * 2)
_add("words.stl", lambda: b"solid x\nfacet normal a b c\n" + b"vertex 1e999 2 3\n" * 90_000)
_add(
    "loop.step",
    lambda: (
        b"ISO-10303-21;\nDATA;\n#1=EDGE_CURVE('',#2,#2,#3,.T.);#2=VERTEX_POINT('',#4);#4=CARTESIAN_POINT('',(0.,0.,0.));"
        b"#3=SURFACE_CURVE('',#5);#5=SURFACE_CURVE('',#3);\nENDSEC;"
    ),
)
_add("unclosed.step", lambda: b"ISO-10303-21;\nDATA;\n" + b"#1=A('" * 60_000)
_add(
    "self-insert.dxf",
    lambda: "\n".join(
        [
            "0",
            "SECTION",
            "2",
            "BLOCKS",
            "0",
            "BLOCK",
            "8",
            "0",
            "2",
            "B",
            "10",
            "0",
            "20",
            "0",
            "0",
            "INSERT",
            "8",
            "0",
            "2",
            "B",
            "10",
            "1",
            "20",
            "1",
            "0",
            "INSERT",
            "8",
            "0",
            "2",
            "B",
            "10",
            "2",
            "20",
            "2",
            "0",
            "ENDBLK",
            "0",
            "ENDSEC",
            "0",
            "SECTION",
            "2",
            "ENTITIES",
            "0",
            "INSERT",
            "8",
            "0",
            "2",
            "B",
            "10",
            "0",
            "20",
            "0",
            "0",
            "ENDSEC",
            "0",
            "EOF",
        ]
    ).encode(),
)

# Text
_add("deep.json", lambda: b"[" * 300_000 + b"]" * 300_000)
_add("deep.ipynb", lambda: b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
_add("quotes.md", lambda: b">" * 60_000 + b" x\n" + b"[" * 60_000 + b"\n" + b"*a " * 60_000)
_add(
    "script.html",
    lambda: (
        b'<html><body><script>while(1){}</script><img src="http://127.0.0.1:59009/x.png"><iframe src="file:///etc/passwd"></iframe>x</body></html>'
    ),
)
_add("wide.csv", lambda: (b"x," * 20_000 + b"\n") * 40)
_add("one-line.txt", lambda: b"x" * (30 * MIB))
_add("empty.docx", lambda: b"")
_add("\u202excod.exe", lambda: b"\x7fELF" + bytes(2000))


@hostile("pipe.pdf")
def pipe(folder: Path) -> Path:
    """Opening it would wait for ever."""
    path = folder / "pipe.pdf"
    os.mkfifo(path)
    return path


@hostile("endless-device.pdf")
def device(folder: Path) -> Path:
    path = folder / "endless-device.pdf"
    path.symlink_to("/dev/zero")
    return path


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path
