"""What authors and graders are asked: text files beside this module, filled in and hashed into what they produce."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from string import Template

from pydantic import JsonValue

from guildhall.domain.grades import COMPOSITES, LETTERS
from guildhall.domain.values import Digest, sha256
from guildhall.engine.calls import FilePart, TextPart
from guildhall.peer.domains import Domain

_FENCE = re.compile(r"</?\s*essay\b", re.IGNORECASE)


@lru_cache
def _text(name: str) -> str:
    return files("guildhall.peer").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")


def essay_prompt(domain: Domain) -> str:
    """What every author of a domain is asked, word for word."""
    return _filled("essay", domain, prompt=domain.essay_prompt.strip()).strip()


def marking_prompt(domain: Domain, essay: str, *, composites: bool) -> tuple[str, str]:
    """The examiner's instructions and the essay as data, apart from one another.

    The essay stands between tags that carry its own digest, which no author can know while writing; what looks
    like such a tag inside the essay is spelt differently, so an essay can neither close its fence nor open another.
    """
    fence = sha256(essay.encode())[:16]
    instructions = _filled(
        "marking",
        domain,
        prompt=domain.grading_prompt.strip(),
        fence=fence,
        composites=_text("composites").rstrip() if composites else "",
    )
    return instructions.strip(), f"<essay {fence}>\n{_harmless(essay)}\n</essay {fence}>"


def deliverable_prompt(occupation: str, submission: Digest, *, composites: bool) -> tuple[str, str]:
    """How a deliverable is to be marked, and the fence it is given between."""
    fence = submission[:16]
    added = _text("composites").rstrip() if composites else ""
    filled = Template(_text("deliverable")).substitute(occupation=occupation, fence=fence, composites=added)
    return filled.strip(), fence


def fenced_parts(parts: Iterable[TextPart | FilePart], fence: str) -> tuple[TextPart | FilePart, ...]:
    """Parts of a message as data: between tags that nothing in them can open or close."""
    inside = [
        TextPart(text=_harmless(part.text)) if isinstance(part, TextPart) else part.but(name=_harmless(part.name))
        for part in parts
    ]
    return (TextPart(text=f"<essay {fence}>"), *inside, TextPart(text=f"</essay {fence}>"))


def _harmless(text: str) -> str:
    return _FENCE.sub(lambda tag: tag.group().replace("<", "‹"), text)


def follow_up_prompt(*, composites: bool) -> str:
    choices = "a letter from A+ to F" + (", or two neighbours joined by a slash" if composites else "")
    return Template(_text("follow_up")).substitute(choices=choices).strip()


def marking_schema(*, composites: bool) -> dict[str, JsonValue]:
    """The shape asked of models that support structured answers."""
    grades: list[JsonValue] = [*LETTERS, *(COMPOSITES if composites else ())]
    return {
        "type": "object",
        "properties": {"feedback": {"type": "string"}, "grade": {"type": "string", "enum": grades}},
        "required": ["feedback", "grade"],
        "additionalProperties": False,
    }


def prompts_digest(domain: Domain, *, composites: bool) -> Digest:
    """One digest for everything that is asked in a domain, apart from the essays themselves."""
    asked = (
        essay_prompt(domain),
        *marking_prompt(domain, "", composites=composites),
        follow_up_prompt(composites=composites),
    )
    return sha256("\n---\n".join(asked).encode())


def deliverable_prompts_digest(*, composites: bool) -> Digest:
    """One digest for everything that is asked about deliverables, apart from briefs and work."""
    asked = (deliverable_prompt("", "0" * 64, composites=composites)[0], follow_up_prompt(composites=composites))
    return sha256("\n---\n".join(asked).encode())


def _filled(name: str, domain: Domain, **values: str) -> str:
    least, most = domain.words
    criteria = "; ".join(domain.criteria)
    return Template(_text(name)).substitute(values, least=str(least), most=str(most), criteria=criteria)
