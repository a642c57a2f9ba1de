"""The Boswell Quotient: performance, evaluation and efficiency joined into one figure, in two modes.

`corrected` follows METHOD: performance from others' marks, evaluation against the leave-one-out consensus,
efficiency of uncached calls against a stated reference time, zero kept as the value it is. `published` gives the
public system's numbers back, faults included. Beside them stand grading bias, by the label ladder of the seed, and
the means over domains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guildhall.analysis.marks import MarkRow, efficiency, evaluate_grader, mark_table, medians_received
from guildhall.domain.boswell import Mark, RunRecord, label, value_of
from guildhall.domain.grades import NO_GRADE, TOP, letter_of, letter_of_percentage, mean, median

WEIGHTS = {"performance": 0.333, "evaluation": 0.333, "efficiency": 0.334}
CORRECTED = "corrected, formula 1"
PUBLISHED = "as published"


@dataclass(frozen=True)
class Reference:
    """The times against which efficiency is measured, and whether an author's own mark counts."""

    essay_s: float = 120.0
    mark_s: float = 60.0
    own_marks: bool = False


@dataclass(frozen=True)
class Scores:
    """One model's quotient and its components; a component that cannot be computed is None, never 0."""

    model: str
    performance: float | None
    evaluation: float | None
    efficiency: float | None
    rank: int = 0
    notes: tuple[str, ...] = ()

    @property
    def present(self) -> dict[str, float]:
        named = {"performance": self.performance, "evaluation": self.evaluation, "efficiency": self.efficiency}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def exact(self) -> float | None:
        """The quotient at full precision: the weighted mean of the components there are."""
        weight = sum(WEIGHTS[name] for name in self.present)
        return sum(WEIGHTS[name] * value for name, value in self.present.items()) / weight if weight else None

    @property
    def quotient(self) -> float | None:
        return None if self.exact is None else round(self.exact, 2)

    @property
    def components(self) -> str:
        return f"{len(self.present)}/3"

    @property
    def grade(self) -> str:
        """The letter of the quotient, with a marker such as `(2/3)` where a component is missing."""
        if self.quotient is None:
            return NO_GRADE
        letter = letter_of_percentage(int(self.quotient))
        return letter if len(self.present) == 3 else f"{letter} ({self.components})"


@dataclass(frozen=True)
class Quotients:
    """The quotients of a run, best first, with the mode and reference times they rest on."""

    mode: str
    scores: tuple[Scores, ...]
    reference: Reference | None = None
    notes: tuple[str, ...] = field(default=())

    def of(self, model: str) -> Scores:
        return next(scores for scores in self.scores if scores.model == model)


def mark_rows(run: RunRecord) -> list[MarkRow]:
    """A run's marks as numbers, as read by us; None where no grade could be read."""
    rows = []
    for mark, author, grader in run.cells():
        essay = run.essay_by_key[mark.essay]
        rows.append(MarkRow(author, grader, f"{essay.domain}/{essay.author.sample}", value_of(mark), mark.round))
    return rows


def corrected_quotients(run: RunRecord, *, reference: Reference | None = None) -> Quotients:
    """The corrected quotients. Marks without a grade take no part and are counted elsewhere."""
    reference = reference or Reference()
    speed = _efficiency(run, reference)
    rows = mark_rows(run)
    if all(row.mark is None for row in rows):
        why = ("evaluation: no grade could be read from any reply",)
        unread = [Scores(model, None, None, speed.get(model), notes=why) for model in run.models]
        return Quotients(CORRECTED, ranked(unread, shared=True), reference)
    table = mark_table(rows)
    received = medians_received(table, own_marks=reference.own_marks)
    authors = {label(essay.author) for essay in run.essays}
    scores = []
    for model in run.models:
        middle = received.get(model) if model in authors else None
        judged = evaluate_grader(table, model)
        notes = (f"evaluation: {judged.why_absent}",) if judged.why_absent else ()
        performance = None if middle is None else 100 * middle / TOP
        scores.append(Scores(model, performance, judged.evaluation, speed.get(model), notes=notes))
    return Quotients(CORRECTED, ranked(scores, shared=True), reference)


