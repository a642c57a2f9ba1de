"""The leniency model with an ordinal link: letters are ordered classes, not numbers with known gaps.

    P(mark at most class k) = logistic(cut k - essay - severity)

Classes are the distinct marks that were given. It stands beside the linear model, as a check whether the order
of authors hangs on how far apart one takes letters to be. A weak normal prior (SD 3 log-odds) keeps an author whom
all graders gave the top class finite. With few marks an essay the scores are stretched outwards, so
they carry no interval: for that, use the linear model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guildhall.analysis.additive import mean_by
from guildhall.analysis.marks import Codes, Floats, MarkTable
from guildhall.domain.estimates import Estimate
from guildhall.errors import TooFewMarks

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
