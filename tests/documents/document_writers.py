"""The same documents, slides, PDFs and pictures by several programs: what they say is described once.

Programs of npm and of a Python of their own are asked for in batches, since starting them is what takes the time.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import textwrap
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from PIL import Image, ImageDraw

from guildhall.documents.packages import read_members, write_members
from tests.documents.workbook_writers import WORDS


@dataclass(frozen=True)
class Told:
    """What a small document says."""

    title: str
    paragraphs: list[str]
    points: list[str]
    table: list[list[str]]


def told(seed: int) -> Told:
    rng = random.Random(seed)

    def words(least: int, most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(least, most))).capitalize()

    rows = [[words(1, 1), str(rng.randint(1, 9000)), f"{rng.random():.2f}"] for _ in range(rng.randint(2, 5))]
    return Told(
        title=words(2, 4),
        paragraphs=[words(12, 40) + "." for _ in range(rng.randint(1, 3))],
        points=[words(2, 6) for _ in range(rng.randint(2, 4))],
        table=[["Item", "Amount", "Share"], *rows],
    )


def by_python_docx(story: Told) -> bytes:
    import docx

    document = docx.Document()
    document.add_heading(story.title, 1)
    for paragraph in story.paragraphs:
        document.add_paragraph(paragraph)
    for point in story.points:
        document.add_paragraph(point, style="List Bullet")
    table = document.add_table(rows=len(story.table), cols=3)
    for cells, row in zip(story.table, table.rows, strict=True):
        for words, cell in zip(cells, row.cells, strict=True):
            cell.text = words
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_HEAD = (
    f'<w:document xmlns:w="{_WORD}" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="w14"><w:body>'
)


def by_hand_as_word(story: Told) -> bytes:
    """Word's own habits: revision and paragraph ids, proofing marks, runs cut where spelling was checked."""
    rng = random.Random(len(story.title))
    parts = read_members(by_python_docx(story))

    def paragraph(words: str, style: str = "") -> str:
        look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        head, _, rest = words.partition(" ")
        runs = (
            f'<w:r w:rsidRPr="00{rng.randrange(1 << 24):06X}"><w:t>{head}</w:t></w:r><w:proofErr w:type="spellEnd"/>'
            f'<w:r><w:t xml:space="preserve">{" " + rest if rest else ""}</w:t></w:r>'
        )
        ids = (
            f'w14:paraId="{rng.randrange(1 << 31):08X}" w14:textId="77777777" w:rsidR="00{rng.randrange(1 << 24):06X}"'
        )
        return f'<w:p {ids} w:rsidRDefault="00A77B3E">{look}<w:proofErr w:type="spellStart"/>{runs}</w:p>'

    def row(cells: Sequence[str]) -> str:
        made = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="3116" w:type="dxa"/></w:tcPr>{paragraph(one)}</w:tc>' for one in cells
        )
        return f'<w:tr w:rsidR="00A77B3E">{made}</w:tr>'

    body = [paragraph(story.title, "Heading1"), *map(paragraph, story.paragraphs)]
    body += [paragraph(point, "ListBullet") for point in story.points]
    body.append(
        '<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblLook w:val="04A0"/></w:tblPr><w:tblGrid>'
        + '<w:gridCol w:w="3116"/>' * 3
        + f"</w:tblGrid>{''.join(map(row, story.table))}</w:tbl>"
    )
    body.append('<w:sectPr w:rsidR="00A77B3E"><w:pgSz w:w="12240" w:h="15840"/><w:pgMar w:top="1440" w:right="1440" '
                'w:bottom="1440" w:left="1440" w:header="720" w:footer="720" w:gutter="0"/></w:sectPr>')  # fmt: skip
    parts["word/document.xml"] = f"{_WORD_HEAD}{''.join(body)}</w:body></w:document>".encode()
    return write_members(parts)


