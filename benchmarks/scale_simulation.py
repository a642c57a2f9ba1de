"""Ten thousand tasks, fifty models, three samples, nine judgments: on how many nodes, for how long, at what price?

A fluid simulation in steps of ten minutes. Each stage of the work (sampling, preparing files, judging) moves as fast as
the scarcest thing it needs allows: sandbox slots and processors, which grow with the nodes; a provider's rate limit,
the database's commits and the blob store's bandwidth, which do not. Work further on goes first, so that little lies
between stages. Nodes die at random, and what ran on them is done again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

STEP_S = 600.0
HOUR_S = 3600.0
STAGES = ("judging", "preparing", "sampling")
"""In the order they are served: what is nearest to its end goes first."""


@dataclass(frozen=True)
class Work:
    """The size of the study."""

    tasks: int = 10_000
    models: int = 50
    samples: int = 3
    judgments: int = 9

    @property
    def submissions(self) -> int:
        return self.tasks * self.models * self.samples


@dataclass(frozen=True)
class Costs:
    """What one item needs: measured where docs/evidence has a figure, assumed elsewhere, and named so in the note."""

    sample_seconds: float = 420.0
    """Assumed: fifteen turns of a model at work, most of it waiting for the provider."""
    sample_core_s: float = 6.0
    """Measured 1/81 s of engine and 3 ms a command; assumed: the agent's own programs and two looks at its pages."""
    sample_calls: float = 15.0
    sample_writes: float = 32.0
    """A submission, its usage, and two ledger rows a call."""
    sample_usd: float = 0.60
    files: float = 1.7
    file_core_s: float = 3.1
    """Measured: 60 Office files in 92 s on two cores, rendering, text and scrubbed copy."""
    file_mb: float = 6.0
    """Pages and copies written, read once by each judge's request from the cache."""
    judgment_seconds: float = 40.0
    judgment_core_s: float = 0.012
    """Measured: 85 judgments a second with an instant judge."""
    judgment_writes: float = 4.0
    judgment_usd: float = 0.05


@dataclass(frozen=True)
class Place:
    """Where it runs: what a node brings, and what all nodes share."""

    nodes: int
    cores: int = 16
    slots: int = 48
    """Sandboxes at once; memory sets them."""
    node_usd_per_hour: float = 0.70
    days_between_failures: float = 30.0
    calls_per_s: float = 500.0
    """Fifty models behind a few providers: 30,000 requests a minute in all."""
    judge_calls_per_s: float = 170.0
    """One judge's own limit: 10,000 requests a minute."""
    writes_per_s: float = 3_000.0
    """One PostgreSQL with a commit for each record."""
    blob_mb_per_s: float = 1_000.0


@dataclass
class Run:
    """How it went."""

    place: Place
    hours: float = 0.0
    node_usd: float = 0.0
    model_usd: float = 0.0
    redone: float = 0.0
    held_by: Counter[str] = field(default_factory=Counter)
    """Hours in which a resource was what held the foremost unfinished stage back."""

    @property
    def bottleneck(self) -> str:
        return self.held_by.most_common(1)[0][0]


def simulate(work: Work, costs: Costs, place: Place, *, seed: int) -> Run:
    """One run from the first sample to the last judgment."""
    random, run = Random(seed), Run(place)
    left = {"sampling": float(work.submissions), "preparing": 0.0, "judging": 0.0}
    while any(amount > 0.5 for amount in left.values()):
        shared = _a_step_of(place)
        held = ""
        for stage in STAGES:
            done, holding = _advance(stage, left[stage], costs, shared)
            left[stage] -= done
            if stage == "sampling":
                lost = _lost(done, place, costs, random)
                left["sampling"] += lost
                left["preparing"] += done - lost
                run.redone += lost
                run.model_usd += done * costs.sample_usd
            elif stage == "preparing":
                left["judging"] += done * work.judgments
            else:
                run.model_usd += done * costs.judgment_usd
            held = held or holding
        run.hours += STEP_S / HOUR_S
        run.held_by[held or "the end of the work"] += 1
    run.node_usd = run.hours * place.nodes * place.node_usd_per_hour
    return run


