"""Tasks: one piece of professional work each, with the files and the rubric that belong to it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from guildhall.domain.values import Digest, GrownValue, Id, Line, Value, sha256
from guildhall.errors import UnknownName


class TaskKey(str):
    """`id@version`: one wording of one task. What a study pins, and the only way to a task of a study.

    A string, since that is what stored studies, tables and digests hold. One that names no version was never a task's
    key; it can be read and kept, but `id` and `version` refuse it.
    """

    __slots__ = ()

    @classmethod
    def of(cls, identity: Id, version: int) -> Self:
        return cls(f"{identity}@{version}")

    @property
    def id(self) -> Id:
        return self._parts()[0]

    @property
    def version(self) -> int:
        return int(self._parts()[1])

    @property
    def is_whole(self) -> bool:
        """Whether it names a task and a version; some old forms of studies hold keys that do not."""
        identity, _, version = self.rpartition("@")
        return bool(identity) and version.isascii() and version.isdigit()

    def _parts(self) -> tuple[str, str]:
        if not self.is_whole:
            raise UnknownName("task", str(self), fix="a task's key is its id, @ and the number of its version")
        identity, _, version = self.rpartition("@")
        return identity, version

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(), serialization=core_schema.to_string_ser_schema()
        )


class Sector(Value):
    """A sector of the economy, by its exact official title."""

    title: Line
    naics: str | None = None


class Occupation(Value):
    """An occupation by its exact BLS title."""

    title: Line
    sector: Line
    soc: Annotated[str, Field(pattern=r"^\d\d-\d{4}(\.\d\d)?$")] | None = None
    median_hourly_usd: float | None = None
    mean_annual_usd: float | None = None
    employment: int | None = None


class FileRef(Value):
    """A file by name and, where its bytes are kept, by digest.

    `name` is relative, with forward slashes. A listed file whose bytes were never fetched has no digest:
    it is known by name only, and says so.
    """

    name: str
    digest: Digest | None = None
    size: int | None = None
    source: str | None = None

    @model_validator(mode="after")
    def _name_stays_inside(self) -> Self:
        check_relative_name(self.name)
        return self


_REFUSED = frozenset("\\\u2028\u2029\u202d\u202e")
_ESCAPED = _REFUSED | frozenset("\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069")
"""Letters that split lines, turn the direction of writing, or part folders elsewhere."""
_LONGEST_PART, _LONGEST_NAME = 255, 1024


def check_relative_name(name: str) -> None:
    """Refuse names that could leave their folder or trouble a terminal or a file system."""
    parts = name.split("/")
    if not name or name.startswith("/") or "\\" in name or any(part in {"", ".", ".."} for part in parts):
        raise ValueError(f"file name {name!r} is not a plain relative path")
    if any(_is_trouble(char, _REFUSED) for char in name):
        raise ValueError(f"file name {name!r} holds control characters")
    if any(len(part.encode()) > _LONGEST_PART for part in parts) or len(name.encode()) > _LONGEST_NAME:
        raise ValueError(f"file name {name[:40]!r}... is too long ({len(name)} characters)")


def plain_name(path: bytes) -> str:
    """The name a file is known by, whatever bytes a program has called it: legal here, readable, the same each time.

    Bytes that are no UTF-8, and letters that `check_relative_name` refuses, stand as `%XX`; what is too long
    keeps its beginning, its ending and a digest of the whole.
    """
    text = path.decode("utf-8", "surrogateescape")
    parts = [_plain_part(part) for part in text.split("/") if part not in {"", "."}]
    name = "/".join(parts) or "%2E"
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    first, _, rest = name.partition("/")
    return f"{first}/{_cut(rest.replace('/', '%2F'))}"


def _plain_part(part: str) -> str:
    if part == "..":
        return "%2E%2E"
    plain = "".join(_escaped(char) if _is_trouble(char, _ESCAPED) else char for char in part)
    return plain if len(plain.encode()) <= _LONGEST_PART else _cut(plain)


def _is_trouble(char: str, others: frozenset[str]) -> bool:
    code = ord(char)
    return code < 32 or 127 <= code < 160 or 0xD800 <= code < 0xE000 or char in others


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))


def _cut(part: str) -> str:
    stem, dot, ending = part.rpartition(".")
    kept = dot + ending if stem and len(ending.encode()) <= 16 else ""
    mark = "~" + sha256(part.encode())[:8]
    room = _LONGEST_PART - len((mark + kept).encode())
    return part.encode()[:room].decode("utf-8", "ignore") + mark + kept


class RubricItem(Value):
    """One criterion with its signed points; a negative item takes points away."""

    text: str
    points: int
    id: Id | None = None
    tags: tuple[str, ...] = ()


class Rubric(Value):
    items: tuple[RubricItem, ...]

    @property
    def positive_points(self) -> int:
        return sum(item.points for item in self.items if item.points > 0)

    @property
    def negative_items(self) -> int:
        return sum(item.points < 0 for item in self.items)


class Specification(StrEnum):
    """How well a brief says what is wanted (GDPval A.4.3)."""

    UNDER = "under-specified"
    WELL = "well-specified"
    OVER = "over-specified"


class ReviewState(StrEnum):
    DRAFT = "draft"
    IN_REVIEW = "in review"
    CHANGES_REQUESTED = "changes requested"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNREVIEWED = "unreviewed"


class Ratings(Value):
    """Mean ratings by experts, 1 to 5."""

    difficulty: Annotated[float, Field(ge=1, le=5)] | None = None
    representativeness: Annotated[float, Field(ge=1, le=5)] | None = None
    quality: Annotated[float, Field(ge=1, le=5)] | None = None
    specification: Specification | None = None


class OnetTags(Value):
    """What of O*NET a task exercises, by the published titles."""

    tasks: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    work_activities: tuple[str, ...] = ()


class Provenance(Value):
    """Where a task came from, exactly enough to fetch it again."""

    source: str
    revision: str | None = None
    licence: str | None = None


Joined = Literal["expert_hours", "hourly_wage_usd"]
"""Figures that may be joined to a task from another source than its own."""


class Task(GrownValue):
    """One piece of professional work: brief, reference files, the expert's files, rubric.

    `sources` names whence hours and wage were joined to it; wherever such a figure is used, its source is printed.
    """

    later: ClassVar[frozenset[str]] = frozenset({"sources"})

    id: Id
    version: Annotated[int, Field(ge=1)] = 1
    title: Line | None = None
    sector: Line
    occupation: Line
    brief: str
    reference_files: tuple[FileRef, ...] = ()
    expert_files: tuple[FileRef, ...] = ()
    expert_text: str | None = None
    rubric: Rubric | None = None
    expert_hours: Annotated[float, Field(gt=0)] | None = None
    hourly_wage_usd: Annotated[float, Field(gt=0)] | None = None
    ratings: Ratings = Ratings()
    onet: OnetTags = OnetTags()
    languages: tuple[str, ...] = ("en",)
    sensitive: tuple[str, ...] = ()
    review: ReviewState = ReviewState.UNREVIEWED
    provenance: Provenance | None = None
    sources: dict[Joined, Line] | None = None

    @model_validator(mode="after")
    def _file_names_differ(self) -> Self:
        for kind, files in (("reference", self.reference_files), ("expert", self.expert_files)):
            names = [file.name for file in files]
            if len(set(names)) < len(names):
                raise ValueError(f"two {kind} files share one name")
        return self

    @property
    def key(self) -> TaskKey:
        return TaskKey.of(self.id, self.version)

    @property
    def value_usd(self) -> float | None:
        """What the work is worth: hours times wage, or unknown."""
        if self.expert_hours is None or self.hourly_wage_usd is None:
            return None
        return self.expert_hours * self.hourly_wage_usd
