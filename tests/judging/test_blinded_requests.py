"""No author in any byte that is sent: names, metadata and messages of real files, through the true preparation."""

from __future__ import annotations

import io

from docx import Document

from guildhall.documents.looking import Documents
from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.judges import JudgePlan
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.calls import FilePart
from guildhall.judging.comparing import question
from guildhall.judging.preparing import Preparer

SECRETS = ("Zanzibar-9", "Quillfeather")
TASK = Task(id="t", sector="Information", occupation="Editors", brief="Write `memo.docx`.")


def memo(author: str) -> bytes:
    made = Document()
    made.add_paragraph("The totals add up.")
    made.core_properties.author = made.core_properties.last_modified_by = author
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_no_byte_of_a_request_names_an_author(workspace, look: Documents):
    model, expert = SECRETS
    sides = [
        Submission(
            task="t",
            author=ModelRun(name=model, model=f"maker/{model}"),
            text=f"Done by {model}.",
            files=(FileRef(name=f"{model} memo.docx", digest=workspace.blobs.put(memo(model))),),
        ),
        Submission(
            task="t",
            author=Expert(code_name=expert),
            files=(FileRef(name=f"{expert}/memo.docx", digest=workspace.blobs.put(memo(expert))),),
        ),
    ]
    preparer = Preparer(workspace, look)
    shown = [preparer.submission(one, TASK) for one in sides]
    plan = JudgePlan(name="j", model="scripted/word-counter")
    asked = question(plan, TASK, preparer.references(TASK), shown, read_blob=workspace.blobs.read)
    call = asked.call(plan, places=2, sample=1)
    pictures = [part for message in call.messages for part in message.parts if isinstance(part, FilePart)]
    sent = [call.canonical(), *(workspace.blobs.read(part.digest) for part in pictures)]
    assert pictures and b"The totals add up." in sent[0]
    for secret in SECRETS:
        assert not [place for place, data in enumerate(sent) if secret.encode().lower() in data.lower()]
