"""Which judgments count, and what they say of each model's work: the one place that decides it.

`count` is handed verdicts as frames and a `Policy`, and gives the pairs every figure rests on, with how many judgments
each rule left out. Report, board, exports, API, accounts of judges and peer marks all ask it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from guildhall.analysis.missing import Becomes, outcomes_by_rule, settled
from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.pairs import Pairs, pairs_from
from guildhall.domain.design import ExclusionRule
from guildhall.domain.policy import PROGRAMS, GraderGroup, GroupKind, Policy, Rule

RULES = tuple(Rule)
_COUNTED = -1
_LOST = [RULES.index(Rule.NO_VERDICT), RULES.index(Rule.BROKEN_ROUND)]
_PROGRAMS = [kind.value for kind in PROGRAMS]
"""Kinds of graders that are asked in every order of a set; people have no rounds."""
_HEAD = (
    *("judgment", "comparison", "task", "work", "grader", "rank", "sweep", "planned", "exposure"),
    *("made_at", "key_head"),
)
"""What rules look at of a judgment."""
_SAID = pl.col("program") & ~pl.col("replaced") & pl.col("rank").is_not_null()
_SAID_BEFORE = pl.int_range(pl.len()).over("grader", "comparison", "sweep", "work", "second") > 0
"""Of what programs said, by time: at a place they had judged already. The first verdict there counts."""

LOOKED_AT = (
    *("judgment", "comparison", "task", "work", "grader", "place", "rank", "sweep", "planned", "exposure", "replaces"),
    *("accepted", "guess", "active_ms", "omitted", "made_at", "key_head"),
)
"""Columns of `Verdicts.rows` that counting and pairs need; the others are further answers."""


class VerdictFrames(Protocol):
    """Verdicts and what they are about, as the store hands them over; every frame is sorted by names.

    `rows`: one for each work that a judgment shows. `works`, `tasks`, `graders` and `failures`: what the numbers in it
    stand for; their first column is the place of each row. The store says what every column means.
    """

    @property
    def rows(self) -> pl.DataFrame: ...

    @property
    def works(self) -> pl.DataFrame: ...

    @property
    def tasks(self) -> pl.DataFrame: ...

    @property
    def graders(self) -> pl.DataFrame: ...

    @property
    def failures(self) -> pl.DataFrame: ...

    @property
    def attempts(self) -> pl.DataFrame | None: ...


@dataclass(frozen=True)
class Counted:
    """What one policy makes of some verdicts. Counted judgments and those each rule left out are all there are."""

    pairs: Pairs
    answers: pl.DataFrame
    """The rows behind the pairs, each with `base_place` and `base_rank` beside what was read of it."""
    unanswered: pl.DataFrame
    """Rows of models' work in judgments that gave no verdict, or lost theirs with a round that was not whole."""
    left_out: Mapping[Rule, int]
    n_counted: int
    policy: Policy
    unanswered_keys: tuple[str, ...] = ()
    """The keys of the works in `unanswered`."""
    attempted: pl.DataFrame | None = None
    """What these graders were to judge of what was tried beside the baseline's work, with what becomes of it
    (`missing.settled`): of people who grade a share, what was drawn. None where unknown."""
    frame: pl.DataFrame | None = None
    """The same of all that was tried, drawn or not."""

    @property
    def n_judgments(self) -> int:
        """All judgments, counted or not."""
        return self.n_counted + sum(self.left_out.values())

    def of_pairs(self, pairs: Pairs) -> Counted:
        """The same counting with some of its pairs only: what is taken out is told elsewhere."""
        return replace(self, pairs=pairs)

    @property
    def by_rule(self) -> pl.DataFrame | None:
        """Works that nobody judged since a rule decides them, each with its `halves`.

        In a study that is still judged only those of tasks that were reached: where something of the task was judged,
        or nothing on it is to be judged. Losses by rule would else come before all other work.
        """
        tried = self.attempted
        if tried is None:
            return None
        reached = pl.Series([self.pairs.task.names[code] for code in np.unique(self.pairs.task.codes).tolist()])
        waiting = tried.filter(becomes=Becomes.TO_GRADE.value)["id"].unique()
        waits = pl.col("id").is_in(waiting.implode()) & ~pl.col("id").is_in(reached.cast(pl.String()).implode())
        return tried.filter(pl.col("halves").is_not_null() & ~waits)

    def and_also(self, later: Counted) -> Counted:
        """Two waves as one. Work that was shown in both is counted twice, as it was judged twice."""
        return Counted(
            pairs=self.pairs.and_also(later.pairs),
            answers=pl.concat([self.answers, later.answers]),
            unanswered=pl.concat([self.unanswered, later.unanswered]),
            left_out={rule: n + later.left_out[rule] for rule, n in self.left_out.items()},
            n_counted=self.n_counted + later.n_counted,
            unanswered_keys=(*self.unanswered_keys, *later.unanswered_keys),
            attempted=_both(self.attempted, later.attempted),
            frame=_both(self.frame, later.frame),
            policy=later.policy.but(studies=(*self.policy.studies, *later.policy.studies)),
        )

    @cached_property
    def outcomes(self) -> Outcomes:
        """What estimators of rates take, in the plan's strata: the pairs, and what rules decided."""
        columns = self.pairs.columns
        strata = [columns[name] for name in ("occupation", "sector") if name in self.policy.strata and name in columns]
        own = replace(
            self.pairs.outcomes, stratum=strata[0] if strata else None, these_graders=self.policy.these_graders
        )
        ruled = self.by_rule
        return own if ruled is None or not len(ruled) else own.and_also(outcomes_by_rule(ruled))