def _efficiency(run: RunRecord, reference: Reference) -> dict[str, float | None]:
    writing = efficiency(_mean_seconds(run, marks=False), reference_s=reference.essay_s)
    marking = efficiency(_mean_seconds(run, marks=True), reference_s=reference.mark_s)
    halves = {model: [half[model] for half in (writing, marking) if half[model] is not None] for model in run.models}
    return {model: mean([value for value in known if value is not None]) for model, known in halves.items()}


def _mean_seconds(run: RunRecord, *, marks: bool) -> dict[str, float | None]:
    """Mean seconds of a model's own calls; an answer from the cache took no time of the model's and is left out."""
    done = (
        [(label(mark.grader), mark.seconds, mark.cached) for mark in run.marks]
        if marks
        else [(label(essay.author), essay.seconds, essay.cached) for essay in run.essays]
    )
    return {
        model: mean([seconds for name, seconds, cached in done if name == model and seconds is not None and not cached])
        for model in run.models
    }


def published_quotients(run: RunRecord, *, na: float | None = None) -> Quotients:
    """The published quotients: self-marks in, and an efficiency of exactly zero treated as missing.

    Marks without a grade are left out, as the system's documents say; `na=0.0` counts them as nought, as its code does.
    """
    received: dict[str, list[float]] = {}
    given: dict[str, list[float]] = {}
    for mark, author, grader in run.cells():
        number = number_as_published(mark)
        for marks in (received.setdefault(author, []), given.setdefault(grader, [])):
            marks += [known for known in (na if number is None else number,) if known is not None]
    bias = grading_bias(given)
    speed = _published_efficiency(run)
    scores = []
    for model in dict.fromkeys(label(essay.author) for essay in run.essays):
        middle = median(received.get(model, []))
        lean = bias.graders[model].median_bias if model in bias.graders else None
        evaluation = None if lean is None else max(0.0, 100 - 100 * abs(lean))
        scores.append(Scores(model, None if middle is None else 100 * middle / TOP, evaluation, speed.get(model)))
    return Quotients(PUBLISHED, ranked(scores, shared=False))


@dataclass(frozen=True)
class QuotientEffect:
    """A model's published quotient with marks without a grade left out, and with each taken for 0.00."""

    run: str
    model: str
    left_out: float | None
    as_zero: float | None


def effects_of_missing_grades(run: RunRecord) -> list[QuotientEffect]:
    """What marks without a grade do to each model's published quotient, where they do anything."""
    code, documents = published_quotients(run, na=0.0), published_quotients(run)
    both = [QuotientEffect(run.run, one.model, one.quotient, code.of(one.model).quotient) for one in documents.scores]
    return [one for one in both if one.left_out != one.as_zero]


def number_as_published(mark: Mark) -> float | None:
    """What that system recorded of a mark, else what we read; None where it has no grade."""
    if mark.recorded is None:
        return value_of(mark)
    return None if mark.recorded.grade == NO_GRADE else mark.recorded.numeric


def _published_efficiency(run: RunRecord) -> dict[str, float | None]:
    writing = _relative_to_slowest({label(e.author): [e.seconds] for e in run.essays if e.seconds is not None})
    times: dict[str, list[float | None]] = {}
    for mark in run.marks:
        if mark.seconds is not None:
            times.setdefault(label(mark.grader), []).append(mark.seconds)
    marking = _relative_to_slowest(times)
    halves = {model: [half.get(model, 0.0) for half in (writing, marking)] for model in run.models}
    return {model: mean([value for value in known if value > 0]) for model, known in halves.items()}