def by_python_pptx(story: Told) -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = story.title
    slide.placeholders[1].text = "\n".join(story.points)
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = story.paragraphs[0][:40]
    table = second.shapes.add_table(len(story.table), 3, Inches(1), Inches(2), Inches(8), Inches(2)).table
    for at, cells in enumerate(story.table):
        for column, words in enumerate(cells):
            table.cell(at, column).text = words
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def by_hand_as_powerpoint(story: Told) -> bytes:
    """PowerPoint's own habits: creation ids, language and `dirty` marks on every run, names of its own for shapes."""
    rng = random.Random(len(story.title))
    parts = read_members(by_python_pptx(story))
    for name in [name for name in parts if name.startswith("ppt/slides/slide")]:
        slide = parts[name].decode()
        space = "http://schemas.microsoft.com/office/powerpoint/2010/main"
        made = f'<p14:creationId xmlns:p14="{space}" val="{rng.randrange(1 << 32)}"/>'
        extension = (
            f'<p:extLst><p:ext uri="{{BB962C8B-B14F-4D97-AF65-F5344CB8AC3E}}">{made}</p:ext></p:extLst></p:cSld>'
        )
        slide = slide.replace("</p:cSld>", extension).replace("<a:r>", '<a:r><a:rPr lang="en-US" dirty="0"/>')
        parts[name] = slide.replace('<a:r><a:rPr lang="en-US" dirty="0"/><a:rPr', "<a:r><a:rPr").encode()
    return write_members(parts)


def page(story: Told) -> str:
    """For programs that print web pages."""
    rows = "".join("<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>" for row in story.table)
    return (
        "<!doctype html><meta charset=utf-8><style>body{font-family:'DejaVu Sans';font-size:11pt}</style>"
        f"<h1>{escape(story.title)}</h1>{''.join(f'<p>{escape(one)}</p>' for one in story.paragraphs)}"
        f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in story.points)}</ul><table border=1>{rows}</table>"
    )


def by_libreoffice(sources: Sequence[Path], out: Path, ending: str, *filters: str) -> None:
    """All of them by one start of the program."""
    profile = f"-env:UserInstallation=file://{out.parent}/profile"
    command = ["soffice", profile, "--headless", *filters, "--convert-to", ending, "--outdir", str(out)]
    subprocess.run([*command, *map(str, sources)], check=True, capture_output=True, timeout=1200)


