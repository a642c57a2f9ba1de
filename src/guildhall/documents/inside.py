"""What runs in a room for each wish: the package's functions in the shape `confined` calls them."""

from __future__ import annotations

from pathlib import Path

from guildhall.documents.kinds import Kind
from guildhall.documents.values import Extracted, Finding, Scrubbed
from guildhall.domain.values import Value


class Findings(Value):
    """What a look at a file found."""

    findings: tuple[Finding, ...] = ()


def read(file: Path, out: Path, *, kind: str) -> Extracted:  # noqa: ARG001 - nothing to write
    from guildhall.documents.extract.reading import extract_file

    return extract_file(file, kind=Kind(kind))


def scrub(file: Path, out: Path, *, kind: str, shown: str) -> Scrubbed:
    """Write the scrubbed copy as `shown`."""
    from guildhall.documents.scrub.scrubbing import scrub_file

    return scrub_file(file, out / shown, kind=Kind(kind))


def check(file: Path, out: Path, *, kind: str, pdf: Path | None = None, pages: int | None = None) -> Findings:
    """Hold a file and its rendered form against the format rules; `pages` is the limit the brief sets."""
    from guildhall.documents.checks.checking import Limits, check_file

    return Findings(findings=check_file(file, kind=Kind(kind), pdf=pdf, pictures=out, limits=Limits(pages=pages)))