def _both(first: pl.DataFrame | None, second: pl.DataFrame | None) -> pl.DataFrame | None:
    return second if first is None else first if second is None else pl.concat([first, second])


def count(verdicts: VerdictFrames, policy: Policy) -> Counted:
    """Every judgment under the first rule that takes it, in the order of `Rule`; the others as pairs."""
    rows, by_programs = verdicts.rows, bool(verdicts.graders["kind"].is_in(_PROGRAMS).any())
    # Of several works by the baseline the one of the lowest sample is what a judgment shows of it.
    base = (
        rows.lazy()
        .join(verdicts.works.lazy().filter(name=policy.baseline).select("work", "sample"), on="work")
        .sort("sample", "place")
        .unique("judgment", keep="first", maintain_order=True)
        .select("judgment", base_place="place", base_rank="rank", base_work="work")
    )
    replaced = rows["replaces"].drop_nulls().unique().implode()
    gone = rows.filter(pl.col("work").is_in(verdicts.works.filter("taken_back")["work"].implode()))
    aside = gone["judgment"].unique().implode()
    heads = (
        rows.lazy()
        .filter(place=0)
        .select(_HEAD)
        .join(base, on="judgment", how="left")
        .join(verdicts.graders.lazy().select("grader", **_of_graders(policy)), on="grader", how="left")
        .join(verdicts.tasks.lazy().select("task", **_of_tasks(policy)), on="task", how="left")
        .with_columns(
            replaced=pl.col("judgment").is_in(replaced),
            aside=pl.col("judgment").is_in(aside),
            again=pl.lit(value=False),
            void=pl.lit(value=False),
        )
        .collect()
    )
    if by_programs:
        # The first two works tell an order from every other of the square in which a set is shown.
        seconds = rows.filter(place=1).select("judgment", second="work")
        said = heads.filter(_SAID).join(seconds, on="judgment", how="left").sort("made_at", "key_head")
        again = said.filter(_SAID_BEFORE)["judgment"].implode()
        heads = heads.with_columns(again=pl.col("judgment").is_in(again))
    tried = None if verdicts.attempts is None else verdicts.attempts.with_columns(**settled(policy))
    if tried is not None and policy.graders.kind not in PROGRAMS:
        undrawn = verdicts.works.filter(pl.col("key").is_in(tried.filter(pl.col("drawn").is_null())["key"].implode()))
        beyond = rows.filter(pl.col("work").is_in(undrawn["work"].implode()))["judgment"].unique()
        heads = heads.with_columns(again=pl.col("again") | pl.col("judgment").is_in(beyond.implode()))
    nothing = [] if tried is None else tried.filter("void")["key"].to_list()
    void = verdicts.works.filter(pl.col("key").is_in(nothing))["work"]
    if len(void):
        left = ~pl.any_horizontal(pl.col("work", "base_work").is_in(void.implode()))
        paired = (
            rows.lazy()
            .select("judgment", "work")
            .join(base, on="judgment")
            .filter((pl.col("work") != pl.col("base_work")) & left)
            .collect()
        )
        heads = heads.with_columns(void=~pl.col("judgment").is_in(paired["judgment"].unique().implode()))
    heads = heads.with_columns(rule=_first_rule(policy))
    if by_programs and policy.whole_rounds and policy.graders.kind in PROGRAMS:
        sizes = rows.group_by("comparison").agg(size=pl.col("place").max() + 1)
        heads = heads.join(sizes, on="comparison").with_columns(rule=_with_broken_rounds())
    bases = heads.select("judgment", "base_place", "base_rank", "base_work", "rule")
    del heads
    taken = dict(bases.group_by("rule").len().iter_rows())
    # The wide rows are copied once, and only those that are wanted.
    beside = rows.select("judgment", "work").join(bases, on="judgment", how="left", maintain_order="left")
    of_models = beside["work"] != beside["base_work"]
    if len(void):
        of_models &= ~beside["work"].is_in(void.implode())
    answers, unanswered = (
        rows.filter(wanted).hstack(beside.filter(wanted).drop("judgment", "work"))
        for codes in ([_COUNTED], _LOST)
        for wanted in [(of_models & beside["rule"].is_in(codes)).fill_null(value=False)]
    )
    if policy.collapse == "swap-to-tie" and policy.graders.kind in PROGRAMS:
        answers = answers.with_columns(rank=_swaps_as_ties())
    frame = None if tried is None else tried.filter(pl.col("model") != policy.baseline)
    drawn = pl.lit(policy.graders.kind in PROGRAMS) | pl.col("drawn").is_not_null()
    return Counted(
        pairs=pairs_from(answers, verdicts),
        answers=answers,
        unanswered=unanswered,
        left_out={rule: taken.get(at, 0) for at, rule in enumerate(RULES)},
        n_counted=taken.get(_COUNTED, 0),
        policy=policy,
        unanswered_keys=tuple(verdicts.works["key"].gather(unanswered["work"].unique().sort())),
        attempted=None if frame is None else frame.filter(drawn),
        frame=frame,
    )


