"""The gate: conditions under which a comparison of two reports fails, in a language small enough to learn at a glance.

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

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from guildhall.domain.differences import GateFinding, GateOutcome, ModelDifference
from guildhall.domain.estimates import Estimate
from guildhall.errors import BadCondition, UnknownName

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
class Condition:
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


def parse_condition(text: str) -> Condition:
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
    return Condition(text.strip(), found["estimate"], found["model"], relation, limit, found["decider"] or "value")


def hold_against(conditions: Sequence[Condition], models: Sequence[ModelDifference]) -> tuple[GateFinding, ...]:
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


def _finding(condition: Condition, one: ModelDifference) -> GateFinding:
    outcome, words = _decide(condition, one.difference[condition.estimate])
    return GateFinding(
        condition=condition.text, estimate=condition.estimate, model=one.model, outcome=outcome, words=words
    )


def _decide(condition: Condition, estimate: Estimate) -> tuple[GateOutcome, str]:
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
