"""The fence around what others wrote in a judge's request: a defence against prompt injection.

A text stands between two lines with a code drawn under the workspace's secret, so that nobody who writes a deliverable
can know it; should it stand in a text all the same, it is broken there. So a request parses back to exactly the texts
that were put in. The code of brief and references follows from the task: all requests about a task begin with the same
bytes, which a provider's prompt cache can serve. That of deliverables follows from the comparison.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from guildhall.domain.values import canonical_json

PURPOSE = "fences"
"""What the key of all fences is derived for."""
_CODE_BYTES = 16
_FENCED = re.compile(r"^<material ([0-9a-f]{32})>\n(.*?)\n</material \1>$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """One fence by its code; without a code there is none, as for judges from before there were fences."""

    code: str = ""

    @classmethod
    def about(cls, key: bytes, *what: str) -> Fence:
        return cls(hmac.digest(key, canonical_json(what), "sha256")[:_CODE_BYTES].hex())

    def around(self, text: str) -> str:
        if not self.code:
            return text
        return f"<material {self.code}>\n{text.replace(self.code, '(code)')}\n</material {self.code}>"


@dataclass(frozen=True)
class Fences:
    """The fences of one request: around brief and references, and around deliverables and examples."""

    task: Fence = Fence()
    works: Fence = Fence()

    @classmethod
    def of(cls, key: bytes, task: str, *compared: str) -> Fences:
        """Those of a request about a task and what is compared or marked, in whatever order it is shown."""
        return cls(Fence.about(key, "task", task), Fence.about(key, "works", *sorted(compared)))


UNFENCED = Fences()


@dataclass(frozen=True)
class Piece:
    """A stretch of a request: our own words, or a text that stands in a fence with this code."""

    text: str
    code: str = ""


def pieces(request: str) -> list[Piece]:
    """A fenced request taken apart again, in its order; what looks like a fence in a text is a part of the text."""
    found, end = [], 0
    for fenced in _FENCED.finditer(request):
        found += [Piece(request[end : fenced.start()]), Piece(fenced[2], fenced[1])]
        end = fenced.end()
    return [piece for piece in (*found, Piece(request[end:])) if piece.text or piece.code]