def graders_left_out(
    rules: Collection[ExclusionRule],
    group: GraderGroup,
    verdicts: VerdictFrames,
    checks: VerdictFrames,
    better: Collection[str],
) -> tuple[str, ...]:
    """Keys of the graders of a group whom a rule of the plan takes, by their standing verdicts on planned sets.

    `checks` are verdicts on sets with known answers, and `better` the keys of the works that are best there. A set
    without a single best is a tie; it stands on no side.
    """
    sets, known = _said_of_sets(verdicts, group, better), _said_of_sets(checks, group, better)
    minutes = pl.col("active_ms").drop_nulls() / 60_000
    figures = {
        "known answers right": (known, pl.col("right").mean(), pl.len()),
        "median minutes": (sets, minutes.median(), minutes.len()),
        "share of ties": (sets, pl.col("tied").mean(), pl.len()),
        "share on A": (sets, pl.col("on_a").filter(~pl.col("tied")).mean(), (~pl.col("tied")).sum()),
    }
    taken: set[str] = set()
    for rule in rules:
        said, figure, n = figures[rule.figure]
        beyond = (pl.col("figure") < rule.below) if rule.below is not None else pl.lit(value=False)
        beyond = beyond | ((pl.col("figure") > rule.above) if rule.above is not None else pl.lit(value=False))
        by_grader = said.group_by("key").agg(figure=figure, n=n)
        taken.update(by_grader.filter(beyond & (pl.col("n") >= rule.from_judgments))["key"])
    return tuple(sorted(taken))


