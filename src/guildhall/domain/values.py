"""The ground every value stands on: frozen, strict, with one canonical form and one digest."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
)

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A sha256 in lower-case hex."""


def _plain_id(text: str) -> str:
    if not text or len(text) > 200 or any(ord(char) < 33 or ord(char) == 127 for char in text):
        raise ValueError("an id has 1 to 200 characters, none of them blank or a control character")
    return text


Id = Annotated[str, AfterValidator(_plain_id)]
"""A key of ours or of a data set: no blanks, safe in a URL once quoted."""


def _one_line(text: str) -> str:
    if not text.strip() or len(text) > 300 or any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise ValueError("a title is one line of 1 to 300 characters without control characters")
    return text


Line = Annotated[str, AfterValidator(_one_line)]
"""A title: one line, printable."""


class Value(BaseModel):
    """A frozen value that refuses unknown fields, complete when it is made."""

    # Validators are built when a kind of value is first used: a command that lists tasks need not pay for judgments.
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", allow_inf_nan=False, defer_build=True
    )

    def canonical(self) -> bytes:
        """The one byte form of this value: JSON, keys sorted, no spaces. Equal values have equal bytes."""
        return canonical_json(self.model_dump(mode="json"))

    def content_digest(self) -> Digest:
        return sha256(self.canonical())

    def but(self, **changes: Any) -> Self:
        """A checked copy with some fields changed (`model_copy` would skip the checks)."""
        return type(self).model_validate(self.model_dump() | changes)


class GrownValue(Value):
    """A value that got fields after some were kept: a field named in `later` is not written while it is None.

    So what was kept before keeps its bytes, its digest and its key, and a bundle of it is still in canonical form.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_what_came_later(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        return {name: what for name, what in written.items() if what is not None or name not in self.later}


def canonical_json(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def well_formed(text: str) -> str:
    """The same words as Unicode can carry them: half a letter, which JSON can say and no file can hold, is a mark."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sha256(data: bytes) -> Digest:
    return hashlib.sha256(data).hexdigest()
