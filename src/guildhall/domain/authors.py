"""Who made a piece of work, and who judged it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, JsonValue

from guildhall.domain.values import Digest, GrownValue, Id, Value, canonical_json, sha256


class Expert(Value):
    """A professional, by code name only."""

    kind: Literal["expert"] = "expert"
    code_name: Id = "expert"

    @property
    def key(self) -> str:
        return f"expert:{self.code_name}"


class RoomSettings(Value):
    """The confined place in which a model worked, as far as it may change the work; all of it asked of the room.

    `environment` digests what the room answered: its Python, its packages, its programs. `packages` are absent where
    a room cannot be asked before work begins (containers); `network` are the hosts that answer GET.
    """

    sandbox: str
    environment: Digest
    python: str | None = None
    packages: tuple[str, ...] | None = None
    programs: tuple[str, ...] | None = None
    network: tuple[str, ...] = ()
    limits: dict[str, float] = {}


class ModelRun(GrownValue):
    """A model under exact settings: everything that may change what it writes.

    `model` is an Inspect model string; `settings` holds reasoning effort, temperature and the like; `tools` names
    what it could use, and `brief` which form of the brief it read; `sample` numbers independent tries under the
    same settings. `room` is absent for work that needed none, and for work done before rooms were recorded: its
    environment is unknown.
    """

    later: ClassVar[frozenset[str]] = frozenset({"room"})

    kind: Literal["model"] = "model"
    name: Id
    model: str
    settings: dict[str, JsonValue] = {}
    condition: str = "elicited"
    prompt_digest: Digest | None = None
    tools: str | None = None
    brief: str = "full"
    sample: Annotated[int, Field(ge=1)] = 1
    room: RoomSettings | None = None

    @property
    def settings_digest(self) -> Digest:
        """What two samples of one configuration share."""
        parts: list[Any] = [self.model, self.settings, self.condition, self.prompt_digest, self.tools, self.brief]
        if self.room is not None:
            parts.append(self.room.model_dump(mode="json"))
        return sha256(canonical_json(parts))

    @property
    def key(self) -> str:
        return f"model:{self.name}:{self.settings_digest[:12]}:{self.sample}"


Author = Annotated[Expert | ModelRun, Field(discriminator="kind")]


class GraderKind(StrEnum):
    """Kinds of graders are never pooled silently; the kind stands in every caption."""

    EXPERT = "expert"
    PRACTITIONER = "practitioner"
    STUDENT = "student"
    CROWD = "crowd"
    SIMULATED = "simulated"


class Person(Value):
    """A human grader (or a simulated one, named as such), by code name."""

    kind: Literal["person"] = "person"
    code_name: Id
    grader_kind: GraderKind = GraderKind.EXPERT

    @property
    def key(self) -> str:
        return f"person:{self.code_name}"


class ModelGrader(Value):
    """A judge that is a program: a model with a prompt, a panel, or a baseline without any model."""

    kind: Literal["model"] = "model"
    name: Id
    model: str | None = None
    settings: dict[str, JsonValue] = {}
    prompt_digest: Digest | None = None

    @property
    def key(self) -> str:
        body = canonical_json([self.model, self.settings, self.prompt_digest])
        return f"judge:{self.name}:{sha256(body)[:12]}"


Grader = Annotated[Person | ModelGrader, Field(discriminator="kind")]
