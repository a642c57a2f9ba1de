"""The shipped baseline of screening: plain rules over a draft and the words of its files. It advises, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

from pydantic import JsonValue

from guildhall.documents.tells import files_named
from guildhall.domain.reviews import Advice, Criterion, Draft, Opinion, Screening
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, sha256
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.store.workspace import Workspace

RULE = "rule"
LEAST_HOURS = 0.5
LEAST_BRIEF_WORDS = 40

_WORD = re.compile(r"[a-z]{4,}")
_HANDWORK = re.compile(
    r"\b(?:weld|lift|drive|install|repair|clean|cook|paint|assemble|operate the)\w*\b", re.IGNORECASE
)
_ATTACHED = re.compile(r"\b(?:attached|enclosed|attachment|reference file)s?\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"https?://\S+|\blog ?in(?:to)?\b|\bcall (?:the|our|your) \w+|\bask (?:the|your) (?:client|manager|team)\b",
    re.IGNORECASE,
)
_SOFTWARE = re.compile(
    r"\b(?:SAP|Salesforce|QuickBooks|NetSuite|Cerner|Workday|Revit|SolidWorks|SPSS|Photoshop|InDesign|Premiere Pro|"
    r"Bloomberg Terminal|(?:in-house|internal|proprietary) (?:tool|system|software|platform|database))s?\b"
)
_TACIT = re.compile(
    r"\b(?:as (?:usual|always|you know|before)|(?:our|the) usual \w+|you already know|as (?:we )?(?:discussed|agreed)|"
    r"like last (?:time|year|month)|(?:our|company|house) (?:practice|style|custom)s?)\b",
    re.IGNORECASE,
)
_TALKS = re.compile(
    r"\b(?:interview|phone|meet with|speak (?:to|with)|talk (?:to|with)|negotiate with|call)\b"
    r" (?:the|our|your|a|an|each|every|all|with)\b[^.\n]{0,30}",
    re.IGNORECASE,
)
_PERSONAL = {
    "an e-mail address": re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]{2,}\b"),
    "a telephone number": re.compile(r"(?<!\d)(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\d)"),
    "a social security number": re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"),
    "a card number": re.compile(r"(?<!\d)(?:\d{4}[ -]){3}\d{4}(?!\d)"),
}
Texts = Mapping[str, str]
"""The words of a draft's files, by file name."""


def screen_by_rule(draft: Draft, *, texts: Texts, made_at: datetime) -> Screening:
    """One opinion on each criterion, each with the reason in words."""
    advice = tuple(
        Advice(criterion=criterion, opinion=Opinion.LOOK_AGAIN if doubt else Opinion.FINE, words=doubt or "")
        for criterion, doubt in doubts(draft.task, texts=texts).items()
    )
    return Screening(task=draft.task.id, draft=draft.key, screener=RULE, advice=advice, made_at=made_at)


def doubts(task: Task, *, texts: Texts) -> dict[Criterion, str | None]:
    """For each criterion what to look at again, or None."""
    return {criterion: rule(task, texts) for criterion, rule in _RULES.items()}


def _occupation(task: Task, _texts: Texts) -> str | None:
    if task.onet.tasks:
        return None
    if set(_stems(task.occupation)) & set(_stems(task.brief)):
        return None
    return "No O*NET task is named, and the brief shares no word with the occupation's title."


def _stems(text: str) -> list[str]:
    return [word[:5] for word in _WORD.findall(text.lower())]


def _computer(task: Task, _texts: Texts) -> str | None:
    by_hand = _HANDWORK.findall(task.brief)
    if by_hand and not task.expert_files:
        return f"The brief speaks of handwork ({', '.join(sorted(set(by_hand)))}), and no file is delivered."
    return None


def _substance(task: Task, _texts: Texts) -> str | None:
    if task.expert_hours is None:
        return "Nobody has said how long it takes."
    if task.expert_hours < LEAST_HOURS:
        return f"{task.expert_hours:g} hours is less than half an hour's work."
    words = len(task.brief.split())
    return f"The brief has only {words} words." if words < LEAST_BRIEF_WORDS else None


def _files(task: Task, _texts: Texts) -> str | None:
    absent = [] if task.reference_files else ["no reference file"]
    absent += [] if task.expert_files else ["no deliverable of your own"]
    return f"There is {' and '.join(absent)}." if absent else None


def _self_contained(task: Task, _texts: Texts) -> str | None:
    if outside := _OUTSIDE.search(task.brief):
        return f"The brief leads outside what is provided: “{outside[0]}”."
    if _ATTACHED.search(task.brief) and not task.reference_files:
        return "The brief speaks of attached files, and there are none."
    rest = task.brief
    for file in (*task.reference_files, *task.expert_files):  # names may hold blanks, so known ones are taken out whole
        rest = re.sub(re.escape(file.name), "", rest, flags=re.IGNORECASE)
    unknown = sorted(set(files_named(rest)))
    return f"The brief names files that are not here: {', '.join(unknown)}." if unknown else None


