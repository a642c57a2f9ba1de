"""What each interval of a planted study's report should hold: METHOD's definitions, applied to very many tasks.

Truths are sums over a world of many tasks, by plain averages and by no estimator; where chances are known they are
averaged in place of outcomes. Each stands under the address at which a report gives the interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofs._examining import Kind
from proofs._planted_store import CODERS, JUDGE, RELEASED, SECTORS, SEVERITIES, SPECIFICATIONS
from proofs._planted_world import (
    CLAIMS,
    CONTROLS,
    ENDINGS,
    LABELS,
    MODELS,
    OCCUPATIONS,
    PICKED,
    RULES,
    SAMPLES,
    WAVE_OF_MODEL,
    Flags,
    World,
    draw_world,
)
from proofs.simulator import CELLS, Cell, Floats

TASKS, WORLDS = 60_000, 3
HOURS = ((0, 2, "0-2 h"), (2, 4, "2-4 h"), (4, 8, "4-8 h"), (8, np.inf, "8 h and more"))
TRIES, SHOWN_TRIES = range(1, 11), (2, 3, 5)
STEPS = 24
CONVENTIONS = {"win": 0.0, "win_or_tie": 1.0, "half_tie": 0.5}
"""What a tie is worth."""
ACCEPTED, WON = "share of graders who found the work usable as it is", "half-tie rate against the expert"


class Planted(NamedTuple):
    """A truth, the name under which its intervals are examined together, and what they claim."""

    truth: float
    family: str
    kind: Kind = "level"


Truths = Iterator[tuple[str, Planted]]


def truths_of(cell: Cell, *, tasks: int = TASKS) -> dict[str, Planted]:
    """Address -> truth, averaged over some worlds of so many tasks each."""
    seeds = [[CELLS.index(cell), number] for number in range(WORLDS)]
    worlds = [dict(_every(draw_world(cell, np.random.default_rng(seed), n_tasks=tasks))) for seed in seeds]
    return {
        address: one._replace(truth=float(np.mean([world[address].truth for world in worlds])))
        for address, one in worlds[0].items()
    }


def _every(world: World) -> Truths:
    for chapter in (
        _headline,
        _ranks,
        _missing,
        _breakdowns,
        _trend,
        _ablations,
        _savings,
        _reasons,
        _calibrations,
        _drift,
        _agreement,
        _beyond_chance,
        _order,
        _blinding,
        _tells,
        _severity,
        _formatting,
        _review_time,
    ):
        yield from chapter(world)


def _rate(world: World, which: Flags, tie: float = 1.0) -> float:
    """Over works as the model would be judged by anybody: each task has as many."""
    ties = world.cell.ties
    return float((1 - ties) * world.works.chance[which].mean() + ties * tie)


def _headline(world: World) -> Truths:
    for model, name in enumerate(MODELS):
        for convention, tie in CONVENTIONS.items():
            rate = _rate(world, world.works.model == model, tie)
            yield f"headline / headline / {name} / {convention}", Planted(rate, f"headline, {convention}")


def _ranks(world: World) -> Truths:
    """What holds for all models at once, so each of it more often than it says."""
    rates = {name: _rate(world, world.works.model == model, 0.5) for model, name in enumerate(MODELS)}
    for one, rate in rates.items():
        yield f"ranks / ranks / {one} / half_tie", Planted(rate, "ranks, half tie", "simultaneous")
        for other in rates.keys() - {one}:
            gap = Planted(rate - rates[other], "ranks, difference between models", "simultaneous")
            yield f"ranks / differences / {one}, {other} / difference", gap


def _missing(world: World) -> Truths:
    """Grades are lost at random here, so what is left tells the same rate; the bounds have a proof of their own."""
    for model, name in enumerate(MODELS):
        rate = _rate(world, world.works.model == model, 0.5)
        for column in ("primary", "delivered", "common"):
            yield f"missing / missing / {name} / {column}", Planted(rate, f"missing, {column}")


def _breakdowns(world: World) -> Truths:
    task, model = world.works.task, world.works.model
    facts = world.tasks
    columns: dict[tuple[str, str], tuple[NDArray[np.intp], tuple[str, ...]]] = {
        ("sector", "by sector"): (facts.occupation[task] // 2, SECTORS),
        ("occupation", "by occupation"): (
            facts.occupation[task],
            tuple(f"Occupation {one}" for one in range(OCCUPATIONS)),
        ),
        ("file-type", "by type of deliverable"): (facts.ending[task], ENDINGS),
        ("hours", "by time an expert takes"): (
            np.searchsorted([2, 4, 8], facts.hours[task], "right"),
            tuple(h[2] for h in HOURS),
        ),
        ("references", "with and without reference files"): (
            facts.references[task],
            ("without", "with reference files"),
        ),
        ("specification", "by how well the brief is specified"): (
            facts.specification[task],
            tuple(str(s) for s in SPECIFICATIONS),
        ),
        ("condition", "by prompt condition"): ((model != 2).astype(np.intp), ("plain", "elicited")),
        ("effort", "by reasoning effort"): (np.where(model < 2, model, -1), ("low", "high")),
    }
    for (column, family), (code, levels) in columns.items():
        alone = column in ("condition", "effort")
        for at, name in enumerate(MODELS):
            for level, word in enumerate(levels):
                which = (model == at) & (code == level)
                if not which.any():
                    continue
                rate, place = _rate(world, which), f"breakdowns / by-{column} / {word}, {name}"
                yield f"{place} / win_or_tie", Planted(rate, f"{family}, win_or_tie")
                yield f"{place} / band", Planted(rate, f"{family}, band over all cells", "simultaneous")
                if not alone:
                    yield f"{place} / pooled", Planted(rate, f"{family}, pooled", "pooled")


def _trend(world: World) -> Truths:
    """Models are planted on a line over their dates, and those dates are evenly spaced."""
    rates = [_rate(world, world.works.model == model) for model in range(len(MODELS))]
    days = np.array([day.toordinal() for day in RELEASED])
    slope, height = np.polyfit(days - days[0], rates, 1)
    yield "trend / trend-slope / change of win or tie / slope", Planted(slope * 365.25, "trend, slope per year")
    for name, day, rate in zip(MODELS, RELEASED, rates, strict=True):
        yield f"trend / trend / {day}, {name} / win_or_tie", Planted(rate, "trend, rate of a model")
    for step in np.linspace(0, days[-1] - days[0], STEPS + 1):
        day = RELEASED[0].fromordinal(round(days[0] + step))
        yield (
            f"trend / trend-line / {day} / win_or_tie",
            Planted(height + slope * (day.toordinal() - days[0]), "trend, height of the line"),
        )


def _ablations(world: World) -> Truths:
    works, ties = world.works, world.cell.ties
    rates = [_rate(world, works.model == model) for model in range(len(MODELS))]
    changed = {
        "reasoning_effort, alpha, low, beta, high": rates[1] - rates[0],
        "prompt, gamma, plain, delta, elicited": rates[3] - rates[2],
    }
    for who, gap in changed.items():
        for convention in CONVENTIONS:
            yield f"ablations / ablations / {who} / {convention}", Planted(gap, f"ablation of a setting, {convention}")
    for model in PICKED:
        mine = works.model == model
        gap = (1 - ties) * float(works.chance[mine & works.picked].mean() - works.chance[mine].mean())
        for convention in CONVENTIONS:
            who = f"best of N, {MODELS[model]}, one try, {MODELS[model]}, best of {SAMPLES}"
            yield f"ablations / ablations / {who} / {convention}", Planted(gap, f"best of N, {convention}")


def _savings(world: World) -> Truths:
    """E[H] / E[T_n] over tasks, with each task's own chance that an attempt wins."""
    tasks, works, grades, n = world.tasks, world.works, world.grades, len(world.tasks)
    seen = ~grades.anchor & (grades.exposure == 1)
    task = works.task[grades.work[seen]]
    times = np.bincount(task, minlength=n)
    review = np.bincount(task, grades.active_s[seen] / 60, minlength=n) / np.maximum(times, 1)
    known = times > 0
    for model, name in enumerate(MODELS):
        mine = works.model == model
        wins = (1 - world.cell.ties) * works.any_chance[mine].reshape(n, SAMPLES)[:, 0]
        minutes, dollars = (cells[mine].reshape(n, SAMPLES).mean(axis=1) for cells in (works.seconds / 60, works.usd))
        ledgers = {
            "speed": (60 * tasks.hours, review, minutes),
            "cost": (tasks.hours * tasks.wage, review / 60 * tasks.wage, dollars),
        }
        for currency, (human, checked, spent) in ledgers.items():
            shown, what = f"savings / savings-{currency} / {name}", f"savings, {currency}"
            listed = f"savings / savings / {name}, {currency}, win"
            yield f"{shown} / w", Planted(_rate(world, mine, 0.0), "headline, win")
            naive = Planted(human.mean() / spent.mean(), f"{what}, naive ratio")
            yield from ((at, naive) for at in (f"{shown} / naive", f"{listed}, naive / ratio"))
            for n_tries in TRIES:
                tried = sum((1 - wins) ** k for k in range(n_tries)) * (spent + checked) + (1 - wins) ** n_tries * human
                ratio = float(human[known].mean() / np.asarray(tried)[known].mean())
                if n_tries == 1:
                    once = Planted(ratio, f"{what}, try once")
                    yield from ((at, once) for at in (f"{shown} / try_once", f"{listed}, try once / ratio"))
                if n_tries in SHOWN_TRIES:
                    yield f"{shown} / try_{n_tries}", Planted(ratio, f"{what}, try n times")
                yield f"{listed}, try {n_tries} / ratio", Planted(ratio, f"{what}, try n times")


