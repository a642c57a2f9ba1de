"""Two fits of the leniency model besides the robust one: least squares for marks, and an ordinal link for letters.

The leniency model with an ordinal link: letters are ordered classes, not numbers with known gaps.

    P(mark at most class k) = logistic(cut k - essay - severity)

Classes are the distinct marks that were given. It stands beside the linear model, as a check whether the order
of authors hangs on how far apart one takes letters to be. A weak normal prior (SD 3 log-odds) keeps an author whom
all graders gave the top class finite. With few marks an essay the scores are stretched outwards, so
they carry no interval: for that, use the linear model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guildhall.analysis.marks import Codes, Floats, MarkTable
from guildhall.domain.estimates import Estimate
from guildhall.errors import TooFewMarks


@dataclass(frozen=True)
class Solved:
    essay: Floats
    severity: Floats
    extra: Floats
    unscaled: Floats
    residual: Floats

    @property
    def df(self) -> int:
        free = len(self.essay) + len(self.severity) - 1 + len(self.extra)
        return len(self.residual) - free

    @property
    def variance(self) -> float:
        return float(self.residual @ self.residual) / self.df if self.df > 0 else float("nan")


def solve_marks(essay: Codes, grader: Codes, mark: Floats, slopes: Floats, extra: Floats | None = None) -> Solved:
    """Normal equations of mark = slope x essay + severity (+ extra), severities summing to 0.

    Adding the constraint's outer product to the singular normal matrix picks the one solution that obeys it.
    """
    n_essays, n_graders = int(essay.max()) + 1, int(grader.max()) + 1
    size = n_essays + n_graders + (extra is not None)
    slope, normal, right = slopes[grader], np.zeros((size, size)), np.zeros(size)
    g = n_essays + np.arange(n_graders)
    normal[np.arange(n_essays), np.arange(n_essays)] = np.bincount(essay, slope**2)
    normal[g, g] = np.bincount(grader)
    np.add.at(normal, (essay, n_essays + grader), slope)
    right[:n_essays], right[g] = np.bincount(essay, slope * mark), np.bincount(grader, mark)
    if extra is not None:
        normal[:n_essays, -1], normal[g, -1] = np.bincount(essay, slope * extra), np.bincount(grader, extra)
        normal[-1, -1], right[-1] = extra @ extra, extra @ mark
    upper = np.triu(normal)
    normal = upper + np.triu(normal, 1).T
    constraint = np.zeros(size)
    constraint[g] = 1.0
    inverse = np.linalg.inv(normal + np.outer(constraint, constraint))
    solution = inverse @ right
    fitted = slope * solution[essay] + solution[n_essays + grader]
    residual = mark - fitted - (solution[-1] * extra if extra is not None else 0.0)
    return Solved(
        essay=solution[:n_essays],
        severity=solution[g],
        extra=solution[n_essays + n_graders :],
        unscaled=inverse @ normal @ inverse,
        residual=residual,
    )


def shrunk_slopes(essay: Codes, grader: Codes, mark: Floats, *, sweeps: int = 25) -> Floats:
    """How far each grader spreads its marks: logs with mean 0, shrunk by their own error, by alternating fits."""
    n_graders = int(grader.max()) + 1
    slopes = np.ones(n_graders)
    for _ in range(sweeps):
        solved = solve_marks(essay, grader, mark, slopes)
        at = solved.essay[essay]
        counts = np.bincount(grader)
        centred = at - (np.bincount(grader, at) / counts)[grader]
        spread = np.bincount(grader, centred**2)
        raw = np.maximum(np.bincount(grader, centred * mark) / spread, 0.05)
        error = solved.variance / (spread * raw**2)
        logs = np.log(raw)
        logs -= logs.mean()
        signal = max(float(logs.var(ddof=1) - error.mean()), 0.0)
        logs *= signal / (signal + error)
        updated = np.exp(logs - logs.mean())
        if np.abs(updated - slopes).max() < 1e-9:
            break
        slopes = updated
    return slopes


def linked_groups(essay: Codes, grader: Codes) -> Codes:
    """A label per grader: the smallest grader it reaches through shared essays."""
    n_graders = int(grader.max()) + 1
    label = np.arange(n_graders)
    while True:
        by_essay = np.full(int(essay.max()) + 1, n_graders)
        np.minimum.at(by_essay, essay, label[grader])
        lowered = label.copy()
        np.minimum.at(lowered, grader, by_essay[essay])
        if (lowered == label).all():
            return label
        label = lowered


def mean_by(group: Codes, values: Floats, size: int) -> Floats:
    counts = np.bincount(group, minlength=size).astype(float)
    return np.asarray(np.bincount(group, values, minlength=size) / counts, dtype=np.float64)


PRIOR_SD = 3.0


@dataclass(frozen=True)
class OrdinalFit:
    """Scores in log-odds, mean 0 over essays; positive severity is lenient; `cuts` divide the `classes`."""

    quality: dict[str, Estimate]
    severity: dict[str, float]
    classes: tuple[float, ...]
    cuts: tuple[float, ...]


def fit_ordinal(table: MarkTable) -> OrdinalFit:
    """Penalised likelihood by Fisher scoring over marks of others' essays."""
    others = table.keep(~table.own)
    classes, mark = np.unique(others.mark, return_inverse=True)
    if len(classes) < 2:
        raise TooFewMarks("every mark is the same class", fix="have essays of different quality marked")
    graders, grader = np.unique(others.grader, return_inverse=True)
    essays, first, essay = np.unique(others.essay, return_index=True, return_inverse=True)
    authors, essay_author = np.unique(others.author[first], return_inverse=True)
    fit = _Scoring(mark, essay, grader, (len(classes), len(essays), len(graders)))
    cuts, effects, severity = fit.run()
    quality = mean_by(essay_author, effects, len(authors))
    return OrdinalFit(
        quality={
            table.models[code]: Estimate(
                value=float(value),
                estimand=f"quality of {table.models[code]}, log-odds",
                method="ordinal logit with a weak prior, beside the linear model",
                unit="mark",
                n_judgments=len(mark),
                n_excluded=table.n_missing,
                why_no_interval="few marks an essay stretch ordinal scores; the linear model carries the interval",
            )
            for code, value in zip(authors, quality, strict=True)
        },
        severity={table.models[code]: float(one) for code, one in zip(graders, severity, strict=True)},
        classes=tuple(classes.tolist()),
        cuts=tuple(cuts.tolist()),
    )


