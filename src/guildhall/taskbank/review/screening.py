"""The shipped baseline of screening: plain rules over a draft and the words of its files. It advises, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from guildhall.documents.names_in_text import files_named
from guildhall.domain.reviews import Advice, Criterion, Draft, Opinion, Screening
from guildhall.domain.tasks import Task

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


_RULES: Mapping[Criterion, Callable[[Task, Texts], str | None]] = {
    Criterion.OCCUPATION: _occupation,
    Criterion.COMPUTER: _computer,
    Criterion.SUBSTANCE: _substance,
    Criterion.FILES: _files,
    Criterion.SELF_CONTAINED: _self_contained,
    Criterion.PRIVACY: _privacy,
}
