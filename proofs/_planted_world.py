"""A whole study with planted truths: two waves, four models, people, a judge, and everything a report tells of them.

Like the simulator it imports no estimator. What is planted: win rates that lie on a line over release dates; tasks,
occupations and kinds of task that differ; samples that differ; graders who are kind or strict, quick or slow, and who
favour the side at A; a second wave of graders who are kinder; guesses of who made what, better where the model lost;
acceptance, stated confidence, severity, times, prices, faults of form, tells, reasons and who codes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from proofs.simulator import SAMPLE_SD, Cell, Codes, Floats, logistic

Flags = NDArray[np.bool_]
MODELS = ("alpha", "beta", "gamma", "delta")
WAVE_OF_MODEL = np.array([0, 0, 1, 1])
SAMPLES, GRADES, POOL = 2, 2, 5
"""Each work is graded by two of the five graders whose pool has five tasks; each wave has graders of its own."""
ENDINGS = ("docx", "pdf", "xlsx")
CLAIMS = (55, 65, 75, 85, 95)
LABELS = ("accuracy", "completeness", "formatting", "")
RULES, OF_EXPERT = ("cut-text", "blank-page"), (0.2, 0.15)
"""Rules of form, and how often the expert breaks each."""
PICKED = (1, 2)
"""Models of whose two samples a judge picks one."""
OCCUPATIONS = 6
OF_OCCUPATION = 0.5 * np.array([-1.27, -0.64, -0.20, 0.20, 0.64, 1.27])
OF_REFERENCES = np.array([-0.15, 0.15])
OF_SPECIFICATION = np.array([-0.2, 0.0, 0.2])
OF_ENDING = np.array([0.15, 0.0, -0.15])
OF_PLACE = np.array([0.2, -0.2])
"""At A, and elsewhere."""
OF_SIZE = -0.2
"""Long tasks are a little harder to win."""
OF_WAVE = np.array([0.0, 0.25])
SHARED = 0.6
"""The share of the tasks' variance that all models have in common."""
ANCHORED, CONTROLS, CODED_TWICE = 0.3, 0.3, 0.4


@dataclass(frozen=True)
class Tasks:
    occupation: Codes
    references: Codes
    specification: Codes
    ending: Codes
    hours: Floats
    wage: Floats
    expert_tells: Flags
    expert_broken: Flags
    """A row a rule."""

    def __len__(self) -> int:
        return len(self.hours)


@dataclass(frozen=True)
class Works:
    """Two samples of each model on each task.

    `chance` is that of a win given no tie, over the graders and places of the model's own wave, `later_chance` over
    those of the second wave, and `any_chance` also over all samples the model might make of the task.
    """

    task: Codes
    model: Codes
    sample: Codes
    chance: Floats
    later_chance: Floats
    any_chance: Floats
    confidence: Codes
    seconds: Floats
    usd: Floats
    tells: Flags
    broken: Flags
    """A row a rule."""
    verdicts: NDArray[np.int8]
    """The judge's, in halves: a row with the work at A, and one with it elsewhere."""
    picked: Flags


@dataclass(frozen=True)
class Grades:
    """People's judgments. `guess`: 1 right, -1 wrong, 0 none. Codes of reasons are -1 where there is none."""

    work: Codes
    grader: Codes
    wave: Codes
    anchor: Flags
    halves: NDArray[np.int8]
    first: Flags
    guess: NDArray[np.int8]
    accepted: Flags
    exposure: Codes
    active_s: Floats
    label: Codes
    second_label: Codes

    def __len__(self) -> int:
        return len(self.work)


@dataclass(frozen=True)
class Severities:
    work: Codes
    rater: Codes
    rating: Codes
    control: Flags


@dataclass(frozen=True)
class World:
    cell: Cell
    tasks: Tasks
    works: Works
    grades: Grades
    severities: Severities


def rates_of(cell: Cell) -> Floats:
    """Each model's chance of a win given no tie: on a line, the later the model the better."""
    steps: Floats = np.arange(len(MODELS), dtype=np.float64) - 1.5
    return cell.rate + 0.12 * min(cell.rate, 1 - cell.rate) * steps


@lru_cache(maxsize=64)
def _centres(cell: Cell) -> tuple[float, ...]:
    """The log-odds from which everything that is planted averages to each model's rate."""
    kinds = product(OF_OCCUPATION, OF_REFERENCES, OF_SPECIFICATION, OF_ENDING, OF_PLACE)
    offsets = np.array([sum(kind) for kind in kinds])
    spread = math.sqrt(cell.task_sd**2 + SAMPLE_SD**2 + cell.grader_sd**2 + OF_SIZE**2)
    points, weights = np.polynomial.hermite_e.hermegauss(30)
    everything = (offsets[:, None] + spread * points).ravel()
    likely = np.tile(weights / weights.sum(), len(offsets)) / len(offsets)
    found = []
    for model, rate in enumerate(rates_of(cell)):
        low, high = -20.0, 20.0
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if likely @ logistic(middle + everything) < rate else (low, middle)
        found.append((low + high) / 2 - OF_WAVE[WAVE_OF_MODEL[model]])
    return tuple(found)


