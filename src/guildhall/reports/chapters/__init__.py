"""The chapters of a report, in the order a reader meets them. A new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from guildhall.analysis.evidence import Evidence, Need
from guildhall.domain.report import Section
from guildhall.reports.chapters.headline import Breakdowns, Headline

E_contra = TypeVar("E_contra", contravariant=True)


class Chapter(Protocol[E_contra]):
    """One chapter: the facts it needs beside the judgments, and the section it makes of them; None without any."""

    @property
    def needs(self) -> frozenset[Need]: ...

    def section(self, evidence: E_contra, /) -> Section | None: ...


STUDY_CHAPTERS: Sequence[Chapter[Evidence]] = (
    Headline(),
    Breakdowns(),
)
