"""Finding the judged pairs nearest to the one at hand, and showing them to a judge.

Nearness is the cosine between TF-IDF vectors of request and work. An example never shares the task, the fold, a
submission, a file or a message with what is being judged: its verdict could tell the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from guildhall.domain.examples import ExampleCollection, JudgedExample
from guildhall.domain.prepared import Prepared
from guildhall.domain.tasks import Task
from guildhall.domain.values import Digest, sha256

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]{3,}")
_FOR_EXAMPLES = 0.1
"""Of a judge's context, over and above what its material may take."""
_CHARACTERS_A_TOKEN = 3


class Examples:
    """A collection made ready for search."""

    def __init__(self, collection: ExampleCollection) -> None:
        self.collection = collection

    def nearest(
        self, task: Task, texts: Iterable[str], digests: AbstractSet[Digest], count: int
    ) -> list[JudgedExample]:
        """At most `count` examples for work on `task`, nearest first; the order of `texts` makes no difference."""
        allowed = [
            place
            for place, one in enumerate(self.collection.examples)
            if one.task != task.id
            and self.collection.fold(one.task) != self.collection.fold(task.id)
            and digests.isdisjoint(one.digests)
        ]
        if not allowed:
            return []
        nearness = self._nearness(_words([task.brief, *texts]))
        order = sorted(allowed, key=lambda place: (-float(nearness[place]), place))
        return [self.collection.examples[place] for place in order[:count]]

    def _nearness(self, asked: Counter[str]) -> NDArray[np.float64]:
        """The cosine of each example with what is asked about, but for the length of the latter."""
        index = self._index
        vector = np.zeros(len(index.place_of))
        known = [word for word in asked if word in index.place_of]
        at = [index.place_of[word] for word in known]
        vector[at] = index.rarity[at] * (1 + np.log([asked[word] for word in known]))
        sums = np.bincount(index.row, index.weight * vector[index.word], minlength=len(self.collection.examples))
        return np.asarray(sums, dtype=np.float64)

    @cached_property
    def _index(self) -> _Index:
        documents = [_words([one.brief, *one.sides]) for one in self.collection.examples]
        place_of = {word: place for place, word in enumerate(sorted(set().union(*documents)))}
        row = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
        word = np.array([place_of[one] for document in documents for one in document], dtype=np.intp)
        times = np.array([n for document in documents for n in document.values()], dtype=np.float64)
        rarity = np.log((1 + len(documents)) / (1 + np.bincount(word, minlength=len(place_of)))) + 1
        weight = (1 + np.log(times)) * rarity[word]
        lengths = np.sqrt(np.bincount(row, weight**2, minlength=len(documents)))
        return _Index(place_of, rarity, row, word, weight / lengths[row])


class _Index(NamedTuple):
    """All words of all examples, one entry for each word of each: which example, which word, and its weight there."""

    place_of: dict[str, int]
    rarity: NDArray[np.float64]
    row: NDArray[np.intp]
    word: NDArray[np.intp]
    weight: NDArray[np.float64]


def shown_examples(examples: Sequence[JudgedExample], *, context_tokens: int, count: int) -> str:
    """Examples as a part of a request, within their share of the judge's context; empty where there is none."""
    if not examples:
        return ""
    room = int(context_tokens * _FOR_EXAMPLES * _CHARACTERS_A_TOKEN / count)
    return "\n\n".join(["# Judged examples", *(_shown(number, one, room) for number, one in enumerate(examples, 1))])


def _shown(number: int, one: JudgedExample, room: int) -> str:
    parts = [
        f"### Example {number}: the request\n\n{_cut(one.brief, room // 5)}",
        f"### Example {number}: piece A\n\n{_cut(one.sides[0], room * 2 // 5)}",
        f"### Example {number}: piece B\n\n{_cut(one.sides[1], room * 2 // 5)}",
        f"### Example {number}: what people said\n\n{one.reason}".rstrip(),
        f"They decided: {one.verdict}",
    ]
    return "\n\n".join(parts)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}\n(cut here)"


def traces_of(subject: Digest, work: Prepared) -> set[Digest]:
    """What two pieces of work may have in common: the submission itself, a file or the copy of it, the message."""
    message = {sha256(work.text.strip().encode())} if work.text.strip() else set()
    return {
        subject,
        *(digest for file in work.files for digest in (file.scrubbed, file.copied) if digest is not None),
    } | message


def _words(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in _WORD.findall(text.casefold()))
