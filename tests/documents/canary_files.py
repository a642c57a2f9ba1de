"""For every kind of file that is scrubbed: one file with a canary in every metadata place the kind has."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from guildhall.documents.kinds import Kind
from tests.documents import canary_packages, canary_pictures
from tests.documents.leaks import CANARY

MARK = CANARY.encode()


def pdf() -> bytes:
    import pikepdf
    from pikepdf import Array, Dictionary, Name, String

    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(300, 200))
    photo = pdf.make_stream(canary_pictures.jpeg(), Type=Name.XObject, Subtype=Name.Image, Width=96, Height=64)
    photo.ColorSpace, photo.BitsPerComponent, photo.Filter = Name.DeviceRGB, 8, Name.DCTDecode
    photo.Metadata = pdf.make_stream(canary_pictures.XMP)
    helvetica = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    page.Resources = Dictionary(XObject=Dictionary(Photo=photo), Font=Dictionary(F1=helvetica))
    page.Contents = pdf.make_stream(
        b"% " + MARK + b"\nBT /F1 14 Tf 20 160 Td (Visible words) Tj ET q 90 0 0 60 20 60 cm /Photo Do Q"
    )
    page.PieceInfo = Dictionary(App=Dictionary(LastModified=String(CANARY), Private=String(CANARY)))
    page.Thumb = pdf.make_stream(MARK, Width=1, Height=1)
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=[10, 10, 30, 30], Contents=String("Check this"))
    note.RC = String(f'<body xfa:APIVersion="{CANARY}:11"><p>Check this</p></body>')
    note.T, note.NM, note.M, note.CreationDate = (
        String(CANARY),
        String(CANARY),
        String("D:20210203"),
        String("D:20210203"),
    )
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[40, 10, 60, 30], Border=[0, 0, 0])
    link.A = Dictionary(S=Name.URI, URI=String(f"file:///C:/Users/{CANARY}/x.pdf"))
    page.Annots = Array([pdf.make_indirect(note), pdf.make_indirect(link)])
    twice = pdf.make_stream(b"", Type=Name.XObject, Subtype=Name.Image, Width=96, Height=64)
    twice.ColorSpace, twice.BitsPerComponent = Name.DeviceRGB, 8
    as_text = base64.a85encode(canary_pictures.jpeg()) + b"~>"
    twice.write(as_text, filter=Array([Name.ASCII85Decode, Name.DCTDecode]))
    page.Resources.XObject.Twice = twice
    included = pdf.make_stream(b"q Q", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 1, 1])
    included["/PTEX.FileName"] = String(f"./{CANARY}/plot.pdf")
    included["/PTEX.InfoDict"] = pdf.make_indirect(Dictionary(Author=String(CANARY)))
    page.Resources.XObject.Included = included
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("Layer")))
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(Creator=String(CANARY)))
    with pdf.open_metadata() as xmp:
        xmp["dc:creator"], xmp["xmp:CreatorTool"], xmp["dc:title"] = [CANARY], CANARY, CANARY
    for key in ("Author", "Title", "Subject", "Keywords", "Creator", "Producer", "Custom"):
        pdf.docinfo[f"/{key}"] = f"{CANARY} {key}"
    pdf.attachments["notes.txt"] = pikepdf.AttachedFileSpec(
        pdf, MARK, filename=f"{CANARY}.txt", description=CANARY, mime_type="", creation_date="", mod_date=""
    )
    pdf.Root.Names.JavaScript = Dictionary(
        Names=[String(CANARY), Dictionary(S=Name.JavaScript, JS=String(f"app.alert('{CANARY}')"))]
    )
    pdf.Root.PrivateKey = Dictionary(Maker=String(CANARY))
    pdf.Root.Threads = Array([pdf.make_indirect(Dictionary(Type=Name.Thread, I=Dictionary(Author=String(CANARY))))])
    group = pdf.make_indirect(
        Dictionary(
            Type=Name.OCG, Name=String("Layer"), Usage=Dictionary(CreatorInfo=Dictionary(Creator=String(CANARY)))
        )
    )
    pdf.Root.OCProperties = Dictionary(OCGs=[group], D=Dictionary(Order=[group]))
    pdf.trailer.ID = Array([String(MARK), String(MARK)])
    out = io.BytesIO()
    pdf.save(out)
    return out.getvalue()


def rtf() -> bytes:
    return (
        (
            r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\author MARK}{\operator MARK}{\company MARK}{\title MARK}}"
            r"{\*\generator MARK;}{\*\userprops{\propname MARK}}{\*\rsidtbl \rsid12345678}{\*\template C:\\MARK}"
            r"{\*\revtbl{Unknown;}{MARK;}}\f0 Visible words. {\revised\revauth1\revdttm1234 new}"
            r"{\*\atnid MARK}{\*\atnauthor MARK}\insrsid1234567 {\*\protusertbl{MARK@x.org;}}"
            r"{\*\writereservation MARK}{\field{\*\fldinst ADDIN CITE MARK}{\fldrslt (1)}}"
            r"{\field{\*\fldinst HYPERLINK "
            '"C:\\\\\\\\Users\\\\\\\\MARK\\\\\\\\x.docx"'
            r"}{\fldrslt plan}}"
            r"{\field{\*\fldinst DATE}{\fldrslt 3 February 2021}}\par}"
        )
        .replace("MARK", CANARY)
        .encode()
    )


_ODF = {
    "office": "office", "text": "text", "table": "table", "draw": "drawing", "meta": "meta", "config": "config",
    "presentation": "presentation", "style": "style",
}  # fmt: skip
_NAMESPACES = " ".join(f'xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for p, n in _ODF.items()) + (
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:officeooo="http://openoffice.org/2009/office"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
)
_NOTE = (
    f"<office:annotation><dc:creator>{CANARY}</dc:creator><dc:date>2021-02-03T04:05:06</dc:date>"
    "<text:p>Please check.</text:p></office:annotation>"
)
_TEXT = (
    f"<office:text><text:p>Visible words{_NOTE}</text:p>"
    '<text:p><text:date text:date-value="2021-02-03">3 Feb</text:date>'
    f'<text:a xlink:href="file:///C:/Users/{CANARY}/x.odt">link</text:a></text:p></office:text>'
)
_CELLS = (
    '<table:table-cell office:value-type="float" office:value="3" table:formula="of:=1+2"><text:p>3</text:p>'
    '</table:table-cell><table:table-cell office:value-type="string" table:formula="of:=TODAY()">'
    f"{_NOTE}<text:p>2021</text:p></table:table-cell>"
)
_SHEET = (
    '<office:spreadsheet><table:table table:name="Sheet1"><table:table-row>'
    f"{_CELLS}</table:table-row></table:table></office:spreadsheet>"
)
_SLIDE = (
    '<office:presentation><draw:page draw:name="One">'
    '<draw:frame svg:width="10cm" svg:height="3cm" svg:x="1cm" svg:y="1cm">'
    "<draw:text-box><text:p>Visible words</text:p></draw:text-box></draw:frame></draw:page></office:presentation>"
)
_BODIES = {"text": _TEXT, "spreadsheet": _SHEET, "presentation": _SLIDE}


def open_document(kind: str) -> bytes:
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    run = '<style:text-properties officeooo:rsid="00c0ffee"/>'
    style = f'<style:style style:name="P1" style:family="paragraph">{run}</style:style>'
    fields = "".join(f"<dc:{tag}>{CANARY}</dc:{tag}>" for tag in ("creator", "title", "subject", "description"))
    fields += "".join(f"<meta:{tag}>{CANARY}</meta:{tag}>" for tag in ("initial-creator", "generator", "keyword"))
    fields += f"<meta:user-defined meta:name='{CANARY}'>{CANARY}</meta:user-defined>"
    settings = "".join(
        f'<config:config-item config:name="{name}" config:type="string">{CANARY}</config:config-item>'
        for name in ("PrinterName", "PrinterSetup")
    )
    settings = f"<config:config-item-set config:name='ooo:configuration-settings'>{settings}</config:config-item-set>"
    entries = "".join(
        f"<manifest:file-entry manifest:full-path='{name}' manifest:media-type='{media}'/>"
        for name, media in (
            *(("/", mimetype), ("content.xml", "text/xml"), ("meta.xml", "text/xml")),
            *(("settings.xml", "text/xml"), ("Thumbnails/thumbnail.png", "image/png")),
        )
    )
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    parts = {
        "mimetype": mimetype,
        "content.xml": _part("content", f"<office:automatic-styles>{style}</office:automatic-styles>", _BODIES[kind]),
        "meta.xml": f"<office:document-meta {_NAMESPACES}><office:meta>{fields}</office:meta></office:document-meta>",
        "settings.xml": f"<office:document-settings {_NAMESPACES}><office:settings>{settings}</office:settings>"
        "</office:document-settings>",
        "META-INF/manifest.xml": f"<manifest:manifest xmlns:manifest='{manifest}'>{entries}</manifest:manifest>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = MARK
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2021, 2, 3, 4, 5, 6)), content)
        archive.writestr("Thumbnails/thumbnail.png", canary_pictures.png())
    return out.getvalue()


def _part(name: str, styles: str, body: str) -> str:
    return (
        f"<office:document-{name} {_NAMESPACES} office:version='1.3'>{styles}"
        f"<office:body>{body}</office:body></office:document-{name}>"
    )


def step() -> bytes:
    return (
        f"ISO-10303-21;\nHEADER;\n/* {CANARY} */\nFILE_DESCRIPTION(('{CANARY}'),'2;1');\n"
        f"FILE_NAME('{CANARY}','2021-02-03T04:05:06',('{CANARY} (Jane)'),('{CANARY}'),"
        f"'{CANARY}','{CANARY}','{CANARY}');\n"
        "FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));\nENDSEC;\nDATA;\n#1=CARTESIAN_POINT('',(0.,0.,0.));\n"
        f"#2=PERSON('{CANARY}','{CANARY}','Jane',('x'),$,$);\n#3=ORGANIZATION('{CANARY}','{CANARY}','');\n"
        "#4=PRODUCT('Bracket','Bracket','',(#9));\nENDSEC;\nEND-ISO-10303-21;\n"
    ).encode()


def dxf() -> bytes:
    import ezdxf

    drawing = ezdxf.new()  # type: ignore[attr-defined]
    drawing.modelspace().add_line((0, 0), (10, 5))
    drawing.header["$LASTSAVEDBY"] = CANARY
    drawing.header["$PROJECTNAME"] = CANARY
    drawing.header.custom_vars.append(CANARY, CANARY)
    out = io.StringIO()
    drawing.write(out)
    return f"999\n{CANARY}\n".encode() + out.getvalue().encode()


def html() -> bytes:
    photo = base64.b64encode(canary_pictures.png()).decode()
    return (
        f"<!DOCTYPE html><html><head><title>Plan</title><meta name='author' content='{CANARY}'>"
        f"<meta name='generator' content='{CANARY}'><meta property='og:site_name' content='{CANARY}'>"
        f"<link rel='author' href='{CANARY}'><!-- {CANARY} --><style>/* {CANARY} */ p {{ color: black }}</style>"
        f"<meta http-equiv='reply-to' content='{CANARY}'>"
        f'<script type=\'application/ld+json\'>{{"author":"{CANARY}"}}</script></head>'
        f"<body><h1>Plan</h1><p>Visible <a href='file:///C:/Users/{CANARY}/x'>words</a></p>"
        f"<img alt='chart' src='data:image/png;base64,{photo}'></body></html>"
    ).encode()


def notebook() -> bytes:
    photo = base64.b64encode(canary_pictures.png()).decode()
    output = {
        "output_type": "display_data",
        "metadata": {"by": CANARY},
        "data": {"image/png": photo, "text/plain": "chart"},
    }
    cell = {
        "cell_type": "code",
        "id": CANARY,
        "execution_count": 1,
        "source": ["total = 1 + 2\n", "total"],
        "outputs": [output],
    }
    cell["metadata"] = {"executionInfo": {"user": {"displayName": CANARY}}, "tags": ["keep"]}
    metadata = {"authors": [CANARY], "kernelspec": {"name": CANARY, "display_name": CANARY, "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": [cell]}).encode()


def zipped() -> bytes:
    """An archive in an archive, with members of many kinds, an owner's folder and system litter."""
    members = {
        f"home/{CANARY}/drafts/report.docx": canary_packages.docx(),
        "photos/photo.jpg": canary_pictures.jpeg(),
        "plan.pdf": pdf(),
        f"__MACOSX/._{CANARY}": MARK,
    }
    inner = _zip(members)
    return _zip({"inner.zip": inner, "notes.txt": b"Plain notes", "data.tar": tarred()})


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = MARK
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (2021, 2, 3, 4, 5, 6))
            entry.comment = MARK
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("photo.png")
        entry.uname = entry.gname = CANARY
        entry.mtime, content = 1_612_325_106, canary_pictures.png()
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def gzipped() -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(filename=CANARY, fileobj=out, mode="wb", mtime=1_612_325_106) as stream:
        stream.write(tarred())
    return out.getvalue()


