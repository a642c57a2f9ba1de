"""A study's report: from a workspace to the value, and to its files with the rows behind them."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from sqlalchemy import select

from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import BREAKDOWNS, Pairs, is_word, words_in
from guildhall.analysis.reasons import read_codes
from guildhall.analysis.tables import Coded
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.authors import ModelRun
from guildhall.domain.design import Plan, deviations, missing_words
from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import PROGRAMS, GraderGroup, Policy
from guildhall.domain.report import Report
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.domain.values import Digest, canonical_json
from guildhall.errors import NothingJudged, UnknownName
from guildhall.reports.drawing import drawing
from guildhall.reports.other_pages import registration_html
from guildhall.reports.reporting import DEPARTED, Draw, not_drawn, report_of, write_report
from guildhall.store.ledger import Ledger, booked_on
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.exports import frame, rows_csv, ruled_frame, write_csv
from guildhall.study.policy import ELSEWHERE, made_elsewhere

MOST_AUTHORS = 20
SHOWN = (
    "Each set shows {} deliverables side by side, without authors, under neutral file names and with file metadata "
    "removed."
)
BLINDINGS: dict[str | None, str] = {
    "two-person": "Blinding: two-person. Those who manage the study see code names until two people show the names.",
    "single-handed": "Blinding: single-handed. One person alone may show the names of models to those who manage it.",
    None: "Blinding: two-person, as for every study kept before a study said so; its code names are of the first kind.",
}
"""So many authors are described one by one; the frozen study names all."""


def methods_of(study: Study, tasks: Sequence[Task], *, policy: Policy, models: Sequence[str]) -> tuple[str, ...]:
    """Sentences about tasks, authors, graders, estimands and intervals."""
    design = study.design.hall
    here = [SHOWN.format(design.set_size), *_originals(design), *_graders(design, policy.graders)]
    return (
        f"The study holds {len(study.tasks)} tasks and {len(models)} models ({', '.join(sorted(models))}). "
        f"It was frozen under the digest {study.content_digest()[:16]} with seed {study.seed}.",
        _tasks(tasks),
        *_authors(study, models),
        BLINDINGS[study.design.blinding],
        *([ELSEWHERE] if made_elsewhere(study, policy) else here),
        f"Graders are of the group: {policy.graders}. Models are compared with: {policy.baseline}. "
        "A task without the baseline's work takes no part.",
        "Win rates are the mean over tasks of the mean over samples of the mean over grades. "
        "Ties count as the column says: not at all (win), fully (win or tie), or half (half tie).",
        "Intervals are t intervals over task means on the logit scale, exact where tasks or wins are few. "
        "Graders who judged several tasks are a second cluster.",
        "An interval that cannot be given is absent, with its reason.",
        "Judgments without a verdict are counted and left out, never turned into ties. "
        "Late and extra judgments are kept apart from primary estimates.",
        "Breakdowns show each cell's own rate with an interval, a band that holds for all cells at once, "
        "and a pooled rate that leans on the model's other cells.",
    )


STRUCTURE_TELLS = "docx 1.00, pdf 1.00, pptx 1.00, xlsx 1.00"
"""How often the structure of a cleaned original names the program that wrote it (`documents-provenance`)."""


def _originals(design: HallDesign) -> Iterator[str]:
    if design.originals:
        yield (
            "Graders were handed the makers' own files, cleaned, instead of copies that one program writes. From their "
            f"structure alone a program names the one that wrote them: {STRUCTURE_TELLS} of files, where chance is "
            ".20 to .25. "
            "Whoever looked there could tell models from people."
        )


def planned_and_done(
    study: Study, done: Policy, forms: Sequence[Study], *, looked: Sequence[str] = ()
) -> Iterator[str]:
    """The plan of analysis as it was frozen, and everything that was done otherwise; `looked` tells of looks."""
    plan, departed = study.design.plan, deviations(study, done, forms)
    if plan is None:
        yield "No plan of analysis was kept with this form of the study; it is analysed as studies were before plans."
    else:
        yield (
            f"The plan was frozen with the study, under the digest {study.content_digest()}. {_planned(plan)} What "
            "goes beyond it is exploratory."
        )
    yield from (f"{DEPARTED}{one}." for one in departed)
    yield from looked
    if plan is not None and not departed and not any(words.startswith(DEPARTED) for words in looked):
        yield "No other departure from the plan was found."


def registration(form: Study) -> dict[str, object]:
    """What is written down before the first judgment: the frozen design and plan, in words and whole, and the digest.

    The digest is that of the form; reports of the study print it, and whatever departed from the plan.
    """
    plan = form.design.plan
    return {
        "format": 1,
        "study": form.id,
        "title": form.heading,
        "form": form.key,
        "digest": form.content_digest(),
        "plan": None if plan is None else _planned(plan),
        "authors": list(_authors(form, [author.name for author in form.authors])),
        "graders": list(_graders(form.design.hall, form.plan.graders)),
        "replaces": form.design.replaces,
        "why": form.design.why,
        "frozen": form.model_dump(mode="json"),
    }


def write_registration(form: Study, folder: Path) -> tuple[Path, Path]:
    """The registration as one page and one JSON file; the same form gives the same bytes."""
    made = registration(form)
    folder.mkdir(parents=True, exist_ok=True)
    page, data = (folder / f"{form.id}-registration.{ending}" for ending in ("html", "json"))
    page.write_text(registration_html(made), encoding="utf-8")
    data.write_text(json.dumps(made, indent=2, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    return page, data


def _planned(plan: Plan) -> str:
    pairs = ", ".join(f"{one} with {other}" for one, other in plan.comparisons)
    parts = [
        f"graders: {plan.graders} ({plan.target})",
        f"baseline: {plan.baseline}; compared: {pairs or 'every author with the baseline'}",
        f"ties: {plan.convention}; success: {plan.success.value}; level: {plan.level:.0%}",
        f"difference that matters: {plan.margin:g}; strata: {', '.join(plan.strata) or 'none'}",
        f"samples: {', '.join(f'{name} {tries}' for name, tries in plan.samples.items()) or 'whatever was handed in'}",
        f"graders for a set: {'none but programs' if plan.graders_per_set is None else plan.graders_per_set}",
        f"exposure: {plan.exposure}; {missing_words(plan.missing)}; tried again: {plan.retries}",
        *(f"wave of {one.tasks:.0%} of the tasks with weight {one.weight:g}" for one in plan.waves),
        f"looked at after {', '.join(f'{at:.0%}' for at in plan.looks.at)} of the gradings, ending {plan.looks.end}",
        *(f"left out are graders with {rule}" for rule in plan.excluded),
    ]
    return f"Planned: {'; '.join(parts)}."


def _tasks(tasks: Sequence[Task]) -> str:
    """What the tasks are, as far as they say so themselves."""
    hours = [task.expert_hours for task in tasks if task.expert_hours is not None]
    mean = (
        f"an expert takes {sum(hours) / len(hours):.1f} hours on average ({len(hours)} tasks say so)" if hours else ""
    )
    parts = [
        f"Tasks come from {_some(len({task.occupation for task in tasks}), 'occupation')} in "
        f"{_some(len({task.sector for task in tasks}), 'sector')}",
        f"{sum(bool(task.reference_files) for task in tasks)} bring reference files",
        f"{sum(bool(task.expert_files or task.expert_text) for task in tasks)} have an expert's own work",
        *([mean] if mean else []),
    ]
    return "; ".join(parts) + "."


def _authors(study: Study, models: Sequence[str]) -> Iterator[str]:
    """Each author's model, prompt, tools, settings and samples, as they were frozen."""
    runs: dict[str, list[ModelRun]] = {}
    for run in study.authors:
        runs.setdefault(run.name, []).append(run)
    named = [name for name in sorted(runs) if name in models]
    for name in named[:MOST_AUTHORS]:
        first = runs[name][0]
        parts = [
            f"model {first.model}",
            f"prompt condition {first.condition}"
            + (f" (prompt {first.prompt_digest[:12]})" if first.prompt_digest else ""),
            *([f"tools: {first.tools}"] if first.tools else []),
            *([f"{first.brief} brief"] if first.brief != "full" else []),
            *([f"settings {canonical_json(first.settings).decode()}"] if first.settings else []),
            f"{_some(len(runs[name]), 'sample')} a task",
        ]
        yield f"{name}: {', '.join(parts)}."
    if len(named) > MOST_AUTHORS:
        yield f"The settings of {len(named) - MOST_AUTHORS} further authors are in the frozen study."