def _reasons(world: World) -> Truths:
    grades, own = world.grades, ~world.grades.anchor
    model = world.works.model[grades.work]
    coded = own & (grades.label >= 0)
    for at, name in enumerate(MODELS):
        for side, sided in (("lost", grades.halves == 0), ("won", grades.halves == 2)):
            mine = grades.label[coded & sided & (model == at)]
            for label, word in enumerate(LABELS[:-1]):
                place = f"reasons / reasons / {name}, {side}, {word} / share"
                yield place, Planted(float((mine == label).mean()), f"reasons, share of those that {side}")
    both = coded & (grades.second_label >= 0)
    first, second = grades.label[both], grades.second_label[both]
    same = float((first == second).mean())
    shares = (np.bincount(first, minlength=4) + np.bincount(second, minlength=4)) / (2 * both.sum())
    yield (
        "reasons / coders / the same label / agreement",
        Planted(same, f"reasons, {len(CODERS)} coders with one label"),
    )
    alpha = 1 - (1 - same) / (1 - float(shares @ shares))
    yield (
        "reasons / coders / Krippendorff's alpha / agreement",
        Planted(alpha, "reasons, Krippendorff's alpha (nominal)"),
    )


def _calibrations(world: World) -> Truths:
    works, grades = world.works, world.grades
    own = ~grades.anchor
    times = np.bincount(grades.work[own], minlength=len(works.task))
    for against, outcome, words in ((ACCEPTED, grades.accepted, "acceptance"), (WON, grades.halves / 2, "half ties")):
        came = np.bincount(grades.work[own], outcome[own], minlength=len(times)) / np.maximum(times, 1)
        gap = np.array(CLAIMS)[works.confidence] / 100 - came
        for model, name in enumerate(MODELS):
            mine, place = (works.model == model) & (times > 0), f"{name}, {against}"
            brier, over = float((gap[mine] ** 2).mean()), float(gap[mine].mean())
            yield f"calibration / confidence / {place} / brier", Planted(brier, f"Brier score, {words}")
            yield f"calibration / confidence / {place} / overconfidence", Planted(over, f"over-confidence, {words}")
            for level, claim in enumerate(CLAIMS):
                rate = float(came[mine & (works.confidence == level)].mean())
                place_of_bin = f"calibration / calibration / {place}, {claim / 100:g} / came_true"
                yield place_of_bin, Planted(rate, f"reliability of a bin, {words}")


