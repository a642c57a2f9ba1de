"""`python -m tests.torture DATABASE [FAULTS] [SEED]`: a campaign in a process of its own; prints its counts as JSON."""

from __future__ import annotations

import json
import sys
from typing import TextIO

from tests.torture.campaign import campaign, kinds_on


def main(database: str, faults: int, seed: int) -> None:
    kinds = kinds_on(database)
    wanted = [kinds[number % len(kinds)] for number in range(faults or len(kinds))]
    struck = campaign(database, kinds=wanted, seed=seed, heard=lambda kind: _say(sys.stderr, kind))
    _say(sys.stdout, json.dumps(struck))


def _say(where: TextIO, words: str) -> None:
    where.write(words + "\n")
    where.flush()


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in (*sys.argv[2:], *("0", "20261116")[len(sys.argv) - 2 :])))
