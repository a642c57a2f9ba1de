"""Judged examples for a judge's prompt: pairs people judged, kept as one versioned collection.

A collection is frozen when it is made. A judge that is shown examples from it names its version, so that later
judgments of people never change what an earlier verdict rested on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from guildhall.domain.values import Digest, Id, Value, sha256


class JudgedExample(Value):
    """One pair as people saw it, A first, and what they said, taken together. There is no field for an author.

    `digests` are of the pair's submissions, files and messages: whoever judges one of them is not shown the example.
    """

    task: Id
    brief: str
    sides: tuple[str, str]
    verdict: Literal["A", "B", "TIE"]
    reason: str = ""
    people: Annotated[int, Field(ge=1)]
    digests: tuple[Digest, ...]


class ExampleCollection(Value):
    """All examples of a study at one moment; tasks are dealt to folds, and a fold's tasks never serve each other."""

    name: Id
    kind: str = "judged examples"
    study: Id
    examples: tuple[JudgedExample, ...]
    folds: Annotated[int, Field(ge=2)] = 10
    seed: int = 0
    grader_kinds: tuple[str, ...] = ()
    made_at: AwareDatetime

    @property
    def version(self) -> str:
        return self.content_digest()[:12]

    def fold(self, task: Id) -> int:
        """The fold of any task, of this collection or not."""
        return int(sha256(f"{self.seed}:{task}".encode())[:12], 16) % self.folds