def _a_step_of(place: Place) -> dict[str, float]:
    """What there is to spend in one step, by resource."""
    return {
        "sandbox slots": place.nodes * place.slots * STEP_S,
        "processors": place.nodes * place.cores * STEP_S,
        "the providers' limit": place.calls_per_s * STEP_S,
        "the judge's limit": place.judge_calls_per_s * STEP_S,
        "the database": place.writes_per_s * STEP_S,
        "the blob store": place.blob_mb_per_s * STEP_S,
    }


def _needs(stage: str, costs: Costs) -> dict[str, float]:
    """What one item of a stage takes, by resource."""
    if stage == "sampling":
        return {
            "sandbox slots": costs.sample_seconds,
            "processors": costs.sample_core_s,
            "the providers' limit": costs.sample_calls,
            "the database": costs.sample_writes,
        }
    if stage == "preparing":
        return {
            "processors": costs.files * costs.file_core_s,
            "the blob store": costs.files * costs.file_mb,
            "the database": 1.0,
        }
    return {
        "processors": costs.judgment_core_s,
        "the judge's limit": 1.0,
        "the database": costs.judgment_writes,
        "the blob store": costs.files * costs.file_mb / 10,
    }


def _advance(stage: str, left: float, costs: Costs, shared: dict[str, float]) -> tuple[float, str]:
    """How many items of a stage a step does, taking what they need; and what held it back, if anything did."""
    if left <= 0:
        return 0.0, ""
    needs = _needs(stage, costs)
    scarce = min(needs, key=lambda name: shared[name] / needs[name])
    done = min(left, shared[scarce] / needs[scarce])
    for name, amount in needs.items():
        shared[name] = max(0.0, shared[name] - done * amount)
    return done, scarce if done < left else ""


def _lost(done: float, place: Place, costs: Costs, random: Random) -> float:
    """Samples that were under way on nodes that died in this step."""
    expected = place.nodes * STEP_S / (place.days_between_failures * 24 * HOUR_S)
    died = _poisson(expected, random)
    return min(done, died * place.slots * min(1.0, STEP_S / costs.sample_seconds))


def _poisson(mean: float, random: Random) -> int:
    threshold, count, product = math.exp(-mean), 0, random.random()
    while product > threshold:
        count, product = count + 1, product * random.random()
    return count


def least_hours(work: Work, costs: Costs, place: Place) -> float:
    """No run is shorter than this: all the work there is, through the scarcest resource, with no node lost."""
    items = {"sampling": work.submissions, "preparing": work.submissions, "judging": work.submissions * work.judgments}
    there_is = _a_step_of(place)
    steps = [
        sum(_needs(stage, costs).get(name, 0.0) * count for stage, count in items.items()) / amount
        for name, amount in there_is.items()
    ]
    return max(steps) * STEP_S / HOUR_S


BASE = Place(nodes=1)
SCENARIOS: dict[str, Place] = {
    "as it is": BASE,
    "providers ten times as open": replace(BASE, calls_per_s=5_000.0, judge_calls_per_s=1_700.0),
    "and records committed a hundred at once": replace(
        BASE, calls_per_s=5_000.0, judge_calls_per_s=1_700.0, writes_per_s=60_000.0
    ),
}
NODES = (1, 3, 10, 30, 100, 300, 1000)


def grid(work: Work, costs: Costs, *, seed: int, nodes: Sequence[int] = NODES) -> Iterable[tuple[str, Run]]:
    for name, place in SCENARIOS.items():
        for count in nodes:
            yield name, simulate(work, costs, replace(place, nodes=count), seed=seed)


def as_markdown(runs: Iterable[tuple[str, Run]]) -> str:
    """The table of the design note."""
    lines = [
        "| scenario | nodes | days | nodes, $ | models, $ | redone | held back by |",
        "| --- " + "| ---: " * 5 + "| --- |",
    ]
    lines += [
        f"| {name} | {run.place.nodes:,} | {run.hours / 24:,.1f} | {run.node_usd:,.0f} | {run.model_usd:,.0f} "
        f"| {run.redone:,.0f} | {run.bottleneck} |"
        for name, run in runs
    ]
    return "\n".join(lines)
