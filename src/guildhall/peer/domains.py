"""Domains: what is written about and how it is marked, as TOML files that anyone can add to.

title = "..."                    what tables call it
description = "..."
level = 1                        1 plain, 2 demanding
essay_prompt = '''...'''         what an author is asked
grading_prompt = '''...'''       how a grader is to judge; the essay itself is passed apart from it, as data
criteria = ["...", ...]
words = [600, 700]               least and most words asked for
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from guildhall.domain.values import Id, Value, sha256
from guildhall.errors import InputError, UnknownName, UnreadableFile

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_TEMPLATE_SLOT = re.compile(r"\{\s*(?:essay|words|criteria)\s*\}")


class Domain(Value):
    """One subject for essays, with the prompts for authors and graders."""

    id: Id
    title: Annotated[str, Field(min_length=3, max_length=200)]
    description: Annotated[str, Field(min_length=10)]
    level: Annotated[int, Field(ge=1, le=3)] = 1
    essay_prompt: Annotated[str, Field(min_length=40)]
    grading_prompt: Annotated[str, Field(min_length=40)]
    criteria: Annotated[tuple[str, ...], Field(min_length=2, max_length=12)]
    words: tuple[Annotated[int, Field(ge=20)], Annotated[int, Field(le=20_000)]]

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.words[0] > self.words[1]:
            raise ValueError("`words` gives the least before the most")
        if _TEMPLATE_SLOT.search(self.grading_prompt) or _TEMPLATE_SLOT.search(self.essay_prompt):
            raise ValueError(
                "a prompt has no slots such as {essay}: essay, words and criteria are added by the program"
            )
        if len(set(self.criteria)) != len(self.criteria):
            raise ValueError("`criteria` names one thing twice")
        return self


def read_domain(path: Path) -> Domain:
    """A domain from its file; the file's name is its id."""
    if not _ID.fullmatch(path.stem):
        raise InputError(f"{path.name}: a domain's file name has lower-case letters, digits, - and _ only; rename it")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is no readable TOML ({error})") from error
    try:
        return Domain.model_validate(data | {"id": path.stem})
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'domain'}: {one['msg']}" for one in error.errors())
        raise UnreadableFile(path, faults, fix="see `guildhall peer domains new` for a whole example") from error


def shipped_domains() -> dict[str, Domain]:
    """The domains that come with the package, by id."""
    folder = files("guildhall.peer").joinpath("subjects")
    return {path.stem: read_domain(path) for path in sorted(Path(str(folder)).glob("*.toml"))}


def find_domain(name: str) -> Domain:
    """A shipped domain by id, or one of the user's own by the path of its file."""
    if name.endswith(".toml"):
        return read_domain(Path(name))
    known = shipped_domains()
    if name not in known:
        raise UnknownName("domain", name, fix=f"known: {', '.join(known)}; or give the path of a .toml file")
    return known[name]


QUESTION_CRITERIA = ("correctness", "completeness", "reasoning", "clarity")


def question_domain(question: str, *, words: tuple[int, int]) -> Domain:
    """A question of a user's own as a domain; the same words are the same domain."""
    asked = question.strip()
    if len(asked) < 10:
        raise InputError("ask a whole question, in quotation marks")
    try:
        return Domain(
            id=f"question-{sha256(asked.encode())[:8]}",
            title=shorten(asked, 120, placeholder=" ..."),
            description="A question of a user's own.",
            essay_prompt=f"Answer this question in full, for somebody who will act on what you say.\n\n{asked}",
            grading_prompt=(
                "Judge the answer as an expert in the matter would who has to act on it: whether it is right, whether "
                f"anything is missing, and how well it is argued.\n\nThe question was:\n\n{asked}"
            ),
            criteria=QUESTION_CRITERIA,
            words=words,
        )
    except ValidationError as error:
        raise InputError("; ".join(one["msg"] for one in error.errors())) from error


def remarks(domain: Domain) -> Iterator[str]:
    """What a careful reader would say of a domain that is sound but could be better."""
    if domain.words[1] > 2 * domain.words[0]:
        least, most = domain.words
        yield f"the word range {least}-{most} is wide: essays will differ in length more than in quality"
    if re.search(r"\bgrade\s*:", domain.grading_prompt, re.IGNORECASE):
        yield "the grading prompt spells out a grade line; the program already asks for one in its own words"
    if not re.search(r"\bessay|answer|program|design|text|code|solution\b", domain.grading_prompt, re.IGNORECASE):
        yield "the grading prompt never says what is to be judged"


TEMPLATE = '''title = "{title}"
description = "What this subject tests, in one sentence."
level = 1
words = [600, 700]
criteria = ["depth of analysis", "clarity and structure", "accuracy", "coherence"]

essay_prompt = """
Write an essay on a question of your subject. Say what is asked, for whom, and what a good answer covers.
"""

grading_prompt = """
Judge the essay as an experienced teacher of the subject would: name its strengths, its weaknesses and what would
improve it, criterion by criterion.
"""
'''


def new_domain(path: Path, *, title: str) -> Path:
    """Write a whole example to fill in; an existing file is never touched."""
    if path.exists():
        raise InputError(f"{path} is there already; choose another name")
    if not _ID.fullmatch(path.stem) or path.suffix != ".toml":
        raise InputError(f"{path.name}: name the file in lower-case letters, digits, - and _, ending in .toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEMPLATE.format(title=title.replace('"', "'")), encoding="utf-8")
    return path
