"""The design of a study: everything that is fixed before the first judgment, the plan of its analysis included.

A design is kept for good. What changes later is another form, which names the one it replaces and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_serializer,
    model_validator,
)
from pydantic_core import to_jsonable_python

from guildhall.domain.draws import Draw
from guildhall.domain.estimates import Convention, Success
from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import PanelPlan, PlannedJudge
from guildhall.domain.policy import GraderGroup, GroupKind, MissingRule, Policy
from guildhall.domain.prices import Price
from guildhall.domain.values import Digest, GrownValue, Id, Line, Value

if TYPE_CHECKING:
    from guildhall.domain.studies import Study

FORMAT = 2
"""The format of designs that are kept now."""
Blinding = Literal["two-person", "single-handed"]
"""Whether two people must agree to show the names of models, or somebody who works alone may, and says so."""
EXPERT = "expert"
"""The baseline of a study that names no other: the professionals' own work."""
REHEARSAL = "This is a rehearsal: simulated graders stand where people will stand, and no figure is about any model."


class TaskChoice(Value):
    """`[tasks]`: which tasks of the workspace. Without any line, all of them."""

    ids: tuple[Id, ...] = ()
    sectors: tuple[Line, ...] = ()
    occupations: tuple[Line, ...] = ()
    first: Annotated[int, Field(ge=1)] | None = None


class Extension(Value):
    """A later wave of a study: new authors on the same tasks, and some old pairs judged again to see drift.

    `key` is the earlier study's frozen form; `anchors` are the submissions whose pairs with the expert are judged
    again. Past `drift_limit` the waves are not pooled.
    """

    study: Id
    key: str
    anchors: Annotated[tuple[Digest, ...], Field(min_length=1)]
    drift_limit: Annotated[float, Field(gt=0, le=1)]


class Wave(Value):
    """One wave of grading: its share of the tasks, and the weight with which it enters the joined figure."""

    tasks: Annotated[float, Field(gt=0, le=1)]
    weight: Annotated[float, Field(gt=0, le=1)]


class Looks(Value):
    """When results are looked at, as shares of the planned gradings, and what may end the study before its end."""

    at: Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1)] = (1.0,)
    stop: Literal["at the end", "width reached"] = "at the end"
    width: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The width of the primary intervals at which grading may stop."""

    @property
    def end(self) -> str:
        return self.stop if self.width is None else f"when intervals are {self.width:g} wide"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if list(self.at) != sorted(set(self.at)):
            raise ValueError("looks are shares of the planned gradings, each larger than the one before")
        if (self.stop == "width reached") != (self.width is not None):
            raise ValueError('`stop = "width reached"` and `width` come together')
        return self


class ExclusionRule(Value):
    """A grader whose figure lies below or above a bound is left out; both are fixed before the first judgment."""

    figure: Literal["known answers right", "median minutes", "share of ties", "share on A"]
    below: float | None = None
    above: float | None = None
    from_judgments: Annotated[int, Field(ge=1)] = 1
    """A grader with fewer judgments is not held against the bound."""

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        if self.below is None and self.above is None:
            raise ValueError("a rule for leaving graders out says `below`, `above` or both")
        return self

    def __str__(self) -> str:
        bounds = {"below": self.below, "above": self.above}
        told = " or ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
        return f"{self.figure} {told}, from {self.from_judgments} judgments on"


class PlanChoices(GrownValue):
    """`[plan]`: how the study is to be analysed, as far as its file says; what it leaves out follows from the rest."""

    graders: GraderGroup | None = None
    """Whose judgments lead. Without a line: experts where people grade, else the study's panel or first judge."""
    convention: Convention = "half_tie"
    level: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    target: Literal["graders like these", "these very graders"] = "graders like these"
    comparisons: tuple[tuple[Id, Id], ...] = ()
    """The pairs of authors that are compared; without any, every author with the baseline."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The difference that matters: parity and drift are judged by it."""
    success: Success = Success.WIN
    strata: tuple[Literal["occupation", "sector"], ...] = ("occupation",)
    exposure: Literal["all", "first"] = "all"
    """`first`: only what a grader said when meeting a task for the first time."""
    missing: MissingRule = MissingRule()
    retries: Annotated[int, Field(ge=0)] = 0
    """How often work that failed through no fault of its author is tried again before it is missing."""
    waves: tuple[Wave, ...] = ()
    looks: Looks = Looks()
    excluded: tuple[ExclusionRule, ...] = ()

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        for what in ("tasks", "weight"):
            if self.waves and abs(sum(getattr(wave, what) for wave in self.waves) - 1) > 1e-9:
                raise ValueError(f"the waves' shares of `{what}` add up to 1")
        if any(one == other for one, other in self.comparisons):
            raise ValueError("nobody is compared with themselves")
        return self


