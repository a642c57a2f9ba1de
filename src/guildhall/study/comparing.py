"""Two reports side by side: models matched by name, tasks paired by key, the gate, and `report --compare`.

The gate: conditions under which a comparison of two reports fails, in a language small enough to learn at a glance.

```text
condition  = [ "possibly" | "certainly" ] estimate [ "(" model ")" ] relation number
estimate   = "win" | "win_or_tie" | "half_tie"
relation   = "<" | "<=" | ">" | ">=" | "drops by more than" | "rises by more than"
number     = digits with an optional sign and decimal point, as a difference of shares: 0.05 is five points
```

The estimate is the difference second minus first, paired by task. Without a word before it the value decides;
`certainly` fails only when the whole interval lies on the wrong side, `possibly` as soon as any of it does.
Without a model the condition is held against every model of both reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from pathlib import Path

from pydantic import ValidationError

from guildhall import __version__
from guildhall.analysis.paired import paired_difference, people_of, smallest_seen
from guildhall.domain.differences import GateFinding, GateOutcome, ModelDifference, ReportSide, StudyDifference
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GroupKind
from guildhall.domain.report import Figure, Report, TaskRates
from guildhall.errors import BadCondition, InputError, NothingPaired, UnknownName, UnreadableFile
from guildhall.reports.drawing import drawing
from guildhall.reports.old_reports import read_report as read_any_format
from guildhall.reports.other_pages import difference_html, difference_json, difference_markdown, difference_plot

ESTIMATES = ("win", "win_or_tie", "half_tie")
_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_IN_WORDS = {"drops by more than": ("<", -1), "rises by more than": (">", 1)}
_CONDITION = re.compile(
    r"(?:(?P<decider>possibly|certainly)\s+)?(?P<estimate>[A-Za-z_]\w*)\s*(?:\(\s*(?P<model>\S+?)\s*\)\s*)?\s*"
    r"(?P<relation><=|>=|<|>|\bdrops\s+by\s+more\s+than\b|\brises\s+by\s+more\s+than\b)\s*"
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))",
    re.ASCII,
)


@dataclass(frozen=True)
class GateCondition:
    """A gate fails where `estimate` of `model` stands in `relation` to `limit`; without a model, for any model."""

    text: str
    estimate: str
    model: str | None
    relation: str
    limit: float
    decider: str
    """`value`, `possibly` or `certainly`."""

    def holds(self, value: float) -> bool:
        return _RELATIONS[self.relation](value, self.limit)


def parse_condition(text: str) -> GateCondition:
    """The condition a text states; anything but the language above is refused, not guessed at."""
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise BadCondition(text, "is not a condition")
    if found["estimate"] not in ESTIMATES:
        raise BadCondition(text, f"names an estimate nobody knows: {found['estimate']}")
    relation, limit = " ".join(found["relation"].split()), float(found["number"])
    if relation in _IN_WORDS:
        if limit < 0:
            raise BadCondition(text, "drops or rises by less than nothing")
        relation, sign = _IN_WORDS[relation]
        limit = sign * limit
    if abs(limit) > 1:
        raise BadCondition(text, "asks for a difference that shares cannot have; write five points as 0.05")
    return GateCondition(text.strip(), found["estimate"], found["model"], relation, limit, found["decider"] or "value")


def hold_against(conditions: Sequence[GateCondition], models: Sequence[ModelDifference]) -> tuple[GateFinding, ...]:
    """Every condition on every model it is about; a model that was not compared is an error, never a pass."""
    known = {one.model: one for one in models}
    findings = []
    for condition in conditions:
        if condition.model is not None and condition.model not in known:
            raise UnknownName("model in both reports", condition.model, known=sorted(known))
        if not known:
            raise UnknownName("model in both reports", condition.text, fix="name the counterparts with --match OLD=NEW")
        meant = models if condition.model is None else [known[condition.model]]
        findings += [_finding(condition, one) for one in meant]
    return tuple(findings)


def _finding(condition: GateCondition, one: ModelDifference) -> GateFinding:
    outcome, words = _decide(condition, one.difference[condition.estimate])
    return GateFinding(
        condition=condition.text, estimate=condition.estimate, model=one.model, outcome=outcome, words=words
    )


def _decide(condition: GateCondition, estimate: Estimate) -> tuple[GateOutcome, str]:
    if estimate.value is None:
        return GateOutcome.UNDECIDED, f"there is no difference to judge by: {estimate.why_no_interval}"
    if estimate.interval is None:
        said = f"the difference is {estimate.value:+.3f}"
        if condition.decider == "value" and condition.holds(estimate.value):
            return GateOutcome.FAILED, f"{said}, without an interval: {estimate.why_no_interval}"
        return GateOutcome.UNDECIDED, f"{said}, but without an interval no gate is passed: {estimate.why_no_interval}"
    low, high = estimate.interval
    held = {
        "value": condition.holds(estimate.value),
        "possibly": condition.holds(low) or condition.holds(high),
        "certainly": condition.holds(low) and condition.holds(high),
    }[condition.decider]
    outcome = GateOutcome.FAILED if held else GateOutcome.PASSED
    return outcome, f"the difference is {estimate.value:+.3f} ({low:+.3f} to {high:+.3f})"


def difference_between(
    first: Report, second: Report, *, matches: Mapping[str, str] | None = None, level: float | None = None
) -> StudyDifference:
    """Second minus first, for each model of both; `matches` maps a name in the first report to one in the second.

    Without a `level` it is the stricter one of the reports: a look before the end spends little of the error.

    Reports by different kinds of graders, or against different baselines, measure different things: they are refused.
    """
    _same_measure(first, second)
    level = level or max(
        [one.level for report in (first, second) for own in report.rates.values() for one in own.values()], default=0.95
    )
    pairs = _pairs(first, second, matches or {})
    shared = set(_rates(first).tasks) & set(_rates(second).tasks)
    old, new = first.rates, second.rates
    return StudyDifference(
        first=_side(first),
        second=_side(second),
        baseline=second.policy.baseline,
        tasks_shared=len(shared),
        models=tuple(_compared(first, second, against, model, level) for against, model in pairs.items()),
        only_first=tuple(name for name in old if name not in pairs),
        only_second=tuple(name for name in new if name not in pairs.values()),
        version=__version__,
    )


def _compared(first: Report, second: Report, against: str, model: str, level: float) -> ModelDifference:
    difference = {name: _difference(first, second, against, model, name, level) for name in ESTIMATES}
    return ModelDifference(
        model=model,
        against=against,
        first=first.rates[against],
        second=second.rates[model],
        difference=difference,
        could_see={name: smallest_seen(one) for name, one in difference.items()},
    )


def _same_measure(first: Report, second: Report) -> None:
    for what, one, other in (
        ("baseline", first.policy.baseline, second.policy.baseline),
        ("kind of graders", first.policy.graders, second.policy.graders),
    ):
        if one != other:
            raise InputError(
                f"{first.study!r} and {second.study!r} differ in their {what} ({one}, {other}), so a difference "
                f"between them would mix two things; write both reports with the same --baseline and --graders"
            )


def _pairs(first: Report, second: Report, matches: Mapping[str, str]) -> dict[str, str]:
    """Old name -> new name: as told, then where the names are the same."""
    old, new = list(first.rates), list(second.rates)
    for name, known, study in (
        *((name, old, first.study) for name in matches),
        *((name, new, second.study) for name in matches.values()),
    ):
        if name not in known:
            raise UnknownName(f"model in the report on {study}", name, known=known)
    same = {name: name for name in old if name in new and name not in matches and name not in matches.values()}
    pairs = {**matches, **same}
    if len(set(pairs.values())) < len(pairs):
        raise InputError("two models of the first report are matched with one of the second; match each once")
    return pairs


def _difference(first: Report, second: Report, against: str, model: str, name: str, level: float) -> Estimate:
    told = (f"{name} of {model} in {second.study}", f"{name} of {against} in {first.study}")
    after, before = _rates(second).of(model, name), _rates(first).of(against, name)
    people = people_of(_rates(second), model, name), people_of(_rates(first), against, name)
    try:
        return paired_difference(after, before, names=told, people=people, level=level)
    except NothingPaired as error:
        return Estimate(
            value=None,
            estimand=f"{told[0]} minus {told[1]}, mean over tasks",
            method="none",
            level=level,
            n_tasks=0,
            n_excluded=len(after) + len(before),
            why_no_interval=str(error),
        )


def _rates(report: Report) -> TaskRates:
    if report.task_rates is None:
        raise InputError(f"the report on {report.study!r} holds no rates by task; write it again with this version")
    return report.task_rates


def _side(report: Report) -> ReportSide:
    return ReportSide(
        study=report.study,
        title=report.title,
        design_digest=report.design_digest,
        grader_kind=str(report.policy.graders),
        simulated=report.policy.graders.kind is GroupKind.SIMULATED,
        tasks=len(_rates(report).tasks),
    )


REPORT = "report.json"


def is_report(name: str) -> bool:
    """Whether a name means a written report: its folder, or its JSON file. Anything else is a study's id."""
    path = Path(name)
    return path.suffix == ".json" or (path / REPORT).is_file()