MADE: dict[Kind, Callable[[Path], bytes]] = {
    Kind.DOCX: lambda _: canary_packages.docx(),
    Kind.XLSX: lambda _: canary_packages.xlsx(),
    Kind.PPTX: lambda _: canary_packages.pptx(),
    Kind.ODT: lambda _: open_document("text"),
    Kind.ODS: lambda _: open_document("spreadsheet"),
    Kind.ODP: lambda _: open_document("presentation"),
    Kind.RTF: lambda _: rtf(),
    Kind.PDF: lambda _: pdf(),
    Kind.PNG: lambda _: canary_pictures.png(),
    Kind.JPEG: lambda _: canary_pictures.jpeg(),
    Kind.GIF: lambda _: canary_pictures.gif(),
    Kind.WEBP: lambda _: canary_pictures.webp(),
    Kind.TIFF: lambda _: canary_pictures.tiff(),
    Kind.BMP: lambda _: canary_pictures.bmp(),
    Kind.SVG: lambda _: canary_pictures.svg(),
    Kind.STEP: lambda _: step(),
    Kind.DXF: lambda _: dxf(),
    Kind.STL: lambda _: canary_pictures.stl(),
    Kind.HTML: lambda _: html(),
    Kind.IPYNB: lambda _: notebook(),
    Kind.ZIP: lambda _: zipped(),
    Kind.TAR: lambda _: tarred(),
    Kind.GZIP: lambda _: gzipped(),
}
MEDIA = tuple(Kind(name) for name in ("wav", "mp3", "flac", "ogg", "m4a", "mp4", "mov", "mkv", "webm", "avi"))


def made(kind: Kind, folder: Path) -> Path:
    """A file of this kind, in a folder of its own, full of canaries."""
    path = folder / f"made.{kind.value}"
    path.write_bytes(canary_pictures.media(kind.value, folder) if kind in MEDIA else MADE[kind](folder))
    return path
