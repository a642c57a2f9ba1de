"""Office files with a canary in every metadata place the format has, and content that must survive."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from tests.documents.canary_pictures import jpeg, png
from tests.documents.leaks import CANARY

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_REL = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "application/vnd.openxmlformats-officedocument"
MICROSOFT = "http://schemas.microsoft.com/office"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
BOOK = f"{DOCUMENT}.spreadsheetml"
HOME = f"C:\\Users\\{CANARY}\\report.png"

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    + "".join(
        f"<dc:{tag}>{CANARY} {tag}</dc:{tag}>" for tag in ("creator", "title", "subject", "description", "identifier")
    )
    + "".join(
        f"<cp:{tag}>{CANARY} {tag}</cp:{tag}>"
        for tag in ("lastModifiedBy", "keywords", "category", "contentStatus", "version", "revision")
    )
    + '<dcterms:created xsi:type="dcterms:W3CDTF">2021-02-03T04:05:06Z</dcterms:created></cp:coreProperties>'
)
APP = (
    '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    + "".join(f"<{tag}>{CANARY} {tag}</{tag}>" for tag in ("Template", "Manager", "Company", "HyperlinkBase"))
    + "<Application>{application}</Application><AppVersion>15.0000</AppVersion></Properties>"
)
CUSTOM = (
    '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" '
    'xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">'
    f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="2" name="{CANARY}">'
    f"<vt:lpwstr>{CANARY}</vt:lpwstr></property></Properties>"
)


class Package:
    """A package taken apart, for planting things in it."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}

    def edit(self, part: str, change: Callable[[str], str]) -> None:
        before = self.parts[part].decode()
        after = change(before)
        assert after != before, f"nothing was planted in {part}"
        self.parts[part] = after.encode()

    def add(self, part: str, content: str | bytes, *, of: str = "", relation: str, content_type: str = "") -> str:
        """Add a part with its relationship; the relationship's id."""
        self.parts[part] = content.encode() if isinstance(content, str) else content
        if content_type:
            override = f'<Override PartName="/{part}" ContentType="{content_type}"/></Types>'
            self.edit("[Content_Types].xml", lambda text: text.replace("</Types>", override))
        return self.relate(of, f"/{part}", relation)

    def relate(self, of: str, target: str, relation: str, *, external: bool = False) -> str:
        folder, _, base = of.rpartition("/")
        rels = f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels"
        self.parts.setdefault(rels, f'<Relationships xmlns="{PACKAGE_REL}"></Relationships>'.encode())
        identifier = f"rIdCanary{len(self.parts[rels])}"
        kind = relation if "://" in relation else f"{REL}/{relation}"
        mode = ' TargetMode="External"' if external else ""
        line = f'<Relationship Id="{identifier}" Type="{kind}" Target="{target}"{mode}/></Relationships>'
        self.parts[rels] = self.parts[rels].replace(b"</Relationships>", line.encode())
        return identifier

    def types(self, **extensions: str) -> None:
        for extension, content_type in extensions.items():
            default = f'<Default Extension="{extension}" ContentType="{content_type}"/>'
            if f'Extension="{extension}"' not in self.parts["[Content_Types].xml"].decode():
                types = self.parts["[Content_Types].xml"].decode()
                self.parts["[Content_Types].xml"] = types.replace("<Default ", default + "<Default ", 1).encode()

    def common(self, main: str, application: str) -> None:
        """The places all three formats have."""
        self.types(jpeg="image/jpeg", bin="application/octet-stream")
        self.parts["docProps/core.xml"] = CORE.encode()
        self.parts["docProps/app.xml"] = APP.format(application=application).encode()
        self.add(
            "docProps/custom.xml",
            CUSTOM,
            relation="custom-properties",
            content_type=f"{DOCUMENT}.custom-properties+xml",
        )
        self.add(
            "customXml/item9.xml",
            f"<data>{CANARY}</data>",
            of=main,
            relation="customXml",
            content_type="application/xml",
        )
        thumbnail = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail"
        self.add("docProps/thumbnail9.jpeg", jpeg(), relation=thumbnail)
        label = f"<labels><label id='{CANARY}' siteId='{CANARY}'/></labels>"
        self.add(
            "docMetadata/LabelInfo.xml",
            label,
            relation=f"{MICROSOFT}/2020/02/relationships/classificationlabels",
            content_type="application/vnd.ms-office.classificationlabels+xml",
        )
        self.add(
            f"{main.partition('/')[0]}/webextensions/taskpanes.xml",
            f"<taskpanes><taskpane>{CANARY}</taskpane></taskpanes>",
            relation=f"{MICROSOFT}/2011/relationships/webextensiontaskpanes",
            content_type="application/vnd.ms-office.webextensiontaskpanes+xml",
        )
        self.parts["stray/notes.txt"] = CANARY.encode()

    def written(self) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = CANARY.encode()
            for name, content in self.parts.items():
                entry = zipfile.ZipInfo(name, (2021, 2, 3, 4, 5, 6))
                entry.comment, entry.extra = CANARY.encode(), b"\xfe\xca\x08\x00" + CANARY.encode()
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
        return out.getvalue()


