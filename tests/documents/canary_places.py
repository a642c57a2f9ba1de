# ruff: noqa: E501 - XML and tables read better in long lines
"""One file for each place in which a program, or somebody, may leave a word that no reader sees.

Those of an audit stand among them; the others were found in the specifications of the formats.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pikepdf
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.ttLib.tables._g_l_y_f import Glyph  # type: ignore[import-untyped]
from pikepdf import Array, Dictionary, Name, String

from guildhall.documents.kinds import Kind
from tests.documents.canary_packages import DOCUMENT, MICROSOFT, REL, Package
from tests.documents.leaks import CANARY

MARK = CANARY.encode()
WIDE = CANARY.encode("utf-16-le")
WORD, BOOK, DECK = "word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"
SHEET, SLIDE = "xl/worksheets/sheet1.xml", "ppt/slides/slide1.xml"
PLACES: dict[str, tuple[Kind, Callable[[], bytes]]] = {}


def _place(kind: Kind, name: str) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    def register(make: Callable[[], bytes]) -> Callable[[], bytes]:
        PLACES[f"{kind.value}: {name}"] = (kind, make)
        return make

    return register


def _docx() -> Package:
    from docx import Document

    document = Document()
    document.add_heading("Quarterly review", 1)
    document.add_paragraph("Sales rose by twelve percent.")
    document.save(out := io.BytesIO())
    return Package(out.getvalue())


def _xlsx() -> Package:
    import xlsxwriter

    book = xlsxwriter.Workbook(out := io.BytesIO(), {"in_memory": True})
    sheet = book.add_worksheet("Budget")
    sheet.write_row(0, 0, ["Item", "Amount"])
    sheet.write_url("A3", "https://example.org/", string="link", tip="tip")
    book.close()
    return Package(out.getvalue())


def _pptx() -> Package:
    from pptx import Presentation

    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[1]).shapes.title.text = "Plan for spring"
    deck.save(out := io.BytesIO())
    return Package(out.getvalue())


_START = {Kind.DOCX: _docx, Kind.XLSX: _xlsx, Kind.PPTX: _pptx}


def _edits(kind: Kind, part: str, found: dict[str, tuple[str, str]]) -> None:
    """Places of a package that are filled by one replacement in one part."""

    def maker(old: str, new: str) -> Callable[[], bytes]:
        def make() -> bytes:
            package = _START[kind]()
            package.edit(part, lambda text: text.replace(old, new.replace("MARK", CANARY), 1))
            return package.written()

        return make

    for name, (old, new) in found.items():
        _place(kind, name)(maker(old, new))


_P, _END = "<w:p>", "<w:sectPr"
_RUN = "<w:r><w:t>word</w:t></w:r>"
_edits(Kind.DOCX, WORD, {
    "bookmark's name": (_END, f'<w:p><w:bookmarkStart w:id="9" w:name="MARK"/>{_RUN}<w:bookmarkEnd w:id="9"/></w:p>{_END}'),
    "identifier of a sequence": (_END, f'<w:p><w:fldSimple w:instr=" SEQ MARK ">{_RUN}</w:fldSimple></w:p>{_END}'),
    "unknown field": (_END, f'<w:p><w:fldSimple w:instr=" MARK MARK ">{_RUN}</w:fldSimple></w:p>{_END}'),
    "control's tag and name": (_END, f'<w:sdt><w:sdtPr><w:alias w:val="MARK"/><w:tag w:val="MARK"/></w:sdtPr><w:sdtContent><w:p>{_RUN}</w:p></w:sdtContent></w:sdt>{_END}'),
    "unknown namespace": (_END, f'<x:note xmlns:x="urn:MARK" x:who="MARK">MARK</x:note>{_END}'),
    "unknown element": (_END, f"<w:zzMARK/>{_END}"),
    "unknown attribute": (_P, '<w:p w:zzMARK="1" w:rsidR="MARK">'),
    "value that is no value": (_P, '<w:p><w:pPr><w:jc w:val="MARK"/></w:pPr>'),
    "prefix of a namespace": ("<w:body>", '<w:body xmlns:MARK="urn:MARK">'),
    "tip of a link": (_END, f'<w:p><w:hyperlink w:anchor="MARK" w:tooltip="MARK">{_RUN}</w:hyperlink></w:p>{_END}'),
    "smart tag": (_END, f'<w:p><w:smartTag w:uri="MARK" w:element="MARK">{_RUN}</w:smartTag></w:p>{_END}'),
    "custom XML around words": (_END, f'<w:p><w:customXml w:uri="MARK" w:element="MARK">{_RUN}</w:customXml></w:p>{_END}'),
    "permission": (_END, f'<w:p><w:permStart w:id="3" w:ed="MARK"/>{_RUN}</w:p>{_END}'),
    "words between elements": ("<w:body>", "<w:body>MARK"),
})  # fmt: skip
_edits(Kind.DOCX, "word/styles.xml", {
    "name of a style": ("</w:styles>", '<w:style w:type="paragraph" w:styleId="MARK"><w:name w:val="MARK"/></w:style></w:styles>'),
    "other names of a style": ('<w:name w:val="heading 1"/>', '<w:name w:val="heading 1"/><w:aliases w:val="MARK"/>'),
})  # fmt: skip
_edits(Kind.DOCX, "word/theme/theme1.xml", {
    "name of a theme": ('name="Office Theme"', 'name="MARK"'),
    "theme family": ("</a:theme>", '<a:extLst><a:ext uri="{05A4C25C-085E-4340-85A3-A5531E510DB2}"><t:themeFamily xmlns:t="http://schemas.microsoft.com/office/thememl/2012/main" name="MARK"/></a:ext></a:extLst></a:theme>'),
})  # fmt: skip
_edits(Kind.DOCX, "[Content_Types].xml", {
    "content type": ("<Override", '<Default Extension="MARK" ContentType="application/MARK"/><Override'),
})  # fmt: skip
_edits(Kind.XLSX, BOOK, {
    "name for macros": ("<workbookPr", '<workbookPr codeName="MARK"'),
    "reading advice": ("<bookViews", '<fileSharing userName="MARK" readOnlyRecommended="1"/><bookViews'),
    "publishing": ("</workbook>", '<webPublishing css="0"/><webPublishObjects><webPublishObject id="1" divId="MARK" destinationFile="MARK"/></webPublishObjects></workbook>'),
    "somebody's view": ("</workbook>", '<customWorkbookViews><customWorkbookView name="MARK" guid="{A-1}"/></customWorkbookViews></workbook>'),
    "extension": ("</workbook>", '<extLst><ext uri="{MARK}" xmlns:q="urn:MARK"><q:who name="MARK"/></ext></extLst></workbook>'),
})  # fmt: skip
_edits(Kind.XLSX, SHEET, {
    "protected range": ("</sheetData>", '</sheetData><protectedRanges><protectedRange name="MARK" sqref="Z9"/></protectedRanges>'),
    "scenario": ("</sheetData>", '</sheetData><scenarios><scenario name="MARK" user="MARK" comment="MARK"/></scenarios>'),
    "smart tags of cells": ("</sheetData>", '</sheetData><cellSmartTags><cellSmartTags r="A1"><cellSmartTag type="0"><cellSmartTagPr key="MARK" val="MARK"/></cellSmartTag></cellSmartTags></cellSmartTags>'),
    "tip of a link": ('tooltip="tip"', 'tooltip="MARK"'),
})  # fmt: skip
_edits(Kind.XLSX, "xl/styles.xml", {
    "name of a cell style": ('name="Normal"', 'name="MARK"'),
    "colours last used": ("</styleSheet>", '<extLst><ext uri="{X}"><who>MARK</who></ext></extLst></styleSheet>'),
})  # fmt: skip
_edits(Kind.PPTX, SLIDE, {
    "name of a shape": ('name="Title 1"', 'name="MARK" descr="MARK" title="MARK"'),
    "data of add-ins": ("</p:cSld>", '<p:extLst><p:ext uri="{MARK}"><q:who xmlns:q="urn:MARK">MARK</q:who></p:ext></p:extLst></p:cSld>'),
    "name of a slide": ("<p:cSld", '<p:cSld name="MARK"'),
})  # fmt: skip
_edits(Kind.PPTX, DECK, {
    "name of a section": ("</p:presentation>", '<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"><p14:sectionLst xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"><p14:section name="MARK" id="{A}"/></p14:sectionLst></p:ext></p:extLst></p:presentation>'),
    "password": ("</p:presentation>", '<p:modifyVerifier algorithmName="MARK" hashData="MARK"/></p:presentation>'),
})  # fmt: skip


def _with_part(
    kind: Kind, main: str, name: str, part: str, relation: str, content: bytes, content_type: str = ""
) -> None:
    def make() -> bytes:
        package = _START[kind]()
        package.add(part, content, of=main, relation=relation, content_type=content_type)
        return package.written()

    _place(kind, name)(make)


_with_part(
    Kind.DOCX, WORD, "part nobody knows", "word/odd.xml", f"{MICROSOFT}/2031/relationships/odd", b"<a>" + MARK + b"</a>"
)
_with_part(Kind.DOCX, WORD, "part's name", f"word/{CANARY}.xml", "header", b"<w:hdr xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'/>", f"{DOCUMENT}.wordprocessingml.header+xml")  # fmt: skip
_with_part(
    Kind.DOCX, WORD, "building blocks", "word/glossary/document.xml", "glossaryDocument", b"<a>" + MARK + b"</a>"
)
_with_part(Kind.DOCX, WORD, "embedded object", "word/embeddings/ole.bin", "oleObject", b"\xd0\xcf\x11\xe0" + MARK)
_with_part(Kind.XLSX, BOOK, "cache of a pivot table", "xl/pivotCache/c1.xml", "pivotCacheDefinition", b"<a refreshedBy='" + MARK + b"'/>")  # fmt: skip
_with_part(
    Kind.XLSX, BOOK, "values of another workbook", "xl/externalLinks/e1.xml", "externalLink", b"<a>" + MARK + b"</a>"
)
_with_part(Kind.XLSX, BOOK, "mapped XML", "xl/xmlMaps.xml", "xmlMaps", b"<MapInfo>" + MARK + b"</MapInfo>")
_with_part(Kind.PPTX, DECK, "list of changes", "ppt/changes.xml", f"{MICROSOFT}/2016/11/relationships/changesInfo", b"<a>" + MARK + b"</a>")  # fmt: skip


def _pictured(picture: bytes, ending: str) -> bytes:
    """A document that shows a picture, whose own name tells too."""
    package = _docx()
    package.types(emf="image/x-emf", wmf="image/x-wmf", png="image/png", jpeg="image/jpeg")
    relation = package.add(f"word/media/{CANARY}.{ending}", picture, of=WORD, relation="image")
    drawing = (
        '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        f'<wp:extent cx="900000" cy="900000"/><wp:docPr id="5" name="{CANARY}.{ending}" descr="{CANARY}"/>'
        '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        f'<pic:nvPicPr><pic:cNvPr id="5" name="{CANARY}"/><pic:cNvPicPr/></pic:nvPicPr>'
        f'<pic:blipFill><a:blip xmlns:r="{REL}" r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr>'
        "</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
    package.edit(WORD, lambda text: text.replace(_END, drawing + _END, 1))
    return package.written()


def emf() -> bytes:
    comment = MARK + bytes(-len(MARK) % 4)
    records = struct.pack("<III", 70, 12 + len(comment), len(MARK)) + comment
    records += struct.pack("<IIiiii", 43, 24, 0, 0, 90, 90) + struct.pack("<IIIII", 14, 20, 0, 16, 20)
    told = (CANARY + "\0build\0\0").encode("utf-16-le")
    told += bytes(-len(told) % 4)
    head = struct.pack("<II", 1, 108 + len(told)) + struct.pack("<8i", 0, 0, 90, 90, 0, 0, 2000, 2000) + b" EMF"
    head += struct.pack("<IIIHHIII", 0x10000, 108 + len(told) + len(records), 4, 1, 0, len(told) // 2, 108, 0)
    return head + struct.pack("<4i", 800, 600, 200, 150) + bytes(20) + told + records


def wmf() -> bytes:
    escape = struct.pack("<IHHH", 5 + len(MARK) // 2, 0x0626, 15, len(MARK)) + MARK
    box = struct.pack("<IHhhhh", 7, 0x041B, 90, 90, 0, 0)
    body = escape + box + struct.pack("<IH", 3, 0)
    placed = struct.pack("<IHhhhhHI", 0x9AC6CDD7, 0, 0, 0, 1000, 1000, 1440, 0)
    check = 0
    for (word,) in struct.iter_unpack("<H", placed[:20]):
        check ^= word
    return placed + struct.pack("<HHHHIHIH", check, 1, 9, 0x300, (18 + len(body)) // 2, 0, 10, 0) + body


_place(Kind.DOCX, "comment of an enhanced metafile")(lambda: _pictured(emf(), "emf"))
_place(Kind.DOCX, "escape of a metafile")(lambda: _pictured(wmf(), "wmf"))
_place(Kind.DOCX, "name of an inserted picture")(lambda: _pictured(png([]), "png"))


def font() -> bytes:
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "A"])
    builder.setupCharacterMap({65: "A"})
    builder.setupGlyf({".notdef": Glyph(), "A": Glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "A": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": CANARY, "styleName": CANARY, "copyright": CANARY})
    builder.setupOS2(achVendID="Cana")
    builder.setupPost()
    builder.font.save(out := io.BytesIO())
    return out.getvalue()


@_place(Kind.DOCX, "names in an embedded font")
def _embedded_font() -> bytes:
    package = _docx()
    key = "{11111111-2222-4333-8444-555555555555}"
    mask = bytes.fromhex(key.strip("{}").replace("-", ""))[::-1] * 2
    plain = font()
    mixed = bytes(one ^ two for one, two in zip(plain[:32], mask, strict=True)) + plain[32:]
    package.types(odttf=f"{DOCUMENT}.obfuscatedFont")
    relation = package.add("word/fonts/font1.odttf", mixed, of="word/fontTable.xml", relation="font")
    entry = (
        f'<w:font w:name="Odd"><w:embedRegular xmlns:r="{REL}" r:id="{relation}" w:fontKey="{key}"/></w:font></w:fonts>'
    )
    package.edit("word/fontTable.xml", lambda text: text.replace("</w:fonts>", entry))
    return package.written()


def _pdf(change: Callable[[pikepdf.Pdf, Any], None]) -> Callable[[], bytes]:
    def make() -> bytes:
        pdf = pikepdf.new()
        page = pdf.add_blank_page(page_size=(300, 200))
        page.Resources = Dictionary(
            Font=Dictionary(F1=Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
        )
        page.Contents = pdf.make_stream(b"BT /F1 14 Tf 20 160 Td (Visible words) Tj ET")
        change(pdf, page)
        pdf.save(out := io.BytesIO(), static_id=True)
        return out.getvalue()

    return make


def _drawn(more: bytes) -> Callable[[pikepdf.Pdf, Any], None]:
    def change(pdf: pikepdf.Pdf, page: Any) -> None:
        page.Contents = pdf.make_stream(b"BT /F1 14 Tf 20 160 Td (Visible words) Tj ET\n" + more)

    return change


def _form(pdf: pikepdf.Pdf, page: Any) -> None:
    page.Resources.XObject = Dictionary(
        X=pdf.make_stream(b"q % " + MARK + b"\nQ", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 9, 9])
    )
    page.Contents = pdf.make_stream(b"/X Do")


def _named_resource(pdf: pikepdf.Pdf, page: Any) -> None:
    page.Resources.ExtGState = Dictionary({f"/{CANARY}": Dictionary(LW=1)})
    page.Contents = pdf.make_stream(b"/" + MARK + b" gs 0 0 9 9 re S")


def _colourant(pdf: pikepdf.Pdf, page: Any) -> None:
    tint = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0], C1=[1, 0, 0], N=1)
    page.Resources.ColorSpace = Dictionary(Spot=Array([Name.Separation, Name(f"/{CANARY}"), Name.DeviceRGB, tint]))
    page.Contents = pdf.make_stream(b"/Spot cs 1 scn 0 0 9 9 re f")


def _mapped(pdf: pikepdf.Pdf, page: Any) -> None:
    words = b"%" + MARK + b"\n/CMapName /" + MARK + b" def 1 beginbfchar <41> <0041> endbfchar"
    page.Resources.Font.F1.ToUnicode = pdf.make_stream(words)


def _profiled(pdf: pikepdf.Pdf, page: Any) -> None:
    page.Resources.ColorSpace = Dictionary(P=Array([Name.ICCBased, pdf.make_stream(profile(), N=3)]))


def _embedded(pdf: pikepdf.Pdf, page: Any) -> None:
    data = font()
    file = pdf.make_stream(data, Length1=len(data))
    described = Dictionary(
        Type=Name.FontDescriptor, FontName=Name(f"/{CANARY}"), Flags=32, FontFile2=file, PrivateKey=String(CANARY)
    )
    described.FontBBox, described.Ascent, described.Descent, described.CapHeight = Array([0, 0, 9, 9]), 8, -2, 7
    described.ItalicAngle, described.StemV, described.FontFamily = 0, 80, String(CANARY)
    page.Resources.Font.F2 = Dictionary(
        Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name(f"/{CANARY}"), FirstChar=65, LastChar=65, Widths=[500],
        FontDescriptor=pdf.make_indirect(described), Encoding=Name.WinAnsiEncoding,
    )  # fmt: skip


def _annotated(**more: Any) -> Callable[[pikepdf.Pdf, Any], None]:
    def change(pdf: pikepdf.Pdf, page: Any) -> None:
        note = Dictionary(
            Type=Name.Annot, Subtype=Name.Text, Rect=[10, 10, 30, 30], Contents=String("Check this"), **more
        )
        page.Annots = Array([pdf.make_indirect(note)])

    return change


def _field(pdf: pikepdf.Pdf, page: Any) -> None:
    field = pdf.make_indirect(
        Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, Rect=[10, 10, 90, 30], T=String(CANARY), V=String("said"),
                   TU=String(CANARY), TM=String(CANARY), DA=String(f"/{CANARY} 9 Tf % {CANARY}"))
    )  # fmt: skip
    page.Annots = Array([field])
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]))


def _layer(pdf: pikepdf.Pdf, _page: Any) -> None:
    group = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String(CANARY)))
    pdf.Root.OCProperties = Dictionary(
        OCGs=Array([group]), D=Dictionary(Order=Array([String(CANARY), group]), Name=String(CANARY))
    )


def _named_place(pdf: pikepdf.Pdf, page: Any) -> None:
    pdf.Root.Dests = Dictionary({f"/{CANARY}": Array([page.obj, Name.Fit])})
    page.Annots = Array([Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[1, 1, 9, 9], Dest=Name(f"/{CANARY}"))])


def _root(**more: Any) -> Callable[[pikepdf.Pdf, Any], None]:
    def change(pdf: pikepdf.Pdf, _page: Any) -> None:
        for key, value in more.items():
            pdf.Root[f"/{key}"] = value

    return change


def _page_key(key: str) -> Callable[[pikepdf.Pdf, Any], None]:
    def change(_pdf: pikepdf.Pdf, page: Any) -> None:
        page[key] = Dictionary(Maker=String(CANARY))

    return change


for _name, _change in {
    "remark in a form": _form, "name of a resource": _named_resource, "name of a colour": _colourant,
    "remark in a table of letters": _mapped, "unknown tag of a colour profile": _profiled, "embedded font": _embedded,
    "words of a mark": _drawn(f"/Span << /ActualText ({CANARY}) >> BDC 0 0 9 9 re f EMC".encode()),
    "unknown command": _drawn(f"BX ({CANARY}) zz EX ({CANARY}) 0 0 9 9 re f".encode()),
    "point that is marked": _drawn(f"/{CANARY} << /Who ({CANARY}) >> DP".encode()),
    "subject of a remark": _annotated(Subj=String(CANARY), RC=String(CANARY)),
    "name of a remark": _annotated(NM=String(CANARY), Private=String(CANARY)),
    "field of a form": _field, "name of a layer": _layer, "name of a place": _named_place,
    "private key of a page": _page_key("/Zz"), "separation of a page": _page_key("/SeparationInfo"),
    "intent of printing": _root(OutputIntents=Array([Dictionary(Type=Name.OutputIntent, Info=String(CANARY))])),
    "labels of pages": _root(PageLabels=Dictionary(Nums=Array([0, Dictionary(P=String(CANARY))]))),
    "title in the tree of structure": _root(StructTreeRoot=Dictionary(Type=Name.StructTreeRoot, K=Dictionary(T=String(CANARY)))),
    "what a collection says": _root(DSS=Dictionary(VRI=String(CANARY)), Legal=Dictionary(Attestation=String(CANARY))),
    "rights of a reader": _root(Perms=Dictionary(UR3=Dictionary(Name=String(CANARY)))),
}.items():  # fmt: skip
    _place(Kind.PDF, _name)(_pdf(_change))


def profile() -> bytes:
    """A colour profile with a tag of its own."""
    from PIL import ImageCms

    plain = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    count = int.from_bytes(plain[128:132], "big")
    tail = b"zzzz\0\0\0\0" + MARK
    moved = bytearray()
    for at in range(132, 132 + 12 * count, 12):
        moved += (
            plain[at : at + 4]
            + (int.from_bytes(plain[at + 4 : at + 8], "big") + 12).to_bytes(4, "big")
            + plain[at + 8 : at + 12]
        )
    entry = b"zzzz" + (len(plain) + 12).to_bytes(4, "big") + len(tail).to_bytes(4, "big")
    made = plain[:128] + (count + 1).to_bytes(4, "big") + bytes(moved) + entry + plain[132 + 12 * count :] + tail
    return len(made).to_bytes(4, "big") + made[4:]


def png(more: list[tuple[bytes, bytes]], tail: bytes = b"") -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress((b"\0" + bytes(range(12))) * 4))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunk(*one) for one in more) + data + chunk(b"IEND", b"") + tail


_place(Kind.PNG, "suggested palette")(lambda: png([(b"sPLT", MARK + b"\0\x08" + bytes(6))]))
_place(Kind.PNG, "unknown chunk")(lambda: png([(b"zzZz", MARK)]))
_place(Kind.PNG, "tag of a colour profile")(lambda: png([(b"iCCP", MARK + b"\0\0" + zlib.compress(profile()))]))
_place(Kind.PNG, "bytes behind the picture")(lambda: png([], MARK))
_place(Kind.PNG, "calibration")(lambda: png([(b"pCAL", MARK + bytes(10) + b"\0\0")]))


def _jpeg(marker: int, body: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        from PIL import Image

        Image.new("RGB", (8, 8), "red").save(out := io.BytesIO(), "JPEG")
        made = out.getvalue()
        return made[:2] + bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2, "big") + body + made[2:] + MARK

    return make


_place(Kind.JPEG, "unknown segment")(_jpeg(0xF7, MARK))
_place(Kind.JPEG, "words behind the coding of colours")(_jpeg(0xEE, b"Adobe\0\x64\0\0\0\0\0" + MARK))
_place(Kind.JPEG, "tag of a colour profile")(lambda: _jpeg(0xE2, b"ICC_PROFILE\0\x01\x01" + profile())())
_place(Kind.JPEG, "boxes of provenance")(_jpeg(0xEB, b"JP\0\0" + MARK))
_HTML = {
    "meta with a sign in it": '<meta name="generator" data-a="a>b" content="MARK">',
    "description of a picture": '<img alt="MARK" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">',
    "title": "<title>MARK</title>",
    "data of scripts": '<div data-who="MARK" class="MARK" id="MARK">said</div>',
    "structured data": '<script type="application/ld+json">{"author": "MARK"}</script>',
    "template": "<template><p>MARK</p></template>",
    "unknown element": '<x-MARK maker="MARK"></x-MARK>',
}
for _name, _text in _HTML.items():
    _place(Kind.HTML, _name)(lambda text=_text: f"<!doctype html><p>Visible</p>{text}".replace("MARK", CANARY).encode())  # type: ignore[misc]
_SVG = {"description": "<desc>MARK</desc>", "title": "<title>MARK</title>", "metadata": "<metadata>MARK</metadata>",
        "unknown element": '<q:a xmlns:q="urn:MARK" q:b="MARK"/>', "names": '<g id="MARK" class="MARK" data-name="MARK"/>'}  # fmt: skip
for _name, _text in _SVG.items():
    _place(Kind.SVG, _name)(
        lambda text=_text: (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{text}'  # type: ignore[misc]
            f'<rect width="20" height="20"/></svg>'.replace("MARK", CANARY).encode()
        )
    )


def _notebook(**more: Any) -> Callable[[], bytes]:
    cell = {
        "cell_type": "code",
        "source": "1 + 1",
        "metadata": more.pop("cell_metadata", {}),
        "outputs": more.pop("outputs", []),
    }
    made = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": more.pop("metadata", {}),
        "cells": [cell | more.pop("cell", {})],
        **more,
    }
    return lambda: json.dumps(made).encode()


_place(Kind.IPYNB, "unknown key")(_notebook(who={"name": CANARY}))
_place(Kind.IPYNB, "unknown key of a cell")(_notebook(cell={"who": CANARY, "id": CANARY}))
_place(Kind.IPYNB, "metadata of a cell")(_notebook(cell_metadata={"tags": [CANARY], "jupyter": {"who": CANARY}}))
_place(Kind.IPYNB, "language")(_notebook(metadata={"language_info": {"name": "python", "mimetype": CANARY}}))
_place(Kind.IPYNB, "output of a kind nobody knows")(_notebook(outputs=[{"output_type": "display_data", "data": {"text/html": CANARY, "application/x": CANARY}, "transient": CANARY}]))  # fmt: skip
_RTF = {"unknown destination": r"{\*\zzwho MARK}", "list of styles": r"{\stylesheet{\s9 MARK;}}", "names of files": r"{\filetbl{\file MARK}}",
        "bookmark": r"{\*\bkmkstart MARK}{\*\bkmkend MARK}", "data of a theme": r"{\*\themedata 4d41524b}{\*\datastore MARK}"}  # fmt: skip
for _name, _text in _RTF.items():
    _place(Kind.RTF, _name)(lambda text=_text: (r"{\rtf1\ansi Visible words. TEXT\par}".replace("TEXT", text)).replace("MARK", CANARY).encode())  # type: ignore[misc]  # fmt: skip