def read_report(name: str) -> Report:
    """The findings of a written report, or `UnreadableFile`."""
    path = Path(name) / REPORT if Path(name).is_dir() else Path(name)
    try:
        return read_any_format(json.loads(path.read_bytes()))
    except OSError as error:
        raise UnreadableFile(
            path, error.strerror or "cannot be read", fix="write it with `guildhall report`"
        ) from error
    except ValueError as error:
        why = f"{error.error_count()} fields differ" if isinstance(error, ValidationError) else "it is not JSON"
        fix = "write the report again with this version"
        raise UnreadableFile(path, f"is not the JSON of a report ({why})", fix=fix) from error


def compare_reports(
    names: tuple[str, str],
    *,
    of_study: Callable[[str], Report],
    fail_if: Sequence[str] = (),
    matches: Mapping[str, str] | None = None,
) -> StudyDifference:
    """The second report less the first, with every condition of the gate decided; `of_study` finds a study's report."""
    conditions = [parse_condition(text) for text in fail_if]
    first, second = (read_report(name) if is_report(name) else of_study(name) for name in names)
    found = difference_between(first, second, matches=matches)
    return found.but(gate=hold_against(conditions, found.models))


def write_difference(found: StudyDifference, folder: Path) -> None:
    """The comparison as page, Markdown, JSON and figure."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "difference.html").write_text(difference_html(found), encoding="utf-8")
    (folder / "difference.md").write_text(difference_markdown(found), encoding="utf-8")
    (folder / "difference.json").write_text(difference_json(found), encoding="utf-8")
    if found.models:
        with drawing(folder) as figures:
            figures.draw([Figure(name="differences", says="Differences", plot=difference_plot(found))])
            figures.finish()
