"""Words that tell nothing and words that are told: file names, tells, the severity scale; people and judges alike."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from guildhall.documents.scrub.names import blind_names
from guildhall.documents.tells import find_tells
from guildhall.domain.judgments import Severity
from guildhall.domain.tasks import FileRef, Task
from guildhall.judging.preparing import asked_names
from guildhall.web.forms import SEVERITIES
from guildhall.web.pages import severity

TASK = Task(
    id="t",
    sector="Information",
    occupation="Editors",
    brief="Compare `Ledger & Notes.xlsx` with the bank. Save the memo as `Final memo (v2).docx`.",
    reference_files=(FileRef(name="Ledger and Notes.xlsx"),),
)


def test_a_file_is_named_as_asked_only_where_the_brief_asks_for_a_name() -> None:
    assert asked_names(TASK) == {"Final memo (v2).docx"}
    named = blind_names(["final_memo-(v2).docx", "other.docx"], asked=asked_names(TASK))
    assert [one.named_as_asked for one in named] == [True, False]
    silent = TASK.but(brief="Please write the memo.docx about ledger.xlsx by noon.")
    assert [one.named_as_asked for one in blind_names(["x.docx"], asked=asked_names(silent))] == [None]


def test_of_the_public_briefs_few_ask_for_a_name_and_none_of_these_is_a_reference(realdata: Path) -> None:
    asking, tasks = {}, 0
    for line in (realdata / "gdpval" / "gdpval_tasks_220.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        told = json.loads(line)
        references = tuple(FileRef(name=PurePosixPath(one["path"]).name) for one in told["reference_files"])
        task = TASK.but(id=told["task_id"], brief=told["prompt"], reference_files=references)
        tasks += 1
        if asked := asked_names(task):
            asking[task.id] = asked
    assert tasks == 220 and 5 <= len(asking) <= 9
    wrong = [name for names in asking.values() for name in names if not any(word in name for word in TRULY_ASKED)]
    assert len(wrong) <= 2, wrong


TRULY_ASKED = ("Daily Closed", "2026 ACP", "Journal Club", "PATIENT INCIDENT", "Quotation Q6533211", "Q9749821-revised")
"""Read by a person: these six of the 220 say under which name a file is to be saved."""


@pytest.mark.parametrize(
    "words",
    [
        f"{how} {who}"
        for how in ("Prepared by", "drafted with", "Generated using", "written by")
        for who in ("Grok", "Claude", "Gemini", "ChatGPT", "Copilot", "GPT-7.2", "Llama 5", "Claude Opus 9", "o9-mini")
    ],
)
def test_a_maker_is_found_whatever_version_follows_or_none(words: str) -> None:
    assert "model-name" in {one.rule for one in find_tells(f"Quarterly memo\n\n{words}.\n")}


def test_the_severity_scale_asks_about_this_deliverable_and_names_no_maker() -> None:
    page = (Path(severity.__file__).parent.parent / "templates" / "severity.html").read_text()
    shown = " ".join([page, *SEVERITIES, *severity.MEANINGS.values()]).casefold()
    assert set(SEVERITIES.values()) == set(severity.MEANINGS) == set(Severity) and "deliverable" in shown
    assert not [word for word in ("model", "expert", "human", "machine") if word in shown]
