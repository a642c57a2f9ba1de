"""What the package's functions hand back: frozen values in which an omission is a fact with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from guildhall.documents.detection import Detected
from guildhall.documents.kinds import Kind
from guildhall.domain.values import Value

Share = Annotated[float, Field(ge=0, le=1)]
Box = tuple[Share, Share, Share, Share]
"""Left, top, right, bottom as shares of the page, from its top left corner."""


class Gravity(StrEnum):
    """How much a finding matters to whoever opens the file."""

    NOTE = "note"
    MINOR = "minor"
    MAJOR = "major"


class Finding(Value):
    """One thing noticed about a file, in a plain sentence; `page` counts from 1, `picture` shows the place."""

    rule: str
    severity: Gravity
    words: str
    page: int | None = None
    box: Box | None = None
    picture: Path | None = None


class Omission(Value):
    """Something that was not shown, read or cleaned, and why; `count` in the unit that `what` names."""

    what: str
    reason: str
    count: int = 1


class FontSubstitution(Value):
    """A font the file asks for and the one it was shown in (None when that could not be learnt)."""

    wanted: str
    shown: str | None = None


class PageImage(Value):
    """One page as a picture; `label` says what it is where a number would not (a sheet, a view, a time)."""

    number: int
    image: Path
    width: int
    height: int
    label: str = ""


class Rendered(Value):
    """A file made visible: its pages, the PDF they came from where there is one, and the proof of how it went.

    Paths are absolute. `pdf` is None for a PDF itself and where none was needed. Without pages there is an omission.
    """

    kind: Kind
    renderer: str
    pages: tuple[PageImage, ...] = ()
    pdf: Path | None = None
    also: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    fonts_substituted: tuple[FontSubstitution, ...] = ()
    findings: tuple[Finding, ...] = ()
    omitted: tuple[Omission, ...] = ()
    from_cache: bool = False

    @model_validator(mode="after")
    def _nothing_is_lost_silently(self) -> Self:
        if not self.pages and not self.omitted:
            raise ValueError("a rendering without pages must say what was omitted, and why")
        return self


class Extracted(Value):
    """A file's words with their structure (Markdown-like), its facts, and what the budget left out."""

    kind: Kind
    text: str = ""
    facts: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    pages: int | None = None
    findings: tuple[Finding, ...] = ()
    omitted: tuple[Omission, ...] = ()


class Cleaned(Value):
    """One metadata place that was emptied or made uniform; the old content is never repeated here."""

    place: str
    action: str
    count: int = 1


class Scrubbed(Value):
    """A copy of a file without its makers' traces, and the list of places that were cleaned."""

    kind: Kind
    out: Path | None = None
    cleaned: tuple[Cleaned, ...] = ()
    named_as_asked: bool | None = None
    findings: tuple[Finding, ...] = ()
    omitted: tuple[Omission, ...] = ()


class Copied(Value):
    """What a grader is handed of a file to keep: written by us, of the kind it now is, and what it lacks in words.

    Without a copy the words say why.
    """

    kind: Kind
    out: Path | None = None
    not_copied: tuple[str, ...] = ()


class CopiedWorkbook(Value):
    """A workbook's copy by our own writer and, in plain words, what it lacks; or why there is no copy."""

    out: Path | None = None
    not_copied: tuple[str, ...] = ()
    kept_hidden: tuple[str, ...] = ()
    """Sheets, rows and columns that are hidden in the copy as in the original."""
    formulas: bool = False
    withheld: str | None = None


class LookOutcome(StrEnum):
    """Whether the wish was fulfilled for a file; an omission always has a reason."""

    OK = "ok"
    OMITTED = "omitted"


class FileOutcome(Value):
    """What one command did with one file: the shape of a JSON line of `guildhall documents`."""

    file: str
    kind: Kind
    outcome: LookOutcome
    reason: str | None = None
    pages: int | None = None
    findings: tuple[Finding, ...] = ()
    out: tuple[Path, ...] = ()


def noticed(detected: Detected) -> tuple[Finding, ...]:
    """What the first look at a file's content already shows."""
    found = []
    if detected.mismatch and detected.claimed:
        words = f"The name says {detected.claimed.value}, the content is {detected.kind.value}."
        found.append(Finding(rule="kind-mismatch", severity=Gravity.MAJOR, words=words))
    if detected.macros:
        words = "The file carries macros or scripts; they were not run."
        found.append(Finding(rule="macros", severity=Gravity.MAJOR, words=words))
    if detected.encrypted:
        found.append(Finding(rule="encrypted", severity=Gravity.MAJOR, words="The file is locked or encrypted."))
    return tuple(found)


def noted(omissions: Iterable[Omission]) -> tuple[Finding, ...]:
    """Omissions as findings, so that they are counted with everything else."""
    return tuple(
        Finding(rule="omitted", severity=Gravity.MINOR, words=f"Left out: {one.count} x {one.what} ({one.reason}).")
        for one in omissions
    )


def proof(rendered: Rendered) -> tuple[Finding, ...]:
    """How a rendering went: what was complained about, which fonts were replaced, what is not on the pages."""
    warnings = [Finding(rule="render-warning", severity=Gravity.NOTE, words=words) for words in rendered.warnings]
    fonts = [
        Finding(
            rule="font-substituted",
            severity=Gravity.NOTE,
            words=f"The font {font.wanted} is not here and was shown as {font.shown or 'another one'}.",
        )
        for font in rendered.fonts_substituted
    ]
    return (*rendered.findings, *warnings, *fonts, *noted(rendered.omitted))


def omitted(file: Path, kind: Kind, reason: str, *, findings: Iterable[Finding] = ()) -> FileOutcome:
    return FileOutcome(file=str(file), kind=kind, outcome=LookOutcome.OMITTED, reason=reason, findings=tuple(findings))


def achieved(
    file: Path, kind: Kind, *, pages: int | None = None, findings: Iterable[Finding] = (), out: Iterable[Path] = ()
) -> FileOutcome:
    return FileOutcome(
        file=str(file), kind=kind, outcome=LookOutcome.OK, pages=pages, findings=tuple(findings), out=tuple(out)
    )
