"""Which judgments count, and what they say of each model's work: the one place that decides it.

`count` is handed verdicts as frames and a `Policy`, and gives the pairs every figure rests on, with how many judgments
each rule left out. Report, board, exports, API, accounts of judges and peer marks all ask it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import polars as pl

from guildhall.analysis.outcomes import Outcomes
from guildhall.analysis.pairs import Pairs, pairs_from
from guildhall.domain.policy import GraderGroup, GroupKind, Policy, Rule

RULES = tuple(Rule)
_COUNTED = -1
_LOST = [RULES.index(Rule.NO_VERDICT), RULES.index(Rule.BROKEN_ROUND)]
_ROUNDS = frozenset({GroupKind.JUDGE, GroupKind.CONSTANT})
"""Kinds of graders that are asked in every order of a set; people have no rounds."""
_PROGRAMS = [kind.value for kind in _ROUNDS]


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


@dataclass(frozen=True)
class Counted:
    """What one policy makes of some verdicts. Counted judgments and those each rule left out are all there are."""

    pairs: Pairs
    answers: pl.DataFrame
    """The rows behind the pairs, each with all that was answered, `base_place` and `base_rank` beside it."""
    unanswered: pl.DataFrame
    """Rows of models' work in judgments that gave no verdict, or lost theirs with a round that was not whole."""
    left_out: Mapping[Rule, int]
    n_counted: int
    policy: Policy

    @property
    def n_judgments(self) -> int:
        """All judgments, counted or not."""
        return self.n_counted + sum(self.left_out.values())

    def of_pairs(self, pairs: Pairs) -> Counted:
        """The same counting with some of its pairs only: what is taken out is told elsewhere."""
        return replace(self, pairs=pairs)

    def and_also(self, later: Counted) -> Counted:
        """Two waves as one. Work that was shown in both is counted twice, as it was judged twice."""
        return Counted(
            pairs=self.pairs.and_also(later.pairs),
            answers=pl.concat([self.answers, later.answers]),
            unanswered=pl.concat([self.unanswered, later.unanswered]),
            left_out={rule: n + later.left_out[rule] for rule, n in self.left_out.items()},
            n_counted=self.n_counted + later.n_counted,
            policy=later.policy.but(studies=(*self.policy.studies, *later.policy.studies)),
        )

    @cached_property
    def outcomes(self) -> Outcomes:
        """What estimators of rates take."""
        return self.pairs.outcomes()


def count(verdicts: VerdictFrames, policy: Policy) -> Counted:
    """Every judgment under the first rule that takes it, in the order of `Rule`; the others as pairs."""
    heads = _heads(verdicts, policy)
    heads = heads.with_columns(rule=_first_rule(verdicts, policy))
    if policy.whole_rounds and policy.graders.kind in _ROUNDS:
        heads = heads.with_columns(rule=_with_broken_rounds())
    taken = dict(heads.group_by("rule").len().iter_rows())
    bases = heads.select("judgment", "base_place", "base_rank", "base_work", "rule")
    shown = verdicts.rows.join(bases, on="judgment", maintain_order="left")
    shown = shown.filter(pl.col("work") != pl.col("base_work"))
    answers = shown.filter(pl.col("rule") == _COUNTED)
    return Counted(
        pairs=pairs_from(answers, verdicts),
        answers=answers,
        unanswered=shown.filter(pl.col("rule").is_in(_LOST)),
        left_out={rule: taken.get(at, 0) for at, rule in enumerate(RULES)},
        n_counted=taken.get(_COUNTED, 0),
        policy=policy,
    )


