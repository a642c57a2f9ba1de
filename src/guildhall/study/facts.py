"""What many judgments say alike: read once for each way of saying it, and known by code from there on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.tables import Codes
from guildhall.domain.judgments import Acceptance, BlindGuess
from guildhall.store.fields import Field, JsonText
from guildhall.study.rows import AUTOMATIC, NOT_ASKED

FIELD: Field = (
    JsonText,
    (
        "grader.grader_kind",
        "grader.name",
        "ranks",
        "guess",
        "usability",
        "planned",
        "exposure",
        "omissions",
    ),
)
"""Fields of a judgment that take few values together."""
_PLACES = {BlindGuess.A.value: 0, BlindGuess.B.value: 1}


class Fact(NamedTuple):
    """One way of judging: by whom, with which ranks and answers by place, and what was kept of it."""

    kind: str
    ranks: tuple[int, ...] | None
    guess: int
    """The place named as the baseline's, -1 where none was, or `NOT_ASKED`; asked about pairs only."""
    accepted: tuple[int, ...]
    planned: bool
    exposure: int
    omissions: int


class Facts:
    """The facts of a chunk of judgments; `code` says which of them each judgment is."""

    def __init__(self, texts: Sequence[str]) -> None:
        index: dict[str, int] = {}
        self.code = coded(texts, index)
        self.known = [_read(text) for text in index]
        sizes = np.array([len(fact.accepted) for fact in self.known])
        self._starts = np.cumsum(sizes) - sizes

    def column(self, name: str) -> NDArray[Any]:
        """A fact's field for each judgment."""
        return np.array([getattr(fact, name) for fact in self.known])[self.code]

    @property
    def answered(self) -> NDArray[np.bool_]:
        return np.array([fact.ranks is not None for fact in self.known])[self.code]

    def kind(self, kinds: dict[str, int]) -> Codes:
        """Each judgment's kind of grader as code in an index that takes up new ones."""
        return coded([fact.kind for fact in self.known], kinds)[self.code]

    def at_place(self, name: str, judgment: Codes, place: Codes) -> Codes:
        """What `ranks` or `accepted` say of the work at a place of a judgment."""
        said = [one for fact in self.known for one in getattr(fact, name) or (0,) * len(fact.accepted)]
        found: Codes = np.array(said)[self._starts[self.code[judgment]] + place]
        return found


def coded(words: Sequence[str], index: dict[str, int]) -> Codes:
    """Codes of words by an index that takes up new ones; each distinct word is looked at once."""
    for word in dict.fromkeys(words):
        index.setdefault(word, len(index))
    return np.fromiter(map(index.__getitem__, words), np.int32, len(words))


def _read(text: str) -> Fact:
    kind, program, ranks, guess, usability, planned, exposure, omissions = json.loads(text)
    said = {one["place"]: int(one["acceptance"] == Acceptance.AS_IS) for one in usability or ()}
    asked_for_pair = guess is not None and len(ranks or ()) == len(_PLACES)
    return Fact(
        kind=kind or f"{AUTOMATIC}{program}",
        ranks=None if ranks is None else tuple(ranks),
        guess=_PLACES.get(guess, -1) if asked_for_pair else NOT_ASKED,
        accepted=tuple(said.get(chr(ord("A") + place), NOT_ASKED) for place in range(len(ranks or ()))),
        planned=bool(planned),
        exposure=exposure or 0,
        omissions=sum((omissions or {}).values()),
    )
