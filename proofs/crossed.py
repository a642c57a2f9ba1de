"""People are a sample: coverage where a few of them judge many tasks, through the command line, and on public data."""

from __future__ import annotations

import csv
import json
import math
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from guildhall.analysis.crossed import crossed
from guildhall.analysis.intervals import reach_of, share_interval
from guildhall.analysis.outcomes import outcomes_from_arrays, read_outcomes
from guildhall.analysis.spreads import Spread, joined, tasks_alone
from guildhall.analysis.win_rates import win_rates
from guildhall.cli.main import app
from proofs import ROOT, Figures, proof, realdata
from proofs import _sittings_crossed as sittings
from proofs._crossed_worlds import CELLS, Pool, draw_pool, draw_work
from proofs._examining import holm
from proofs.coverage import digest_of_code

RUNS, FILES, FAILS_BELOW = 2000, 20, 0.001


class Tally(NamedTuple):
    """How often an estimate of one cell held the truth; `exact` where most runs had the exact interval."""

    cell: int
    estimate: str
    runs: int
    held: int
    graders: float
    exact: bool
    width: float

    @property
    def band(self) -> tuple[float, float]:
        """What coverage may be, by the effective graders."""
        if self.exact:
            return 0.95, 1.0
        return (0.92, 0.995) if self.graders < 6 else (0.93, 0.985) if self.graders < 10.5 else (0.935, 0.985)

    @property
    def p(self) -> float:
        """Of an exact binomial test against the nearer edge; 1 inside the band."""
        from scipy.stats import binom

        low, high = self.band
        if self.held < low * self.runs:
            return float(binom.cdf(self.held, self.runs, low))
        return float(binom.sf(self.held - 1, self.runs, high)) if self.held > high * self.runs else 1.0


def tallies(number: int, cell: Pool, runs: int) -> list[Tally]:
    """Every estimate of one cell over seeded runs; rates are drawn all at once."""
    seeds = zlib.crc32(b"crossed"), number
    seen: dict[str, list[tuple[bool, float, float, bool]]] = defaultdict(list)
    for name, found, truth in _seen(cell, seeds, runs):
        if found.interval is not None and found.target == "graders like these":
            low, high = found.interval
            held = low - 1e-9 <= truth <= high + 1e-9
            seen[name].append((held, high - low, found.effective_graders or math.nan, "exact on" in found.method))
    made = []
    for name, rows in seen.items():
        inside, width, graders, exact = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
        mostly, wide, people = bool(exact.mean() > 0.5), float(width.mean()), float(graders.mean())
        made.append(Tally(number, name, len(rows), int(inside.sum()), people, mostly, wide))
    return made


def _seen(cell: Pool, seeds: tuple[int, int], runs: int) -> Iterable[sittings.Seen]:
    yield from sittings.rates(cell, np.random.default_rng([*seeds, 0]), runs)
    for run in range(runs):
        yield from sittings.others(cell, np.random.default_rng([*seeds, 1, run]))


@proof(
    "crossed",
    "where 3 to 20 people judge 30 to 220 tasks every estimate over their judgments covers inside its band, 2,000 runs",
    tier="bench",
    budget_s=14400,
)
def crossed_coverage(runs: int = RUNS) -> Figures:
    folder = ROOT / ".prove" / "crossed"
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Tally] = []
    for number, cell in enumerate(CELLS):
        path = folder / f"{number}-{runs}-{digest_of_code(sittings.__name__)}.json"
        if not path.exists():
            path.write_text(json.dumps(tallies(number, cell, runs)))
        found += [Tally(*row) for row in json.loads(path.read_text())]
    adjusted = holm([one.p for one in found])
    failed = [one for one, p in zip(found, adjusted, strict=True) if p < FAILS_BELOW]
    by_estimate: dict[str, list[float]] = defaultdict(list)
    for one in found:
        by_estimate[one.estimate].append(one.held / one.runs)
    assert not failed, f"outside their bands: {[(*one[:2], one.held / one.runs, one.graders) for one in failed]}"
    return {
        "cells": len(CELLS),
        "runs_each": runs,
        "smallest_p_after_holm": min(adjusted),
        "coverage": {name: {"least": min(own), "most": max(own)} for name, own in by_estimate.items()},
        "mean_width": {f"{one.cell}: {one.estimate}": round(one.width, 4) for one in found},
    }


@proof("crossed-false-flags", "with no cell different something is flagged in at most 5 % of studies", budget_s=900)
def false_flags(runs: int = 400) -> Figures:
    cells = [CELLS[5], CELLS[9], CELLS[15]]
    flagged = [
        sum(sittings.flagged(cell, np.random.default_rng([7, number, run])) for run in range(runs))
        for number, cell in enumerate(cells)
    ]
    from scipy.stats import binom

    assert all(binom.sf(one - 1, runs, 0.05) > FAILS_BELOW for one in flagged), flagged
    return {"studies_each": runs, "share_flagged": [one / runs for one in flagged]}


