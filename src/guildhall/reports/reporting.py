"""From evidence to a report, and from a report to its files. Both are pure but for the folder that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from guildhall import __version__
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.evidence import Evidence
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GroupKind
from guildhall.domain.report import Figure, Report, RunReport, Section
from guildhall.reports.answer import answer_of, conclusions
from guildhall.reports.chapters import BOSWELL_CHAPTERS, STUDY_CHAPTERS, Chapter
from guildhall.reports.chapters.explored import explored
from guildhall.reports.drawing import Drawing
from guildhall.reports.page import html_page
from guildhall.reports.text import as_json, markdown, numbers_csv, table_csv
from guildhall.reports.workbook import workbook

ALWAYS = frozenset({"headline", "ranks"})
"""Chapters that stand even where they hold no figure."""
SIMULATED = "The graders of this study are simulated: these figures say nothing about any model."


Draw = Callable[[Sequence[Figure], Sequence[str]], None]
"""Is told each chapter's figures as they come, and all models, the best first."""


def not_drawn(_figures: Sequence[Figure], _models: Sequence[str]) -> None:
    """For a report whose figures are drawn later, or nowhere."""


def report_of(
    evidence: Evidence,
    *,
    warnings: Sequence[str] = (),
    methods: Callable[[Sequence[str]], Sequence[str]] = lambda _models: (),
    planned_and_done: Sequence[str] = (),
    notes: Sequence[str] = (),
    chapters: Sequence[Chapter[Evidence]] = STUDY_CHAPTERS,
    draw: Draw = not_drawn,
) -> Report:
    """Every chapter once, in order; `methods` is told which models were judged, `draw` each chapter's figures."""
    study, group = evidence.study, evidence.group
    sections, silent = list[Section](), list[str]()
    for chapter in chapters:
        if (section := chapter.section(evidence)) is None:
            continue
        if (why := _says_nothing(section)) is not None:
            silent.append(f"{section.title}: nothing to tell ({why}).")
            continue
        draw(section.figures, evidence.models)
        sections.append(section)
    words = conclusions(sections, baseline=evidence.baseline, group=group)
    models = sorted(evidence.pairs.model.names[code] for code in np.unique(evidence.pairs.model.codes).tolist())
    simulated = [SIMULATED] if group.kind is GroupKind.SIMULATED and not warnings else []
    return Report(
        study=study.id,
        title=study.heading,
        design_digest=study.content_digest(),
        seed=study.seed,
        policy=evidence.counted.policy,
        left_out=dict(evidence.counted.left_out),
        counts=counts_of(evidence),
        warnings=(*warnings, *simulated),
        conclusions=words,
        answer=answer_of(evidence, sections, words=words, planned_and_done=planned_and_done),
        sections=tuple(sections),
        explored=explored(evidence),
        task_rates=evidence.task_rates,
        methods=tuple(methods(models)),
        planned_and_done=tuple(planned_and_done),
        notes=(
            *(
                f"{other} graders judged too; they are not pooled with {group} graders here"
                for other in evidence.others
            ),
            *silent,
            *notes,
        ),
        version=__version__,
    )


def _says_nothing(section: Section) -> str | None:
    """Why a chapter has no figure to tell; None where it has one, or is about words or counts."""
    found = [cell for table in section.tables for row in table.rows for cell in row if isinstance(cell, Estimate)]
    if not found or section.name in ALWAYS or any(one.value is not None for one in found):
        return None
    return next((one.why_no_interval for one in found if one.why_no_interval), "nothing is known")


def run_report_of(found: RunFigures, *, chapters: Sequence[Chapter[RunFigures]] = BOSWELL_CHAPTERS) -> RunReport:
    """What is said of a Boswell run: every chapter once, in order."""
    run = found.run
    refused = sum(essay.stop == "refused" for essay in run.essays)
    words = [
        f"Domain: {run.title} ({run.domain}). Begun {run.started_at:%Y-%m-%d %H:%M:%S} UTC. Origin: {run.origin}.",
        f"{len(run.essays)} essays ({refused} refused), {len(run.marks)} marks, "
        f"{len(run.marks) - found.tables.unread} of them with a readable grade.",
        f"Formula: {found.quotients.mode}.",
    ]
    if (reference := found.quotients.reference) is not None:
        own = "with" if reference.own_marks else "without"
        words.append(
            f"Efficiency is measured on uncached calls against {reference.essay_s:g} s an essay and "
            f"{reference.mark_s:g} s a mark; performance is the median {own} the author's own mark."
        )
    sections = (section for chapter in chapters if (section := chapter.section(found)) is not None)
    return RunReport(
        run=run.run,
        title=f"Boswell Test {run.run}",
        words=tuple(words),
        sections=tuple(sections),
        version=__version__,
    )


def counts_of(evidence: Evidence) -> dict[str, int]:
    """Both denominators of every figure."""
    own = evidence.tasks.filter("pinned")
    return {
        "tasks": len(evidence.study.tasks),
        "tasks_compared": len(np.unique(evidence.pairs.task.codes)),
        "tasks_without_expert": int((~own["expert"]).sum()),
        "submissions": evidence.submissions,
        "comparisons": evidence.comparisons,
        "judgments": evidence.counted.n_counted,
        "omissions": evidence.omissions,
    }


def write_report(report: Report, folder: Path, drawing: Drawing) -> None:
    """Write every format into a folder; the same report gives the same bytes. `drawing` has drawn its figures."""
    texts = {
        "report.md": markdown(report),
        "report.json": as_json(report),
        "numbers.csv": numbers_csv(report),
        **{f"{table.name}.csv": table_csv(table) for section in report.sections for table in section.tables},
        **{f"{table.name}.csv": table_csv(table) for table in report.explored},
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.xlsx").write_bytes(workbook(report))
    (folder / "report.html").write_text(html_page(report, drawing.svgs), encoding="utf-8")
    drawing.finish()
