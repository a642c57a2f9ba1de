"""What a trained grader learns from: judges' verdicts and further features, beside what people said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.ratings_table import Ratings
from guildhall.analysis.tables import Codes, Floats


@dataclass(frozen=True)
class TrainingRows:
    """One row a sample: judges' verdicts, further features, people's counts of loss, tie and win.

    `verdicts[judge]` is the mean score of that judge, NaN where it gave none; `extra` likewise is NaN where unknown.
    `cluster` is the task or item; `family` the maker of the model, where makers are known.
    """

    verdicts: Mapping[str, Floats]
    extra: Mapping[str, Floats]
    people: Floats
    cluster: Codes
    model: Codes
    unit: str = "task"
    """What a cluster is: a task, or a single sample where no task is named."""
    family: Codes | None = None

    @property
    def rated(self) -> NDArray[np.bool_]:
        """Which samples some person judged."""
        some: NDArray[np.bool_] = self.people.sum(axis=1) > 0
        return some

    def only(self, rows: NDArray[np.bool_]) -> TrainingRows:
        return TrainingRows(
            {name: values[rows] for name, values in self.verdicts.items()},
            {name: values[rows] for name, values in self.extra.items()},
            self.people[rows],
            self.cluster[rows],
            self.model[rows],
            self.unit,
            None if self.family is None else self.family[rows],
        )

    def features(self) -> tuple[list[str], Floats]:
        """Per judge its score, how tied it is and whether it is missing; between judges their product and spread.

        A further feature that is unknown somewhere gets a column that says where, and stands at zero there.
        """
        columns: dict[str, Floats] = {}
        filled = {}
        for judge, scores in self.verdicts.items():
            missing = np.isnan(scores)
            filled[judge] = np.where(missing, 0.0, scores - 0.5)
            columns[f"{judge}: score"] = filled[judge]
            columns[f"{judge}: undecided"] = np.where(missing, 0.0, 0.5 - np.abs(filled[judge]))
            columns[f"{judge}: missing"] = missing.astype(np.float64)
        names = sorted(filled)
        for index, one in enumerate(names):
            for other in names[index + 1 :]:
                columns[f"{one} x {other}"] = filled[one] * filled[other]
        if len(names) > 1:
            columns["spread of judges"] = np.std(np.column_stack([filled[name] for name in names]), axis=1)
        for name, values in self.extra.items():
            columns[name] = np.nan_to_num(values)
            columns[f"{name}: missing"] = np.isnan(values).astype(np.float64)
        return list(columns), np.column_stack(list(columns.values()))


def evidence_from(
    ratings: Ratings, extra: Mapping[str, Floats] | None = None, *, family: Codes | None = None
) -> TrainingRows:
    """The evidence of a table of ratings: every automatic rater is a judge, every sample a row."""
    verdicts = {}
    for code in np.unique(ratings.rater[~ratings.is_human]):
        rows = ~ratings.is_human & (ratings.rater == code)
        n = np.bincount(ratings.sample[rows], minlength=ratings.n_samples)
        total = np.bincount(ratings.sample[rows], ratings.halves[rows] / 2.0, minlength=ratings.n_samples)
        verdicts[ratings.raters[code]] = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    people = ratings.counts(human=True).astype(np.float64)
    cluster, unit = (np.arange(ratings.n_samples), "sample") if ratings.task is None else (ratings.task, "task")
    return TrainingRows(verdicts, extra or {}, people, cluster, ratings.model, unit, family)
