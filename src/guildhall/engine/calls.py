"""A one-shot call and its reply: the values that verdicts, marks and labels are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue

from guildhall.domain.submissions import StopReason, Usage
from guildhall.domain.values import Digest, Id, Value, canonical_json, sha256


class TextPart(Value):
    kind: Literal["text"] = "text"
    text: str


class FilePart(Value):
    """A file the model is shown, by the digest of its bytes: an image, a PDF, a recording."""

    kind: Literal["file"] = "file"
    name: str
    digest: Digest
    media_type: str


Part = Annotated[TextPart | FilePart, Field(discriminator="kind")]


class Message(Value):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, role: Literal["system", "user", "assistant"], *parts: str | TextPart | FilePart) -> Self:
        return cls(role=role, parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))


class Call(Value):
    """One question to one model: everything that may change the answer.

    `settings` holds Inspect's generation settings (temperature, reasoning_effort, max_tokens ...), `base_url`
    and `model_args`. `answer_schema` asks for JSON of that shape. `sample` numbers independent answers to the same
    question. `purpose` says what the call is for; it is kept with the call but is no part of its key.
    """

    model: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    settings: dict[str, JsonValue] = {}
    answer_schema: dict[str, JsonValue] | None = None
    sample: Annotated[int, Field(ge=1)] = 1
    purpose: Id = "call"

    @classmethod
    def ask(cls, model: str, *parts: str | TextPart | FilePart, system: str | None = None, **fields: Any) -> Self:
        """A call of one user message, with an optional system message before it."""
        opening = (Message.of("system", system),) if system is not None else ()
        return cls(model=model, messages=(*opening, Message.of("user", *parts)), **fields)

    @property
    def key(self) -> Digest:
        """Equal keys ask the same model the same thing in the same way."""
        return sha256(canonical_json(self.model_dump(mode="json", exclude={"purpose"})))


class Reply(Value):
    """What came back. A failure is a reply too: `error` says what happened, and `text` is empty.

    `seconds` is the provider's own time, without waiting or retries. A reply that an earlier run already paid for
    is `cached`: it has no seconds and costs nothing now. `data` is the parsed answer where a schema was asked
    for and the text is JSON.
    """

    call: Digest
    text: str = ""
    data: JsonValue = None
    stop: StopReason = StopReason.FINISHED
    error: str | None = None
    usage: Usage
    seconds: Annotated[float, Field(ge=0)] | None = None
    cached: bool = False
    served_by: str | None = None
    made_at: AwareDatetime

    @property
    def failed(self) -> bool:
        return self.error is not None

    def reused(self) -> Reply:
        """The same answer for a later run, which neither waited nor paid for it."""
        return self.but(usage=Usage(cached_calls=1, cost_usd=0.0), seconds=None, cached=True)