def docx() -> bytes:
    from docx import Document
    from docx.shared import Inches

    document = Document()
    document.add_heading("Quarterly review", 1)
    document.add_paragraph("Sales rose by twelve percent.")
    document.add_paragraph("First point", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text, table.cell(1, 1).text = "Region", "42"
    document.add_picture(io.BytesIO(jpeg()), width=Inches(4))
    document.add_picture(io.BytesIO(png()), width=Inches(4))
    out = io.BytesIO()
    document.save(out)
    package = Package(out.getvalue())
    package.common(DOCX_MAIN, f"{CANARY} Word")
    _plant_word_parts(package)
    changes = (
        f'<w:p w:rsidR="00C0FFEE"><!-- {CANARY} --><w:r><w:t xml:space="preserve">The fee is </w:t></w:r>'
        f'<w:del w:id="7" w:author="{CANARY} Jane" w:date="2021-02-03T04:05:06Z">'
        "<w:r><w:delText>12</w:delText></w:r></w:del>"
        f'<w:ins w:id="8" w:author="{CANARY} Joe" w:date="2021-02-04T04:05:06Z"><w:r><w:t>24</w:t></w:r></w:ins>'
        '<w:r><w:commentReference w:id="0"/></w:r></w:p>'
        '<w:p><w:r><w:t xml:space="preserve">Printed on </w:t></w:r>' + _field("DATE", "3 February 2021") + "</w:p>"
        "<w:p>"
        + _field(f'INCLUDETEXT "C:\\\\Users\\\\{CANARY}\\\\a.txt"', "Included")
        + _field(f"ADDIN CITE {CANARY}", "(1)")
        + "</w:p>"
        '<w:p><w:fldSimple w:instr=" FILENAME "><w:r><w:t>review.docx</w:t></w:r></w:fldSimple></w:p>'
    )
    package.edit(DOCX_MAIN, lambda text: text.replace("<w:sectPr", changes + "<w:sectPr", 1))
    package.edit(DOCX_MAIN, lambda text: text.replace("<wp:docPr ", f'<wp:docPr descr="{HOME}" ', 1))
    return package.written()


DOCX_MAIN = "word/document.xml"


def _plant_word_parts(package: Package) -> None:
    comments = (
        f'<w:comments {W}><w:comment w:id="0" w:author="{CANARY} Jane" w:initials="{CANARY}" '
        'w:date="2021-02-03T04:05:06Z"><w:p><w:r><w:t>Please check this number.</w:t></w:r></w:p>'
        "</w:comment></w:comments>"
    )
    word = f"{DOCUMENT}.wordprocessingml"
    package.add("word/comments.xml", comments, of=DOCX_MAIN, relation="comments", content_type=f"{word}.comments+xml")
    people = f'<w15:people xmlns:w15="{MICROSOFT}/word/2012/wordml"><w15:person w15:author="{CANARY}"/></w15:people>'
    person = f"{MICROSOFT}/2011/relationships/people"
    package.add("word/people.xml", people, of=DOCX_MAIN, relation=person, content_type=f"{word}.people+xml")
    package.add("word/printerSettings1.bin", CANARY.encode("utf-16-le"), of=DOCX_MAIN, relation="printerSettings")
    book = f"{DOCUMENT}.spreadsheetml.sheet"
    package.add("word/embeddings/book.xlsx", xlsx(), of=DOCX_MAIN, relation="package", content_type=book)
    home = f"file:///C:/Users/{CANARY}/normal.dotm"
    template = package.relate("word/settings.xml", home, "attachedTemplate", external=True)
    settings = (
        f'<w:attachedTemplate xmlns:r="{REL}" r:id="{template}"/><w:rsids><w:rsidRoot w:val="00C0FFEE"/></w:rsids>'
        f'<w:docVars><w:docVar w:name="{CANARY}" w:val="{CANARY}"/></w:docVars>'
        f'<w:activeWritingStyle w:appName="{CANARY}"/><w:attachedSchema w:val="{CANARY}"/></w:settings>'
    )
    package.edit("word/settings.xml", lambda text: text.replace("</w:settings>", settings))


def _field(instruction: str, result: str) -> str:
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText> {instruction} </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f"<w:r><w:t>{result}</w:t></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def xlsx() -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet("Budget")
    sheet.write_row(0, 0, ["Item", "Amount"])
    sheet.write_row(1, 0, ["Rent", 1200])
    sheet.write_row(2, 0, ["Food", 300])
    sheet.write_formula("B4", "=SUM(B2:B3)", None, 1500)
    sheet.write_formula("C1", "=TODAY()", book.add_format({"num_format": "yyyy-mm-dd"}), 44230)
    sheet.write_formula("C2", "=RAND()", None, 0.25)
    sheet.set_column(0, 3, 18)
    sheet.write_comment("A2", "Too high?", {"author": f"{CANARY} Jane"})
    sheet.write_url("A6", f"external:C:\\Users\\{CANARY}\\other.xlsx", string="other")
    sheet.set_header("&L&F&R&D")
    sheet.insert_image("E2", "photo.png", {"image_data": io.BytesIO(png())})
    book.close()
    package = Package(out.getvalue())
    main, first = "xl/workbook.xml", "xl/worksheets/sheet1.xml"
    package.common(main, "Microsoft Excel")
    person = f'<person displayName="{CANARY}" id="{GUID}" userId="{CANARY}" providerId="{CANARY}"/>'
    package.add(
        "xl/persons/person.xml",
        f'<personList xmlns="{MICROSOFT}/spreadsheetml/2018/threadedcomments">{person}</personList>',
        of=main,
        relation=f"{MICROSOFT}/2017/10/relationships/person",
        content_type="application/vnd.ms-excel.person+xml",
    )
    mark = CANARY.encode("utf-16-le")
    printer = package.add("xl/printerSettings/printerSettings1.bin", mark, of=first, relation="printerSettings")
    setup = f'<pageSetup orientation="portrait" xmlns:r="{REL}" r:id="{printer}"/>'
    package.edit(first, lambda text: text.replace("<headerFooter", f"{setup}<headerFooter", 1))
    saved = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f'<mc:Choice Requires="x15"><x15ac:absPath xmlns:x15ac="{MICROSOFT}/spreadsheetml/2010/11/ac" '
        f'url="C:\\Users\\{CANARY}\\"/></mc:Choice></mc:AlternateContent>'
    )
    connection = (
        f'<connections xmlns="{SHEETS}"><connection id="1" name="q" type="1" description="{CANARY}" odcFile="{HOME}">'
        f'<dbPr connection="DSN={CANARY}" command="select {CANARY}"/></connection></connections>'
    )
    package.add(
        "xl/connections.xml", connection, of=main, relation="connections", content_type=f"{BOOK}.connections+xml"
    )
    remark = f'<scenarios><scenario name="s" user="{CANARY}" comment="Created by {CANARY} on 2/3/2021"/></scenarios>'
    granted = f'<protectedRanges><protectedRange name="r" sqref="Z9" securityDescriptor="{CANARY}"/></protectedRanges>'
    package.edit(first, lambda text: text.replace("</sheetData>", f"</sheetData>{granted}{remark}", 1))
    sharing = f'<fileSharing userName="{CANARY}"/>'
    package.edit(main, lambda text: text.replace("<bookViews", f"{sharing}{saved}<bookViews", 1))
    return package.written()


