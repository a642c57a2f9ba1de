"""Which pairs people grade where they grade a share: one draw, of fixed size within each author, kept with its chances.

The draw is made of everything that was planned, before any of it exists, so nothing that is made, fails or is judged
later moves it. A larger share of the same plan holds every pair of a smaller one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from guildhall.domain.values import Id, Value, canonical_json, sha256

FEWEST_DRAWN = 3
"""So many pairs of each author are drawn at least: of fewer nothing could be said of the author."""


class Planned(NamedTuple):
    """One piece of work that is to be made, and compared with the baseline's."""

    task: Id
    author: Id
    sample: int


class DrawnOf(Value):
    """Of the `planned` pairs of one author: the tasks and samples that were drawn, each with the same chance."""

    planned: Annotated[int, Field(ge=1)]
    pairs: tuple[tuple[Id, int], ...]

    @property
    def chance(self) -> float:
        return len(self.pairs) / self.planned


class Draw(Value):
    """The pairs that people grade, by author. Pairs of authors it does not name (anchors of a wave) are all graded."""

    authors: dict[Id, DrawnOf]

    @model_validator(mode="after")
    def _draws_what_is_planned(self) -> Draw:
        if any(len(set(one.pairs)) < len(one.pairs) or len(one.pairs) > one.planned for one in self.authors.values()):
            raise ValueError("a draw holds each pair once, and no more pairs than were planned")
        return self

    @cached_property
    def _drawn(self) -> frozenset[Planned]:
        return frozenset(Planned(task, name, n) for name, one in self.authors.items() for task, n in one.pairs)

    def chance(self, work: Planned) -> float | None:
        """With what chance a pair was drawn; None for one that was not."""
        if work.author not in self.authors:
            return 1.0
        return self.authors[work.author].chance if work in self._drawn else None


def draw_pairs(planned: Sequence[Planned], *, share: float, about: Sequence[object]) -> Draw:
    """A share of each author's pairs, those with the least digests under the seed that `about` holds."""
    by_author: dict[Id, list[Planned]] = {}
    for work in sorted(set(planned)):
        by_author.setdefault(work.author, []).append(work)
    return Draw(authors={name: _some(works, share, about) for name, works in by_author.items()})


def _some(works: Sequence[Planned], share: float, about: Sequence[object]) -> DrawnOf:
    n = max(int(share * len(works) + 0.5), min(FEWEST_DRAWN, len(works)))
    ranked = sorted(works, key=lambda work: sha256(canonical_json([*about, *work])))
    return DrawnOf(planned=len(works), pairs=tuple(sorted((work.task, work.sample) for work in ranked[:n])))
