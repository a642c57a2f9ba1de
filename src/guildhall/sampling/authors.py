"""Authors as a study names them, the exact model runs they stand for, and how a run of sampling is carried out."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.prices import Price
from guildhall.domain.values import Id, Value
from guildhall.engine.executor import Executor, Processes
from guildhall.engine.prices import Prices
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.sampling.elicitation import Condition, Prompt, Tools, prompt_for

HERE = Path("workspace")
"""As the source of an author: the work of that name which the workspace holds."""
COMMAND = "command/"
"""The model string of an author that is a command-line program."""


class AuthorPlan(Value):
    """One author: a model under exact conditions, or a command-line agent, and how often it is to try.

    `command` is a template run in the sandbox; `{prompt_file}` and `{folder}` stand for the file with the whole
    prompt and for the work folder. `brief` chooses the full brief or a confirmed under-specified one.

    `from` names where work lies that was made elsewhere: a folder, Inspect logs, a submission package or its table,
    beside the study; `"workspace"` is what the workspace holds of this author. Such an author makes nothing here.
    """

    name: Id
    model: str | None = None
    source: Annotated[Path | None, Field(alias="from")] = None
    files: Path | None = None
    """With logs: the folder with one folder of files a task."""
    command: tuple[str, ...] = ()
    settings: dict[str, JsonValue] = {}
    condition: Condition = Condition.ELICITED
    prompt: Path | None = None
    tools: Tools = Tools.CODE
    brief: Literal["full", "under-specified"] = "full"
    samples: Annotated[int, Field(ge=1, le=100)] = 3
    """Three of each task, as in GDPval: one alone cannot tell a lucky try from a good author."""
    released: date | None = None
    """The day the model came out, for the trend over release dates; no part of the work itself."""

    @model_validator(mode="after")
    def _model_or_command(self) -> Self:
        if self.source is not None:
            if self.command or self.prompt is not None or self.settings:
                raise ValueError(f"author {self.name!r} is made elsewhere; leave out command, prompt and settings")
            return self
        if self.files is not None:
            raise ValueError(f"author {self.name!r} has files; they go with `from`")
        if (self.model is None) == (not self.command):
            raise ValueError(f"author {self.name!r} needs either a model or a command")
        if self.command and self.tools is Tools.NONE:
            raise ValueError(f"author {self.name!r} is a command and works in a sandbox; leave out tools = 'none'")
        if self.prompt is not None and self.condition is not Condition.OWN:
            raise ValueError(f"author {self.name!r} has a prompt of its own; say condition = 'own' too")
        return self

    @property
    def works_in_a_room(self) -> bool:
        return self.source is None and (bool(self.command) or self.tools is not Tools.NONE)

    def instructions(self, *, folder: Path | None = None, room: RoomSettings | None = None) -> Prompt:
        """What comes before the brief; a prompt file is looked for beside the study."""
        own = self.prompt if self.prompt is None or folder is None else folder / self.prompt
        return prompt_for(self.condition, self.tools, own=own, room=room)

    def runs(self, prompt: Prompt, room: RoomSettings | None = None) -> list[ModelRun]:
        """One model run for each sample; the room is part of those that work in one."""
        model = self.model or COMMAND + self.name
        settings: dict[str, JsonValue] = {"command": list(self.command)} if self.command else self.settings
        return [
            ModelRun(
                name=self.name,
                model=model,
                settings=settings,
                condition=self.condition.value,
                prompt_digest=prompt.prompt_digest,
                tools=self.tools.value,
                brief=self.brief,
                sample=number,
                room=room if self.works_in_a_room else None,
            )
            for number in range(1, self.samples + 1)
        ]


class SamplingSettings(Value):
    """The `[sampling]` section: how work is paced, and the room it is done in. The room alone is part of a work's key.

    `at_once` agents work at a time in each of `processes` processes.
    """

    sandbox: str = "bubblewrap"
    environment: Path | None = None
    allow: tuple[str, ...] = ()
    sandbox_config: Path | None = None
    at_once: Annotated[int, Field(ge=1, le=500)] = 4
    processes: Annotated[int, Field(ge=1, le=64)] = 1
    limits: Limits = Limits(item_seconds=3600.0, item_turns=200)
    pace: Pace = Pace()

    def place(self) -> Sandbox:
        return Sandbox(kind=self.sandbox, environment=self.environment, allow=self.allow, config=self.sandbox_config)

    def executor(self) -> Executor | None:
        return Processes(self.processes) if self.processes > 1 else None

    def terms(self, run: str, prices: dict[str, Price] | None = None) -> Terms:
        return Terms(run=run, limits=self.limits, pace=self.pace, prices=Prices(prices))