def draw_world(cell: Cell, rng: np.random.Generator, *, n_tasks: int | None = None) -> World:
    """Everything of one study; the same generator gives the same study."""
    n = n_tasks or cell.n_tasks
    size = rng.normal(size=n)
    tasks = _draw_tasks(size, rng)
    task, model, sample = (
        axis.ravel() for axis in np.meshgrid(np.arange(n), range(len(MODELS)), range(SAMPLES), indexing="ij")
    )
    of_task = _task_offsets(tasks, size, cell, rng)[task, model]
    offset = of_task + SAMPLE_SD * rng.normal(size=len(task))
    centre, of_wave = np.array(_centres(cell))[model], OF_WAVE[WAVE_OF_MODEL[model]]
    quality = offset + centre
    grades = _draw_grades(cell, quality, offset, task, model, size, rng)
    works = Works(
        task=task,
        model=model,
        sample=sample,
        chance=_average_chance(quality + of_wave, cell.grader_sd),
        later_chance=_average_chance(quality + OF_WAVE[1], cell.grader_sd),
        any_chance=_average_chance(of_task + centre + of_wave, math.hypot(cell.grader_sd, SAMPLE_SD)),
        confidence=np.clip(np.floor(2.5 + 0.5 * offset + rng.normal(size=len(task))), 0, 4).astype(np.intp),
        seconds=_skewed(6 + 0.3 * size[task], 0.4, rng, digits=1),
        usd=_skewed(np.full(len(task), -1.0), 0.5, rng, digits=4),
        tells=rng.random(len(task)) < 0.12 + 0.1 * (offset > 0),
        broken=_draw_faults(n, task, model, rng),
        verdicts=np.stack([_halves(0.7 * quality + place, cell.ties, rng) for place in OF_PLACE]),
        picked=_draw_picks(offset, rng),
    )
    return World(cell, tasks, works, grades, _draw_severities(cell, works, grades, offset, rng))


def _draw_tasks(size: Floats, rng: np.random.Generator) -> Tasks:
    n = len(size)
    occupation = rng.integers(0, OCCUPATIONS, n)
    return Tasks(
        occupation=occupation,
        references=rng.integers(0, 2, n),
        specification=rng.integers(0, 3, n),
        ending=rng.integers(0, len(ENDINGS), n),
        hours=_skewed(1.2 + 0.6 * size, 0.0, rng, digits=2),
        wage=30.0 + 8.0 * occupation.astype(np.float64),
        expert_tells=rng.random(n) < 0.05,
        expert_broken=rng.random((len(RULES), n)) < np.array(OF_EXPERT)[:, None],
    )


def _skewed(centre: Floats, spread: float, rng: np.random.Generator, *, digits: int) -> Floats:
    """Times and prices: their logarithm is normal."""
    drawn: Floats = np.exp(centre + spread * rng.normal(size=len(centre)))
    return np.round(drawn, digits)


def _task_offsets(tasks: Tasks, size: Floats, cell: Cell, rng: np.random.Generator) -> Floats:
    """How much harder or easier each task is for each model."""
    of_kind = OF_OCCUPATION[tasks.occupation] + OF_REFERENCES[tasks.references]
    of_kind = of_kind + OF_SPECIFICATION[tasks.specification] + OF_ENDING[tasks.ending] + OF_SIZE * size
    common, own = rng.normal(size=len(size)), rng.normal(size=(len(size), len(MODELS)))
    drawn: Floats = cell.task_sd * (math.sqrt(SHARED) * common[:, None] + math.sqrt(1 - SHARED) * own)
    offsets: Floats = of_kind[:, None] + drawn
    return offsets


def _average_chance(logit: Floats, spread: float) -> Floats:
    """The chance of a win over both places and over everything that differs with this SD."""
    points, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / weights.sum()
    total = np.zeros_like(logit)
    for place, (point, weight) in product(OF_PLACE, zip(points, weights, strict=True)):
        total += weight / len(OF_PLACE) * logistic(logit + place + spread * point)
    return total


def _halves(logit: Floats, ties: float, rng: np.random.Generator) -> NDArray[np.int8]:
    won = 2 * (rng.random(len(logit)) < logistic(logit))
    return np.where(rng.random(len(logit)) < ties, 1, won).astype(np.int8)


def _draw_faults(n: int, task: Codes, model: Codes, rng: np.random.Generator) -> Flags:
    of_task = rng.normal(size=n)[task]
    chances = logistic(np.stack([-1.0 + 0.7 * of_task, -1.2 + 0.2 * model + 0.5 * of_task]))
    return np.asarray(rng.random(chances.shape) < chances)


def _draw_picks(offset: Floats, rng: np.random.Generator) -> Flags:
    """Of two samples the better one, four times in five."""
    pairs = offset.reshape(-1, SAMPLES)
    second = (pairs[:, 1] > pairs[:, 0]) ^ (rng.random(len(pairs)) < 0.2)
    return np.stack([~second, second], axis=1).ravel()