def _graders(design: HallDesign, group: GraderGroup) -> Iterator[str]:
    if group.kind in PROGRAMS:
        yield "The judge is a program. It is asked about each set in every order of the sides, and each answer counts."
        return
    yield (
        f"{design.graders_per_set} graders judge each set, in orders of the sides that differ by at most one. "
        f"One grader meets a task {_times(design.exposure_limit)} at most"
        f"{', and judges work of their own occupation only' if design.match_occupation else ''}."
    )
    if design.simulated_graders:
        yield "Simulated graders judge in this study, so the orders follow from its public seed."
    if design.quiz_required or design.gold_share:
        checks = [
            *(["graders pass a quiz on items with known answers first"] if design.quiz_required else []),
            *([f"{design.gold_share:.0%} of their sets are checks with known answers"] if design.gold_share else []),
        ]
        yield f"Quality control: {'; '.join(checks)}."
    if design.adjudicate:
        yield "Where graders disagree one more is asked; that judgment never enters primary estimates."
    if design.severity_raters:
        raters = _some(design.severity_raters, "other grader")
        yield (
            f"The design has {raters}, who did not judge the pair, say how bad a lost deliverable is; "
            f"{design.control_share:.0%} of such items did not lose and serve as controls."
        )


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


WORTH_A_PROCESS = 2_000
"""Comparisons: from so many on a report computes so long that its pictures are made beside."""
UNCODED = frozenset(Need) - {Need.JUSTIFICATIONS}
"""What a report needs where nobody coded what graders wrote: their words, one for each judgment, are then not read."""


