"""Slow and obvious second implementations: loops over single judgments, straight from the definitions."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

WORTH = {
    "win": {0.0: 0.0, 0.5: 0.0, 1.0: 1.0},
    "win_or_tie": {0.0: 0.0, 0.5: 1.0, 1.0: 1.0},
    "half_tie": {0.0: 0.0, 0.5: 0.5, 1.0: 1.0},
}


def win_rate(rows: Sequence[dict[str, Any]], model: str, convention: str) -> float:
    """Mean over tasks of the mean over samples of the mean over grades."""
    tasks: dict[Any, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["model"] == model:
            tasks[row["task"]][row["sample"]].append(WORTH[convention][row["score"]])
    return float(np.mean([np.mean([np.mean(grades) for grades in samples.values()]) for samples in tasks.values()]))


def pair_agreement(ratings: Sequence[float]) -> float:
    return float(np.mean([1 - abs(x - y) for x, y in itertools.combinations(ratings, 2)]))


def cross_agreement(human: Sequence[float], auto: Sequence[float]) -> float:
    return float(np.mean([1 - abs(x - y) for x in human for y in auto]))


def resampled_agreement(samples: Sequence[Sequence[float]], *, rounds: int, corrected: bool, seed: int) -> Any:
    """The within-sample bootstrap of human-human agreement, draw by draw."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(rounds):
        values = []
        for ratings in samples:
            k = len(ratings)
            apart = 1 - pair_agreement(list(rng.choice(ratings, size=k)))
            values.append(1 - apart * (k / (k - 1) if corrected else 1))
        found.append(np.mean(values))
    return np.array(found)


def alpha(units: Sequence[Sequence[float]], distance: Any) -> float:
    """Krippendorff's alpha from all pairs of pairable values."""
    kept = [unit for unit in units if len(unit) >= 2]
    values = [value for unit in kept for value in unit]
    n = len(values)
    observed = sum(
        distance(unit[i], unit[j]) / (len(unit) - 1)
        for unit in kept
        for i, j in itertools.permutations(range(len(unit)), 2)
    )
    expected = sum(distance(values[i], values[j]) for i, j in itertools.permutations(range(n), 2)) / (n - 1)
    return float(1 - observed / expected)


def auc(people: Sequence[float], verdicts: Sequence[float], models: Sequence[str]) -> float:
    right, total = 0.0, 0
    for i, j in itertools.permutations(range(len(people)), 2):
        if models[i] == models[j] and people[i] > people[j]:
            total += 1
            right += 1.0 if verdicts[i] > verdicts[j] else 0.5 if verdicts[i] == verdicts[j] else 0.0
    return right / total


def bradley_terry(votes: Sequence[tuple[int, int, str]], n_models: int, rounds: int = 20_000) -> Any:
    """Ties as half wins, by the minorise-maximise steps of Zermelo."""
    wins = np.zeros((n_models, n_models))
    for left, right, winner in votes:
        wins[left, right] += {"left": 1.0, "tie": 0.5, "right": 0.0}[winner]
        wins[right, left] += {"left": 0.0, "tie": 0.5, "right": 1.0}[winner]
    strength = np.ones(n_models)
    games = wins + wins.T
    for _ in range(rounds):
        strength = wins.sum(axis=1) / (games / (strength[:, None] + strength)).sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return np.log(strength)


def elo(votes: Sequence[tuple[int, int, str]], n_models: int, k: float = 4.0) -> list[float]:
    ratings = [1000.0] * n_models
    for left, right, winner in votes:
        expected = 1 / (1 + 10 ** ((ratings[right] - ratings[left]) / 400))
        change = k * ({"left": 1.0, "tie": 0.5, "right": 0.0}[winner] - expected)
        ratings[left] += change
        ratings[right] -= change
    return ratings
