"""Rubric items put to a judge, one at a time or all at once, and the strict reading of its answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from guildhall.domain.authors import ModelGrader
from guildhall.domain.judges import ItemOutcome, ItemVerdict, JudgePlan
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import RubricItem, Task
from guildhall.domain.values import sha256
from guildhall.engine.calls import Call, Message, Reply, TextPart
from guildhall.judging.requests import Part, ReadBlob, budget_for, material
from guildhall.judging.verdicts import failure_of

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


def show(plan: JudgePlan, task: Task, references: Prepared, work: Prepared, *, read_blob: ReadBlob) -> RubricView:
    """One submission made ready for questions about its rubric items."""
    budget = budget_for(plan.context_tokens, sides=1)
    parts: list[Part] = [TextPart(text=f"# The request\n\n{task.brief}")]
    if references.files:
        parts += material("Reference files", references, read_blob=read_blob, budget=budget, media=plan.takes).parts
    shown = material("The submission", work, read_blob=read_blob, budget=budget, media=plan.takes)
    words = "\n".join(part.text for part in shown.parts if isinstance(part, TextPart))
    opening = Message.of("system", _prompt())
    return RubricView(opening, (*parts, *shown.parts), words, len(shown.omissions))


def rubric_judge(plan: JudgePlan, *, whole: bool) -> ModelGrader:
    """The grader whose name stands under rubric marks; asking all items at once makes another one.

    Rubrics are held against text and pages, with no tools and no examples.
    """
    return plan.but(tools=False, examples=None).grader(sha256(f"{_prompt()}\nwhole={whole}".encode()))


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
def _prompt() -> str:
    return files("guildhall.judging").joinpath("prompts", "rubric-1.md").read_text(encoding="utf-8")
