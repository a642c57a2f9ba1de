"""Two scripted authors of visibly different quality; their tool calls truly run, and truly make the files.

`careful` reads every reference, makes each file that was asked for, looks at the rendered pages, and submits with a
confidence. `careless` makes the first file only, promises all, looks at nothing, and hands an input back.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import PurePosixPath

from guildhall.domain.submissions import Usage
from guildhall.engine.agents import SUBMIT
from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from guildhall.judging.pages import LOOK
from guildhall.sampling.collection import DELIVERABLES, REFERENCES

_FILE_NAME = re.compile(r"`([\w\-. ]+\.\w{2,5})`")
_POINT = re.compile(r"^(?:\d+\.|-)\s+(.+(?:\n(?:   ?).+)*)", re.MULTILINE)
_SLIDES = re.compile(r"\b(two|three|four|five|six|seven|eight) slides")
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}


@dataclass(frozen=True)
class BriefRead:
    """What a brief asks for: a title, its points, the names of the files it wants, and how many slides."""

    title: str
    points: list[str]
    wanted: list[str]
    slides: int = 5


def job_in(prompt: str) -> BriefRead:
    """The job a prompt describes, as far as a script can tell."""
    brief, _, listed = prompt.partition("\n\nReference files:\n\n")
    given = {PurePosixPath(line.removeprefix("- ").removeprefix(REFERENCES)).name for line in listed.splitlines()}
    wanted = [name for name in dict.fromkeys(_FILE_NAME.findall(brief)) if name not in given]
    points = [" ".join(point.split()) for point in _POINT.findall(brief)]
    points = [point for point in points if not any(f"`{name}`" in point for name in given)] or ["The work as asked"]
    points = [point.replace("`", "").replace("**", "") for point in points]
    title = (wanted[0].rsplit(".", 1)[0] if wanted else "report").replace("_", " ").capitalize()
    slides = _SLIDES.search(brief.replace("**", ""))
    return BriefRead(title, points, wanted or ["report.docx"], _NUMBERS[slides[1]] if slides else 5)


def _program(name: str) -> str:
    return files("guildhall.sampling").joinpath("programs", f"{name}.py").read_text(encoding="utf-8")


def _start(turn: Turn, program: str, *, after: str = "") -> Answer:
    """Write the program and run it on what the brief asks for."""
    job = json.dumps(asdict(job_in(_brief(turn))))
    return Answer(
        text="I will read the files and make what was asked for.",
        tools=(
            ToolUse("write_file", {"path": f"build/{program}.py", "content": _program(program)}),
            ToolUse("bash", {"command": f"python3 build/{program}.py {shlex.quote(job)}{after}"}),
        ),
    )


def _brief(turn: Turn) -> str:
    return next(said.text for said in turn.messages if said.role == "user")


def _paths(turn: Turn) -> list[str]:
    return [DELIVERABLES + name for name in job_in(_brief(turn)).wanted]


@scripted("careful", tokens_per_second=500, expects=Usage(calls=3, input_tokens=9_000, output_tokens=3_500))
def careful(turn: Turn) -> Answer:
    paths = _paths(turn)
    if not turn.tools:
        return Answer(text="\n".join([*job_in(_brief(turn)).points, "", "CONFIDENCE[60]"]))
    if turn.number == 0:
        return _start(turn, "careful", after=" && rm -r build")
    if turn.number == 1:
        return Answer(text="Now I look at every page.", tools=tuple(ToolUse(LOOK, {"path": path}) for path in paths))
    names = " and ".join(PurePosixPath(path).name for path in paths)
    text = f"Enclosed: {names}. Every point of the request has its own section.\n\nCONFIDENCE[80]"
    return Answer(text="", tools=(ToolUse(SUBMIT, {"text": text, "files": paths}),))


@scripted("careless", tokens_per_second=500, expects=Usage(calls=2, input_tokens=1_200, output_tokens=950))
def careless(turn: Turn) -> Answer:
    paths = _paths(turn)
    if not turn.tools:
        return Answer(text="Done! CONFIDENCE[99]")
    if turn.number == 0:
        return _start(turn, "careless")
    text = "All done! Everything you asked for is attached, checked and perfect.\nCONFIDENCE[99]"
    return Answer(text="", tools=(ToolUse(SUBMIT, {"text": text, "files": [*paths, DELIVERABLES.rstrip("/")]}),))