class _Scoring:
    """Fisher scoring on cuts, essays and graders in one vector; the prior also fixes where zero is."""

    def __init__(self, mark: Codes, essay: Codes, grader: Codes, sizes: tuple[int, int, int]) -> None:
        self.mark, self.essay, self.grader = mark, essay, grader
        self.n_cuts, self.n_essays, self.n_graders = sizes[0] - 1, sizes[1], sizes[2]

    def run(self) -> tuple[Floats, Floats, Floats]:
        shares = np.cumsum(np.bincount(self.mark, minlength=self.n_cuts + 1))[:-1] / len(self.mark)
        state = np.concatenate([np.log(shares / (1 - shares)), np.zeros(self.n_essays + self.n_graders)])
        for _ in range(200):
            slope, information = self._derivatives(state)
            step = np.linalg.solve(information, slope)
            step *= min(1.0, 1.0 / max(np.abs(step).max(), 1e-12))
            while (np.diff((state + step)[: self.n_cuts]) <= 0).any():
                step /= 2
            state = state + step
            if np.abs(step).max() < 1e-9:
                break
        cuts, essays, graders = np.split(state, [self.n_cuts, self.n_cuts + self.n_essays])
        shift = essays.mean() + graders.mean()
        return cuts - shift, essays - essays.mean(), graders - graders.mean()

    def _derivatives(self, state: Floats) -> tuple[Floats, Floats]:
        """Gradient and expected information of the penalised likelihood."""
        cuts, essays, graders = np.split(state, [self.n_cuts, self.n_cuts + self.n_essays])
        below = 1 / (1 + np.exp(np.clip(essays[self.essay] + graders[self.grader], -50, 50)[:, None] - cuts))
        density = below * (1 - below)
        ends = np.column_stack([np.zeros(len(below)), below, np.ones(len(below))])
        chance = np.maximum(np.diff(ends, axis=1), 1e-12)
        change = np.diff(np.column_stack([np.zeros(len(below)), density, np.zeros(len(below))]), axis=1)
        rows = np.arange(len(self.mark))
        at = chance[rows, self.mark]
        of_cut = self._cut_slope(density, at)
        of_row = ends[rows, self.mark] + ends[rows, self.mark + 1] - 1
        cross = density * (change[:, 1:] / chance[:, 1:] - change[:, :-1] / chance[:, :-1])
        weight = (change**2 / chance).sum(axis=1)
        information = self._assemble(self._cut_information(density, chance), cross, weight)
        slope = np.concatenate(
            [of_cut, np.bincount(self.essay, of_row, self.n_essays), np.bincount(self.grader, of_row, self.n_graders)]
        )
        slope[self.n_cuts :] -= state[self.n_cuts :] / PRIOR_SD**2
        return slope, information

    def _cut_slope(self, density: Floats, at: Floats) -> Floats:
        slope = np.zeros(self.n_cuts)
        for cut in range(self.n_cuts):
            under, over = self.mark == cut, self.mark == cut + 1
            slope[cut] = (density[under, cut] / at[under]).sum() - (density[over, cut] / at[over]).sum()
        return slope

    def _cut_information(self, density: Floats, chance: Floats) -> Floats:
        diagonal = (density**2 * (1 / chance[:, :-1] + 1 / chance[:, 1:])).sum(axis=0)
        beside = -(density[:, :-1] * density[:, 1:] / chance[:, 1:-1]).sum(axis=0)
        return np.asarray(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1), dtype=np.float64)

    def _assemble(self, of_cuts: Floats, cross: Floats, weight: Floats) -> Floats:
        e, g = self.n_cuts + self.essay, self.n_cuts + self.n_essays + self.grader
        size = self.n_cuts + self.n_essays + self.n_graders
        information = np.zeros((size, size))
        np.add.at(information, (e, e), weight)
        np.add.at(information, (g, g), weight)
        np.add.at(information, (e, g), weight)
        np.add.at(information, (g, e), weight)
        for cut in range(self.n_cuts):
            np.add.at(information[cut], e, cross[:, cut])
            np.add.at(information[cut], g, cross[:, cut])
        information[self.n_cuts :, : self.n_cuts] = information[: self.n_cuts, self.n_cuts :].T
        information[: self.n_cuts, : self.n_cuts] = of_cuts
        information[np.arange(self.n_cuts, size), np.arange(self.n_cuts, size)] += 1 / PRIOR_SD**2
        return information
