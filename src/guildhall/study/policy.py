"""By which rules a study's judgments count: from its plan, and who judged, to a `Policy`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import polars as pl

from guildhall.analysis.counting import LOOKED_AT, Counted, VerdictFrames, count, graders_left_out, group_of
from guildhall.analysis.spreads import THESE
from guildhall.domain.judgments import Judgment
from guildhall.domain.policy import PROGRAMS, GraderGroup, GroupKind, Policy
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task, TaskKey
from guildhall.errors import InputError, NothingJudged
from guildhall.grading.gold import gold_study
from guildhall.grading.judges.gradability import ungradable
from guildhall.store.records import Store
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace

ELSEWHERE = "The judgments were made elsewhere: how sides were hidden and ordered there is not known here."


def made_elsewhere(study: Study, policy: Policy) -> bool:
    """Whether all its judgments came in from files: no people were planned here, or the judge was not asked here."""
    asked_here = study.design.plan is None or study.design.people is not None or study.design.rehearsal
    return not (policy.whole_rounds if policy.graders.kind in PROGRAMS else asked_here)


class Judged(NamedTuple):
    """A grader under one setting: whether it judged pairs, and when it last did."""

    group: GraderGroup
    key: str
    pairs: bool
    last: int


def policies_of(
    workspace: Workspace, study: Study, verdicts: VerdictFrames, *, baseline: str | None = None
) -> dict[GraderGroup, Policy]:
    """The policy of each group of graders that gave a verdict, counted or not, the one that leads first.

    That is the plan's, then by what they are. `verdicts` are all that was judged of the study. A judge counts under the
    settings that were frozen; where a study froze none, under those it was last asked with. Whom a rule of the plan
    leaves out is asked here, of what everybody said.
    """
    by_grader = verdicts.rows.group_by("grader").agg(last=pl.col("made_at").max(), place=pl.col("place").max())
    known = by_grader.join(verdicts.graders.with_columns(group=group_of()), on="grader").sort("key")
    judged = [
        Judged(GraderGroup.parse(group), key, place == 1, last)
        for group, key, place, last in known.select("group", "key", "place", "last").iter_rows()
    ]
    plan, rules = study.design.plan, study.design.plan.excluded if study.design.plan else ()
    return {
        group: Policy(
            studies=(study.id,),
            baseline=baseline or study.baseline,
            graders=group,
            grader_keys=_settings(study, group, judged),
            ungradable=_ungradable(workspace.store, study, group),
            excluded=_left_out(workspace, study, verdicts, group) if rules and group.kind not in PROGRAMS else (),
            first_exposure=plan is not None and plan.exposure == "first",
            losses=None if plan is None else plan.missing,
            whole_rounds=not _came_from_a_file(workspace.store, group, judged),
            these_graders=plan is not None and plan.target == THESE,
            strata=plan.strata if plan is not None else ("occupation",),
        )
        for group in _ranked(study, judged)
    }


def _ranked(study: Study, judged: Iterable[Judged]) -> list[GraderGroup]:
    rehearsal, judges, plan = bool(study.design.rehearsal), study.design.automatic, study.design.plan
    ranked = sorted({one.group for one in judged}, key=lambda one: (one.rank(judges, rehearsal=rehearsal), str(one)))
    return sorted(ranked, key=lambda group: plan is None or group != plan.graders)


def count_groups(
    workspace: Workspace,
    study: Study,
    verdicts: VerdictFrames,
    *,
    graders: GraderGroup | str | None = None,
    baseline: str | None = None,
) -> Iterator[Counted]:
    """What counts of each group of whom anything does: first the one asked for, else the one that leads."""
    policies = policies_of(workspace, study, verdicts, baseline=baseline)
    asked = None if graders is None else _chosen(study, list(policies), graders)
    found = False
    for group in policies if asked is None else [asked, *(one for one in policies if one != asked)]:
        counted = count(verdicts, policies[group])
        if counted.n_counted:
            yield counted
        elif group == asked:
            break
        found = found or counted.n_counted > 0
    if not found:
        against = baseline or study.baseline
        raise NothingJudged(f"study {study.id!r} against {against!r}", n_excluded=judged_in(verdicts))


def judged_in(verdicts: VerdictFrames) -> int:
    """How many judgments there are, counted or not."""
    return int(verdicts.rows["judgment"].n_unique())


def _left_out(workspace: Workspace, study: Study, verdicts: VerdictFrames, group: GraderGroup) -> tuple[str, ...]:
    """Keys of the people whom the plan's rules take; checks with known answers are kept as a study of their own."""
    plan, people = study.design.plan, study.design.people
    better = [] if people is None else [one.better for one in people.gold if not one.training]
    checks = read_verdicts(workspace.store, [gold_study(study.id)], parts=workspace.verdict_parts, columns=LOOKED_AT)
    return graders_left_out(plan.excluded if plan else (), group, verdicts, checks, better)


def _chosen(study: Study, known: Sequence[GraderGroup], wanted: GraderGroup | str) -> GraderGroup:
    text = str(wanted)
    for group in known:
        if text in {str(group), group.name}:
            return group
    there = ", ".join(map(str, known)) or "nobody"
    if text == "automatic":
        raise InputError(f"each judge is a group of its own; name one of those who judged {study.id!r}: {there}")
    raise InputError(f"no graders of study {study.id!r} are called {text!r}; it was judged by {there}")


def _settings(study: Study, group: GraderGroup, judged: Iterable[Judged]) -> tuple[str, ...] | None:
    """Keys of the settings under which a judge counts: one for pairs, one for larger sets."""
    if group.kind not in PROGRAMS:
        return None
    frozen = study.design.automatic.get(str(group.name))
    if frozen is not None:
        return frozen
    newest: dict[bool, Judged] = {}
    for one in judged:
        if one.group == group and (one.pairs not in newest or one.last > newest[one.pairs].last):
            newest[one.pairs] = one
    return tuple(sorted({one.key for one in newest.values()}))


def _came_from_a_file(store: Store, group: GraderGroup, judged: Iterable[Judged]) -> bool:
    """Whether a judge's verdicts were made elsewhere, where nobody asked for both orders of a pair."""
    if group.kind is not GroupKind.JUDGE:
        return False
    keys = [one.key for one in judged if one.group == group]
    found = store.newest(Judgment, grader=keys[-1]) if keys else None
    return found is not None and found.origin is not None


def _ungradable(store: Store, study: Study, group: GraderGroup) -> dict[TaskKey, str]:
    """Tasks a program cannot judge, by what it takes; people judge all."""
    if group.kind not in PROGRAMS:
        return {}
    takes = next((judge.plan.takes for judge in study.design.judges if judge.plan.name == group.name), ("image",))
    tasks = [store.get(Task, key) for key in study.tasks]
    out = ungradable(store, tasks, takes=takes)
    return {task.key: out[task.id] for task in tasks if task.id in out}
