"""Faults of form in delivered files, as the document checks found them; notes are none, and the expert's own beside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import coded
from guildhall.analysis.shares import clustered_share
from guildhall.domain.estimates import Estimate
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import Named, figure_section

MOST_RULES = 6
"""So many rules, those most often broken, have a figure of their own for each author."""


class Formatting:
    """Shares of files with at least one fault, clustered by task; None where no file was checked."""

    needs = frozenset({Need.FILES})

    def section(self, evidence: Evidence) -> Section | None:
        files = evidence.facts[Need.FILES]
        figures: list[Named] = [
            (whose, _share(own, pl.col("rules").list.len() > 0, f"{whose} with a fault of form", evidence.level))
            for whose, own in _by_author_and_type(files)
        ]
        words = (
            "Shares of delivered files in which a program found a fault of form: cut or overlapping text, missing "
            "glyphs, empty pages, broken formulas and the like. Each file counts once, however many faults it has; "
            "what is only noted about a file is no fault. The baseline's own files stand beside the models'."
        )
        return figure_section("formatting", "Files with a fault of form", words, figures, form="percent")


class FormattingRules:
    """Which faults they are: the rules most often broken, for each author and file type that broke them."""

    needs = frozenset({Need.FILES})

    def section(self, evidence: Evidence) -> Section | None:
        files = evidence.facts[Need.FILES]
        broken = files.select(pl.col("rules").explode().drop_nulls()).to_series().value_counts()
        common = [rule for rule, _ in sorted(broken.iter_rows(), key=lambda row: (-row[1], row[0]))[:MOST_RULES]]
        figures: list[Named] = [
            (
                f"{rule.replace('-', ' ')}, {whose}",
                _share(own, pl.col("rules").list.contains(rule), f"{whose} with {rule}", evidence.level),
            )
            for rule in common
            for whose, own in _by_author_and_type(files)
            if own.select(pl.col("rules").list.contains(rule).any()).item()
        ]
        words = f"The {len(common)} faults found most often, as shares of the files of each author and type."
        return figure_section("formatting-rules", "Which faults of form", words, figures, form="percent")


def _by_author_and_type(files: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    parts = files.sort("author", "ending", "task").partition_by("author", "ending", as_dict=True, maintain_order=True)
    return [(f"{author}: {ending} files", own) for (author, ending), own in parts.items()]


def _share(own: pl.DataFrame, hit: pl.Expr, what: str, level: float) -> Estimate:
    found = clustered_share(
        own.select(hit.fill_null(value=False)).to_series().to_numpy(),
        coded(own["task"]).codes.astype(np.intp),
        what=f"share of {what}",
        level=level,
    )
    return replace(found, n_judgments=None, n_samples=len(own), unit="file")
