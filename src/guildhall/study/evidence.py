"""What a report rests on, read from a workspace: counted judgments, the tasks' facts, and what chapters ask beside."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sqlalchemy import select

from guildhall.analysis.counting import LOOKED_AT, Counted
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.outcomes import TIE, WIN
from guildhall.analysis.paired import drift_of, split_anchors
from guildhall.analysis.sequential import look_level
from guildhall.domain.design import Extension, Plan
from guildhall.domain.halls import SeatState
from guildhall.domain.judgments import Comparison, Judgment, SeverityRating
from guildhall.domain.picks import Pick
from guildhall.domain.policy import GraderGroup
from guildhall.domain.prepared import NOTES, STEERING, Prepared
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id
from guildhall.store.frames import read_frame
from guildhall.store.hall import seats
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.policy import count_groups

ByCoder = Mapping[str, Mapping[str, str]]
KEYS_A_QUERY = 500


def read_evidence(
    workspace: Workspace,
    study: Study,
    *,
    graders: GraderGroup | str | None = None,
    baseline: str | None = None,
    needs: Collection[Need] = frozenset(Need),
    reasons: ByCoder | None = None,
) -> Evidence:
    """The evidence of one group of graders; kinds are never pooled. `reasons` are labels of justifications by coder."""
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
    plan = study.design.plan or Plan.of_old_form(study)
    counted, *others = count_groups(workspace, study, verdicts, graders=graders, baseline=baseline)
    alone = Evidence(
        study=study,
        counted=counted,
        tasks=pl.DataFrame(_task_facts(workspace, study, verdicts.tasks["key"]), schema=_TASKS, orient="row"),
        others={one.policy.graders: one for one in others},
        submissions=verdicts.rows["work"].n_unique(),
        omissions=_omitted(verdicts.rows["judgment"], verdicts.rows["omitted"], counted.pairs.judgment),
        comparisons=verdicts.rows["comparison"].n_unique(),
        level=plan.level,
        seed=study.seed,
    )
    looks = plan.looks.at
    if len(looks) > 1 and alone.done is not None:
        alone = replace(alone, level=look_level(plan.level, looks, alone.done))
    pooled = alone if study.extends is None else _with_earlier_wave(workspace, alone, study.extends)
    facts = {need: _FACTS[need](workspace, pooled) for need in needs if need in _FACTS}
    if Need.REASONS in needs:
        facts[Need.REASONS] = _labels(reasons or {})
    return replace(pooled, facts=facts)


_TASKS = {
    "key": pl.String,
    "id": pl.String,
    "sector": pl.String,
    "occupation": pl.String,
    "hours": pl.Float64,
    "wage": pl.Float64,
    "hours_from": pl.String,
    "wage_from": pl.String,
    "references": pl.Int64,
    "expert": pl.Boolean,
    "pinned": pl.Boolean,
}
"""What `Evidence.tasks` holds; `expert` tells whether an expert's work is there, `pinned` the study's own wordings."""


def _task_facts(workspace: Workspace, study: Study, judged: Iterable[str]) -> list[tuple[object, ...]]:
    """Every wording the study pins or was judged on, with the facts chapters ask."""
    others = [key for key in map(TaskKey, judged) if key not in study.tasks and workspace.store.has(Task, key)]
    return [
        (
            str(task.key),
            task.id,
            task.sector,
            task.occupation,
            task.expert_hours,
            task.hourly_wage_usd,
            (task.sources or {}).get("expert_hours"),
            (task.sources or {}).get("hourly_wage_usd"),
            len(task.reference_files),
            bool(task.expert_files or task.expert_text),
            task.key in study.tasks,
        )
        for task in workspace.store.get_all(Task, [*study.tasks, *others])
    ]


def _omitted(judgment: pl.Series, omitted: pl.Series, counted: NDArray[np.int64]) -> int:
    """Parts that were not shown, over all sides of counted judgments."""
    return int(omitted.filter(judgment.is_in(pl.Series(counted).unique().implode())).sum())


def _with_earlier_wave(workspace: Workspace, later: Evidence, extension: Extension) -> Evidence:
    """A later wave with its drift: anchors out of its own pairs, the earlier wave's in where the two may be pooled."""
    base = workspace.store.get(Study, extension.key)
    earlier = read_evidence(workspace, base, graders=later.group, baseline=later.baseline, needs=())
    anchors, own = split_anchors(later.pairs, extension)
    drift = drift_of(earlier.pairs, anchors, extension, later=later.study.id, level=later.level)
    counted = later.counted.of_pairs(own)
    others = {group: its.of_pairs(split_anchors(its.pairs, extension)[1]) for group, its in later.others.items()}
    if not drift.pooled:
        return replace(later, counted=counted, others=others, drift=drift)
    before = earlier.others
    return replace(
        later,
        counted=earlier.counted.and_also(counted),
        others={**before, **{group: _joined(before.get(group), its) for group, its in others.items()}},
        drift=drift,
        earlier=earlier,
        submissions=later.submissions + earlier.submissions,
        comparisons=later.comparisons + earlier.comparisons,
        omissions=later.omissions + earlier.omissions,
    )