def _draw_grades(
    cell: Cell, quality: Floats, offset: Floats, task: Codes, model: Codes, size: Floats, rng: np.random.Generator
) -> Grades:
    n, graders = len(size), POOL * math.ceil(len(size) / POOL)
    again = np.flatnonzero((WAVE_OF_MODEL[model] == 0) & (rng.random(len(task)) < ANCHORED))
    shown = np.concatenate([np.arange(len(task)), again])
    anchor = np.repeat(np.arange(len(shown)) >= len(task), GRADES)
    work = np.repeat(shown, GRADES)
    wave = np.where(anchor, 1, WAVE_OF_MODEL[model[work]])
    pick = rng.random((len(shown), POOL)).argsort(axis=1)[:, :GRADES].ravel()
    kept = rng.random(len(work)) >= cell.missing
    work, wave, anchor, pick = work[kept], wave[kept], anchor[kept], pick[kept]
    grader = wave * graders + POOL * (task[work] // POOL) + pick
    kindness, speed = cell.grader_sd * rng.normal(size=2 * graders), 0.3 * rng.normal(size=2 * graders)
    able = rng.beta(8, 8, size=2 * graders)
    first = rng.random(len(work)) < 0.5
    felt = kindness[grader] + OF_WAVE[wave]
    halves = _halves(quality[work] + felt + np.where(first, *OF_PLACE), cell.ties, rng)
    exposure = _exposures(grader, task[work], rng)
    minutes = 3 + 0.4 * size[task[work]] + speed[grader] + 0.4 * rng.normal(size=len(work))
    right = rng.random(len(work)) < able[grader] + np.where(halves > 1, -0.1, 0.05)
    labels = _draw_labels(n, task[work], halves, rng)
    return Grades(
        work=work,
        grader=grader,
        wave=wave,
        anchor=anchor,
        halves=halves,
        first=first,
        guess=np.where(rng.random(len(work)) < 0.3, 0, np.where(right, 1, -1)).astype(np.int8),
        accepted=rng.random(len(work)) < logistic(0.5 + 0.6 * offset[work] + felt),
        exposure=exposure,
        active_s=np.round(60 * np.exp(minutes) * np.where(exposure > 1, 0.7, 1.0), 1),
        label=labels[0],
        second_label=labels[1],
    )


def _exposures(grader: Codes, task: Codes, rng: np.random.Generator) -> Codes:
    """How often each grader has met the task by then, this time included; the order of judging is random."""
    order = np.lexsort([rng.random(len(grader)), task, grader])
    new = np.r_[True, (np.diff(grader[order]) != 0) | (np.diff(task[order]) != 0)]
    starts = np.flatnonzero(new)[np.cumsum(new) - 1]
    exposure = np.empty(len(grader), dtype=np.intp)
    exposure[order] = np.arange(len(grader)) - starts + 1
    return exposure


def _draw_labels(n: int, task: Codes, halves: NDArray[np.int8], rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Reasons by two coders: tasks have mixes of their own, losses other ones than wins; ties have no side."""
    base = np.log(np.array([[0.4, 0.3, 0.2, 0.1], [0.25, 0.15, 0.4, 0.2]]))
    mixes = np.exp(base[(halves > 1).astype(np.intp)] + 0.6 * rng.normal(size=(n, len(LABELS)))[task])
    cuts = (mixes / mixes.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :-1]
    drawn, other = ((rng.random(len(task))[:, None] > cuts).sum(axis=1) for _ in range(2))
    second = np.where(rng.random(len(task)) < 0.7, drawn, other)
    sided = halves != 1
    return np.where(sided, drawn, -1), np.where(sided & (rng.random(len(task)) < CODED_TWICE), second, -1)


def _draw_severities(cell: Cell, works: Works, grades: Grades, offset: Floats, rng: np.random.Generator) -> Severities:
    """The second wave's lost works, and some that did not lose, by two of five raters a pool who did not judge them."""
    own = ~grades.anchor
    judged = np.bincount(grades.work[own], minlength=len(works.task))
    mean = np.bincount(grades.work[own], grades.halves[own], minlength=len(works.task)) / 2 / np.maximum(judged, 1)
    later, lost = (WAVE_OF_MODEL[works.model] == 1) & (judged > 0), mean < 0.5
    rated = np.flatnonzero(later & (lost | (rng.random(len(mean)) < CONTROLS)))
    pick = rng.random((len(rated), POOL)).argsort(axis=1)[:, :GRADES].ravel()
    work = np.repeat(rated, GRADES)
    rater = POOL * (works.task[work] // POOL) + pick
    harsh = 0.5 * cell.grader_sd * rng.normal(size=int(works.task.max()) + POOL + 1)
    bad = -0.4 * offset[work] + harsh[rater] - 1.0 * ~lost[work]
    cuts = logistic(np.array([-2.0, -0.2, 1.8]) + bad[:, None])
    rating = (rng.random(len(work))[:, None] > cuts).sum(axis=1)
    return Severities(work, rater, rating, ~lost[work])
