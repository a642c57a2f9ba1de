"""A whole GDPval-size analysis by our code, in a cold process: prints its numbers as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from guildhall.analysis.agreement import cross_disagreement_law, pair_disagreement_law
from guildhall.analysis.bradley_terry import fit_bradley_terry, pair_rows
from guildhall.analysis.chance_corrected import krippendorff_alpha
from guildhall.analysis.outcomes import Outcomes, count_cells
from guildhall.analysis.ppi_counts import count_scores, ppi_from_counts
from guildhall.analysis.ratings_table import types_from_counts, types_from_matrix
from guildhall.analysis.tables import Coded
from guildhall.analysis.votes import WINNERS, count_votes
from guildhall.analysis.win_rates import win_rates


def main() -> None:
    data = np.load(sys.argv[1])
    human, auto, occupation = data["human"], data["auto"], data["occupation"]
    tasks, models, samples, _ = human.shape
    task, model, sample, _ = (index.ravel() for index in np.indices(human.shape))
    names = tuple(str(i) for i in range(220))
    outcomes = Outcomes(
        Coded(task, names[:tasks]), Coded(model, names[:models]), Coded(sample, names[:samples]), human.ravel()
    )
    report: dict[str, Any] = {}
    rates = win_rates(outcomes)
    report["rates"] = [[one.win.value, one.win_or_tie.value, one.half_tie.value] for one in rates]
    report["half_tie_intervals"] = [one.half_tie.interval for one in rates]
    cells = count_cells([outcomes.model, Coded(occupation[task], names[:44])], outcomes.halves)
    report["cells"] = cells.counts.tolist()

    people, verdicts = human.reshape(-1, 3), auto.reshape(-1, 2)
    types = types_from_matrix(people)
    law = pair_disagreement_law(types, corrected=False)
    both = np.stack([(side == half).sum(axis=1) for side in (people, verdicts) for half in range(3)], axis=1)
    cross = cross_disagreement_law(types_from_counts(both))
    assert law is not None
    assert cross is not None
    report["human_human"] = [1 - end for end in reversed(law.interval(0.95))]
    report["human_auto"] = [1 - end for end in reversed(cross.interval(0.95))]
    report["alpha"] = krippendorff_alpha(types.counts, metric="interval", times=types.times)

    sides = Coded(model, names[: models + 1]), Coded(np.full(len(model), models), names[: models + 1])
    votes = count_votes(*sides, Coded(2 - outcomes.halves, WINNERS))
    fit = fit_bradley_terry(pair_rows(votes), ties="half")
    report["ratings"] = fit.ratings.tolist()
    report["ppi"] = [
        [float(end) for end in (found.low, found.high)]
        for m in range(models)
        for found in [
            ppi_from_counts(
                count_scores(human[:55, m, :, 0].ravel(), auto[:55, m, :, 0].ravel(), auto[55:, m, :, 0].ravel())
            )
        ]
    ]
    # The system's own figure for a child begins at what its parent held.
    status = Path("/proc/self/status").read_text()
    report["peak_kb"] = int(status.partition("VmHWM:")[2].split()[0])
    print(json.dumps(report))


main()
