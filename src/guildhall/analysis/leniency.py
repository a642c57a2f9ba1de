"""The leniency model: marks corrected for who gave them.

    mark = quality of the author + essay + severity of the grader (+ self, for one's own essay) + error

Severities are what a grader adds to every mark (positive is lenient) and sum to 0, so that a quality is the
mark a model would get from the average of these graders. Own marks never enter quality or severity: they are
saturated by the self term. With one essay an author, essay and quality cannot be told apart, and intervals
are about *this essay before these graders*; with more, essays are a sample of what the author writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from guildhall.analysis.intervals import t_quantile
from guildhall.analysis.leniency_fits import Solved, linked_groups, mean_by, shrunk_slopes, solve_marks
from guildhall.analysis.marks import Codes, Floats, MarkTable
from guildhall.analysis.ratings import rank_intervals
from guildhall.domain.estimates import Estimate
from guildhall.errors import NothingMarked, TooFewMarks, UnknownName, UnlinkedMarks

ONE_ESSAY = "this essay before these graders"
MANY_ESSAYS = "essays like these before these graders"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class LeniencyFit:
    """A fitted leniency model; arrays follow `authors`, `graders` and `essay_author`."""

    authors: tuple[str, ...]
    graders: tuple[str, ...]
    about: str
    level: float
    essay_effect: Floats
    essay_author: Codes
    severity_value: Floats
    severity_se: Floats
    family_effect: tuple[float, float] | None
    discrimination: dict[str, float] | None
    self_residuals: dict[str, Floats]
    error_sd: float
    essay_sd: float | None
    covariance: Floats
    df_quality: float
    df_error: int
    n_marks: int
    n_missing: int

    @cached_property
    def quality_value(self) -> Floats:
        return mean_by(self.essay_author, self.essay_effect, len(self.authors))

    @property
    def quality(self) -> dict[str, Estimate]:
        """Per author the mark expected from the average of these graders."""
        errors = np.sqrt(np.diag(self.covariance))
        return {
            author: self._estimate(self.quality_value[index], errors[index], self.df_quality, f"quality of {author}")
            for index, author in enumerate(self.authors)
        }

    @property
    def severity(self) -> dict[str, Estimate]:
        """Per grader what it adds to every mark; positive is lenient; sums to 0."""
        return {
            grader: self._estimate(self.severity_value[i], self.severity_se[i], self.df_error, f"severity of {grader}")
            for i, grader in enumerate(self.graders)
        }

    def difference(self, first: str, second: str) -> Estimate:
        """Quality of `first` minus quality of `second`, both corrected for their graders."""
        a, b = (self._index(name) for name in (first, second))
        variance = self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]
        gap = self.quality_value[a] - self.quality_value[b]
        return self._estimate(gap, np.sqrt(variance), self.df_quality, f"quality of {first} minus {second}")

    @property
    def self_by_model(self) -> dict[str, float]:
        """How much more each model gave its own essays than quality and severity explain."""
        return {name: float(values.mean()) for name, values in self.self_residuals.items()}

    @property
    def self_preference(self) -> Estimate:
        """The mean over models of what a model adds to its own marks; models are the unit."""
        values = np.array(list(self.self_by_model.values()))
        if len(values) < 2:
            value = float(values[0]) if len(values) else None
            return self._absent(value, "self-preference", f"{len(values)} models marked themselves; two are needed")
        error = values.std(ddof=1) / np.sqrt(len(values))
        return self._estimate(values.mean(), error, len(values) - 1, "self-preference", unit="model")

    @property
    def family_preference(self) -> Estimate:
        """What a grader adds to marks of relatives (same family, another model)."""
        if self.family_effect is None:
            return self._absent(None, "family preference", "no grader marked a relative, or no families were given")
        value, error = self.family_effect
        return self._estimate(value, error, self.df_error, "family preference")

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """The ranks each author may hold, simultaneous over all pairwise differences; overlapping ranks are ties."""
        found = rank_intervals(self.quality_value, self.covariance, level=self.level, df=self.df_quality)
        return dict(zip(self.authors, found, strict=True))

    def marks_to_settle(self, first: str, second: str, *, power: float = 0.8) -> int | None:
        """Essays an author needs so that the difference seen here is told from 0 with this power.

        With one essay an author only further marks of the same essays are counted: rounds of all graders.
        None when the two qualities are equal, since no number of marks separates those.
        """
        gap = self.difference(first, second).value
        if not gap:
            return None
        a, b = self._index(first), self._index(second)
        variance = self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]
        per_author = len(self.essay_author) / len(self.authors)
        reach = NormalDist().inv_cdf(0.5 + self.level / 2) + NormalDist().inv_cdf(power)
        return max(1, int(np.ceil(variance * per_author * (reach / gap) ** 2)))

    def _index(self, author: str) -> int:
        if author not in self.authors:
            raise UnknownName("author", author, known=list(self.authors))
        return self.authors.index(author)

    def _estimate(self, value: float, error: float, df: float, estimand: str, *, unit: str | None = None) -> Estimate:
        whole = f"{estimand} ({self.about})"
        if df < 1 or not error > _ROUNDING * max(1.0, abs(value)):
            return self._absent(float(value), whole, "the marks leave nothing over to measure error by")
        reach = t_quantile(0.5 + self.level / 2, df) * float(error)
        return Estimate(
            value=float(value),
            interval=(float(value) - reach, float(value) + reach),
            level=self.level,
            estimand=whole,
            method=f"leniency model, least squares, t with {df:g} df",
            unit=unit or ("mark" if self.about == ONE_ESSAY else "essay"),
            n_judgments=self.n_marks,
            n_excluded=self.n_missing,
        )

    def _absent(self, value: float | None, estimand: str, why: str) -> Estimate:
        return Estimate(
            value=value,
            level=self.level,
            estimand=estimand,
            method="leniency model, least squares",
            unit="mark",
            n_judgments=self.n_marks,
            n_excluded=self.n_missing,
            why_no_interval=why,
        )


def fit_leniency(
    table: MarkTable,
    *,
    families: Mapping[str, str] | None = None,
    discrimination: bool = False,
    level: float = 0.95,
) -> LeniencyFit:
    """Least squares over all marks of others' essays; `families` maps a model to its maker.

    Refuses (`UnlinkedMarks`) where graders and essays fall apart into groups. `discrimination` lets graders
    differ in how far they spread their marks: slopes with mean log 0, shrunk towards 1, at least 3 essays an
    author and 6 graders (`TooFewMarks` otherwise).
    """
    others = table.keep(~table.own)
    if not len(others.mark):
        raise NothingMarked
    graders, grader = np.unique(others.grader, return_inverse=True)
    essays, essay = np.unique(others.essay, return_inverse=True)
    authors, essay_author = np.unique(_author_of(others, essays), return_inverse=True)
    _require_linked(table, graders, linked_groups(essay, grader))
    related = _related(table, others, families)
    slopes = np.ones(len(graders))
    if discrimination:
        _require_enough(essay_author, graders)
        slopes = shrunk_slopes(essay, grader, others.mark)
    solved = solve_marks(essay, grader, others.mark, slopes, related)
    covariance, df_quality, essay_sd = _quality_covariance(solved, essay_author, len(authors))
    errors = np.sqrt(np.maximum(np.diag(solved.unscaled) * solved.variance, 0))
    n_essays, n_graders = len(essays), len(graders)
    names = tuple(table.models[code] for code in graders)
    return LeniencyFit(
        authors=tuple(table.models[code] for code in authors),
        graders=names,
        about=ONE_ESSAY if essay_sd is None else MANY_ESSAYS,
        level=level,
        essay_effect=solved.essay,
        essay_author=essay_author,
        severity_value=solved.severity,
        severity_se=errors[n_essays : n_essays + n_graders],
        family_effect=(float(solved.extra[0]), float(errors[-1])) if related is not None else None,
        discrimination=dict(zip(names, slopes.tolist(), strict=True)) if discrimination else None,
        self_residuals=_self_residuals(table, essays, graders, solved, slopes),
        error_sd=float(np.sqrt(solved.variance)),
        essay_sd=essay_sd,
        covariance=covariance,
        df_quality=df_quality,
        df_error=solved.df,
        n_marks=len(others.mark),
        n_missing=table.n_missing,
    )


def _author_of(table: MarkTable, essays: Codes) -> Codes:
    first = {int(essay): int(author) for essay, author in zip(table.essay, table.author, strict=True)}
    return np.array([first[int(essay)] for essay in essays], dtype=np.intp)


def _related(table: MarkTable, others: MarkTable, families: Mapping[str, str] | None) -> Floats | None:
    if families is None:
        return None
    family = np.array([families.get(model, f"only {model}") for model in table.models])
    related = (family[others.author] == family[others.grader]).astype(float)
    return related if 0 < related.sum() < len(related) else None


def _require_linked(table: MarkTable, graders: Codes, label: Codes) -> None:
    if len(np.unique(label)) > 1:
        raise UnlinkedMarks([[table.models[code] for code in graders[label == one]] for one in np.unique(label)])


def _require_enough(essay_author: Codes, graders: Codes) -> None:
    fewest = int(np.bincount(essay_author).min())
    if fewest < 3 or len(graders) < 6:
        raise TooFewMarks(
            f"discrimination needs 3 essays an author and 6 graders; here are {fewest} and {len(graders)}",
            fix="fit without it, or have more essays marked",
        )


def _quality_covariance(solved: Solved, essay_author: Codes, n_authors: int) -> tuple[Floats, float, float | None]:
    """Covariance of author qualities, its degrees of freedom, and the SD between essays of one author.

    With several essays the spread between an author's essays, pooled over authors, holds both the essays' own
    variation and the marks' error; what the essays share through the estimated severities is added.
    """
    n_essays = len(essay_author)
    counts = np.bincount(essay_author, minlength=n_authors)
    averaging = np.zeros((n_authors, n_essays))
    averaging[essay_author, np.arange(n_essays)] = 1 / counts[essay_author]
    of_error = solved.unscaled[:n_essays, :n_essays] * solved.variance
    from_marks = averaging @ of_error @ averaging.T
    spare = int((counts - 1).sum())
    if spare == 0:
        return from_marks, float(solved.df), None
    quality = mean_by(essay_author, solved.essay, n_authors)
    spread = float(((solved.essay - quality[essay_author]) ** 2).sum()) / spare
    within = float(np.trace(of_error) - (np.diag(from_marks) * counts).sum()) / spare
    covariance = from_marks + np.diag((spread - within) / counts)
    return covariance, float(spare), float(np.sqrt(max(spread - within, 0.0)))


def _self_residuals(
    table: MarkTable, essays: Codes, graders: Codes, solved: Solved, slopes: Floats
) -> dict[str, Floats]:
    """Own marks less what quality and severity expect, per model, where both could be fitted."""
    own = table.keep(table.own & np.isin(table.essay, essays) & np.isin(table.grader, graders))
    at, by = np.searchsorted(essays, own.essay), np.searchsorted(graders, own.grader)
    residual = own.mark - slopes[by] * solved.essay[at] - solved.severity[by]
    return {table.models[code]: residual[own.grader == code] for code in np.unique(own.grader)}
