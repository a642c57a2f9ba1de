"""Whether anything a grader can know tells where the baseline's work stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from guildhall.domain.halls import HallDesign
from guildhall.grading.design import OrderKey
from guildhall.grading.queue import Queue
from proofs import Figures, proof
from proofs.hall import database_urls, opened

SECRETS = 200
COINS = 1000


@proof(
    "blind-order",
    "40 simulated graders judge 12 sets each over 60 tasks, in pairs and in sets of four, on both databases: the queue "
    "gives out the same slots under any secret, the best of many rules does no better than under fair coins, and in "
    "each comparison the baseline stands at each place equally often",
    budget_s=1800,
)
def blind_order() -> Figures:
    from tests.grading.guessing import Sittings, best_guess, facts_of, sittings, under_fair_coins
    from tests.grading.halls import DESIGN, hall, relaid

    figures: Figures = {}
    with database_urls() as databases:
        for size, models, graders in ((2, 4, 2), (4, 3, 8), (4, 6, 4)):
            design = DESIGN.but(set_size=size, graders_per_set=graders, severity_raters=0)

            def sat(
                url: str, secret: bytes, coming: int, design: HallDesign = design, models: int = models
            ) -> Sittings:
                store = opened(url)
                _, people = hall(store, graders=40, tasks=0, design=design)
                planned = relaid(60, models=models, design=design, key=OrderKey(secret))
                store.add_all(planned.comparisons)
                queue = Queue(store)
                queue.plan(planned.slots)
                found = sittings(queue, people, design=design, each=12, rng=Random(coming))
                store.close()
                return found

            # 480 gradings for 480 places: who comes last may have met all that is left, so a fitting evening is sought.
            coming = next(number for number in range(7, 27) if _fits(sat, databases["sqlite"](), number))
            seen = [sat(new(), f"secret on {name}".encode(), coming) for name, new in databases.items()]
            given = [[[slot.id for slot in row] for row in one.slots] for one in seen]
            assert given[0] == given[1], "two secrets, two databases: the same slots are given out"
            # The queue looks at no order, so the same sittings hold under every other secret.
            one, known = seen[0], facts_of(seen[0])
            fair = under_fair_coins(one, times=COINS, seed=1)
            bound = float(np.quantile(fair, 0.99))
            best = {name: best_guess(found.places, known, size) for name, found in zip(databases, seen, strict=True)}
            many = []
            for number in range(SECRETS):
                laid = relaid(60, models=models, design=design, key=OrderKey(b"%d" % number))
                by_id = {slot.id: slot for slot in laid.slots}
                shown = replace(one, slots=tuple(tuple(by_id[slot.id] for slot in row) for row in one.slots))
                many.append(best_guess(shown.places, known, size))
                places = Counter((slot.comparison, slot.turn) for row in shown.slots for slot in row)
                assert set(places.values()) == {graders // size}, "balance is exact: every place equally often"
            beyond = float(np.mean(np.array(many) > bound))
            figures[f"{len(laid.comparisons)} sets of {size}, {graders} graders each"] = {
                "gradings": one.places.size,
                "best_rule": {name: round(share, 4) for name, share in best.items()},
                "fair_coins_99th": round(bound, 4),
                "fair_coins_median": round(float(np.median(fair)), 4),
                "secrets_tried": SECRETS,
                "median_over_secrets": round(float(np.median(many)), 4),
                "share_beyond_the_99th": beyond,
            }
            assert max(best.values()) <= bound, (size, best, bound)
            assert beyond <= 0.03, (size, beyond)
    return figures


def _fits(sat: Callable[[str, bytes, int], object], url: str, coming: int) -> bool:
    try:
        sat(url, b"any", coming)
    except AssertionError:
        return False
    return True
