"""Turning what was made of a file into one outcome, in which nothing that went missing is left unsaid."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from guildhall.documents.detection import Detected
from guildhall.documents.kinds import Kind
from guildhall.documents.values import FileOutcome, Finding, Gravity, Omission, Outcome, Rendered


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
    return FileOutcome(file=str(file), kind=kind, outcome=Outcome.OMITTED, reason=reason, findings=tuple(findings))


def achieved(
    file: Path, kind: Kind, *, pages: int | None = None, findings: Iterable[Finding] = (), out: Iterable[Path] = ()
) -> FileOutcome:
    return FileOutcome(
        file=str(file), kind=kind, outcome=Outcome.OK, pages=pages, findings=tuple(findings), out=tuple(out)
    )
