"""From evidence to a report, and from a report to its files. Both are pure but for the folder that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from guildhall import __version__
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.evidence import Evidence
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GraderGroup, GroupKind
from guildhall.domain.report import Figure, Report, RunReport, Section
from guildhall.reports.chapters import BOSWELL_CHAPTERS, STUDY_CHAPTERS, Chapter
from guildhall.reports.drawing import Drawing
from guildhall.reports.number_format import shown
from guildhall.reports.page import html_page
from guildhall.reports.text import as_json, markdown, numbers_csv, table_csv
from guildhall.reports.workbook import workbook


def conclusions(sections: Sequence[Section], *, baseline: str, group: GraderGroup) -> tuple[str, ...]:
    """What a hurried reader should take away, in numbers that stand further down with all their counts."""
    found = {section.name: section for section in sections}
    joined = found["joined"].words if "joined" in found else ()
    rows = found["headline"].table("headline").rows if "headline" in found else ()
    if not rows:
        return joined
    model, *_, win, either, half = max(rows, key=lambda row: (getattr(row[-1], "value", None) or 0.0, str(row[0])))
    assert isinstance(win, Estimate) and isinstance(either, Estimate)  # noqa: S101 - as the headline lays them out
    assert isinstance(half, Estimate)  # noqa: S101 - likewise
    rate, tied = shown(half, "percent"), (either.value or 0.0) - (win.value or 0.0)
    if joined and found["joined"].tables:
        return (*_who_judged(group), *joined, *_agreement(found.get("agreement")))
    return (
        *_who_judged(group),
        *joined,
        *(found["ranks"].words if "ranks" in found else ()),
        f"Against the {baseline}, {model} has a half-tie rate of {rate.value} "
        f"({rate.interval or half.why_no_interval}): it wins {shown(win, 'percent').value} and ties "
        f"{100 * tied:.1f} %, means over {half.n_tasks} tasks.",
        *_agreement(found.get("agreement")),
    )


def _who_judged(group: GraderGroup) -> tuple[str, ...]:
    """Where nobody looked at the work, that comes first."""
    if group.kind is GroupKind.CONSTANT:
        return (f"Nobody judged this work: the figures are those of the constant rule {group.name}.",)
    if group.kind is GroupKind.SIMULATED:
        return ("Only simulated graders judged: the figures say nothing about any model.",)
    return ()


def _agreement(section: Section | None) -> tuple[str, ...]:
    if section is None or not section.tables or not section.tables[0].rows:
        return ()
    one = next((cell for cell in section.tables[0].rows[0] if isinstance(cell, Estimate)), None)
    if one is None:
        return ()
    words = shown(one, "percent")
    return (f"Two graders of the same work agree {words.value} of the time ({words.interval}).",)


SIMULATED = "The graders of this study are simulated: these figures say nothing about any model."


def report_of(
    evidence: Evidence,
    *,
    warnings: Sequence[str] = (),
    methods: Callable[[Sequence[str]], Sequence[str]] = lambda _models: (),
    planned_and_done: Sequence[str] = (),
    notes: Sequence[str] = (),
    chapters: Sequence[Chapter[Evidence]] = STUDY_CHAPTERS,
    draw: Callable[[Sequence[Figure]], None] = lambda _figures: None,
) -> Report:
    """Every chapter once, in order; `methods` is told which models were judged, `draw` each chapter's figures."""
    study, group = evidence.study, evidence.group
    sections = []
    for chapter in chapters:
        if (section := chapter.section(evidence)) is not None:
            draw(section.figures)
            sections.append(section)
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
        conclusions=conclusions(sections, baseline=evidence.baseline, group=group),
        sections=tuple(sections),
        task_rates=evidence.task_rates,
        methods=tuple(methods(models)),
        planned_and_done=tuple(planned_and_done),
        notes=(
            *(
                f"{other} graders judged too; they are not pooled with {group} graders here"
                for other in evidence.others
            ),
            *notes,
        ),
        version=__version__,
    )


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
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.xlsx").write_bytes(workbook(report))
    (folder / "report.html").write_text(html_page(report, drawing.svgs), encoding="utf-8")
    drawing.finish()