def _heads(verdicts: VerdictFrames, policy: Policy) -> pl.DataFrame:
    """One row for each judgment, with the baseline's work in it; of several the one of the lowest sample."""
    made_by = verdicts.works.select("work", "name", "sample").filter(pl.col("name") == policy.baseline)
    base = (
        verdicts.rows.lazy()
        .join(made_by.lazy(), on="work")
        .sort("sample", "place")
        .unique("judgment", keep="first", maintain_order=True)
        .select("judgment", base_place="place", base_rank="rank", base_work="work")
        .collect()
    )
    replaced = verdicts.rows["replaces"].drop_nulls().unique().implode()
    heads = verdicts.rows.filter(pl.col("place") == 0).join(base, on="judgment", how="left")
    heads = heads.with_columns(replaced=pl.col("judgment").is_in(replaced))
    programs = verdicts.graders.filter(pl.col("kind").is_in(_PROGRAMS))
    if not len(programs):
        return heads.with_columns(again=pl.lit(value=False), orders=pl.lit(1))
    sizes = verdicts.rows.group_by("comparison").agg(size=pl.col("place").max() + 1)
    orders = pl.when(pl.col("size") % 2 == 0).then(pl.col("size")).otherwise(2 * pl.col("size"))
    again = _said_again(heads.filter(_among("grader", programs) & ~pl.col("replaced")), verdicts)
    heads = heads.with_columns(again=pl.col("judgment").is_in(again.implode()))
    return heads.join(sizes, on="comparison", maintain_order="left").with_columns(orders=orders)


def _said_again(by_programs: pl.DataFrame, verdicts: VerdictFrames) -> pl.Series:
    """What a program said again at a place it had judged already: the first verdict there counts."""
    # The first two works tell an order from every other of the square in which a set is shown.
    seconds = verdicts.rows.filter(pl.col("place") == 1).select("judgment", second="work")
    said = by_programs.filter(pl.col("rank").is_not_null()).join(seconds, on="judgment", how="left")
    said = said.sort("made_at", "key_head")
    earlier = pl.int_range(pl.len()).over("grader", "comparison", "sweep", "work", "second")
    return said.filter(earlier > 0)["judgment"]


def _first_rule(verdicts: VerdictFrames, policy: Policy) -> pl.Expr:
    """The number of the first rule that takes a judgment by itself; rounds are looked at afterwards."""
    asked = _of_group(verdicts.graders, policy.graders)
    settled = asked if policy.grader_keys is None else asked.filter(pl.col("key").is_in(list(policy.grader_keys)))
    outside = verdicts.tasks.filter(pl.col("key").is_in([str(key) for key in policy.ungradable]))
    excluded = verdicts.graders.filter(pl.col("key").is_in(list(policy.excluded)))
    takes: dict[Rule, pl.Expr] = {
        Rule.REPLACED: pl.col("replaced"),
        Rule.NO_BASELINE: pl.col("base_work").is_null(),
        Rule.OTHER_GRADERS: ~_among("grader", asked),
        Rule.OTHER_SETTINGS: ~_among("grader", settled),
        Rule.SURPLUS: pl.col("again") | (pl.lit(policy.planned_only) & ~pl.col("planned")),
        Rule.EXCLUDED_GRADER: _among("grader", excluded),
        Rule.UNGRADABLE: _among("task", outside),
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
    whole = counts.sum().over("comparison", "grader", "sweep") == pl.col("orders")
    broken = pl.lit(RULES.index(Rule.BROKEN_ROUND), dtype=pl.Int8)
    return pl.when(counts & ~whole).then(broken).otherwise(pl.col("rule"))


def group_of() -> pl.Expr:
    """The group of each of `VerdictFrames.graders`, as `GraderGroup` writes it."""
    kind = pl.col("kind")
    return pl.when(kind.is_in(["judge", "constant"])).then(kind + ":" + pl.col("name")).otherwise(kind)


def _among(column: str, some: pl.DataFrame) -> pl.Expr:
    return pl.col(column).is_in(some[column].implode())


def _of_group(graders: pl.DataFrame, group: GraderGroup) -> pl.DataFrame:
    """The graders whose judgments a group's are; of people joined with a judge, the people."""
    if group.kind is GroupKind.PEOPLE_AND_JUDGE:
        return graders.filter(pl.col("kind") == GroupKind.EXPERT.value)
    return graders.filter(group_of() == str(group))
