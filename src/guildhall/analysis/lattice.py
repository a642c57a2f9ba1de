"""The exact law of a sum of many small independent lattice variables: a bootstrap with infinitely many rounds.

Resampling k ratings out of k leaves few possible results, all multiples of one small fraction. The law of their sum
over thousands of samples is a product of characteristic functions, and one inverse Fourier transform gives it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.quantiles import normal_quantile
from guildhall.analysis.tables import Floats

WINDOW_SDS = 24.0
"""Width of the transform's window in standard deviations: what falls outside is far below rounding."""
LONGEST_WINDOW = 1 << 21

Steps = NDArray[np.int64]


class Part(NamedTuple):
    """`times` independent variables that are steps[i] / denominator with probabilities[i]."""

    steps: Steps
    probabilities: Floats
    denominator: int
    times: int


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
            reach = normal_quantile(1.0 - tail) * self.sd
            return self.mean - reach, self.mean + reach
        reached = np.cumsum(self.masses)
        low, high = np.searchsorted(reached, [tail * reached[-1], (1.0 - tail) * reached[-1]])
        return (self.first + int(low)) * self.step, (self.first + int(high)) * self.step


def law_of_sum(parts: Sequence[Part], *, scale: float) -> Law | None:
    """The law of `scale` times the sum of all parts; None where nothing varies."""
    varying = [part for part in parts if len(part.steps) > 1]
    common = math.lcm(*(part.denominator for part in parts)) if parts else 1
    moments = [_moments(part) for part in parts]
    mean = math.fsum(part.times * m / part.denominator for part, (m, _) in zip(parts, moments, strict=True))
    variance = math.fsum(part.times * v / part.denominator**2 for part, (_, v) in zip(parts, moments, strict=True))
    if not varying or variance <= 0.0:
        return None
    sd = math.sqrt(variance)
    length = 1 << max(6, math.ceil(math.log2(WINDOW_SDS * sd * common + _widest(varying, common))))
    if length > LONGEST_WINDOW:
        return Law(scale * mean, scale * sd, 0, scale / common, None)
    first = round(mean * common) - length // 2
    masses = _invert(parts, common, length=length, first=first)
    return Law(scale * mean, scale * sd, first, scale / common, masses)


def _moments(part: Part) -> tuple[float, float]:
    mean = float(part.steps @ part.probabilities)
    return mean, float(np.square(part.steps - mean) @ part.probabilities)


def _widest(parts: Sequence[Part], common: int) -> int:
    return max(int(np.ptp(part.steps)) * (common // part.denominator) for part in parts)


def _invert(parts: Sequence[Part], common: int, *, length: int, first: int) -> Floats:
    """Masses at first, first + 1, ...: the transform wraps around, so the window is moved onto the mean."""
    transform: Any = np.ones(length // 2 + 1, dtype=np.complex128)
    offset = 0
    for part in parts:
        finer = common // part.denominator
        lowest = int(part.steps.min())
        offset += part.times * lowest * finer
        if len(part.steps) > 1:
            masses = np.zeros(length)
            np.add.at(masses, (part.steps - lowest) * finer, part.probabilities)
            transform *= np.fft.rfft(masses) ** part.times
    masses = np.fft.irfft(transform, n=length)
    return np.maximum(np.roll(masses, (offset - first) % length), 0.0)


def resampled_counts(counts: Sequence[int]) -> tuple[Steps, Floats]:
    """All ways in which k draws with replacement can fall on the categories, and how likely each is."""
    k = sum(counts)
    found: list[tuple[int, ...]] = [()]
    for count in counts[:-1]:
        found = [(*some, n) for some in found for n in range(k - sum(some) + 1) if count or not n]
    outcomes = np.array([(*some, k - sum(some)) for some in found if counts[-1] or sum(some) == k], dtype=np.int64)
    logs = np.log(np.maximum(np.array(counts, dtype=np.float64), 1e-300) / k)
    factorials = np.array([math.lgamma(n + 1.0) for n in range(k + 1)])
    probabilities = np.exp(factorials[k] - factorials[outcomes].sum(axis=1) + outcomes @ logs)
    return outcomes, probabilities


def merged(steps: Steps, probabilities: Floats) -> tuple[Steps, Floats]:
    """The same law with each value named once."""
    distinct, place = np.unique(steps, return_inverse=True)
    return distinct, np.asarray(np.bincount(place, probabilities), dtype=np.float64)