def _drift(world: World) -> Truths:
    works, place = world.works, "drift / drift"
    gap = (1 - world.cell.ties) * (works.later_chance - works.chance)
    earlier = WAVE_OF_MODEL[works.model] == 0
    yield f"{place} / all anchors / estimate", Planted(float(gap[earlier].mean()), "drift between waves, all anchors")
    for model in np.flatnonzero(WAVE_OF_MODEL == 0).tolist():
        drift = float(gap[works.model == model].mean())
        yield f"{place} / {MODELS[model]} / estimate", Planted(drift, "drift between waves, a model's anchors")


def _counts(world: World) -> Floats:
    """How many of a work's own graders saw a loss, a tie and a win."""
    grades, own = world.grades, ~world.grades.anchor
    cell = grades.work[own] * 3 + grades.halves[own]
    return np.bincount(cell, minlength=3 * len(world.works.task)).reshape(-1, 3).astype(np.float64)


def _agreement(world: World) -> Truths:
    works, counts, place = world.works, _counts(world), "agreement / agreement"
    distance = np.abs(np.arange(3)[:, None] - np.arange(3)) / 2
    k = counts.sum(axis=1)
    apart = np.einsum("ni,ij,nj->n", counts, distance, counts) / np.maximum(k * (k - 1), 1)
    two, any_grade = k >= 2, k >= 1
    people = 1 - float(apart[two].mean())
    yield f"{place} / graders with each other / estimate", Planted(people, "agreement of graders")
    for model, name in enumerate(MODELS):
        own = 1 - float(apart[two & (works.model == model)].mean())
        yield f"{place} / on {name} / estimate", Planted(own, "agreement of graders, on a model")
    far = (counts @ distance)[any_grade] / k[any_grade][:, None]
    met = far[np.arange(len(far)), works.verdicts[:, any_grade]]
    judged = 1 - float(met.mean())
    beside, of_judge = "scorecard / judges-beside-people", f"judge:{JUDGE.name}"
    card = f"scorecard / scorecard / {of_judge}"
    yield f"{card}, agrees with people / estimate", Planted(judged, "scorecard, agreement with people")
    yield f"{card}, people agree with each other / estimate", Planted(people, "scorecard, people with each other")
    at_a, elsewhere = works.verdicts.astype(np.float64) / 2
    turned = Planted(float((at_a != elsewhere).mean()), "scorecard, verdicts that turn with the sides")
    yield f"{card}, verdicts that turn with the sides / estimate", turned
    place_matters = Planted(float((at_a - elsewhere).mean()), "scorecard, effect of the place")
    yield f"scorecard / swayed / {of_judge}, score at A less score elsewhere / estimate", place_matters
    given, f = counts @ np.array([0.0, 0.5, 1.0]), (at_a + elsewhere) / 2
    for word, low, high in (("worse", -1, 1 / 3), ("neither worse nor better", 1 / 3, 2 / 3), ("better", 2 / 3, 2)):
        called = (f >= low) & (f < high)
        what = Planted(float(given[called].sum() / k[called].sum()), f"scorecard, people where it says {word}")
        yield f"{card}, people's score where it says {word} / estimate", what
    yield f"{beside} / all models, people with each other / agreement", Planted(people, "people beside judges")
    yield f"{beside} / all models, {of_judge} / agreement", Planted(judged, "judges beside people")
    for model, name in enumerate(MODELS):
        own = 1 - float(apart[two & (works.model == model)].mean())
        its = 1 - float(met[:, works.model[any_grade] == model].mean())
        yield f"{beside} / {name}, people with each other / agreement", Planted(own, "people beside judges, on a model")
        yield f"{beside} / {name}, {of_judge} / agreement", Planted(its, "judges beside people, on a model")
    yield f"{place} / {JUDGE.name} with them / estimate", Planted(judged, "agreement of a judge with graders")
    for halves, verdict in enumerate(("always-human", "always-tie", "always-model")):
        constant = 1 - float(far[:, halves].mean())
        yield f"{card}, {verdict} agrees with people / estimate", Planted(constant, "scorecard, best constant")
        yield (
            f"{place} / {verdict} with them (constant) / estimate",
            Planted(constant, "agreement of the best constant"),
        )


