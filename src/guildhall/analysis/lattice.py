"""The exact law of a sum of many small independent lattice variables: a bootstrap with infinitely many rounds.

Resampling k ratings out of k leaves few possible results, all multiples of one small fraction. The law of their sum
over thousands of samples is a product of characteristic functions, and one inverse Fourier transform gives it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy import fft
from numpy.typing import NDArray

from guildhall.analysis.tables import Floats

WINDOW_SDS = 24.0
"""Width of the transform's window in standard deviations: what falls outside is far below rounding."""
LONGEST_WINDOW = 1 << 21
NEGLIGIBLE = -80.0
"""Log of a factor that no later factor, none being above 1, can bring back."""

Counts = NDArray[np.int64]


class Part(NamedTuple):
    """Kinds of variable: `times[i]` independent ones that are v / denominator with probability `masses[i, v]`."""

    masses: Floats
    denominator: int
    times: Counts


class Law(NamedTuple):
    """The law of a scaled sum: `masses[i]` at (first + i) * step; or, where the lattice is too fine, its moments."""

    mean: float
    sd: float
    first: int
    step: float
    masses: Floats | None

    @property
    def method(self) -> str:
        return "exact law" if self.masses is not None else "normal law by exact moments"

    def interval(self, level: float) -> tuple[float, float]:
        """The central interval of the law: the quantiles a bootstrap with infinitely many rounds would give."""
        tail = (1.0 - level) / 2
        if self.masses is None:
            reach = NormalDist().inv_cdf(1.0 - tail) * self.sd
            return self.mean - reach, self.mean + reach
        reached = np.cumsum(self.masses)
        low, high = np.searchsorted(reached, [tail * reached[-1], (1.0 - tail) * reached[-1]])
        return (self.first + int(low)) * self.step, (self.first + int(high)) * self.step


def law_of_sum(parts: Sequence[Part], *, scale: float) -> Law | None:
    """The law of `scale` times the sum of all variables; None where nothing varies."""
    mean = variance = 0.0
    for part in parts:
        means, variances = _moments(part)
        mean += float(part.times @ means) / part.denominator
        variance += float(part.times @ variances) / part.denominator**2
    if variance <= 1e-18:
        return None
    common, sd = math.lcm(*(part.denominator for part in parts)), math.sqrt(variance)
    widest = max(part.masses.shape[1] * (common // part.denominator) for part in parts)
    length = 1 << max(6, math.ceil(math.log2(WINDOW_SDS * sd * common + widest)))
    if length > LONGEST_WINDOW:
        return Law(scale * mean, scale * sd, 0, scale / common, None)
    first = round(mean * common) - length // 2
    return Law(scale * mean, scale * sd, first, scale / common, _invert(parts, common, length=length, first=first))


def _moments(part: Part) -> tuple[Floats, Floats]:
    values = np.arange(part.masses.shape[1])
    means = part.masses @ values
    return means, part.masses @ np.square(values) - np.square(means)


def _invert(parts: Sequence[Part], common: int, *, length: int, first: int) -> Floats:
    """Masses at first, first + 1, ...: the transform wraps around, so the window is moved onto the mean.

    Kinds that vary most come first; frequencies at which the product is already negligible are dropped on the way.
    """
    kinds = [
        (times * spread / part.denominator**2, common // part.denominator, masses, times)
        for part in parts
        for times, spread, masses in zip(part.times.tolist(), _moments(part)[1].tolist(), part.masses, strict=True)
    ]
    kinds.sort(key=lambda kind: -kind[0])
    frequencies = np.arange(length // 2 + 1)
    logs = 2j * math.pi / length * ((frequencies * first) % length)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _, finer, masses, times in kinds:
            turn = np.exp(-2j * math.pi / length * ((frequencies * finer) % length))
            factor = np.full(len(frequencies), masses[-1], dtype=np.complex128)
            for mass in masses[-2::-1].tolist():
                factor *= turn
                factor += mass
            logs = logs + times * np.log(factor)
            alive = logs.real > NEGLIGIBLE
            if not alive.all():
                frequencies, logs = frequencies[alive], logs[alive]
    transform = np.zeros(length // 2 + 1, dtype=np.complex128)
    transform[frequencies] = np.exp(logs)
    return np.maximum(fft.irfft(transform, n=length), 0.0)


@lru_cache(maxsize=256)
def ways_to_fall(k: int) -> tuple[Counts, Floats]:
    """All ways in which k draws can fall on loss, tie and win, and in how many orders each can come about."""
    ways = [(a, b, k - a - b) for a in range(k + 1) for b in range(k - a + 1)]
    orders = [math.factorial(k) // (math.factorial(a) * math.factorial(b) * math.factorial(c)) for a, b, c in ways]
    return np.array(ways, dtype=np.int64), np.array(orders, dtype=np.float64)


def resampled(counts: Counts) -> Floats:
    """How likely each way of falling is for k draws with replacement, for rows of counts that all sum to k."""
    k = int(counts[0].sum())
    ways, orders = ways_to_fall(k)
    shares = counts / k
    likely: Floats = orders * (shares[:, None, :] ** ways).prod(axis=2)
    return likely


def gathered(likely: Floats, steps: Counts) -> Floats:
    """Probabilities of the values 0, 1, 2, ... from those of the ways that lead to them."""
    leads_to = (steps[:, None] == np.arange(int(steps.max()) + 1)).astype(np.float64)
    masses: Floats = likely @ leads_to
    return masses