def _privacy(task: Task, texts: Texts) -> str | None:
    found = []
    for place, text in {"the brief": task.brief, "the deliverable": task.expert_text or "", **texts}.items():
        found += [f"{what} in {place}" for what, pattern in _PERSONAL.items() if pattern.search(text)]
    return f"There seems to be {'; '.join(found)}." if found else None


def _software(task: Task, _texts: Texts) -> str | None:
    named = sorted(set(_SOFTWARE.findall(task.brief)))
    return f"The brief speaks of programs that others may not have: {', '.join(named)}." if named else None


def _knowledge(task: Task, _texts: Texts) -> str | None:
    found = _TACIT.search(task.brief)
    return f"The brief takes something for known that only insiders know: “{found[0]}”." if found else None


def _talks(task: Task, _texts: Texts) -> str | None:
    found = _TALKS.search(task.brief)
    return f"The work seems to need talks with people: “{found[0].strip()}”." if found else None


_RULES: Mapping[Criterion, Callable[[Task, Texts], str | None]] = {
    Criterion.OCCUPATION: _occupation,
    Criterion.COMPUTER: _computer,
    Criterion.SUBSTANCE: _substance,
    Criterion.FILES: _files,
    Criterion.SELF_CONTAINED: _self_contained,
    Criterion.PRIVACY: _privacy,
    Criterion.SOFTWARE: _software,
    Criterion.KNOWLEDGE: _knowledge,
    Criterion.TALKS: _talks,
}


PROMPT = "screen-2.md"
MOST_CHARACTERS = 20_000
"""Of each file; enough to judge what it is."""
_SAID = (str(Opinion.FINE), str(Opinion.LOOK_AGAIN))


def screen_by_model(
    drafts: Sequence[Draft],
    *,
    texts: Mapping[Id, Texts],
    model: str,
    settings: dict[str, JsonValue] | None = None,
    workspace: Workspace,
    terms: Terms,
) -> list[Screening]:
    """A screening of each draft that was asked about; `texts` gives the words of its files by draft key.

    A limit of the run may leave drafts out. Nothing is kept here.
    """
    prompt = files("guildhall.taskbank.review").joinpath("prompts", PROMPT).read_text(encoding="utf-8")
    calls = {
        draft.key: Call.ask(
            model,
            draft_as_text(draft, texts.get(draft.key, {})),
            system=prompt,
            settings=settings or {},
            answer_schema=answer_schema(),
            purpose="screening",
        )
        for draft in drafts
    }
    answers = run_calls(calls.values(), workspace=workspace, terms=terms)
    return [
        Screening(
            task=draft.task.id,
            draft=draft.key,
            screener=model,
            advice=read_advice(reply),
            prompt_digest=sha256(prompt.encode()),
            made_at=terms.date(),
        )
        for draft in drafts
        if (reply := answers.of(calls[draft.key])) is not None
    ]


def draft_as_text(draft: Draft, texts: Texts) -> str:
    """The draft as the model is shown it, without its author."""
    task = draft.task
    hours = "not stated" if task.expert_hours is None else f"{task.expert_hours:g}"
    lines = [
        "DRAFT BEGINS",
        f"Occupation: {task.occupation} ({task.sector})",
        f"O*NET tasks: {'; '.join(task.onet.tasks) or 'none named'}",
        f"Hours an expert takes: {hours}",
        f"Reference files: {', '.join(file.name for file in task.reference_files) or 'none'}",
        f"The author's deliverable: {', '.join(file.name for file in task.expert_files) or 'none'}",
        "",
        "Brief:",
        task.brief.strip(),
    ]
    for name, text in texts.items():
        lines += ["", f"Words of {name}:", text[:MOST_CHARACTERS]]
    return "\n".join([*lines, "", "DRAFT ENDS"])


def answer_schema() -> dict[str, JsonValue]:
    point: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"opinion": {"enum": list(_SAID)}, "words": {"type": "string"}},
        "required": ["opinion", "words"],
        "additionalProperties": False,
    }
    names: list[JsonValue] = [str(criterion) for criterion in Criterion]
    return {
        "type": "object",
        "properties": {str(criterion): point for criterion in Criterion},
        "required": names,
        "additionalProperties": False,
    }


def read_advice(reply: Reply) -> tuple[Advice, ...]:
    """What a model said, point by point; a reply of any other shape makes every point N/A, with the reason."""
    if reply.failed:
        return _nothing(f"it could not be asked: {reply.error}")
    data: Any = reply.data
    if not isinstance(data, dict) or set(data) != {str(criterion) for criterion in Criterion}:
        return _nothing("its answer does not have the points asked for")
    if not all(_is_point(point) for point in data.values()):
        return _nothing("its answer gives an opinion other than “fine” and “look again”")
    return tuple(
        Advice(criterion=criterion, opinion=Opinion(data[criterion]["opinion"]), words=data[criterion]["words"][:2000])
        for criterion in Criterion
    )


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, dict)
        and set(point) == {"opinion", "words"}
        and point["opinion"] in _SAID
        and isinstance(point["words"], str)
    )


def _nothing(why: str) -> tuple[Advice, ...]:
    return tuple(Advice(criterion=criterion, opinion=Opinion.UNKNOWN, words=why[:2000]) for criterion in Criterion)
