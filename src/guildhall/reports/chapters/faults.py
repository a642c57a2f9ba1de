"""How bad are the losses, which faults of form were found in delivered files, and did these keep graders blind?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from guildhall.analysis.effects import GuessRows, blinding_index
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import NOT_ASKED, coded
from guildhall.analysis.shares import SeverityRows, clustered_share, per_hundred_deliverables, severity_shares
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.estimates import Estimate
from guildhall.domain.judgments import Severity
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import Named, figure_section

UNCONDITIONAL = (Severity.CATASTROPHIC, Severity.BAD)
"""What is also told per 100 deliverables, lost or not."""
CLASSES = tuple(str(kind) for kind in Severity)


class LossSeverity:
    """Shares of ratings among deliverables that lost, clustered by task: of all, and of each model where several."""

    needs = frozenset({Need.SEVERITY})

    def section(self, evidence: Evidence) -> Section | None:
        rated = evidence.facts[Need.SEVERITY]
        if not len(rated.filter(~pl.col("control"))):
            return None
        figures: list[Named] = list(severity_shares(_rows(rated), level=evidence.level).items())
        for model, own in _by_model(rated).items():
            if len(own.filter(~pl.col("control"))):
                figures += [
                    (f"{model}: {name}", share)
                    for name, share in severity_shares(_rows(own), level=evidence.level).items()
                ]
        words = "Of deliverables that lost, how bad they were, by experts who had not judged the pair."
        return figure_section("severity", "How bad the losses are", words, figures, form="percent")


class PerHundred:
    """The same of all deliverables, lost or not; None where none that did not lose was rated."""

    needs = frozenset({Need.SEVERITY})

    def section(self, evidence: Evidence) -> Section | None:
        rated = evidence.facts[Need.SEVERITY]
        if not _tells_of_all(rated):
            return None
        figures = _per_hundred(rated, "", evidence.level)
        for model, own in _by_model(rated).items():
            figures += _per_hundred(own, f"{model}: ", evidence.level) if _tells_of_all(own) else []
        words = (
            "Of 100 deliverables, lost or not, how many are so bad. Some that did not lose are rated too, and are "
            "weighted back by how they were drawn."
        )
        return figure_section("severity-per-100", "Per 100 deliverables", words, figures)


def _per_hundred(rated: pl.DataFrame, whose: str, level: float) -> list[Named]:
    rows = _rows(rated)
    return [(f"{whose}{kind}", per_hundred_deliverables(rows, str(kind), level=level)) for kind in UNCONDITIONAL]


def _tells_of_all(rated: pl.DataFrame) -> bool:
    """Whether lost work and other work were both rated: without controls nothing is known of work that did not lose."""
    return rated["control"].n_unique() == 2


def _by_model(rated: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Each model's own, in the order of names; empty where there is one model only, whose figures are those of all."""
    models = rated["model"].drop_nulls().unique().sort().to_list()
    return {model: rated.filter(pl.col("model") == model) for model in models} if len(models) > 1 else {}


def _rows(rated: pl.DataFrame) -> SeverityRows:
    return SeverityRows(
        classes=CLASSES,
        rating=np.array([CLASSES.index(severity) for severity in rated["severity"]], dtype=np.intp),
        task=coded(rated["task"]).codes.astype(np.intp),
        sample=coded(rated["submission"]).codes.astype(np.intp),
        eligible=(~rated["control"]).to_numpy(),
        drawn=rated["drawn"].to_numpy(),
        rater=coded(rated["grader"]).codes.astype(np.intp),
    )


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


class Steering:
    """Shares of work with an attempt to steer whoever judges, clustered by task; None where none was found."""

    needs = frozenset({Need.STEERING})

    def section(self, evidence: Evidence) -> Section | None:
        works = evidence.facts[Need.STEERING]
        hit = pl.col("rules").list.len() > 0
        if not works.select(hit.any()).item():
            return None
        by_author = works.sort("author", "task").partition_by("author", as_dict=True, maintain_order=True)
        figures: list[Named] = [
            (str(author), replace(_share(own, hit, f"attempts by {author}", evidence.level), unit="sample"))
            for (author,), own in by_author.items()
        ]
        words = (
            "Shares of work whose words look like an attempt to steer whoever judges it: a forged part of a judge's "
            "request, a forged verdict, or instructions to graders. It is judged like any other work, graders are not "
            "told, and judges are shown every text inside a fence that its maker cannot know."
        )
        return figure_section("steering", "Attempts to steer graders", words, figures, form="percent")


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


class Blinding:
    """The index on pairs of a person's and a model's work; with a model as baseline there is no such pair."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        if evidence.baseline != "expert":
            return None
        asked = evidence.pairs.keep(evidence.pairs.guess != NOT_ASKED)
        figures: list[Named] = []
        preferred, grader, task = asked.score > 0.5, asked.grader.codes, asked.task.codes
        for model, at in asked.by_model():
            rows = GuessRows(asked.guess[at], preferred[at], grader[at], task[at])
            index = blinding_index(rows, level=evidence.level)
            figures += [(f"{model}: {where}", found) for where, found in index.items() if found.value is not None]
        words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
        return figure_section("blinding", "Did the blind hold?", words, figures, traced=True)


class Tells:
    """Results with and without the pairs whose files still hint at who made them."""

    needs = frozenset({Need.TELLS})

    def section(self, evidence: Evidence) -> Section | None:
        told = _carry_tells(evidence)
        if not told.any():
            return None
        clean = evidence.pairs.keep(~told)
        rates = win_rates(evidence.counted.of_pairs(clean).outcomes, level=evidence.level) if len(clean) else []
        without = {rate.model: rate for rate in rates}
        figures: list[Named] = []
        for rate in evidence.rates:
            figures.append((f"{rate.model}: all pairs", rate.win_or_tie))
            if rate.model in without:
                figures.append((f"{rate.model}: without tells", without[rate.model].win_or_tie))
        words = (
            f"Scrubbed files may still hint at their maker: {int(told.sum())} of {len(told)} judged pairs hold such a "
            "tell on one side or the other. Win or tie with and without them. Tells do not fall at random, so this "
            "describes and does not correct."
        )
        return figure_section("tells", "With and without tells", words, figures, form="percent", traced=True)


def _carry_tells(evidence: Evidence) -> NDArray[np.bool_]:
    """For each pair whether its own work or the baseline's beside it carries a tell."""
    pairs, telling = evidence.pairs, set(evidence.facts[Need.TELLS]["submission"])
    if not telling:
        return np.zeros(len(pairs), dtype=np.bool_)
    carries = np.array([name in telling for name in pairs.submission.names], dtype=np.bool_)
    return np.asarray(carries[pairs.submission.codes] | carries[pairs.base])