class Plan(PlanChoices):
    """How a study is analysed, whole and frozen before its first judgment; all else in a report is exploratory."""

    graders: GraderGroup
    baseline: str
    samples: dict[str, int]
    """How often each author tries a task."""
    graders_per_set: int | None
    """How many people judge a set; None where only programs do."""

    @classmethod
    def of_old_form(cls, study: Study) -> Self:
        """How a study is analysed whose form was kept before there were plans."""
        return cls.filled(PlanChoices(), study.design, authors=[one.name for one in study.authors])

    @classmethod
    def filled(cls, chosen: PlanChoices, design: Design, *, authors: Sequence[str]) -> Self:
        """The whole plan: what was chosen, the rest from the design. `authors` names one for each sample."""
        people = design.people
        fields = {name: getattr(chosen, name) for name in type(chosen).model_fields}
        facts = {
            "graders": chosen.graders or _leading(design),
            "baseline": design.baseline,
            "samples": dict(sorted(Counter(authors).items())),
            "graders_per_set": None if people is None else people.graders_per_set,
        }
        return cls.model_validate(fields | facts)


def _leading(design: Design) -> GraderGroup:
    """Who leads where nothing is said: people where they grade, joined with the panel or the first judge where they
    grade a share; else that program alone.
    """
    judge = design.panel or (design.judges[0].plan if design.judges else None)
    if judge is not None and design.people is None:
        return GraderGroup(kind=GroupKind.JUDGE, name=judge.name)
    if judge is not None and design.hall.share is not None:
        return GraderGroup(kind=GroupKind.PEOPLE_AND_JUDGE, name=judge.name)
    return GraderGroup(kind=GroupKind.SIMULATED if design.rehearsal else GroupKind.EXPERT)


