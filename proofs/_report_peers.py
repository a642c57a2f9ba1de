"""The same analysis by the libraries of the field, in a cold process: prints its numbers as JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


def agreement_interval(one: Any, other: Any | None = None, rounds: int = 1000) -> list[float]:
    """The within-sample bootstrap as a loop of NumPy rounds."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(rounds):
        x = np.take_along_axis(one, rng.integers(0, one.shape[1], one.shape), axis=1)
        if other is None:
            apart = sum(np.abs(x[:, i] - x[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))) / 3
        else:
            y = np.take_along_axis(other, rng.integers(0, other.shape[1], other.shape), axis=1)
            apart = np.abs(x[:, :, None] - y[:, None, :]).mean(axis=(1, 2))
        found.append(1 - np.mean(apart) / 2)
    return [float(end) for end in np.quantile(found, [0.025, 0.975])]


def main() -> None:
    pd, stats = import_module("pandas"), import_module("scipy.stats")
    krippendorff, ppi_py = import_module("krippendorff"), import_module("ppi_py")
    arena, arena_data = import_module("arena_rank.models.bradley_terry"), import_module("arena_rank.utils.data_utils")
    data = np.load(sys.argv[1])
    human, auto, occupation = data["human"], data["auto"], data["occupation"]
    task, model, sample, _ = (index.ravel() for index in np.indices(human.shape))
    frame = pd.DataFrame({"task": task, "model": model, "sample": sample, "score": human.ravel() / 2.0})
    frame["occupation"] = occupation[task]
    report: dict[str, Any] = {}
    worth = {"win": frame.score == 1, "win_or_tie": frame.score >= 0.5, "half_tie": frame.score}
    keyed = frame.assign(**{name: values.astype(float) for name, values in worth.items()})
    means = keyed.groupby(["model", "task", "sample"])[list(worth)].mean().groupby(["model", "task"]).mean()
    report["rates"] = means.groupby("model").mean().to_numpy().tolist()
    by_task = means["half_tie"].unstack("task").to_numpy()
    report["half_tie_intervals"] = [
        list(stats.t.interval(0.95, len(row) - 1, row.mean(), stats.sem(row))) for row in by_task
    ]
    cells = frame.groupby(["model", "occupation", "score"]).size().unstack(fill_value=0)
    report["cells"] = cells.to_numpy().reshape(7, 44, 3).tolist()

    people, verdicts = human.reshape(-1, 3), auto.reshape(-1, 2)
    report["human_human"] = agreement_interval(people)
    report["human_auto"] = agreement_interval(people, verdicts)
    report["alpha"] = float(krippendorff.alpha(people.T.astype(float), level_of_measurement="interval"))

    winner = np.array(["model_b", "tie", "model_a"])[human.ravel()]
    battles = pd.DataFrame({"model_a": model.astype(str), "model_b": "7", "winner": winner})
    dataset = arena_data.PairDataset.from_pandas(battles)
    fitted = arena.BradleyTerry(n_competitors=8)
    fitted.compute_ratings_and_cis(dataset)
    report["ratings"] = np.asarray(fitted.params["ratings"]).tolist()
    report["ppi"] = [
        [float(np.ravel(end)[0]) for end in ppi_py.ppi_mean_ci(*(side / 2.0 for side in sides), alpha=0.05)]
        for m in range(7)
        for sides in [(human[:55, m, :, 0].ravel(), auto[:55, m, :, 0].ravel(), auto[55:, m, :, 0].ravel())]
    ]
    # The system's own figure for a child begins at what its parent held.
    status = Path("/proc/self/status").read_text()
    report["peak_kb"] = int(status.partition("VmHWM:")[2].split()[0])
    print("\n" + json.dumps(report))


main()