def _beyond_chance(world: World) -> Truths:
    """Krippendorff (2011) and Gwet (2008), over works with two grades, each pair of which weighs the same."""
    counts, place = _counts(world), "agreement-beyond-chance / agreement-beyond-chance"
    counts = counts[counts.sum(axis=1) == 2]
    pairs = np.einsum("ni,nj->ij", counts, counts) - np.diag(counts.sum(axis=0))
    pairs /= pairs.sum()
    shares = pairs.sum(axis=0)
    reached = np.cumsum(shares) - shares / 2
    gap = (reached[:, None] - reached) ** 2
    alpha = 1 - float((pairs * gap).sum() / (shares @ gap @ shares))
    yield f"{place} / Krippendorff's alpha (ordinal) / estimate", Planted(alpha, "Krippendorff's alpha (ordinal)")
    close = 1 - np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]]) / 3
    chance = float(close.sum() / 6 * (shares * (1 - shares)).sum())
    ac = (float((pairs * close).sum()) - chance) / (1 - chance)
    yield f"{place} / Gwet's AC2 (ordinal) / estimate", Planted(ac, "Gwet's AC2 (ordinal)")


def _order(world: World) -> Truths:
    grades, own = world.grades, ~world.grades.anchor
    for name, which in (("at A", grades.first), ("elsewhere", ~grades.first)):
        share = float((grades.halves[own & which] == 2).mean())
        yield f"order / order / {name} / estimate", Planted(share, "order, share of wins at a place")


