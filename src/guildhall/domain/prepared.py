"""Work made ready to be judged: every file scrubbed, rendered and read once, whoever will look at it."""

from __future__ import annotations

from typing import ClassVar

from guildhall.domain.judgments import ShownPage
from guildhall.domain.values import Digest, GrownValue, Value

NOTES = frozenset({"unchecked-pages"})
"""Rules that only note something about a file: no fault of whoever made it."""
STEERING = "steer-"
"""Begins the rules about attempts to steer whoever judges: no faults of form."""
VERSION = "5"
"""Part of the key: a change in what is prepared prepares everything anew."""


class GridSheet(Value):
    """One sheet as a table: filled rows by number, stored values by column, formulas by address."""

    name: str
    hidden: bool = False
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()
    formulas: dict[str, str] = {}
    left_out: int = 0
    """Filled rows beyond what is shown."""


class Grid(Value):
    sheets: tuple[GridSheet, ...] = ()


PLACES = 10_000
"""Places on a page are told in so many parts of its width and of its height."""


class PlacedText(Value):
    """Words that stand beside each other on a page, and the box around them."""

    text: str
    left: int
    top: int
    width: int
    height: int


class TextLayer(Value):
    """The words of a file's pages where they stand, in reading order, by the number of the page."""

    pages: dict[int, tuple[PlacedText, ...]] = {}


class PreparedFile(Value):
    """One file as it is shown and handed out. What could not be shown is counted, with the reason."""

    kind: str
    ending: str
    copied: Digest | None = None
    """What graders are handed to keep, written by us from what is seen; of the kind `copied_as`."""
    copied_as: str = ""
    not_copied: tuple[str, ...] = ()
    """What the copy lacks, or why there is none."""
    scrubbed: Digest | None = None
    """The file itself without its makers' traces, for studies that hand out originals."""
    withheld: str = ""
    """What it lacks, or why there is no such file."""
    pages: tuple[ShownPage, ...] = ()
    text: Digest | None = None
    grid: Digest | None = None
    layer: Digest | None = None
    """Where the words stand on the pages; None for pages without words and for work prepared long ago."""
    words: int = 0
    omitted: tuple[str, ...] = ()
    findings: dict[str, int] = {}
    """Format findings by rule, for rates per model and file type; attempts to steer graders are among them."""
    tells: tuple[str, ...] = ()
    named_as_asked: bool | None = None
    public_name: str | None = None
    """The original name, for reference files only: a brief refers to them by it."""

    @property
    def faults(self) -> int:
        """How many faults of form were found."""
        return sum(count for rule, count in self.findings.items() if not rule.startswith(STEERING))


class Prepared(GrownValue):
    """The files of one submission (or of a task's references), by the digest of what they belong to."""

    subject: Digest
    version: str
    files: tuple[PreparedFile, ...]
    text: str = ""
    tells: tuple[str, ...] = ()
    steering: dict[str, int] | None = None
    """What in the final message tries to steer whoever judges, by rule."""

    later: ClassVar[frozenset[str]] = frozenset({"steering"})

    @property
    def key(self) -> str:
        return f"{self.subject}:{self.version}"
