"""Rubric items and best-of-N picks put to a judge, and the strict reading of its answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from string import ascii_uppercase

from pydantic import JsonValue

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import ItemOutcome, ItemVerdict, JudgePlan
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import RubricItem, Task
from guildhall.domain.values import sha256
from guildhall.engine.calls import Call, Message, Reply, TextPart
from guildhall.errors import UnreadableVerdict
from guildhall.judging.fences import UNFENCED, Fences
from guildhall.judging.requests import Budget, Part, ReadBlob, budgets_for, material
from guildhall.judging.verdicts import failure_of, last_line

_LINE = re.compile(r'ITEM (\d+): (MET|PARTLY|NOT) \| "(.*)"')
_OUTCOMES = {"MET": ItemOutcome.MET, "PARTLY": ItemOutcome.PARTLY, "NOT": ItemOutcome.NOT_MET}

Numbered = Sequence[tuple[int, RubricItem]]


@dataclass(frozen=True)
class RubricView:
    """A submission as the rubric judge sees it: everything before the criteria, which stays the same for all calls."""

    opening: Message
    parts: tuple[Part, ...]
    text: str
    omissions: int

    def call(self, plan: JudgePlan, items: Numbered, *, sample: int) -> Call:
        """The question about some items. What stays the same comes first, so that providers can cache it."""
        lines = "\n".join(f"ITEM {number}: {item.text}" for number, item in items)
        user = Message.of("user", *self.parts, f"# The criteria\n\n{lines}")
        return Call(
            model=plan.model,
            messages=(self.opening, user),
            settings=plan.settings,
            sample=sample,
            purpose="rubric",
        )


def show(
    plan: JudgePlan,
    task: Task,
    references: Prepared,
    work: Prepared,
    *,
    read_blob: ReadBlob,
    fences: Fences = UNFENCED,
) -> RubricView:
    """One submission made ready for questions about its rubric items."""
    for_references, budget = budgets_for(plan.context_tokens, sides=1, fence=fences.works)
    parts: list[Part] = [TextPart(text=f"# The request\n\n{fences.task.around(task.brief)}")]
    ask = partial(material, read_blob=read_blob, media=plan.takes)
    if references.files:
        parts += ask("Reference files", references, budget=for_references, fence=fences.task).parts
    shown = ask("The submission", work, budget=budget, fence=fences.works)
    words = "\n".join(part.text for part in shown.parts if isinstance(part, TextPart))
    opening = Message.of("system", _prompt(fenced=bool(plan.fence)))
    return RubricView(opening, (*parts, *shown.parts), words, len(shown.omissions))


def rubric_judge(plan: JudgePlan, *, whole: bool) -> ModelGrader:
    """The grader whose name stands under rubric marks; asking all items at once makes another one.

    Rubrics are held against text and pages, with no tools and no examples.
    """
    prompt = _prompt(fenced=bool(plan.fence))
    return plan.but(tools=False, examples=None).grader(sha256(f"{prompt}\nwhole={whole}".encode()))


def read_items(reply: Reply, items: Numbered, *, shown_text: str) -> list[ItemVerdict]:
    """One verdict for each item asked. An item answered twice, or not at all, is a failure of that item."""
    failure = failure_of(reply)
    said: dict[int, list[tuple[str, str]]] = {}
    for line in reply.text.splitlines() if failure is None else ():
        if found := _LINE.fullmatch(line.strip()):
            said.setdefault(int(found[1]), []).append((found[2], found[3]))
    return [_verdict(number, item, said.get(number, []), failure, shown_text) for number, item in items]


def _verdict(
    number: int, item: RubricItem, said: list[tuple[str, str]], failure: str | None, shown_text: str
) -> ItemVerdict:
    if failure is None and len(said) != 1:
        failure = "unreadable: the item was " + ("answered more than once" if said else "not answered")
    if failure is not None:
        return ItemVerdict(item=number, points=item.points, failure=failure)
    word, quotation = said[0]
    found = _plain(quotation) in _plain(shown_text) if quotation.strip() else None
    return ItemVerdict(item=number, points=item.points, outcome=_OUTCOMES[word], quotation=quotation, found=found)


def _plain(text: str) -> str:
    """Letters and digits only: quotations differ in blanks, dashes and quotation marks without being wrong."""
    return "".join(char for char in text.casefold() if char.isalnum())


@cache
def _prompt(*, fenced: bool) -> str:
    return _text("rubric-1.md") + (_text("fence-1.md") if fenced else "")


def _text(name: str) -> str:
    return files("guildhall.judging").joinpath("prompts", name).read_text(encoding="utf-8")


_VERDICT = re.compile(r"BEST\[([A-Z])\]")


def picking_judge(
    name: str, model: str, settings: dict[str, JsonValue] | None = None, *, fenced: bool = True
) -> ModelGrader:
    """A judge that picks, known by its model, its settings and the prompt it works under."""
    prompt_digest = sha256(_pick_prompt(fenced=fenced).encode())
    return ModelGrader(name=name, model=model, settings=settings or {}, prompt_digest=prompt_digest)


def pick_call(
    judge: ModelGrader,
    task: Task,
    references: Prepared,
    shown: Sequence[Prepared],
    *,
    read_blob: ReadBlob,
    budget: Budget | None = None,
    fences: Fences = UNFENCED,
) -> Call:
    """The question which of the shown submissions is best; they are lettered in the order given."""
    ask = partial(material, read_blob=read_blob, budget=budget or Budget())
    parts: list[Part | str] = [f"# The request\n\n{fences.task.around(task.brief)}"]
    if references.files:
        parts += ask("Reference files", references, fence=fences.task).parts
    for letter, side in zip(ascii_uppercase, shown, strict=False):
        parts += ask(f"Submission {letter}", side, fence=fences.works).parts
    system = _pick_prompt(fenced=bool(fences.works.code))
    return Call.ask(judge.model or "", *parts, system=system, settings=judge.settings, purpose="pick")


def read_pick(reply: str, count: int) -> int:
    """The place picked, counted from 0. Only a last line that is the verdict alone counts; else `UnreadableVerdict`."""
    found = _VERDICT.fullmatch(last_line(reply))
    if found is None:
        raise UnreadableVerdict("the last line is not BEST[X] alone", reply=reply)
    place = ascii_uppercase.index(found[1])
    if place >= count:
        raise UnreadableVerdict(f"{found[1]} was picked, but only {count} submissions were shown", reply=reply)
    return place


def _pick_prompt(*, fenced: bool) -> str:
    return _text("pick-1.md") + (_text("fence-1.md") if fenced else "")
