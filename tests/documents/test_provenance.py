"""What graders are served of the same work by two programs has one structure, and it is the masked structure alone.

The full form, with more programs and a classifier, is the proof `documents-provenance`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from proofs.documents_provenance import structure

from guildhall.documents.looking import Documents
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from tests.documents import document_writers as writers
from tests.documents.broken_and_sound import drawn
from tests.documents.workbook_writers import by_openpyxl, by_xlsxwriter, described


def _pdfs(story: writers.Told, folder: Path) -> list[bytes]:
    """A list whose marks are shapes, and one whose marks are letters in a file that a program has packed."""
    made = []
    for name, mark in {"shapes": "60 {y} 5 5 re f ", "letters": "BT /F1 12 Tf 60 {y} Td (\\267 ) Tj ET "}.items():
        path, content = folder / f"{name}.pdf", f"BT /F1 20 Tf 60 740 Td ({story.title}) Tj ET "
        for at, point in enumerate(story.points):
            y = 700 - 30 * at
            content += mark.format(y=y) + f"BT /F1 12 Tf 90 {y} Td ({point}{' ' * (name == 'letters')}) Tj ET "
        drawn(content)(path)
        made.append(path.read_bytes())
    return made


@pytest.mark.parametrize("kind", ["docx", "xlsx", "pptx", "pdf", "png"])
def test_two_programs_leave_one_structure(kind: str, tmp_path: Path, look: Documents) -> None:
    story, picture, book = writers.told(26), writers.picture(26), described(26)
    made = {
        "docx": lambda: [write(story) for write in writers.DOCX.values()],
        "xlsx": lambda: [by_openpyxl(book), by_xlsxwriter(book)],
        "pptx": lambda: [write(story) for write in writers.PPTX.values()],
        "pdf": lambda: _pdfs(story, tmp_path),
        "png": lambda: [writers.by_pillow(picture), writers.by_hand_as_png(picture)],
    }[kind]()
    assert made[0] != made[1]
    served = []
    with Workspace.create(tmp_path / "ws") as workspace:
        for number, content in enumerate(made):
            path = tmp_path / f"{number}.{kind}"
            path.write_bytes(content)
            prepared = Preparer(workspace, look).made_visible(path, tmp_path / f"out-{number}")
            served.append(structure(prepared, workspace))
            assert prepared.copied, "there is something to compare"
    assert served[0] == served[1]