def _joined(earlier: Counted | None, later: Counted) -> Counted:
    return later if earlier is None else earlier.and_also(later)


def _severity(workspace: Workspace, evidence: Evidence) -> pl.DataFrame:
    ratings = shelf_of(SeverityRating).table
    studies = [study.id for study in evidence.waves]
    rated = read_frame(
        workspace.store,
        SeverityRating,
        {"severity": pl.String, "control": pl.Boolean, "sampling_rate": pl.Float64},
        columns=("submission", "grader"),
        where=ratings.c.study.in_(studies),
    )
    works = shelf_of(Submission).table
    author = pl.Struct({"kind": pl.String, "name": pl.String})
    of_rated = works.c.key.in_(select(ratings.c.submission).where(ratings.c.study.in_(studies)))
    made = read_frame(workspace.store, Submission, {"author": author}, columns=("key", "task"), where=of_rated)
    by_model = pl.col("author").struct.field("kind") == "model"
    names = made.select(
        "task",
        pl.col("key").alias("submission"),
        model=pl.when(by_model).then(pl.col("author").struct.field("name")),
    )
    return rated.join(names, on="submission", how="left", maintain_order="left").rename({"sampling_rate": "drawn"})


def _newest_looks(store: Store, *, holding: str = "") -> dict[str, dict[str, Any]]:
    """The newest look at the files of each piece of work, as it was kept; those only whose record is `holding` this."""
    table = shelf_of(Prepared).table
    query = select(table.c.subject, table.c.body)
    if holding:
        query = query.where(table.c.body.contains(holding))
    with store.reading() as connection:
        rows = connection.execute(query.order_by(table.c.seq))
        return {subject: json.loads(body) for subject, body in rows}


def _files(workspace: Workspace, evidence: Evidence) -> pl.DataFrame:
    """Delivered files of judged work, the baseline's too, with the faults found in each; what is only noted is none."""
    looks = _newest_looks(workspace.store)
    rows = [
        (
            author,
            task,
            submission,
            str(file["ending"]),
            [rule for rule, n in file["findings"].items() if n and rule not in NOTES and not rule.startswith(STEERING)],
        )
        for submission, (author, task) in _works(evidence).items()
        for file in looks.get(submission, {"files": ()})["files"]
    ]
    names = ("author", "task", "submission", "ending")
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), "rules": pl.List(pl.String)}, orient="row")


def _works(evidence: Evidence) -> dict[str, tuple[str, str]]:
    """Each piece of judged work, the baseline's too, with its author and its task."""
    pairs = evidence.pairs
    _, first, _ = pairs.deliverables
    return {
        pairs.submission.names[work]: (author, pairs.task.names[task])
        for works, authors in (
            (pairs.submission.codes, [pairs.model.names[code] for code in pairs.model.codes[first].tolist()]),
            (pairs.base, [evidence.baseline] * len(first)),
        )
        for work, author, task in zip(works[first].tolist(), authors, pairs.task.codes[first].tolist(), strict=True)
    }


def steering_found(store: Store) -> dict[str, dict[str, int]]:
    """Work in which attempts to steer whoever judges were found, in files or in the message: how many of each rule."""
    found: dict[str, Counter[str]] = {}
    for subject, look in _newest_looks(store, holding=f'"{STEERING}').items():
        found[subject] = Counter()
        for findings in (look.get("steering") or {}, *(file["findings"] for file in look["files"])):
            found[subject].update({rule: n for rule, n in findings.items() if rule.startswith(STEERING)})
    return {subject: dict(counts) for subject, counts in found.items() if counts}


