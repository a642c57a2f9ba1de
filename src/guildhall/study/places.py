"""Where digests stand among many others: found by their bytes, millions in one go."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import UnknownName

_BYTES = 32


def joined(digests: Iterable[str]) -> bytes:
    """The bytes of digests, one after the other."""
    return unhexlify("".join(digests))


class Places:
    """Finds the place of a digest among those it was made of, given as bytes one after the other.

    They are sorted by their first eight bytes, which one comparison of whole numbers tells apart; the others are looked
    at too, as nobody shall be able to pass one digest off as another by its beginning.
    """

    def __init__(self, digests: bytes) -> None:
        self._known = _words(digests)
        self._order = np.argsort(self._known[:, 0], kind="stable")
        self._heads = self._known[self._order, 0]

    def of(self, digests: bytes) -> NDArray[np.int64]:
        """The place of each, the first where one stands several times, and -1 where it is unknown."""
        wanted = _words(digests)
        at = np.searchsorted(self._heads, wanted[:, 0])
        found = np.full(len(wanted), -1, dtype=np.int64)
        looking = np.arange(len(wanted))
        while len(looking := looking[at[looking] < len(self._heads)]):
            place = self._order[at[looking]]
            same = (self._known[place] == wanted[looking]).all(axis=1)
            found[looking[same]] = place[same]
            begins_alike = self._heads[at[looking]] == wanted[looking, 0]
            looking = looking[~same & begins_alike]
            at[looking] += 1
        return found

    def known(self, digests: bytes, what: str) -> NDArray[np.int64]:
        """The same where each must be there: a place that is not one would be taken for the last."""
        found = self.of(digests)
        if len(missing := np.flatnonzero(found < 0)):
            first = int(missing[0]) * _BYTES
            raise UnknownName(what, digests[first : first + _BYTES].hex(), known=[])
        return found


def _words(digests: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(digests, dtype=np.uint64).reshape(-1, _BYTES // 8)