GUID = "{AAAAAAAA-1111-4111-8111-AAAAAAAAAAAA}"


def pptx() -> bytes:
    package = Package(_deck())
    main, first = "ppt/presentation.xml", "ppt/slides/slide1.xml"
    package.common(main, f"{CANARY} PowerPoint")
    book = next(name for name in package.parts if name.startswith("ppt/embeddings/"))
    inner = Package(package.parts[book])
    inner.parts["docProps/core.xml"] = CORE.encode()
    package.parts[book] = inner.written()
    slide = f"{DOCUMENT}.presentationml"
    author = f'<p:cmAuthor id="0" name="{CANARY} Jane" initials="{CANARY}" lastIdx="1" clrIdx="0"/>'
    authors = f"<p:cmAuthorLst {P}>{author}</p:cmAuthorLst>"
    package.add(
        "ppt/commentAuthors.xml",
        authors,
        of=main,
        relation="commentAuthors",
        content_type=f"{slide}.commentAuthors+xml",
    )
    comment = (
        f'<p:cmLst {P}><p:cm authorId="0" dt="2021-02-03T04:05:06" idx="1"><p:pos x="10" y="10"/>'
        "<p:text>Bigger, please.</p:text></p:cm></p:cmLst>"
    )
    package.add(
        "ppt/comments/comment1.xml", comment, of=first, relation="comments", content_type=f"{slide}.comments+xml"
    )
    tags = f'<p:tagLst {P}><p:tag name="{CANARY}" val="{CANARY}"/></p:tagLst>'
    tag = package.add("ppt/tags/tag1.xml", tags, of=first, relation="tags", content_type=f"{slide}.tags+xml")
    package.add(
        "ppt/changesInfos/changesInfo1.xml",
        f"<c>{CANARY}</c>",
        of=main,
        relation=f"{MICROSOFT}/2016/11/relationships/changesInfo",
        content_type="application/vnd.ms-powerpoint.changesinfo+xml",
    )
    data = f'<p:custDataLst><p:tags r:id="{tag}"/></p:custDataLst></p:cSld>'
    package.edit(first, lambda text: text.replace("</p:cSld>", data, 1))
    stamp = (
        f'<a:p><a:fld id="{GUID}" type="datetime1"><a:rPr lang="en-US"/><a:t>2/3/2021</a:t></a:fld></a:p></p:txBody>'
    )
    package.edit(first, lambda text: text.replace("</p:txBody>", stamp, 1))
    return package.written()


P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'


def _deck() -> bytes:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plan for spring"
    slide.placeholders[1].text = "Three steps to a launch"
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    slide.shapes.add_picture(io.BytesIO(jpeg()), Inches(1), Inches(4), Inches(2))
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["a", "b"]
    data.add_series("s", (1, 2))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(4), Inches(3), Inches(5.5), Inches(3), data)
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()
