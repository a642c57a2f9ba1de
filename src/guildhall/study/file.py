"""The study file: read once, checked in full, with every fault named by its place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from guildhall.domain.design import Blinding, PlanChoices, TaskChoice
from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import JudgePlan
from guildhall.domain.prices import Price
from guildhall.domain.values import Id, Line, Value
from guildhall.errors import UnreadableFile
from guildhall.grading.judges.settings import GradingSettings
from guildhall.sampling.authors import AuthorPlan, SamplingSettings


class StudySection(Value):
    """`[study]`: what the study is called, and the seed every random choice in it follows from."""

    id: Id
    title: Line
    seed: int = 0
    baseline: Id = "expert"
    """Whom all others are compared with: the expert, or an author of this study."""
    rehearsal: bool = False
    """Simulated graders stand where people stand; whatever the study shows says so first."""
    blinding: Blinding = "two-person"
    """Whether two people must agree to show the names of models, or one alone may; every report says which."""


class ExtendsSection(Value):
    """`[extends]`: this study is a later wave of another, whose file gives the tasks, graders and prices.

    `anchors` is the share of its judged pairs that are judged again; past `drift_limit` the waves are not pooled.
    """

    file: Path
    anchors: Annotated[float, Field(ge=0.1, le=1)] = 0.1
    drift_limit: Annotated[float, Field(gt=0, le=1)] = 0.05


INHERITED = ("tasks", "prices", "people", "judges", "grading", "sampling", "plan")
"""What a later wave takes from the study it extends: waves that differ in these could not be pooled."""


class StudyFile(Value):
    """A whole study file; a stage that joins the study adds its section here."""

    study: StudySection
    extends: ExtendsSection | None = None
    tasks: TaskChoice = TaskChoice()
    authors: Annotated[tuple[AuthorPlan, ...], Field(min_length=1)]
    sampling: SamplingSettings = SamplingSettings()
    prices: dict[str, Price] = {}
    people: HallDesign | None = None
    judges: tuple[JudgePlan, ...] = ()
    grading: GradingSettings = GradingSettings()
    plan: PlanChoices = PlanChoices()

    @property
    def sampled(self) -> tuple[AuthorPlan, ...]:
        """The authors who work here; the others' work comes in from elsewhere."""
        return tuple(author for author in self.authors if author.source is None)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [author.name for author in self.authors]
        if len(set(names)) < len(names):
            raise ValueError("two authors share one name")
        if len({judge.name for judge in self.judges}) < len(self.judges):
            raise ValueError("two judges share one name")
        if self.study.baseline not in {"expert", *names} and self.extends is None:
            raise ValueError(f"the baseline {self.study.baseline!r} is neither `expert` nor an author of the study")
        compared = {name for pair in self.plan.comparisons for name in pair}
        if self.extends is None and (strangers := compared - {"expert", *names}):
            raise ValueError(f"[plan] compares {min(strangers)!r}, who is neither `expert` nor an author of the study")
        return self


def read_study(path: Path, *, extended_by: tuple[Path, ...] = ()) -> StudyFile:
    """The study of a file, or `UnreadableFile` naming every fault; `extended_by` are files that lead here."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        return StudyFile.model_validate(written | _inherited(path, written, extended_by))
    except OSError as error:
        fix = "make one with `guildhall study new`"
        raise UnreadableFile(path, error.strerror or "cannot be read", fix=fix) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"is not valid TOML ({error})") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise UnreadableFile(path, faults, fix="correct the study file and try again") from error


def _inherited(path: Path, written: dict[str, Any], extended_by: tuple[Path, ...]) -> dict[str, Any]:
    if "extends" not in written:
        return {}
    if own := [name for name in INHERITED if name in written]:
        fix = "leave it out: a later wave takes it from the study it extends"
        raise UnreadableFile(path, f"extends another study and has [{own[0]}] of its own", fix=fix)
    above = (*extended_by, path.resolve())
    base = path.parent / ExtendsSection.model_validate(written["extends"]).file
    if base.resolve() in above:
        raise UnreadableFile(path, "extends itself", fix="name the file of the earlier wave")
    earlier = read_study(base, extended_by=above)
    if shared := {author.get("name") for author in written.get("authors", ())} & {one.name for one in earlier.authors}:
        fix = "a later wave adds authors under names of their own"
        raise UnreadableFile(path, f"names {min(shared)!r}, who is an author of the earlier wave", fix=fix)
    section = written.get("study", {})
    for name in ("baseline", "rehearsal", "blinding"):
        if name in section:
            fix = "leave it out: a later wave keeps the earlier one's"
            raise UnreadableFile(path, f"has a {name} of its own", fix=fix)
    kept = {name: getattr(earlier.study, name) for name in ("baseline", "rehearsal", "blinding")}
    same = {name: getattr(earlier, name) for name in INHERITED}
    return {**same, "study": {**section, **kept}}


TEMPLATE = """\
[study]
id = "{id}"
title = "{title}"
seed = 1
# blinding = "single-handed"  # one person alone may show the names of models; else it takes two, and reports say which

[tasks]                     # all tasks of the workspace, unless narrowed
# ids = ["task-1", "task-2"]
# sectors = ["Information"]
# first = 10

[[authors]]
name = "careful"
model = "scripted/careful"  # any Inspect model string: "openai/gpt-5", "anthropic/...", "ollama/..."
condition = "elicited"      # or "plain", or "own" with prompt = "FILE"
tools = "code"              # or "none", "code + web search", "code + GET"
samples = 3                 # tries at each task
# settings = {{ reasoning_effort = "high" }}
# released = 2026-01-31      # for the trend over release dates

[[authors]]
name = "careless"
model = "scripted/careless"
condition = "plain"
samples = 3

# [[authors]]               # work made elsewhere: a folder of task folders, Inspect logs, a submission package
# name = "model-b"
# from = "submissions/model-b"

[sampling]
sandbox = "bubblewrap"      # or "docker", "k8s"
at_once = 2

[sampling.limits]
item_seconds = 1800.0
item_turns = 100
# item_usd = 5.0
# run_usd = 100.0
"""


def new_study(path: Path, *, study_id: str, title: str, text: str | None = None) -> Path:
    """Write a study file to start from, with this text or the common one; an existing one is left alone."""
    if path.exists():
        raise UnreadableFile(path, "is there already", fix="choose another name, or edit it")
    StudySection(id=study_id, title=title)
    path.parent.mkdir(parents=True, exist_ok=True)
    common = TEMPLATE.format(id=study_id, title=title.replace('"', "'"))
    path.write_text(common if text is None else text, encoding="utf-8")
    return path