def _steering(workspace: Workspace, evidence: Evidence) -> pl.DataFrame:
    found = steering_found(workspace.store)
    rows = [(author, task, work, sorted(found.get(work, ()))) for work, (author, task) in _works(evidence).items()]
    names = ("author", "task", "submission")
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), "rules": pl.List(pl.String)}, orient="row")


def _tells(workspace: Workspace, _evidence: Evidence) -> pl.DataFrame:
    """Work in which something was found, in its words or in a file; the newest look counts."""
    telling = [
        subject
        for subject, look in _newest_looks(workspace.store).items()
        if look["tells"] or any(file["tells"] for file in look["files"])
    ]
    return pl.DataFrame({"submission": telling}, schema={"submission": pl.String})


def _lengths(workspace: Workspace, _evidence: Evidence) -> pl.DataFrame:
    rows = [
        (subject, len(look["text"].split()) + sum(file["words"] for file in look["files"]))
        for subject, look in _newest_looks(workspace.store).items()
    ]
    return pl.DataFrame(rows, schema={"submission": pl.String, "words": pl.Int64}, orient="row")


def _picks(workspace: Workspace, _evidence: Evidence) -> pl.DataFrame:
    fields = {"chosen": pl.String, "order": pl.List(pl.String)}
    return read_frame(workspace.store, Pick, fields, columns=("author",)).filter(pl.col("chosen").is_not_null())


def _justifications(workspace: Workspace, evidence: Evidence) -> pl.DataFrame:
    """What graders wrote about a win or a loss, in the order of the pairs; ties have no side."""
    pairs = evidence.pairs
    sided = {seq: at for at, seq in enumerate(pairs.judgment.tolist()) if pairs.halves[at] != TIE}
    table = shelf_of(Judgment).table
    found: dict[int, tuple[str, str]] = {}
    for some in _some(sided, KEYS_A_QUERY):
        said = read_frame(
            workspace.store, Judgment, {"reason": pl.String}, columns=("seq", "key"), where=table.c.seq.in_(some)
        )
        for seq, key, words in said.iter_rows():
            if words and words.strip():
                found[sided[seq]] = (key, words)
    rows = [
        (
            key,
            "won" if pairs.halves[at] == WIN else "lost",
            pairs.model.names[pairs.model.codes[at]],
            pairs.task.names[pairs.task.codes[at]],
            words,
        )
        for at, (key, words) in sorted(found.items())
    ]
    names = ("judgment", "side", "model", "task", "words")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _some(every: Collection[int], size: int) -> Iterator[list[int]]:
    stream = iter(every)
    while some := list(islice(stream, size)):
        yield some


def _labels(by_coder: ByCoder) -> pl.DataFrame:
    rows = [(coder, judgment, label) for coder, own in by_coder.items() for judgment, label in own.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("coder", "judgment", "label"), pl.String), orient="row")


def opened_works(workspace: Workspace, studies: Sequence[Id]) -> pl.DataFrame:
    """Works of sets that somebody opened and did not judge, each with how often such a set was declined."""
    wanted = select(seats.c.comparison, seats.c.state).where(
        seats.c.study.in_(studies), seats.c.read_brief_at.is_not(None), seats.c.judgment.is_(None)
    )
    with workspace.store.reading() as connection:
        left = connection.execute(wanted).all()
    shown = {one.key: one for one in workspace.store.get_all(Comparison, sorted({row.comparison for row in left}))}
    declined: Counter[str] = Counter()
    for comparison, state in left:
        declined.update({work: int(state == SeatState.DECLINED) for work in shown[comparison].submissions})
    types = {"submission": pl.String, "declined": pl.Int64}
    return pl.DataFrame(sorted(declined.items()), schema=types, orient="row")


_FACTS: dict[Need, Callable[[Workspace, Evidence], pl.DataFrame]] = {
    Need.SEVERITY: _severity,
    Need.FILES: _files,
    Need.STEERING: _steering,
    Need.TELLS: _tells,
    Need.LENGTHS: _lengths,
    Need.PICKS: _picks,
    Need.JUSTIFICATIONS: _justifications,
    Need.OPENED: lambda workspace, evidence: opened_works(workspace, [study.id for study in evidence.waves]),
}
