"""Tasks an automatic judge cannot grade, marked with the reason: by rule, and by hand where the rule is wrong.

After section A.6.3 of the GDPval paper: work that needs the internet, programs in other languages, fonts this machine
lacks, sound. Such tasks stay out of agreement, and their number is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from guildhall.documents.kinds import Family, Kind, claimed_kind
from guildhall.domain.judges import Gradability, Medium
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.tasks import Task
from guildhall.grading.design import expert_submission
from guildhall.store.records import Store

_INTERNET = re.compile(
    r"\b(?:search(?:ing)? (?:the (?:web|internet)|online)|(?:find|download|look up)\b[^.]{0,60}"
    r"\b(?:online|web|internet)"
    r"|browse the (?:web|internet)|royalty[- ]free (?:music|footage|images?))\b",
    re.IGNORECASE,
)
_OTHER_CODE = re.compile(rf"\.(?:{'|'.join(Kind.CODE.row.foreign.split())})\b|\b(?:npm|terraform|docker)\b")

_PAPERS = frozenset({Family.OFFICE, Family.PDF, Family.IMAGE})


def rule_reasons(task: Task, *, takes: Iterable[Medium] = ("image",)) -> tuple[str, ...]:
    """Why a judge that takes these media cannot grade this task; nothing when it can."""
    files = [*task.reference_files, *task.expert_files]
    families = {kind.family for file in files if (kind := claimed_kind(file.name)) is not None}
    made = {kind.family for file in task.expert_files if (kind := claimed_kind(file.name)) is not None}
    heard = set(takes)
    reasons = []
    if _INTERNET.search(task.brief):
        reasons.append("needs the internet")
    # A brief may speak of Node.js, or of a page that ends in .php, and ask for a memo.
    asked = _OTHER_CODE.search(task.brief) and not (made and made <= _PAPERS)
    if asked or any(_OTHER_CODE.search(file.name) for file in files):
        reasons.append("needs programs in other languages to be run")
    if Family.AUDIO in families and "audio" not in heard:
        reasons.append("is about sound, which this judge cannot hear")
    if Family.VIDEO in families and "video" not in heard:
        reasons.append("is about video, which this judge cannot see")
    if set(task.languages) - {"en"}:
        reasons.append(f"is in {', '.join(task.languages)}, and judges are held to account in English only")
    return tuple(reasons)


def ungradable(store: Store, tasks: Iterable[Task], *, takes: Iterable[Medium] = ("image",)) -> dict[str, str]:
    """Task id -> why it is out, the word of a person before the rule's.

    Whether fonts are lacking is known once the files were made ready, as they are before anything is judged.
    """
    # The newest by its own time: the order in which a bundle brings words in says nothing.
    words = sorted(store.each(Gradability), key=lambda word: (word.made_at, word.key))
    by_hand = {word.task: word for word in words}
    found = {}
    for task in tasks:
        word = by_hand.get(task.id)
        if word is not None and not word.gradable:
            found[task.id] = f"{word.reason} (by {word.by})"
        elif word is None and (reasons := (*rule_reasons(task, takes=takes), *_lacking_fonts(store, task))):
            found[task.id] = "; ".join(reasons)
    return found


def _lacking_fonts(store: Store, task: Task) -> tuple[str, ...]:
    """A reason where letters of the expert's own files or of the references come out as boxes on this machine."""
    expert = expert_submission(task)
    subjects = [task.content_digest(), *([expert.key] if expert is not None else [])]
    keys = [f"{subject}:{VERSION}" for subject in subjects]
    boxes = sum(
        file.findings.get("missing-glyph", 0)
        for key in keys
        if store.has(Prepared, key)
        for file in store.get(Prepared, key).files
    )
    return ("needs a font this machine lacks: letters are shown as boxes",) if boxes else ()