def study_report(
    workspace: Workspace, study: Study, *, baseline: str | None = None, graders: GraderGroup | str | None = None
) -> Report:
    """Everything a study's judgments say, for one group of graders: kinds are never pooled silently."""
    with _nothing_collected():
        evidence = read_evidence(workspace, study, graders=graders, baseline=baseline, needs=UNCODED)
        return report_from(workspace, evidence)


def report_from(
    workspace: Workspace,
    evidence: Evidence,
    *,
    draw: Draw = not_drawn,
) -> Report:
    """The same from evidence at hand; `draw` is told the figures as they come."""
    study, policy = evidence.study, evidence.counted.policy
    tasks = workspace.store.get_all(Task, study.tasks)
    note = study.design.rehearsal_note

    def methods(models: Sequence[str]) -> Sequence[str]:
        return methods_of(study, tasks, policy=policy, models=models)

    forms = workspace.store.find(Study, id=study.id)
    return report_of(
        evidence,
        warnings=() if note is None else (note,),
        methods=methods,
        notes=list(_unanswered(workspace, evidence)),
        planned_and_done=list(planned_and_done(study, policy, forms, looked=tuple(_looked_at(evidence)))),
        draw=draw,
    )


def _looked_at(evidence: Evidence) -> Iterator[str]:
    """At which of the planned looks this report stands, where there is more than one, or it comes before the end."""
    looks, done = evidence.study.plan.looks.at, evidence.done
    if evidence.study.design.plan is None or done is None:
        return
    if len(looks) > 1:
        yield (
            f"This is a look after {done:.0%} of the planned gradings: intervals are at {100 * evidence.level:.4g} %, "
            f"so that all {len(looks)} planned looks together err in at most {1 - evidence.study.plan.level:.0%} of "
            "studies (error spent as by O'Brien and Fleming)."
        )
    if not any(abs(done - at) < LOOKS_APART for at in looks):
        planned = ", ".join(f"{at:.0%}" for at in looks)
        yield f"{DEPARTED}looked at after {done:.0%} of the gradings; planned after {planned}."


LOOKS_APART = 0.05
"""A look this near to a planned one is that one."""


def _unanswered(workspace: Workspace, evidence: Evidence) -> Iterator[str]:
    """Calls to models whose cost nobody knows: they are in no figure of the report."""
    ledger = Ledger(workspace.store)
    runs = [run for wave in evidence.waves for run in booked_on(wave.id)]
    if unknown := sum(ledger.spent(run=run).unanswered for run in runs):
        yield f"{unknown} calls to models: sent, answer unknown; what they cost is unknown and in no figure here."


