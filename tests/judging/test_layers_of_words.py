"""The words over the pages of prepared work are kept by the pages that are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from guildhall.documents.kinds import Kind
from guildhall.documents.looking import Documents
from guildhall.documents.render.office import OfficePool
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.values import PageImage, Rendered
from guildhall.domain.authors import Expert
from guildhall.domain.prepared import PlacedText, TextLayer
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from tests.documents.broken_and_sound import drawn

TASK = Task(id="t", sector="Information", occupation="Editors", brief="Write a memo.")


def test_prepared_pages_carry_their_words(tmp_path: Path, workspace: Workspace, look: Documents) -> None:
    drawn("BT /F1 24 Tf 50 700 Td (Harbour dues) Tj ET", "BT /F1 24 Tf 50 700 Td (The sum) Tj ET")(tmp_path / "a.pdf")
    file = FileRef(name="a.pdf", digest=workspace.blobs.put(tmp_path / "a.pdf"))
    picture = FileRef(name="note.csv", digest=workspace.blobs.put(b""))
    submission = Submission(task="t", author=Expert(code_name="x"), files=(file, picture))
    made = Preparer(workspace, look).submission(submission, TASK)
    [words] = [one.layer for one in made.files if one.layer]
    layer = TextLayer.model_validate_json(workspace.blobs.read(words))
    assert {number: [one.text for one in lines] for number, lines in layer.pages.items()} == {
        1: ["Harbour dues"],
        2: ["The sum"],
    }


class ThreePages:
    """Rooms in which a PDF has words on each of three pages."""

    def call(self, *_asked: Any, **_options: Any) -> TextLayer:
        word = PlacedText(text="x", left=0, top=0, width=1, height=1)
        return TextLayer(pages={number: (word.but(text=str(number)),) for number in (1, 2, 3)})


def test_behind_a_page_that_could_not_be_drawn_words_stay_with_their_pages() -> None:
    rooms: Any = ThreePages()
    pages = tuple(PageImage(number=number, image=Path("x"), width=1, height=1) for number in (1, 3))
    rendered = Rendered(kind=Kind.PDF, renderer="r", pages=pages)
    layer = Documents(cast("Renderer", None), rooms, cast("OfficePool", None)).layer(Path("x.pdf"), rendered)
    assert {place: lines[0].text for place, lines in layer.pages.items()} == {1: "1", 2: "3"}
