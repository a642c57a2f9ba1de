"""Models over domains: the mean quotient, how even it is, and who took part in fewer domains than others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guildhall.peer.quotient import Quotients
from guildhall.peer.record import RunRecord
from guildhall.peer.scale import mean


@dataclass(frozen=True)
class Aggregate:
    """One model over the domains it took part in; `complete` when that is all of them."""

    model: str
    mean_quotient: float
    by_domain: dict[str, float]
    complete: bool
    rank: int = 0

    @property
    def consistency(self) -> float | None:
        """100 less the spread between best and worst domain; absent with one domain."""
        values = list(self.by_domain.values())
        return 100 - (max(values) - min(values)) if len(values) > 1 else None


def aggregate(runs: Sequence[RunRecord], quotients: Callable[[RunRecord], Quotients]) -> list[Aggregate]:
    """Models by mean quotient. A mean over fewer domains is another mean: such models are marked and ranked last."""
    by_model: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for scores in quotients(run).scores:
            if scores.exact is not None:
                by_model.setdefault(scores.model, {}).setdefault(run.domain, []).append(scores.exact)
    domains = {run.domain for run in runs}
    rows = []
    for model, found in by_model.items():
        means = {domain: mean(values) or 0.0 for domain, values in found.items()}
        rows.append(Aggregate(model, mean(list(means.values())) or 0.0, means, set(means) == domains))
    rows.sort(key=lambda row: (not row.complete, -row.mean_quotient))
    return [Aggregate(r.model, r.mean_quotient, r.by_domain, r.complete, place) for place, r in enumerate(rows, 1)]
