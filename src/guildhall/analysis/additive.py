"""Least squares for marks: an effect for each essay, one for each grader, and how far graders spread their marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guildhall.analysis.marks import Codes, Floats


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