def by_chromium(source: Path, out: Path) -> None:
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += [f"--user-data-dir={out.parent}/chromium", f"--print-to-pdf={out}", source.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


_NODE = {
    "docx": """
const d = require('docx'); const fs = require('fs');
(async () => { for (const job of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const s = job.story;
  const cell = c => new d.TableCell({children: [new d.Paragraph(c)]});
  const rows = s.table.map(r => new d.TableRow({children: r.map(cell)}));
  const children = [new d.Paragraph({text: s.title, heading: d.HeadingLevel.HEADING_1}),
    ...s.paragraphs.map(p => new d.Paragraph(p)),
    ...s.points.map(p => new d.Paragraph({text: p, bullet: {level: 0}})), new d.Table({rows})];
  fs.writeFileSync(job.out, await d.Packer.toBuffer(new d.Document({sections: [{children}]})));
}})();
""",
    "pptxgenjs": """
const P = require('pptxgenjs'); const fs = require('fs');
(async () => { for (const job of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const s = job.story, deck = new P(), one = deck.addSlide(), two = deck.addSlide();
  one.addText(s.title, {x: 0.5, y: 0.4, w: 9, h: 1, fontSize: 36});
  one.addText(s.points.map(p => ({text: p, options: {bullet: true, breakLine: true}})), {x: 0.5, y: 1.6, w: 9, h: 3});
  two.addText(s.paragraphs[0].slice(0, 40), {x: 0.5, y: 0.4, w: 9, h: 1, fontSize: 36});
  two.addTable(s.table.map(r => r.map(c => ({text: c}))), {x: 0.5, y: 1.6, w: 9});
  await deck.writeFile({fileName: job.out});
}})();
""",
    "pngjs": """
const {PNG} = require('pngjs'); const fs = require('fs');
for (const job of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const p = new PNG({width: job.width, height: job.height}); p.data = fs.readFileSync(job.raw);
  fs.writeFileSync(job.out, PNG.sync.write(p));
}
""",
}
"""What a package of npm is asked to do with the jobs on standard input."""


def by_node(package: str, jobs: Sequence[dict[str, object]], modules: Path) -> None:
    node = shutil.which("node") or "node"
    subprocess.run(
        [node, "-e", _NODE[package]], input=json.dumps(jobs).encode(), check=True, capture_output=True, timeout=900,
        env={"NODE_PATH": str(modules), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip


OTHER_PYTHON = """
import json, sys
import cairocffi
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import ListFlowable, Paragraph, SimpleDocTemplate, Table
for job in json.load(sys.stdin):
    s = job["story"]
    if job["program"] == "reportlab":
        look = getSampleStyleSheet()
        story = [Paragraph(s["title"], look["Heading1"])] + [Paragraph(p, look["BodyText"]) for p in s["paragraphs"]]
        points = [Paragraph(p, look["BodyText"]) for p in s["points"]]
        story += [ListFlowable(points, bulletType="bullet"), Table(s["table"])]
        SimpleDocTemplate(job["out"]).build(story)
        continue
    if "raw" in job:
        pixels = bytearray(open(job["raw"], "rb").read())
        pixels[0::4], pixels[2::4] = pixels[2::4], pixels[0::4]
        cairocffi.ImageSurface(cairocffi.FORMAT_ARGB32, job["width"], job["height"], pixels).write_to_png(job["out"])
        continue
    surface = cairocffi.PDFSurface(job["out"], 595, 842)
    pen, y = cairocffi.Context(surface), 80
    pen.select_font_face("DejaVu Sans")
    for size, line in job["lines"]:
        pen.set_font_size(size); pen.move_to(60, y); pen.show_text(line); y += size * 1.6
    surface.finish()
"""
"""For a Python that has reportlab and cairocffi, which this project does not need."""


def by_other_python(jobs: Sequence[dict[str, object]], python: Path) -> None:
    done = subprocess.run(
        [python, "-c", OTHER_PYTHON], input=json.dumps(jobs).encode(), capture_output=True, timeout=900
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def job(story: Told, out: Path, program: str = "") -> dict[str, object]:
    """What is asked of a program that reads its jobs from standard input."""
    lines: list[tuple[int, str]] = [(20, story.title)]
    lines += [(11, line) for one in story.paragraphs for line in textwrap.wrap(one, 80)]
    lines += [(11, f"\u2022 {one}") for one in story.points] + [(11, "   ".join(row)) for row in story.table]
    return {"story": asdict(story), "out": str(out), "program": program, "lines": lines}


def picture(seed: int) -> Image.Image:
    """A small chart with words."""
    story, rng = told(seed), random.Random(seed)
    image = Image.new("RGBA", (480, 320), "white")
    pen = ImageDraw.Draw(image)
    pen.text((20, 10), story.title, fill="black")
    for at, (words, _, _) in enumerate(story.table[1:]):
        height = rng.randint(20, 220)
        pen.rectangle(
            (40 + 80 * at, 290 - height, 90 + 80 * at, 290), fill=rng.choice(("#4472c4", "#c0392b", "#2e8b57"))
        )
        pen.text((40 + 80 * at, 295), words, fill="black")
    return image


def by_pillow(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def by_ffmpeg(image: Image.Image, codec: str) -> bytes:
    shape = f"{image.width}x{image.height}"
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", shape, "-i", "-"]
    command += ["-frames:v", "1", "-c:v", codec, "-f", "image2pipe", "-"]
    return subprocess.run(command, input=image.tobytes(), check=True, capture_output=True, timeout=60).stdout


def by_hand_as_png(image: Image.Image) -> bytes:
    """Rows without a filter, packed hard, with the chunks that editors write."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    head = image.width.to_bytes(4, "big") + image.height.to_bytes(4, "big") + bytes((8, 6, 0, 0, 0))
    flat, step = image.tobytes(), image.width * 4
    rows = b"".join(b"\0" + flat[at : at + step] for at in range(0, len(flat), step))
    packed = zlib.compress(rows, 9)
    parts = [
        chunk(b"IHDR", head),
        chunk(b"gAMA", (45455).to_bytes(4, "big")),
        chunk(b"pHYs", bytes((0, 0, 14, 196) * 2 + (1,))),
    ]
    parts += [chunk(b"IDAT", packed[at : at + 8192]) for at in range(0, len(packed), 8192)]
    return b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"tEXt", b"Software\0paint"), chunk(b"IEND", b"")])


DOCX: dict[str, Callable[[Told], bytes]] = {"python-docx": by_python_docx, "Word's parts": by_hand_as_word}
PPTX: dict[str, Callable[[Told], bytes]] = {"python-pptx": by_python_pptx, "PowerPoint's parts": by_hand_as_powerpoint}
PNG: dict[str, Callable[[Image.Image], bytes]] = {
    "Pillow": by_pillow, "ffmpeg": lambda image: by_ffmpeg(image, "png"), "an editor's chunks": by_hand_as_png,
}  # fmt: skip
