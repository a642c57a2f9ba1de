"""The question put to a judge that has tools: the files themselves, under neutral names, in a sandbox of its own.

The judge opens what it likes, recomputes and looks; what it says last is read like any other judge's reply. It is
handed what people are: copies that we wrote. A file that is not copied is said to be missing, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from guildhall.documents.kinds import copied_name, kept_kind
from guildhall.domain.judges import JudgePlan
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.agents import AgentJob, PlacedFile
from guildhall.judging.comparing import instructions
from guildhall.judging.pages import LOOK

TOOLS = ("bash", "python", "read_file", LOOK)
REFERENCES = "reference_files/"


@dataclass(frozen=True)
class WorkedQuestion:
    """What the judge is told, the files it finds, and how many files of each side are not among them."""

    system: str
    request: str
    files: tuple[PlacedFile, ...]
    omissions: dict[str, int]

    def job(self, plan: JudgePlan, *, sample: int, label: str) -> AgentJob:
        """The question as a job; `sample` tells independent answers to it apart, `label` names it in the log."""
        placed = [[file.path, file.digest] for file in self.files]
        told = [self.system, self.request, placed, plan.model, plan.settings, TOOLS, sample]
        return AgentJob(
            key=sha256(canonical_json(["judge with tools", *told])),
            label=label,
            model=plan.model,
            prompt=self.request,
            system=self.system,
            settings=plan.settings,
            files=self.files,
            tools=TOOLS,
            submits=False,
            one_date=True,
        )


def question_with_tools(
    plan: JudgePlan, task: Task, references: Prepared, sides: Sequence[Prepared], *, examples: str = ""
) -> WorkedQuestion:
    """What a judge with tools is asked about `sides`, called A, B, ... in the order given. No author is in it.

    As for people, final messages are shown only where a side has no files or every side has a message.
    """
    shown = [_shown("Reference files", references, folder=REFERENCES)] if references.files else []
    all_have_text = all(side.text.strip() for side in sides)
    for letter, side in zip(ascii_uppercase, sides, strict=False):
        with_text = all_have_text or not side.files
        shown.append(_shown(f"Submission {letter}", side, prefix=letter, with_text=with_text))
    parts = [*([examples] if examples else []), f"# The request\n\n{task.brief}", *(part.words for part in shown)]
    omissions = {letter: part.missing for letter, part in zip(ascii_uppercase, shown[-len(sides) :], strict=False)}
    return WorkedQuestion(
        system=instructions(plan, places=len(sides)),
        request="\n\n".join(parts),
        files=tuple(file for part in shown for file in part.files),
        omissions=omissions,
    )


@dataclass(frozen=True)
class _Shown:
    words: str
    files: tuple[PlacedFile, ...]
    missing: int


def _shown(title: str, work: Prepared, *, prefix: str = "file", folder: str = "", with_text: bool = False) -> _Shown:
    """One side as a list of names, and the files that go by them."""
    lines, placed = [], []
    for number, file in enumerate(work.files, 1):
        path = folder + (file.public_name or f"{prefix}-{number}{file.ending}")
        if file.copied is None:
            lines.append(f"- {path} is not here: {'; '.join((*file.not_copied, *file.omitted))}")
        else:
            path = copied_name(path, kept_kind(file.copied_as))
            lines.append("; ".join([f"- {path}", *(f"without {gone}" for gone in file.not_copied)]))
            placed.append(PlacedFile(path, file.copied))
    message = f"Final message:\n\n{work.text.strip()}\n\n" if with_text and work.text.strip() else ""
    words = f"## {title}\n\n{message}{chr(10).join(lines) or '(no files)'}"
    return _Shown(words, tuple(placed), len(work.files) - len(placed))