class Design(Value):
    """Everything frozen before the first judgment.

    It is written as it was first made, to the byte: fields that join later change no kept form, and a form kept before
    there were formats may hold further sections, which are kept too. What it holds now is refused if unknown.
    """

    format: Literal[2] | None = None
    tasks: TaskChoice = TaskChoice()
    prices: dict[str, Price] = {}
    released: dict[str, date] = {}
    baseline: str = EXPERT
    people: HallDesign | None = None
    draw: Draw | None = None
    """Which pairs people grade, where they grade a share of them."""
    judges: tuple[PlannedJudge, ...] = ()
    sweeps: Annotated[int, Field(ge=1)] | None = None
    set_size: Annotated[int, Field(ge=2)] | None = None
    panel: PanelPlan | None = None
    extends: Extension | None = None
    rehearsal: bool | None = None
    blinding: Blinding | None = None
    """How many people unblind it; None for forms from before it was said: two, and code names as they were then."""
    plan: Plan | None = None
    """None: analysed by `Plan.of_old_form`, and the report says so."""
    replaces: str | None = None
    """The key of the form this one replaces, with the reason."""
    why: Line | None = None

    _written: dict[str, JsonValue] = PrivateAttr(default_factory=dict)

    FIRST_FORMAT: ClassVar[frozenset[str]] = frozenset({"tasks", "prices", "released", "baseline", "people", "extends"})
    """The fields there were before designs had formats."""

    @model_validator(mode="wrap")
    @classmethod
    def _remember(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(given, Mapping):
            return read(given)
        known = given
        if given.get("format") is None:
            known = {name: what for name, what in given.items() if name in cls.FIRST_FORMAT}
            if newer := {*given} & {*cls.model_fields} - cls.FIRST_FORMAT:
                raise ValueError(f"a design with {min(newer)!r} says `format = {FORMAT}`")
        made = read(known)
        made._written = to_jsonable_python(dict(given))  # noqa: SLF001 - of the very value that is being made
        return made

    @model_serializer(mode="plain")
    def _as_written(self) -> dict[str, Any]:
        return self._written

    @property
    def hall(self) -> HallDesign:
        """The rules of human grading, from the study file's section `people` or as they are without it."""
        return self.people or HallDesign()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if (self.replaces is None) != (self.why is None):
            raise ValueError("a form that replaces another says why, and only such a form does")
        if self.plan is not None:
            _check_plan(self.plan, self)
        return self

    @property
    def automatic(self) -> dict[str, tuple[str, ...]]:
        """The judges and the panel by name, each with the keys its verdicts stand under."""
        found = {judge.plan.name: judge.keys for judge in self.judges}
        return found if self.panel is None else {**found, self.panel.name: (self.panel.grader.key,)}

    @property
    def two_people(self) -> bool:
        """Whether it takes two people to show the names of models."""
        return self.blinding != "single-handed"

    @property
    def rehearsal_note(self) -> str | None:
        """What stands first wherever a rehearsal is shown; None for a study in earnest."""
        return REHEARSAL if self.rehearsal else None

    def planned(self, chosen: PlanChoices, *, authors: Sequence[str]) -> Self:
        """The same design with the whole plan of its analysis; `authors` names one for each sample."""
        return self.but(plan=Plan.filled(chosen, self, authors=authors))

    def same_as(self, kept: Design) -> bool:
        """Whether this is the design that was kept, as far as a form of that time says it.

        Which form replaced which is no part of the comparison.
        """
        unsaid = {"replaces", "why"} | ({"blinding"} if kept.blinding is None else set())
        names = self.FIRST_FORMAT if kept.format is None else {*type(self).model_fields} - unsaid
        return all(getattr(self, name) == getattr(kept, name) for name in names)

    def changed_from(self, earlier: Design) -> tuple[str, ...]:
        """The sections in which two designs differ."""
        names = {*type(self).model_fields} - {"format", "replaces", "why"}
        return tuple(sorted(name for name in names if getattr(self, name) != getattr(earlier, name)))


def _check_plan(plan: Plan, design: Design) -> None:
    if plan.baseline != design.baseline:
        raise ValueError(f"the plan compares with {plan.baseline!r}, the study with {design.baseline!r}")
    named = plan.graders.kind in {GroupKind.JUDGE, GroupKind.PEOPLE_AND_JUDGE}
    if named and plan.graders.name not in design.automatic:
        raise ValueError(f"the plan's graders are {plan.graders}, and the study has no judge of that name")
    if plan.graders.kind is GroupKind.SIMULATED and not design.rehearsal:
        raise ValueError("simulated graders lead only where the study says `rehearsal = true`")


class Deviation(Value):
    """Something done otherwise than planned; `why` is None where nobody said."""

    what: Line
    planned: str
    done: str
    why: str | None = None

    def __str__(self) -> str:
        return f"{self.what}: planned {self.planned}; done {self.done}" + (f"; why: {self.why}" if self.why else "")


def deviations(planned: Study, done: Policy, forms: Sequence[Study]) -> tuple[Deviation, ...]:
    """Where what was done departs from the plan, and every form of the study that replaced another.

    `forms` are the kept forms of the study, `planned` the one in force. A form without a plan was never departed from.
    """
    by_key = {form.key: form for form in forms}
    replaced = tuple(_replacement(one, by_key.get(one.design.replaces)) for one in forms if one.design.replaces)
    plan = planned.design.plan
    return replaced if plan is None else (*replaced, *_departures(plan, planned.design, done))


def _replacement(form: Study, earlier: Study | None) -> Deviation:
    if earlier is None:
        changed = "what is not known: the earlier form is not kept here"
    else:
        facts = [
            name for name in ("title", "seed", "tasks", "authors") if getattr(form, name) != getattr(earlier, name)
        ]
        changed = ", ".join([*facts, *form.design.changed_from(earlier.design)])
    return Deviation(
        what="design",
        planned=f"as {form.design.replaces}",
        done=f"from then on as {form.key} (changed: {changed})",
        why=form.design.why,
    )


def _departures(plan: Plan, design: Design, done: Policy) -> list[Deviation]:
    # People's own part of a joined figure is counted by itself.
    joins = plan.graders.kind is GroupKind.PEOPLE_AND_JUDGE
    part = joins and (done.graders.of_people or done.graders.kind is GroupKind.SIMULATED)
    pairs: list[tuple[str, Any, Any]] = [
        ("graders", plan.graders, plan.graders if part else done.graders),
        ("baseline", plan.baseline, done.baseline),
        ("exposure", plan.exposure, "first" if done.first_exposure else "all"),
        ("work that is missing", missing_words(plan.missing), missing_words(done.losses)),
        ("gradings beyond the plan", "left out", "left out" if done.planned_only else "counted"),
        ("rounds of a judge", "whole ones only", "whole ones only" if done.whole_rounds else "broken ones too"),
        ("a judge that follows the side", "counts as it is", _COLLAPSED[done.collapse]),
    ]
    keys = design.automatic.get(done.graders.name or "")
    if keys is not None and done.grader_keys is not None:
        pairs.append(("settings of the judge", ", ".join(sorted(keys)), ", ".join(sorted(done.grader_keys))))
    if plan.excluded and not done.excluded:
        pairs.append(("graders left out", "; ".join(map(str, plan.excluded)), "nobody"))
    if done.excluded and not plan.excluded:
        pairs.append(("graders left out", "nobody", ", ".join(sorted(done.excluded))))
    return [Deviation(what=what, planned=str(was), done=str(now)) for what, was, now in pairs if was != now]


_COLLAPSED = {"none": "counts as it is", "swap-to-tie": "counts as a tie"}


def missing_words(rule: MissingRule | None) -> str:
    """The rule for missing work in a line."""
    if rule is None:
        return "left to graders"
    return ", ".join(f"{name.replace('_', ' ')}: {fate}" for name, fate in rule.model_dump().items())
