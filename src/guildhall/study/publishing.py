"""Publishing a study's results: what the public pages show, and the few pairs visitors may judge for themselves.

The audit log is the only record of it, as of unblinding. What is published is a report frozen by digest: the pages do
not change under a reader, and a study that is judged further is published anew or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from sqlalchemy import func, select

from guildhall.analysis.counting import LOOKED_AT
from guildhall.domain.halls import Member, SlotKind
from guildhall.domain.judgments import BlindedView, Comparison
from guildhall.domain.report import Report
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Digest, GrownValue, Id, canonical_json, sha256
from guildhall.errors import InputError, UnknownName
from guildhall.grading.viewing import prepared_view
from guildhall.reports.old_reports import read_report
from guildhall.reports.text import as_json
from guildhall.store.audit import acts, record
from guildhall.store.hall import slots
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import read_verdicts, row_keys
from guildhall.store.wordings import Wordings
from guildhall.store.workspace import Workspace
from guildhall.study.policy import count_groups
from guildhall.study.reporting import study_report
from guildhall.study.unblinding import unblinding

_PUBLISHED, _WITHDRAWN = "results published", "results withdrawn"
MOST_SAMPLES = 10
_JUDGED_BY_PEOPLE = (SlotKind.PLANNED, SlotKind.ADJUDICATION, SlotKind.SEVERITY)


class SamplePair(GrownValue):
    """A pair a visitor may judge, in the order it is shown: A first.

    `verdicts` says how many of the graders whom the published report counts preferred A, neither and B; None where
    results were published before this was kept with them.
    """

    later: ClassVar[frozenset[str]] = frozenset({"verdicts"})

    comparison: Digest
    order: tuple[Digest, Digest]
    verdicts: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Publication:
    """What is public of a study: a report by digest, and the pairs to judge."""

    study: Id
    report: Digest
    samples: tuple[SamplePair, ...]
    by: str
    at: float


@dataclass(frozen=True)
class Reveal:
    """What a visitor learns after choosing: who made A and B, and how many graders preferred A, neither and B."""

    makers: tuple[str, str]
    verdicts: tuple[int, int, int] | None


def publication(store: Store, study: Id) -> Publication | None:
    """What of a study is public now; None where nothing is."""
    said = acts(store, subject=_subject(study), actions=(_PUBLISHED, _WITHDRAWN))
    if not said or said[-1]["action"] != _PUBLISHED:
        return None
    row, facts = said[-1], said[-1]["facts"]
    samples = tuple(SamplePair.model_validate(one) for one in facts["samples"])
    return Publication(study, facts["report"], samples, by=row["actor"], at=row["at"])


def published(store: Store, studies: Iterable[Study]) -> list[Publication]:
    return [found for study in studies if (found := publication(store, study.id)) is not None]


def why_not_public(store: Store, study: Study) -> str | None:
    """Why a study's results may not be shown to the world; None when they may."""
    waiting = select(func.count()).where(
        slots.c.study == study.id, slots.c.kind.in_(_JUDGED_BY_PEOPLE), slots.c.done.is_(False)
    )
    with store.reading() as connection:
        left = connection.execute(waiting).scalar_one()
    if study.design.rehearsal:
        return "this study is a rehearsal; its figures are about no model, and no leaderboard takes them"
    if left:
        return f"{left} gradings of this study are still open; its graders must stay blind"
    if not unblinding(store, study.id).open:
        return "the models' names are still hidden; two people unblind the study first"
    return None


def publish(workspace: Workspace, study: Study, member: Member, *, samples: int, now: float) -> Publication:
    """Show a finished study's report, and so many of its pairs, to the world; the audit log says who did it."""
    if not 0 <= samples <= MOST_SAMPLES:
        raise InputError(f"choose 0 to {MOST_SAMPLES} pairs to show")
    store = workspace.store
    if why := why_not_public(store, study):
        raise InputError(why)
    report = workspace.blobs.put(as_json(study_report(workspace, study)).encode())
    pairs = _choose(workspace, study, samples)
    with store.transaction():
        if why := why_not_public(store, study):  # somebody may have opened more gradings meanwhile
            raise InputError(why)
        facts = {"report": report, "samples": [pair.model_dump(mode="json") for pair in pairs]}
        record(store, at=now, actor=member.code_name, action=_PUBLISHED, subject=_subject(study.id), facts=facts)
    return Publication(study.id, report, pairs, by=member.code_name, at=now)


def withdraw(store: Store, study: Id, member: Member, *, now: float) -> None:
    """Take a study's results off the public pages."""
    with store.transaction():
        if publication(store, study) is None:
            raise InputError("this study's results are not public")
        record(store, at=now, actor=member.code_name, action=_WITHDRAWN, subject=_subject(study), facts={})


