"""Small sound files of many kinds, made by the libraries people make such files with."""

from __future__ import annotations

import io
import json
import math
import struct
import wave
import zipfile
from pathlib import Path

from tests.documents.hostile_parts import one_page


def docx(path: Path, text: str = "Plain words", *, font: str | None = None) -> Path:
    from docx import Document

    document = Document()
    document.add_heading("Report", 1)
    run = document.add_paragraph().add_run(text)
    if font:
        run.font.name = font
    document.core_properties.author = "Canary Author"
    document.save(str(path))
    return path


def reviewed(path: Path, *, authors: tuple[str, ...], comment: str | None = None) -> Path:
    """A letter with a tracked insertion by each author, and perhaps a comment."""
    from docx import Document
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = Document()
    paragraph = document.add_paragraph("As first written")
    for author in authors:
        change = f'<w:ins {nsdecls("w")} w:id="9" w:author="{author}" w:date="2024-01-01T00:00:00Z">'
        paragraph._p.append(parse_xml(f"{change}<w:r><w:t> and changed</w:t></w:r></w:ins>"))
    if comment:
        document.add_comment(paragraph.runs, text=comment, author="Somebody", initials="S")
    document.save(str(path))
    return path


def xlsx(path: Path, *, columns: int = 3, hidden_sheet: bool = False) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in range(1, 6):
        sheet.append([f"r{row}c{column}" for column in range(columns)])
    if hidden_sheet:
        book.create_sheet("Secret").sheet_state = "hidden"
    book.save(path)
    return path


def pptx(path: Path, *, slides: int = 2, notes: str = "") -> Path:
    from pptx import Presentation

    deck = Presentation()
    for number in range(slides):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number + 1}"
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    deck.save(str(path))
    return path


def pdf(path: Path) -> Path:
    content = b"20 20 200 100 re f"
    path.write_bytes(one_page(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)))
    return path


def png(path: Path, size: tuple[int, int] = (60, 40)) -> Path:
    from PIL import Image

    Image.new("RGB", size, "teal").save(path)
    return path


def wav(path: Path, seconds: float = 0.5) -> Path:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        tone = (int(9000 * math.sin(moment / 5)) for moment in range(int(8000 * seconds)))
        sound.writeframes(b"".join(struct.pack("<h", level) for level in tone))
    return path


def stl(path: Path) -> Path:
    """A tetrahedron."""
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
    body = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(value for at in face for value in corners[at]), 0) for face in faces
    )
    path.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + body)
    return path


def step(path: Path) -> Path:
    """One straight edge of length 2 and one full circle, in a part that an assembly moves by 10 along x."""
    path.write_text(
        "ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\n"
        "#1=CARTESIAN_POINT('',(0.,0.,0.));#2=CARTESIAN_POINT('',(2.,0.,0.));\n"
        "#3=VERTEX_POINT('',#1);#4=VERTEX_POINT('',#2);#5=LINE('',#1,#9);#6=EDGE_CURVE('',#3,#4,#5,.T.);\n"
        "#7=AXIS2_PLACEMENT_3D('',#1,#8,#10);#8=DIRECTION('',(0.,0.,1.));#10=DIRECTION('',(1.,0.,0.));\n"
        "#11=CIRCLE('',#7,2.);#12=EDGE_CURVE('',#4,#4,#11,.T.);\n"
        "#20=ADVANCED_BREP_SHAPE_REPRESENTATION('',(#6,#12),#99);#21=SHAPE_REPRESENTATION('',(#7),#99);\n"
        "#22=CARTESIAN_POINT('',(10.,0.,0.));#23=AXIS2_PLACEMENT_3D('',#22,#8,#10);\n"
        "#24=ITEM_DEFINED_TRANSFORMATION('','',#7,#23);\n"
        "#25=(REPRESENTATION_RELATIONSHIP('','',#20,#21)REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION(#24)"
        "SHAPE_REPRESENTATION_RELATIONSHIP());\nENDSEC;\nEND-ISO-10303-21;\n"
    )
    return path


def dxf(path: Path) -> Path:
    from ezdxf.document import Drawing

    drawing = Drawing.new()
    drawing.modelspace().add_circle((0, 0), 5)
    drawing.saveas(path)
    return path


def notebook(path: Path) -> Path:
    cells = [
        {"cell_type": "markdown", "source": "# Title"},
        {"cell_type": "code", "source": "print(1)", "execution_count": 1, "outputs": [{"text": "1"}]},
    ]
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    return path


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as package:
        for name, content in members.items():
            package.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return path


def with_prefixed_tables(path: Path, original: Path) -> Path:
    """The same package, its tables spelt with a namespace prefix, as some XML libraries write them."""
    out = io.BytesIO()
    with zipfile.ZipFile(original) as package, zipfile.ZipFile(out, "w") as changed:
        for name in package.namelist():
            content = package.read(name)
            if name == "[Content_Types].xml" or name.endswith(".rels"):
                text = content.decode().replace("xmlns=", "xmlns:ns0=")
                for tag in ("Types", "Default", "Override", "Relationships", "Relationship "):
                    text = text.replace(f"<{tag}", f"<ns0:{tag}").replace(f"</{tag}", f"</ns0:{tag}")
                content = text.replace("</Relationship>", "</ns0:Relationship>").encode()
            changed.writestr(name, content)
    path.write_bytes(out.getvalue())
    return path