def _blinding(world: World) -> Truths:
    grades, own = world.grades, ~world.grades.anchor
    model, won = world.works.model[grades.work], grades.halves == 2
    for at, name in enumerate(MODELS):
        for where, which in (("all", own), ("model preferred", won), ("model not preferred", ~won)):
            index = float(grades.guess[own & which & (model == at)].mean())
            place = f"blinding / blinding / {name}: {where} / estimate"
            yield place, Planted(index, f"blinding index, {where}")


def _tells(world: World) -> Truths:
    works, place = world.works, "tells / tells"
    clean = ~works.tells & ~world.tasks.expert_tells[works.task]
    for model, name in enumerate(MODELS):
        mine = works.model == model
        yield f"{place} / {name}: all pairs / estimate", Planted(_rate(world, mine), "tells, all pairs")
        times = np.bincount(works.task[mine & clean], minlength=len(world.tasks))
        chance = np.bincount(works.task[mine & clean], works.chance[mine & clean], minlength=len(world.tasks))
        rate = (1 - world.cell.ties) * float((chance[times > 0] / times[times > 0]).mean()) + world.cell.ties
        yield f"{place} / {name}: without tells / estimate", Planted(rate, "tells, pairs without")


def _severity(world: World) -> Truths:
    rows = world.severities
    model, weight = world.works.model[rows.work], np.where(rows.control, 1 / CONTROLS, 1.0)
    later = [(f"{MODELS[one]}: ", model == one) for one in np.flatnonzero(WAVE_OF_MODEL == 1).tolist()]
    for whose, mine in (("", np.ones(len(model), dtype=np.bool_)), *later):
        of_whom = ", a model's" if whose else ""
        for code, word in enumerate(SEVERITIES):
            lost = float((rows.rating[mine & ~rows.control] == code).mean())
            place = f"severity / severity / {whose}{word} / estimate"
            yield place, Planted(lost, f"severity share of losses{of_whom}")
            if code < 2:
                every = 100 * float(weight[mine & (rows.rating == code)].sum() / weight[mine].sum())
                place = f"severity-per-100 / severity-per-100 / {whose}{word} / estimate"
                yield place, Planted(every, f"severity per 100 deliverables{of_whom}")


def _formatting(world: World) -> Truths:
    """Of the models' files and of the expert's own, which are the baseline's."""
    works, tasks = world.works, world.tasks
    ending, models = tasks.ending[works.task], [(name, works.model == model) for model, name in enumerate(MODELS)]
    made = [(name, "", works.broken[:, mine], ending[mine]) for name, mine in models]
    for author, words, faults, endings in (*made, ("expert", ", the expert's", tasks.expert_broken, tasks.ending)):
        for code, word in enumerate(ENDINGS):
            broken, whose = faults[:, endings == code], f"{author}: {word} files"
            any_fault = Planted(float(broken.any(axis=0).mean()), f"files with a fault of form{words}")
            yield f"formatting / formatting / {whose} / estimate", any_fault
            for rule, hit in zip(RULES, broken, strict=True):
                place = f"formatting-rules / formatting-rules / {rule.replace('-', ' ')}, {whose} / estimate"
                yield place, Planted(float(hit.mean()), f"files that break a rule{words}")


def _review_time(world: World) -> Truths:
    seen = ~world.grades.anchor & (world.grades.exposure == 1)
    minutes = float(world.grades.active_s[seen].mean() / 60)
    yield "review-time / review-time / minutes / estimate", Planted(minutes, "minutes of review")
