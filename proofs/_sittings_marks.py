"""Sittings for the leniency model: letters, a ceiling, marks missing not at random, self- and family-preference."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from guildhall.analysis.leniency import fit_leniency
from guildhall.analysis.marks import Floats, MarkTable, repeatability
from proofs._examining import Seen, Sitting, see
from proofs.simulator import Cell, MarkWorld, draw_marks


def table_of(world: MarkWorld) -> MarkTable:
    models, essays, _ = world.marks.shape
    author, essay, grader = np.nonzero(world.read)
    none = np.zeros(models, dtype=np.intp)
    return MarkTable(
        tuple(f"m{index:02}" for index in range(models)),
        tuple(str(index) for index in range(models * essays)),
        author,
        grader,
        author * essays + essay,
        world.marks[author, essay, grader],
        none,
        none,
    )


def projected(expected: Floats) -> tuple[Floats, Floats]:
    """Additive parts of the expected marks of others' essays: author, and grader with mean 0; a dense least squares."""
    models = len(expected)
    author, grader = np.nonzero(~np.eye(models, dtype=bool))
    design = np.zeros((len(author), 2 * models - 1))
    design[np.arange(len(author)), author] = 1
    for column in range(models - 1):
        design[:, models + column] = (grader == column).astype(float) - (grader == models - 1)
    solution = np.linalg.lstsq(design, expected[author, grader], rcond=None)[0]
    severity = np.append(solution[models:], -solution[models:].sum())
    return np.asarray(solution[:models], dtype=np.float64), np.asarray(severity, dtype=np.float64)


def _leniency(models: int, essays: int) -> Sitting:
    def sitting(_: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
        world = draw_marks(rng, models=models, essays=essays, high=run % 2 == 1, missing=run // 2 % 2 == 1)
        fit = fit_leniency(table_of(world))
        quality, severity = projected(world.expected)
        a, b = run % models, (run + 1 + run // models) % models
        b = b if b != a else (a + 1) % models
        setting = f"{models} models, {essays} essay{'s' if essays > 1 else ''}"
        difference = fit.difference(fit.authors[a], fit.authors[b])
        yield see(f"quality difference, {setting}", difference, float(quality[a] - quality[b]))
        yield see(f"severity, {setting}", fit.severity[fit.graders[a]], float(severity[a]))
        order = np.argsort(-quality)
        held = all(
            fit.ranks[fit.authors[who]][0] <= place <= fit.ranks[fit.authors[who]][1]
            for place, who in enumerate(order, 1)
        )
        yield Seen(f"ranks of authors, {setting}", "simultaneous", held)

    return sitting


def preferences(_: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Self-preference in models, away from the ceiling so that its truth is what was planted; family preference too."""
    models = (6, 17)[run % 2]
    world = draw_marks(rng, models=models, essays=3, own=0.3, family=0.2)
    table = table_of(world)
    families = {name: f"family {index // 2}" for index, name in enumerate(table.models)}
    fit = fit_leniency(table, families=families)
    own, family = _planted(world.expected)
    yield see("self-preference", fit.self_preference, own)
    yield see("family preference", fit.family_preference, family)


def _planted(expected: Floats) -> tuple[float, float]:
    """Self and family effects of the expected marks, by dense least squares with the same parts."""
    models = len(expected)
    author, grader = np.nonzero(np.ones((models, models), dtype=bool))
    design = np.zeros((len(author), 2 * models + models))
    rows = np.arange(len(author))
    design[rows, author] = 1
    design[rows, models + grader] = 1
    own = author == grader
    design[rows[own], 2 * models + author[own]] = 1
    kin = ((author // 2 == grader // 2) & ~own).astype(float)
    solution = np.linalg.lstsq(np.column_stack([design, kin]), expected[author, grader], rcond=None)[0]
    rest = expected - (solution[:models][:, None] + solution[models : 2 * models][None, :])
    return float(np.diag(rest).mean()), float(solution[-1])


def stretched(_: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Graders who spread their marks differently, fitted with discrimination."""
    slopes = np.exp(0.25 * rng.normal(size=12))
    slopes /= np.exp(np.log(slopes).mean())
    world = draw_marks(rng, models=12, essays=3, slopes=slopes, essay_sd=0.25, error_sd=0.35)
    fit = fit_leniency(table_of(world), discrimination=True)
    quality, _unused = projected(world.expected)
    a, b = run % 12, (run + 1 + run // 12 % 10) % 12
    found = fit.difference(fit.authors[a], fit.authors[b])
    yield see("quality difference, with discrimination", found, float(quality[a] - quality[b]))


def repeated(_: Cell, rng: np.random.Generator, run: int) -> Iterable[Seen]:
    """Two marks of each of 20 or 60 essays by one grader; the truth is the mean distance of two normal marks."""
    essays = (20, 60)[run % 2]
    sd = (0.2, 0.4)[run // 2 % 2]
    base = 3 + 0.4 * rng.normal(size=essays)
    marks = base[:, None] + sd * rng.normal(size=(essays, 2))
    code = np.repeat(np.arange(essays), 2)
    zero = np.zeros(2, dtype=np.intp)
    table = MarkTable(
        ("author", "grader"),
        tuple(str(one) for one in range(essays)),
        np.zeros(2 * essays, dtype=np.intp),
        np.ones(2 * essays, dtype=np.intp),
        code,
        marks.ravel(),
        zero,
        zero,
    )
    yield see("repeatability of a grader", repeatability(table)[0].gap, 2 * sd / np.sqrt(np.pi))


SITTINGS: dict[str, Sitting] = {
    "leniency, 6 models, 1 essay": _leniency(6, 1),
    "leniency, 6 models, 3 essays": _leniency(6, 3),
    "leniency, 17 models, 1 essay": _leniency(17, 1),
    "leniency, 17 models, 3 essays": _leniency(17, 3),
    "preferences": preferences,
    "discrimination": stretched,
    "repeatability": repeated,
}
