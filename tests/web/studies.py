"""A small study for the pages: work that is prepared by hand, so that no document need be parsed."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import ShownPage
from guildhall.domain.prepared import VERSION, Grid, GridSheet, PlacedText, Prepared, PreparedFile, TextLayer
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.grading.gold import gold_comparison
from guildhall.grading.opening import gather, layout_of
from guildhall.grading.queue import Queue
from guildhall.store.workspace import Workspace

OCCUPATION = "Editors"
BRIEF = """Check the **quarterly figures** and write a memo.

1. Compare the totals with the ledger.
2. Say what is wrong.

| item | wanted |
| --- | --- |
| memo | one page |

<script>alert(1)</script> ![x](http://outside.invalid/x.png) [click](http://outside.invalid/)
"""
PEOPLE: dict[str, Any] = {"minimum_reason_words": 3}


def make_task(number: int, **more: Any) -> Task:
    facts = {"sector": "Information", "occupation": OCCUPATION, "brief": BRIEF, "expert_text": f"By hand {number}."}
    return Task(id=f"task-{number}", **facts | more)


@cache
def picture(words: str) -> bytes:
    image = Image.new("RGB", (620, 800), "white")
    draw = ImageDraw.Draw(image)
    draw.text((60, 60), words, fill="black", font_size=22)
    for line in range(14):
        draw.rectangle((60, 130 + line * 42, 560 - (line * 37) % 180, 142 + line * 42), fill="#c9cfcc")
    out = io.BytesIO()
    image.save(out, "png")
    return out.getvalue()


def prepare(workspace: Workspace, subject: str, *, label: str, text: str, files: bool = True) -> Prepared:
    blobs = workspace.blobs
    grid = Grid(
        sheets=(
            GridSheet(
                name="Totals",
                columns=("A", "B"),
                rows=((1, ("item", "amount")), (2, ("rent", "1200")), (3, ("sum", "1200"))),
                formulas={"B3": "=SUM(B2:B2)"},
            ),
        )
    )
    page = ShownPage(image=blobs.put(picture(label)), width=620, height=800)
    # Where `picture` draws them: at 60 of 620 across, 60 of 800 down.
    placed = PlacedText(text=f"{label} <b>&", left=968, top=750, width=1200, height=300)
    layer = blobs.put(TextLayer(pages={1: (placed,)}).canonical())
    memo = PreparedFile(
        kind="docx",
        ending=".docx",
        copied=blobs.put(f"memo {label}".encode()),
        copied_as="pdf",
        pages=(page,),
        layer=layer,
        text=blobs.put(b"The totals agree with the ledger."),
        words=6,
    )
    sheet = PreparedFile(
        kind="xlsx",
        ending=".xlsx",
        copied_as="xlsx",
        copied=blobs.put(f"sheet {label}".encode()),
        grid=blobs.put(grid.canonical()),
    )
    made = Prepared(subject=subject, version=VERSION, files=(memo, sheet) if files else (), text=text)
    workspace.store.add(made)
    return made


def open_study(
    workspace: Workspace,
    tasks: list[Task],
    *,
    models: int = 1,
    people: dict[str, Any] | None = None,
    name: str = "study",
) -> Study:
    """Keep tasks and scripted submissions, prepare all by hand, and plan the slots."""
    store = workspace.store
    store.add_all(tasks)
    for task in tasks:
        for number in range(models):
            author = ModelRun(name=f"model-{number}", model="scripted/none")
            store.add(Submission(task=task.id, author=author, text=f"Done by machine {number}."))
    study = Study(
        id=name,
        title="Quarterly memos",
        seed=1,
        tasks=tuple(t.key for t in tasks),
        design={"people": PEOPLE | (people or {})},
    )
    store.add(study)
    design = study.design.hall
    kept, made = gather(workspace, study)
    for task in kept:
        prepare(workspace, task.content_digest(), label="Ledger", text="")
    for number, submission in enumerate(made):
        prepare(workspace, submission.key, label=f"Memo {number}", text=submission.text)
    layout = layout_of(workspace, study)
    store.add_all([*layout.comparisons, *(gold_comparison(study.id, item) for item in design.gold)])
    Queue(store).plan(layout.slots)
    return study


def new_workspace(path: Path) -> Workspace:
    return Workspace.create(path)
