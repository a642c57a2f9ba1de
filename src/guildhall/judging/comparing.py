"""The question put to a judge about two or more submissions: one request for every order they are shown in.

The question put to a judge that has tools: the files themselves, under neutral names, in a sandbox of its own. The
judge opens what it likes, recomputes and looks; what it says last is read like any other judge's reply. It is handed
what people are: copies that we wrote. A file that is not copied is said to be missing, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import ascii_uppercase

from guildhall.documents.kinds import copied_name, kept_kind
from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import JudgePlan
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.agents import AgentJob, PlacedFile
from guildhall.engine.calls import Call, Message
from guildhall.judging.fences import UNFENCED, Fence, Fences
from guildhall.judging.pages import LOOK
from guildhall.judging.requests import Part, ReadBlob, budgets_for, material
from guildhall.judging.verdicts import pair_schema

_ON_ONE_LINE = (
    "\nThen end with one line that holds nothing but VERDICT[A], VERDICT[B] or VERDICT[TIE]. A reply that ends "
    "otherwise cannot be used."
)
_BY_SCHEMA = "\nAnswer in JSON: `reason`, then for each of the `criteria` which side does better, then the `verdict`."


@dataclass(frozen=True)
class Question:
    """The messages for one order of sides, and how many things of each side they leave out."""

    messages: tuple[Message, ...]
    omissions: dict[str, int]

    def call(self, plan: JudgePlan, *, places: int, sample: int) -> Call:
        """The question as a call; `sample` tells independent answers to it apart."""
        by_schema = places == 2 and plan.answers_by_schema
        return Call(
            model=plan.model,
            messages=self.messages,
            settings=plan.settings,
            answer_schema=pair_schema() if by_schema else None,
            sample=sample,
            purpose="verdict",
        )


def question(
    plan: JudgePlan,
    task: Task,
    references: Prepared,
    sides: Sequence[Prepared],
    *,
    read_blob: ReadBlob,
    examples: str = "",
    fences: Fences = UNFENCED,
) -> Question:
    """What a judge is asked about `sides`, shown as A, B, ... in the order given. No author is anywhere in it.

    As for people, final messages are shown only where a side has no files or every side has a message. With fences,
    brief and references come first, the same bytes whatever is compared; without, judged `examples` come before them.
    """
    for_references, budget = budgets_for(plan.context_tokens, sides=len(sides), fence=fences.works)
    parts: list[Part | str] = [_request(task, fences)]
    if references.files:
        shown = material(
            "Reference files",
            references,
            read_blob=read_blob,
            budget=for_references,
            media=plan.takes,
            fence=fences.task,
        )
        parts += shown.parts
    if examples:
        parts.insert(len(parts) if fences.works.code else 0, fences.works.around(examples))
    omissions = {}
    all_have_text = all(side.text.strip() for side in sides)
    for letter, side in zip(ascii_uppercase, sides, strict=False):
        shown = material(
            f"Submission {letter}",
            side,
            read_blob=read_blob,
            budget=budget,
            prefix=letter,
            with_text=all_have_text or not side.files,
            media=plan.takes,
            fence=fences.works,
        )
        parts += shown.parts
        omissions[letter] = len(shown.omissions)
    return Question(
        (Message.of("system", instructions(plan, places=len(sides))), Message.of("user", *parts)), omissions
    )


def _request(task: Task, fences: Fences) -> str:
    return f"# The request\n\n{fences.task.around(task.brief)}"


def judge_of(plan: JudgePlan, *, places: int) -> ModelGrader:
    """The grader whose name stands under verdicts on this many sides."""
    return plan.grader(sha256(instructions(plan, places=places).encode()))


def instructions(plan: JudgePlan, *, places: int) -> str:
    """What a judge is told: about a pair or a ranking, its tools and examples if it has any, and how to answer."""
    by_schema, examples = plan.answers_by_schema, plan.examples is not None
    return _prompt(min(places, 3), by_schema=by_schema, tools=plan.tools, examples=examples, fenced=bool(plan.fence))


@cache
def _prompt(places: int, *, by_schema: bool, tools: bool, examples: bool, fenced: bool) -> str:
    further = _text("fence-1.md") if fenced else ""
    further += _text("examples-2.md" if fenced else "examples-1.md") if examples else ""
    further += _text("tools-1.md") if tools else ""
    if places > 2:
        return _text("rank-1.md") + further
    return _text("compare-1.md") + further + (_BY_SCHEMA if by_schema else _ON_ONE_LINE)


def _text(name: str) -> str:
    return files("guildhall.judging").joinpath("prompts", name).read_text(encoding="utf-8")


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
    plan: JudgePlan,
    task: Task,
    references: Prepared,
    sides: Sequence[Prepared],
    *,
    examples: str = "",
    fences: Fences = UNFENCED,
) -> WorkedQuestion:
    """What a judge with tools is asked about `sides`, called A, B, ... in the order given. No author is in it.

    As for people, final messages are shown only where a side has no files or every side has a message. What the judge
    reads in a file it opens itself stands in no fence.
    """
    shown = [_shown("Reference files", references, folder=REFERENCES, fence=fences.task)] if references.files else []
    all_have_text = all(side.text.strip() for side in sides)
    for letter, side in zip(ascii_uppercase, sides, strict=False):
        with_text = all_have_text or not side.files
        shown.append(_shown(f"Submission {letter}", side, prefix=letter, with_text=with_text, fence=fences.works))
    parts = [_request(task, fences), *(part.words for part in shown)]
    if examples:
        parts.insert(len(parts) - len(sides) if fences.works.code else 0, fences.works.around(examples))
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


def _shown(
    title: str, work: Prepared, *, fence: Fence, prefix: str = "file", folder: str = "", with_text: bool = False
) -> _Shown:
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
    message = f"Final message:\n\n{fence.around(work.text.strip())}\n\n" if with_text and work.text.strip() else ""
    listed = fence.around("\n".join(lines)) if lines else "(no files)"
    words = f"## {title}\n\n{message}{listed}"
    return _Shown(words, tuple(placed), len(work.files) - len(placed))
