"""What a model is told and what it may use: prompt conditions and tool sets, each a switch with a digest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from string import Template

from guildhall.domain.authors import RoomSettings
from guildhall.domain.values import Digest, Value, sha256
from guildhall.engine.agents import SHELL_TOOLS
from guildhall.errors import InputError, ToldButAbsent, UnreadableFile
from guildhall.judging.pages import LOOK

ADDITIONAL_PACKAGES = (
    "LibreOffice",
    "aspose-words",
    "av",
    "cadquery",
    "cadquery-ocp",
    "pedalboard",
    "pyloudnorm",
    "srt",
    "xlrd",
)
"""Named in prompts that were made before rooms were asked what they have (GDPval A.6.4)."""


class Condition(StrEnum):
    """Which instructions come before the brief."""

    PLAIN = "plain"
    ELICITED = "elicited"
    OWN = "own"


class Tools(StrEnum):
    """What an author may use."""

    NONE = "none"
    CODE = "code"
    CODE_AND_SEARCH = "code + web search"
    CODE_AND_GET = "code + GET"

    @property
    def names(self) -> tuple[str, ...]:
        return () if self is Tools.NONE else (*SHELL_TOOLS, LOOK)


class Prompt(Value):
    """Instructions as a model gets them, and the digest under which they are known."""

    condition: Condition
    text: str
    source: str

    @property
    def prompt_digest(self) -> Digest:
        return sha256(self.text.encode())


def prompt_for(
    condition: Condition, tools: Tools, *, own: Path | None = None, room: RoomSettings | None = None
) -> Prompt:
    """The instructions of a condition, filled in for a set of tools and a room. `own` is the user's file where the
    condition is "own"; its text is used as it is. Without a room the text is as it was before rooms were asked.
    """
    if condition is Condition.OWN:
        return _own_prompt(own)
    if tools is Tools.NONE:
        return Prompt(condition=condition, text=_shipped("answer-1.md") + _answer_tail(condition), source="answer-1.md")
    name = f"{condition.value}-1.md"
    filled = Template(_shipped(name)).substitute(
        tools=_tools_in_words(tools),
        packages=_packages_in_words(room),
        looking=f" with `{LOOK}`",
    )
    return Prompt(condition=condition, text=filled, source=name)


def _packages_in_words(room: RoomSettings | None) -> str:
    """What is installed, as the room itself said."""
    if room is None:
        return f"Besides the usual Python packages these are installed: {', '.join(ADDITIONAL_PACKAGES)}."
    if room.packages is None:
        return "What is installed is not listed here; `python3 -m pip list` in a shell tells the Python packages."
    told = f"Python {room.python} has exactly these packages: {', '.join(room.packages)}."
    return f"{told} Programs beside it: {', '.join(room.programs)}." if room.programs else told


def require_told(condition: Condition, tools: Tools, room: RoomSettings) -> None:
    """Refuse a prompt that sends its reader to a program the room does not have."""
    wants = condition is Condition.ELICITED and tools is not Tools.NONE
    if wants and room.programs is not None and "LibreOffice" not in room.programs:
        fix = "install it, or choose condition = 'plain'"
        raise ToldButAbsent(["LibreOffice"], told_by="the elicited prompt", fix=fix)


def _shipped(name: str) -> str:
    return files("guildhall.sampling").joinpath("prompts", name).read_text(encoding="utf-8")


def _answer_tail(condition: Condition) -> str:
    if condition is Condition.PLAIN:
        return ""
    elicited = _shipped("elicited-1.md")
    last_line = elicited[elicited.index("## The last line") :].partition("\n\nThen call")[0]
    return "\n" + last_line.replace("final message", "answer").replace(
        " Write it in the answer\nonly, never inside a file.", ""
    )


def _own_prompt(own: Path | None) -> Prompt:
    if own is None:
        raise InputError("the condition 'own' needs a prompt file; name it with `prompt = \"FILE\"` or --prompt FILE")
    try:
        return Prompt(condition=Condition.OWN, text=own.read_text(encoding="utf-8"), source=own.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(own, f"cannot be read as text ({error})") from error


def _tools_in_words(tools: Tools) -> str:
    lines = [
        "- `bash` runs a command, `python` runs a program; both start in your folder, and files stay between calls.",
        "- `read_file`, `write_file` and `edit_file` handle text files.",
        f"- `{LOOK}` shows you the rendered pages of a file you made.",
        "- `submit` hands in the finished work.",
    ]
    if tools is Tools.CODE_AND_SEARCH:
        lines.append("- `web_search` searches the web. There is no other network.")
    elif tools is Tools.CODE_AND_GET:
        lines.append("- The network answers GET requests to some hosts, and nothing else.")
    else:
        lines.append("- There is no network.")
    return "\n".join(lines)


_LAST_LINE = re.compile(r"CONFIDENCE\[(\d{1,3})\]")
ANYWHERE = re.compile(rb"CONFIDENCE\[\s*\d{1,3}\s*\]")


@dataclass(frozen=True)
class Stated:
    """The text without its confidence line, the figure, and what was wrong where it could not be read."""

    text: str
    confidence: int | None
    fault: str | None = None


def read_confidence(text: str) -> Stated:
    """Take `CONFIDENCE[0-100]` off the last line.

    Only a last line that consists of nothing else counts. Anything else that looks like it stays in the text and is
    named as a fault; a text without any has simply stated none.
    """
    kept = text.rstrip()
    body, _, last = kept.rpartition("\n")
    found = _LAST_LINE.fullmatch(last.strip())
    if found and int(found[1]) <= 100:
        return Stated(body.rstrip(), int(found[1]))
    if found:
        return Stated(text, None, f"the confidence {found[1]} is above 100")
    if "CONFIDENCE[" in text:
        return Stated(text, None, "CONFIDENCE[...] does not stand alone on the last line")
    return Stated(text, None)
