"""A heavy set, prepared by hand: four deliverables of eight files, long documents, wide and long workbooks, media."""

from __future__ import annotations

from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import ShownPage
from guildhall.domain.prepared import VERSION, Grid, GridSheet, PlacedText, Prepared, PreparedFile, TextLayer
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.grading.opening import gather, layout_of
from guildhall.grading.queue import Queue
from guildhall.store.workspace import Workspace
from tests.web.studies import make_task, picture, prepare

LINES_A_PAGE, PAGES, SHEETS, COLUMNS = 42, 30, 12, 24
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWX")


def sheet(number: int, rows: int) -> GridSheet:
    return GridSheet(
        name=f"Sheet {number}",
        hidden=number == SHEETS,
        columns=LETTERS,
        rows=tuple((row, tuple(f"{letter}{row}" for letter in LETTERS)) for row in range(1, rows + 1)),
        formulas={f"C{row}": f"=A{row}+B{row}" for row in range(1, rows + 1)},
    )


def document(workspace: Workspace, label: str, kind: str, pages: int) -> PreparedFile:
    blobs = workspace.blobs
    images = [
        ShownPage(image=blobs.put(picture(f"{label} {number}")), width=620, height=800) for number in range(pages)
    ]
    lines = {
        page: tuple(
            PlacedText(
                text=f"{label} page {page} line {line} levy", left=900, top=900 + line * 200, width=6000, height=150
            )
            for line in range(LINES_A_PAGE)
        )
        for page in range(1, pages + 1)
    }
    return PreparedFile(
        kind=kind,
        ending=f".{kind}",
        copied_as="pdf",
        copied=blobs.put(label.encode()),
        pages=tuple(images),
        layer=blobs.put(TextLayer(pages=lines).canonical()),
        text=blobs.put(f"{label} levy ".encode() * 2000),
    )


def workbook(workspace: Workspace, label: str, sheets: int, rows: int) -> PreparedFile:
    grid = Grid(sheets=tuple(sheet(number, rows) for number in range(1, sheets + 1)))
    blobs = workspace.blobs
    return PreparedFile(
        kind="xlsx",
        ending=".xlsx",
        copied_as="xlsx",
        copied=blobs.put(label.encode()),
        grid=blobs.put(grid.canonical()),
    )


def other(workspace: Workspace, label: str, kind: str) -> PreparedFile:
    return PreparedFile(
        kind=kind, ending=f".{kind}", copied_as=kind, copied=workspace.blobs.put(f"{label}{kind}".encode())
    )


def heavy_study(workspace: Workspace) -> Study:
    """One task, four deliverables; the second lacks a file, the last one has one more."""
    store, task = workspace.store, make_task(0)
    store.add(task)
    for number in range(3):
        store.add(Submission(task=task.id, author=ModelRun(name=f"model-{number}", model="scripted/none"), text=""))
    study = Study(
        id="heavy",
        title="Heavy",
        seed=1,
        tasks=(task.key,),
        design={"people": {"minimum_reason_words": 3, "set_size": 4}},
    )
    store.add(study)
    kept, made = gather(workspace, study)
    prepare(workspace, kept[0].content_digest(), label="Ledger", text="")
    for number, submission in enumerate(made):
        label = f"W{number}"
        files = [
            document(workspace, label, "docx", PAGES),
            workbook(workspace, f"{label} long", 1, 400),
            workbook(workspace, f"{label} many", SHEETS, 60),
            document(workspace, f"{label} slides", "pptx", 12),
            document(workspace, f"{label} paper", "pdf", 9),
            *(other(workspace, label, kind) for kind in ("mp4", "mp3", "step")),
        ]
        if number == 1:
            del files[5]
        prepared = Prepared(subject=submission.key, version=VERSION, files=tuple(files), text="")
        store.add(prepared)
    layout = layout_of(workspace, study)
    store.add_all(layout.comparisons)
    Queue(store).plan(layout.slots)
    return study