@proof("crossed-commands", "the command prints for 20 files of a cell what the function returns, to the last digit")
def command_line() -> Figures:
    from typer.testing import CliRunner

    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, cell in enumerate(CELLS[:6]):
            for run in range(FILES):
                path = Path(folder) / f"{number}-{run}.csv"
                _write(path, cell, np.random.default_rng([3, number, run]))
                shown = CliRunner().invoke(app, ["analyze", "win-rate", str(path), "--json"])
                (own,) = win_rates(read_outcomes(path))
                printed = json.loads(shown.stdout)
                for name in sittings.CONVENTIONS:
                    estimate = getattr(own, name)
                    assert printed[name]["interval"] == list(estimate.interval), (path, name)
                    assert printed[name]["effective_graders"] == estimate.effective_graders
                    compared += 1
    return {"intervals_compared": compared}


def _write(path: Path, cell: Pool, rng: np.random.Generator) -> None:
    given = draw_pool(cell, draw_work(cell, rng), rng)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["task", "model", "sample", "grader", "score"])
        for place, task in enumerate(given.task.tolist()):
            for who, half in zip(given.grader[place].tolist(), given.halves[place].tolist(), strict=True):
                rows.writerow([task, "m", place % cell.samples, f"g{who}", half / 2])


@proof(
    "crossed-translators",
    "A/A comparisons of professional raters over disjoint raters and documents hold",
    budget_s=900,
)
def translators(draws: int = 1000) -> Figures:
    marks, segment, document, rater = _marks(realdata("experts/wmt23_sxs_ende.csv"))
    rng, pairs = np.random.default_rng(23), list(combinations(range(marks.shape[1]), 2))
    raters, documents = int(rater.max()) + 1, int(document.max()) + 1
    held, alone = np.zeros((draws, len(pairs)), dtype=bool), np.zeros((draws, len(pairs)), dtype=bool)
    for draw in range(draws):
        mine = np.isin(rater, rng.permutation(raters)[: raters // 2])
        here = np.isin(document, rng.permutation(documents)[: documents // 2])
        for at, (one, other) in enumerate(pairs):
            score = 0.5 + 0.5 * np.sign(marks[:, other] - marks[:, one])
            sides = [_rate(score[rows], segment[rows], rater[rows]) for rows in (mine & here, ~mine & ~here)]
            apart = abs(sides[0][0] - sides[1][0])
            tasks = tasks_alone(
                sum(spread.by_tasks for _, spread in sides), sum(spread.n_tasks for _, spread in sides) - 1
            )
            held[draw, at] = apart <= reach_of(joined(tasks, *(spread for _, spread in sides)))
            alone[draw, at] = apart <= reach_of(tasks)
    widths = {}
    for number in (3, 4, 6, 8, 10):
        made = []
        for _ in range(100):
            rows = np.isin(rater, rng.permutation(raters)[:number])
            one, other = pairs[rng.integers(len(pairs))]
            score = 0.5 + 0.5 * np.sign(marks[rows, other] - marks[rows, one])
            value, spread = _rate(score, segment[rows], rater[rows])
            low, high = share_interval(value, spread, n_judgments=len(score))["interval"] or (0.0, 1.0)
            made.append(high - low)
        widths[number] = float(np.mean(made))
    by_pair = held.mean(axis=0)
    assert held.mean() >= 0.93, held.mean()
    assert by_pair.min() >= 0.90, by_pair.min()
    assert sorted(widths.values(), reverse=True) == list(widths.values()), widths
    return {
        "draws": draws,
        "held": float(held.mean()),
        "least_pair": float(by_pair.min()),
        "by_segment_alone": float(alone.mean()),
        "width_by_raters": widths,
    }


def _marks(path: Path) -> Any:
    by: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    with path.open() as file:
        for row in csv.DictReader(file):
            by[row["segment"], row["doc"], row["rater"]][row["system"]] = float(row["mqm"])
    systems = sorted({name for one in by.values() for name in one})
    keys = [key for key, one in by.items() if len(one) == len(systems)]
    columns = (np.unique(column, return_inverse=True)[1] for column in zip(*keys, strict=True))
    return np.array([[by[key][name] for name in systems] for key in keys]), *columns


def _rate(score: Any, task: Any, rater: Any) -> tuple[float, Spread]:
    _, at = np.unique(task, return_inverse=True)
    times = np.bincount(at)
    weight = 1.0 / (len(times) * times[at])
    value = float(weight @ score)
    return value, crossed(weight * (score - value), at, rater, weight=weight)


@proof("crossed-experts", "21 experts who judged in seven fields give one rate that counts them, and a rate by field")
def experts() -> Figures:
    with realdata("experts/haluquestqa.tsv").open() as file:
        csv.field_size_limit(1 << 30)
        rows = list(csv.DictReader(file, delimiter="\t"))
    outcomes = outcomes_from_arrays(
        task=range(len(rows)),
        model=["model"] * len(rows),
        score=[float(row["ans_preference_model_score"]) for row in rows],
        grader=[row["annotator"] for row in rows],
    )
    (found,) = win_rates(outcomes)
    (alone,) = win_rates(outcomes, interval="t")
    assert found.wins == 563
    assert found.win.target == "graders like these"
    assert (found.win.half_width or 0) > 1.5 * (alone.win.half_width or 1)
    return {"rate": found.win.value, "interval": found.win.interval, "for_these_experts": alone.win.interval}