def _said_of_sets(verdicts: VerdictFrames, group: GraderGroup, better: Collection[str]) -> pl.DataFrame:
    """For each standing verdict of a group on a planned set: who gave it, and what it said of the set as a whole."""
    rows, works = verdicts.rows, verdicts.works.select("work", better=pl.col("key").is_in(list(better)))
    theirs = verdicts.graders.filter(group_of() == str(group)).select("grader", "key")
    best = pl.col("rank") == pl.col("rank").min()
    return (
        rows.filter(pl.col("planned"), pl.col("rank").is_not_null())
        .filter(~pl.col("judgment").is_in(rows["replaces"].drop_nulls().unique().implode()))
        .join(theirs, on="grader")
        .join(works, on="work")
        .group_by("judgment", "key")
        .agg(
            pl.col("active_ms").first(),
            tied=best.sum() > 1,
            on_a=pl.col("place").filter(best).min() == 0,
            right=(best & pl.col("better")).any() & (best.sum() == 1),
        )
    )


def _of_graders(policy: Policy) -> dict[str, pl.Expr]:
    """What rules ask of a grader; of people joined with a judge, the people are asked."""
    people_first = policy.graders.kind is GroupKind.PEOPLE_AND_JUDGE
    asked = pl.col("kind") == GroupKind.EXPERT.value if people_first else group_of() == str(policy.graders)
    key = pl.col("key")
    return {
        "asked": asked,
        "settled": pl.lit(value=True) if policy.grader_keys is None else key.is_in(list(policy.grader_keys)),
        "excluded": key.is_in(list(policy.excluded)),
        "program": pl.col("kind").is_in(_PROGRAMS),
    }


def _of_tasks(policy: Policy) -> dict[str, pl.Expr]:
    """What rules ask of a task."""
    return {"ungradable": pl.col("key").is_in([str(key) for key in policy.ungradable])}


def _first_rule(policy: Policy) -> pl.Expr:
    """The number of the first rule that takes a judgment by itself; rounds are looked at afterwards."""
    takes: dict[Rule, pl.Expr] = {
        Rule.REPLACED: pl.col("replaced"),
        Rule.SET_ASIDE: pl.col("aside"),
        Rule.NO_BASELINE: pl.col("base_work").is_null(),
        Rule.OTHER_GRADERS: ~pl.col("asked"),
        Rule.OTHER_SETTINGS: ~pl.col("settled"),
        Rule.SURPLUS: pl.col("again") | (pl.lit(policy.planned_only) & ~pl.col("planned")),
        Rule.EXCLUDED_GRADER: pl.col("excluded"),
        Rule.UNGRADABLE: pl.col("ungradable"),
        Rule.NOTHING_TO_JUDGE: pl.col("void"),
        Rule.LATER_EXPOSURE: pl.lit(policy.first_exposure) & (pl.col("exposure").fill_null(1) > 1),
        Rule.NO_VERDICT: pl.col("rank").is_null(),
    }
    found = pl.lit(_COUNTED, dtype=pl.Int8)
    for at, rule in reversed(list(enumerate(RULES))):
        if rule in takes:
            found = pl.when(takes[rule]).then(pl.lit(at, dtype=pl.Int8)).otherwise(found)
    return found


def _with_broken_rounds() -> pl.Expr:
    """A judge's verdicts count whole rounds at a time: every order in which a set is shown, in one sweep."""
    counts = pl.col("rule") == _COUNTED
    # A square of an even number of works is balanced with as many orders as works, of an odd number with twice as many.
    orders = pl.when(pl.col("size") % 2 == 0).then(pl.col("size")).otherwise(2 * pl.col("size"))
    whole = counts.sum().over("comparison", "grader", "sweep") == orders
    broken = pl.lit(RULES.index(Rule.BROKEN_ROUND), dtype=pl.Int8)
    return pl.when(counts & ~whole).then(broken).otherwise(pl.col("rule"))


def _swaps_as_ties() -> pl.Expr:
    """A work's rank; the baseline's beside it where a sweep found the work better in one order and worse in another."""
    better, sweep = pl.col("base_rank") - pl.col("rank"), ("comparison", "grader", "sweep", "work")
    both = (better.max().over(sweep) > 0) & (better.min().over(sweep) < 0)
    return pl.when(both).then("base_rank").otherwise("rank")


def group_of() -> pl.Expr:
    """The group of each of `VerdictFrames.graders`, as `GraderGroup` writes it."""
    kind = pl.col("kind")
    return pl.when(kind.is_in(["judge", "constant"])).then(kind + ":" + pl.col("name")).otherwise(kind)
