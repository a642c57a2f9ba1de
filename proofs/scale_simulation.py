"""The simulation of many nodes, run in full, with the bound it must keep to."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.scale_simulation import Costs, Work, grid, least_hours

from proofs import Figures, proof


@proof(
    "scale-simulation",
    "1.5 million submissions and 13.5 million judgments on 1 to 1,000 nodes: where the bottleneck moves, at what cost",
    tier="bench",
    budget_s=120,
)
def scale_simulation() -> Figures:
    runs = list(grid(Work(), Costs(), seed=1))
    rows = []
    for name, run in runs:
        least = least_hours(Work(), Costs(), run.place)
        assert least <= run.hours <= 1.1 * least + 1, (
            f"{name} on {run.place.nodes}: {run.hours:.1f} h, least {least:.1f} h"
        )
        rows.append(
            {
                "scenario": name,
                "nodes": run.place.nodes,
                "hours": round(run.hours, 1),
                "least_hours": round(least, 1),
                "node_usd": round(run.node_usd),
                "model_usd": round(run.model_usd),
                "held_back_by": run.bottleneck,
            }
        )
    return {"costs": asdict(Costs()), "runs": rows}