def published_report(workspace: Workspace, found: Publication) -> Report:
    """The report as it was published, its bytes verified, whatever version wrote it."""
    return read_report(json.loads(workspace.blobs.read(found.report)))


def samples_shown(store: Store, found: Publication) -> dict[int, SamplePair]:
    """The pairs that may be shown now, by number: none on a task that people judge in whatever study.

    The baseline's work is the same in all of them, and the reveal would tell graders which side it is.
    """
    tasks = {pair.comparison: store.get(Comparison, pair.comparison).task for pair in found.samples}
    judged = _still_judged(store, set(tasks.values()))
    return {number: pair for number, pair in enumerate(found.samples, 1) if tasks[pair.comparison] not in judged}


def _still_judged(store: Store, tasks: set[Id]) -> set[Id]:
    """Those of some tasks on which a grading by people is still open, in any study."""
    sets = shelf_of(Comparison).table
    waiting = (sets.c.task.in_(tasks), slots.c.kind.in_(_JUDGED_BY_PEOPLE), slots.c.done.is_(False))
    query = select(sets.c.task).distinct().join(slots, slots.c.comparison == sets.c.key).where(*waiting)
    with store.reading() as connection:
        return set(connection.execute(query).scalars())


def sample_of(store: Store, found: Publication, number: int) -> SamplePair:
    shown = samples_shown(store, found)
    if number not in shown:
        raise UnknownName("pair", str(number))
    return shown[number]


def sample_view(store: Store, pair: SamplePair) -> BlindedView:
    """What a visitor sees: the very view a grader had, built from prepared files and never from authors."""
    comparison = store.get(Comparison, pair.comparison)
    return prepared_view(store, comparison, pair.order, study=comparison.study)


def reveal(store: Store, pair: SamplePair) -> Reveal:
    """Who made what, and what the graders said of it."""
    first, second = (store.get(Submission, key).author for key in pair.order)
    return Reveal(makers=(_name(first), _name(second)), verdicts=pair.verdicts)


def _name(author: object) -> str:
    return str(getattr(author, "name", "a human expert"))


def _verdicts(workspace: Workspace, study: Study) -> dict[Digest, Mapping[Digest, tuple[int, int, int]]]:
    """Comparison -> model's work -> how many preferred it, neither, and the baseline's, as the report counts them."""
    seen = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
    answers = next(count_groups(workspace, study, seen)).answers
    better, worse = pl.col("rank") < pl.col("base_rank"), pl.col("rank") > pl.col("base_rank")
    said = answers.group_by("comparison", "work").agg(
        better.sum(), (~better & ~worse).sum().alias("tied"), worse.sum().alias("worse")
    )
    keys, works = row_keys(workspace.store, Comparison, said["comparison"]), seen.works["key"]
    found: dict[Digest, dict[Digest, tuple[int, int, int]]] = {}
    for comparison, (_, work, *counts) in zip(keys, said.iter_rows(), strict=True):
        found.setdefault(comparison, {})[works[work]] = (counts[0], counts[1], counts[2])
    return {**found}


def _choose(workspace: Workspace, study: Study, wanted: int) -> tuple[SamplePair, ...]:
    """Counted pairs whose files are all ready, one a task, in seeded order; no task that needs a warning."""
    store, drawn, tasks = workspace.store, list[SamplePair](), set[Id]()
    verdicts = _verdicts(workspace, study) if wanted else {}
    pairs = [one for one in store.find(Comparison, study=study.id) if len(one.submissions) == 2]
    tasks |= _still_judged(store, {one.task for one in pairs})
    for comparison in sorted(pairs, key=lambda one: sha256(canonical_json([study.seed, "public", one.key]))):
        if len(drawn) == wanted:
            break
        if comparison.task in tasks or comparison.key not in verdicts or _task_of(store, comparison).sensitive:
            continue
        first, second = comparison.submissions
        turned = int(sha256(canonical_json([study.seed, "order", comparison.key])), 16) % 2 == 1
        order = (second, first) if turned else (first, second)
        [(model, said)] = verdicts[comparison.key].items()
        pair = SamplePair(
            comparison=comparison.key, order=order, verdicts=said if order[0] == model else (said[2], said[1], said[0])
        )
        try:
            sample_view(store, pair)
        except UnknownName:  # its files were never prepared: there is nothing to show
            continue
        drawn.append(pair)
        tasks.add(comparison.task)
    return tuple(drawn)


def _task_of(store: Store, comparison: Comparison) -> Task:
    return Wordings(store).task(comparison)


def _subject(study: Id) -> str:
    return f"results of {study}"
