"""The study file: read once, checked in full, with every fault named by its place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import JudgePlan
from guildhall.domain.values import Id, Line, Value
from guildhall.engine.prices import Price
from guildhall.errors import UnreadableFile
from guildhall.grading.judges.settings import GradingSettings
from guildhall.sampling.authors import AuthorPlan
from guildhall.sampling.settings import SamplingSettings


class StudySection(Value):
    """`[study]`: what the study is called, and the seed every random choice in it follows from."""

    id: Id
    title: Line
    seed: int = 0


class TasksSection(Value):
    """`[tasks]`: which tasks of the workspace. Without any line, all of them."""

    ids: tuple[Id, ...] = ()
    sectors: tuple[Line, ...] = ()
    occupations: tuple[Line, ...] = ()
    first: Annotated[int, Field(ge=1)] | None = None


class StudyFile(Value):
    """A whole study file; a stage that joins the study adds its section here."""

    study: StudySection
    tasks: TasksSection = TasksSection()
    authors: Annotated[tuple[AuthorPlan, ...], Field(min_length=1)]
    sampling: SamplingSettings = SamplingSettings()
    prices: dict[str, Price] = {}
    people: HallDesign | None = None
    judges: tuple[JudgePlan, ...] = ()
    grading: GradingSettings = GradingSettings()

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [author.name for author in self.authors]
        if len(set(names)) < len(names):
            raise ValueError("two authors share one name")
        if len({judge.name for judge in self.judges}) < len(self.judges):
            raise ValueError("two judges share one name")
        return self

    def design(self) -> dict[str, JsonValue]:
        """The sections that shape results, as the frozen study keeps them; how work is paced is not among them."""
        written: dict[str, Any] = self.model_dump(mode="json", include={"tasks", "prices"})
        if self.people is not None:
            written["people"] = self.people.model_dump(mode="json")
        return written


def read_study(path: Path) -> StudyFile:
    """The study of a file, or `UnreadableFile` naming every fault."""
    try:
        return StudyFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        fix = "make one with `guildhall study new`"
        raise UnreadableFile(path, error.strerror or "cannot be read", fix=fix) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"is not valid TOML ({error})") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise UnreadableFile(path, faults, fix="correct the study file and try again") from error


TEMPLATE = """\
[study]
id = "{id}"
title = "{title}"
seed = 1

[tasks]                     # all tasks of the workspace, unless narrowed
# ids = ["task-1", "task-2"]
# sectors = ["Information"]
# first = 10

[[authors]]
name = "careful"
model = "scripted/careful"  # any Inspect model string: "openai/gpt-5", "anthropic/...", "ollama/..."
condition = "elicited"      # or "plain", or "own" with prompt = "FILE"
tools = "code"              # or "none", "code + web search", "code + GET"
samples = 1
# settings = {{ reasoning_effort = "high" }}

[[authors]]
name = "careless"
model = "scripted/careless"
condition = "plain"

[sampling]
sandbox = "bubblewrap"      # or "docker", "k8s"
at_once = 2

[sampling.limits]
item_seconds = 1800.0
item_turns = 100
# item_usd = 5.0
# run_usd = 100.0
"""


def new_study(path: Path, *, study_id: str, title: str) -> Path:
    """Write a study file to start from; an existing one is left alone."""
    if path.exists():
        raise UnreadableFile(path, "is there already", fix="choose another name, or edit it")
    StudySection(id=study_id, title=title)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEMPLATE.format(id=study_id, title=title.replace('"', "'")), encoding="utf-8")
    return path
