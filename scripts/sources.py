"""The documents line by line: `python -m scripts.sources` writes the page from tests/sources/lines.txt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
DATA, PAGE = ROOT / "tests" / "sources" / "lines.txt", ROOT / "docs" / "method" / "the-sources-line-by-line.md"
PARTS = {"G": "How GDPval is graded", "P": "The GDPval paper and its appendix", "B": "How the Boswell Test is graded"}
STATES = ("works", "differs", "not run here", "comes with", "open")


class Line(NamedTuple):
    """One thing that the documents ask for."""

    number: str
    asks: str
    state: str
    where: str
    test: str


def read_lines() -> list[Line]:
    """Every line of the data file; one of another shape is an error."""
    rows = [row for row in DATA.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
    found = [Line(*(part.strip() for part in f"{row} |".split("|")[:5])) for row in rows]
    strange = [line.number for line in found if line.state not in STATES]
    if strange:
        raise ValueError(f"no such state: {', '.join(strange)}")
    return found


def page_of(lines: Sequence[Line]) -> str:
    counts = Counter(line.state for line in lines)
    told = [
        "# The sources, line by line",
        "",
        "What the three documents behind Guildhall ask for, each thing in our own words, with the place where it is done and the test",
        "that shows it, or why it is otherwise. Made from `tests/sources/lines.txt`; a test holds that every place and every test exists.",
        "",
        "| | lines |",
        "| --- | ---: |",
        *(f"| {state} | {counts[state]} |" for state in STATES),
        f"| all | {len(lines)} |",
    ]
    for letter, title in PARTS.items():
        told += [
            "",
            f"## {title}",
            "",
            "| | what is asked | | where, or why not | shown by |",
            "| --- | --- | --- | --- | --- |",
        ]
        told += [_row(line) for line in lines if line.number.startswith(letter)]
    return "\n".join(told) + "\n"


def _row(line: Line) -> str:
    where = f"`{line.where}`" if line.state == "works" else line.where
    test = f"`{line.test}`" if line.test else ""
    return f"| {line.number} | {line.asks} | {line.state} | {where} | {test} |"


if __name__ == "__main__":
    PAGE.write_text(page_of(read_lines()), encoding="utf-8")