def _relative_to_slowest(seconds: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    means = {model: mean([s for s in known if s is not None]) or 0.0 for model, known in seconds.items()}
    slowest = max(means.values(), default=0.0)
    return {model: 100 * (1 - value / slowest) if slowest else 0.0 for model, value in means.items()}


def ranked(scores: Sequence[Scores], *, shared: bool) -> tuple[Scores, ...]:
    """Best first. With `shared`, equals share a rank, and a quotient of fewer components comes after those of more:

    it is another mean, and a model that refuses to mark gains nothing by it. As published neither is so.
    """

    def key(one: Scores) -> tuple[int, float]:
        value = -1.0 if one.quotient is None else one.quotient
        return (len(one.present) if shared else 0, value)

    ordered = sorted(scores, key=key, reverse=True)
    result: list[Scores] = []
    for place, one in enumerate(ordered, 1):
        rank = result[-1].rank if shared and result and key(result[-1]) == key(one) else place
        result.append(replace(one, rank=rank))
    return tuple(result)


@dataclass(frozen=True)
class GraderBias:
    """One grader against all; positive is lenient. Absent figures belong to a grader who gave no grade."""

    grader: str
    count: int
    median_given: float | None
    median_bias: float | None
    mean_bias: float | None

    @property
    def label(self) -> str:
        return bias_label(self.median_bias)


@dataclass(frozen=True)
class BiasTable:
    overall_median: float | None
    overall_mean: float | None
    graders: dict[str, GraderBias]


def grading_bias(given: Mapping[str, Sequence[float]]) -> BiasTable:
    """Bias of each grader from the marks it gave; marks without a grade are not in `given`."""
    everything = [mark for marks in given.values() for mark in marks]
    middle, average = median(everything), mean(everything)
    rows = {grader: _bias(grader, marks, middle, average) for grader, marks in given.items()}
    return BiasTable(middle, average, rows)


def _bias(grader: str, marks: Sequence[float], middle: float | None, average: float | None) -> GraderBias:
    own_median, own_mean = median(marks), mean(marks)
    if own_median is None or own_mean is None or middle is None or average is None:
        return GraderBias(grader, 0, None, None, None)
    return GraderBias(grader, len(marks), own_median, own_median - middle, own_mean - average)


def bias_label(bias: float | None) -> str:
    """The seed's words for a median bias."""
    if bias is None:
        return "N/A"
    size = abs(bias)
    if size < 0.15:
        return "Neutral"
    side, sign = ("Lenient", "+") if bias > 0 else ("Strict", "-")
    if size > 0.6:
        return f"Very {side} ({sign}2 grades)"
    return f"{side} ({sign}1 grade)" if size > 0.3 else f"Slightly {side} ({sign}1/3 grade)"


@dataclass(frozen=True)
class Aggregate:
    """One model over the domains it took part in; `complete` when that is all of them."""

    model: str
    mean_quotient: float
    by_domain: dict[str, float]
    complete: bool
    mean_mark: float | None = None
    """The mean over domains of the median mark its essays were given."""
    rank: int = 0

    @property
    def grade(self) -> str:
        """The letter of the mean mark, a composite where it lies between two."""
        return NO_GRADE if self.mean_mark is None else letter_of(self.mean_mark)

    @property
    def consistency(self) -> float | None:
        """100 less the spread between best and worst domain; absent with one domain."""
        values = list(self.by_domain.values())
        return 100 - (max(values) - min(values)) if len(values) > 1 else None


def aggregate(runs: Sequence[RunRecord], quotients: Callable[[RunRecord], Quotients]) -> list[Aggregate]:
    """Models by mean quotient. A mean over fewer domains is another mean: such models are marked and ranked last."""
    by_model: dict[str, dict[str, list[float]]] = {}
    marks: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for scores in quotients(run).scores:
            if scores.performance is not None:
                marks.setdefault(scores.model, {}).setdefault(run.domain, []).append(scores.performance * TOP / 100)
            if scores.exact is not None:
                by_model.setdefault(scores.model, {}).setdefault(run.domain, []).append(scores.exact)
    domains = {run.domain for run in runs}
    rows = []
    for model, found in by_model.items():
        means = {domain: mean(values) or 0.0 for domain, values in found.items()}
        mark = mean([mean(values) or 0.0 for values in marks.get(model, {}).values()])
        rows.append(Aggregate(model, mean(list(means.values())) or 0.0, means, set(means) == domains, mark))
    rows.sort(key=lambda row: (not row.complete, -row.mean_quotient))
    return [replace(row, rank=place) for place, row in enumerate(rows, 1)]