def write_study_report(
    workspace: Workspace,
    study: Study,
    folder: Path,
    *,
    baseline: str | None = None,
    graders: GraderGroup | str | None = None,
    reasons: Sequence[Path] = (),
) -> Report:
    """Write everything into a folder; the same judgments give the same bytes. `reasons` are files of coded reasons."""
    codes = read_codes(reasons)
    needs = frozenset(Need) if codes else UNCODED
    many = workspace.store.count(Comparison, study=study.id) >= WORTH_A_PROCESS
    with _nothing_collected(), drawing(folder / "figures", beside=many) as figures, ThreadPoolExecutor(1) as thread:
        evidence = read_evidence(workspace, study, graders=graders, baseline=baseline, needs=needs, reasons=codes)
        rows = thread.submit(write_csv, evidence.counted, folder / "judgments.csv")
        report = report_from(workspace, evidence, draw=figures.draw)
        if (table := evidence.tasks_and_models) is not None:
            (folder / "tasks-and-models.csv").write_bytes(rows_csv(table))
        write_report(report, folder, figures)
        rows.result()
    return report


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """A report makes millions of values and hardly a circle of them: looking for some takes an eighth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


NAMED = ("task", "model", "sample", "grader")
KEYS_A_QUERY = 500


@dataclass(frozen=True)
class Traced:
    """The rows behind a number, with the digests of their judgments, and the rates these very rows give by model."""

    rows: Pairs
    ruled: pl.DataFrame | None
    """Work that a rule decides: nobody judged it."""
    graders: GraderGroup
    judgments: tuple[Digest, ...]
    rates: tuple[WinRate, ...]

    def frame(self) -> pl.DataFrame:
        """The rows as a table, each with the digest of its judgment first."""
        rows = frame(self.rows, self.graders).insert_column(0, pl.Series("judgment", self.judgments))
        if self.ruled is None:
            return rows
        return pl.concat([rows, ruled_frame(self.ruled, self.graders)], how="diagonal")


def trace(store: Store, evidence: Evidence, where: Mapping[str, str]) -> Traced:
    """The rows in which each named column holds the given word; the columns are those of `judgments.csv`."""
    rows, ruled = evidence.pairs, evidence.counted.by_rule
    facts = ruled_frame(ruled, evidence.group) if ruled is not None else pl.DataFrame()
    for name, word in where.items():
        column = _column(rows, name)
        if word not in words_in(column):
            raise UnknownName(name, word, known=words_in(column)[:20])
        rows = rows.keep(is_word(column, word))
        if ruled is not None:
            same = facts[name] == word
            ruled, facts = ruled.filter(same), facts.filter(same)
    if not len(rows):
        raise NothingJudged(", ".join(f"{name} = {word}" for name, word in where.items()))
    keys = _digests(store, rows.judgment.tolist())
    if ruled is not None and evidence.counted.attempted is not None:
        counted = replace(evidence.counted.of_pairs(rows), attempted=ruled)
    else:
        counted = evidence.counted.of_pairs(rows)
    keys_of = tuple(keys[seq] for seq in rows.judgment.tolist())
    return Traced(rows, ruled, evidence.group, keys_of, tuple(win_rates(counted.outcomes, level=evidence.level)))


def _column(rows: Pairs, name: str) -> Coded:
    if name in BREAKDOWNS:
        return rows.columns[name]
    if name not in NAMED:
        raise UnknownName("column", name, known=[*NAMED, *BREAKDOWNS])
    found: Coded = getattr(rows, name)
    return found


def _digests(store: Store, numbers: list[int]) -> dict[int, Digest]:
    table = shelf_of(Judgment).table
    wanted = sorted(set(numbers))
    found: dict[int, Digest] = {}
    with store.reading() as connection:
        for start in range(0, len(wanted), KEYS_A_QUERY):
            some = table.c.seq.in_(wanted[start : start + KEYS_A_QUERY])
            found |= {row.seq: row.key for row in connection.execute(select(table.c.seq, table.c.key).where(some))}
    return found
