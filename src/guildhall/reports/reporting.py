"""From evidence to a report, and from a report to its files. Both are pure but for the folder that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np

from guildhall import __version__
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.intervals import FEWEST_CLUSTERS
from guildhall.analysis.spreads import THESE
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GraderGroup, GroupKind
from guildhall.domain.report import WARNING, Figure, Report, ReportAnswer, RunReport, Section
from guildhall.reports.chapters import BOSWELL_CHAPTERS, STUDY_CHAPTERS, Chapter
from guildhall.reports.chapters.headline import explored
from guildhall.reports.drawing import Drawing
from guildhall.reports.number_format import at_level, shown
from guildhall.reports.page import html_page
from guildhall.reports.text import as_json, bibtex, headline_latex, markdown, numbers_csv, table_csv
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
        "headline.tex": headline_latex(report),
        "report.bib": bibtex(report),
        **{f"{table.name}.csv": table_csv(table) for section in report.sections for table in section.tables},
        **{f"{table.name}.csv": table_csv(table) for table in report.explored},
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.xlsx").write_bytes(workbook(report))
    (folder / "report.html").write_text(html_page(report, drawing.svgs), encoding="utf-8")
    drawing.finish()


DEPARTED = "Departed from the plan: "
"""How a sentence begins that tells of one departure."""
MADE_PER_S = 1_000_000
MUCH_MISSING = 0.05
MOST_OTHERS = 3
"""So many groups beside the leading one are named on the first screen."""


def conclusions(sections: Sequence[Section], *, baseline: str, group: GraderGroup) -> tuple[str, ...]:
    """What a hurried reader should take away, in numbers that stand further down with all their counts."""
    found = {section.name: section for section in sections}
    joined = found["joined"].words if "joined" in found else ()
    rows = found["headline"].table("headline").rows if "headline" in found else ()
    if not rows:
        return joined
    if joined and found["joined"].tables:
        return (*_who_judged(group), *joined, *_agreement(found.get("agreement")))
    model, *_, half = rows[0]
    assert isinstance(half, Estimate)  # noqa: S101 - as the headline lays them out
    places = {row[0]: str(row[3]) for row in found["ranks"].table("ranks").rows} if "ranks" in found else {}
    return (
        *_who_judged(group),
        *joined,
        *(found["ranks"].words[: len(rows) > 1] if "ranks" in found else ()),
        _leader(str(model), half, places.get(model, ""), baseline, n=len(rows)),
        *_agreement(found.get("agreement")),
    )


def _who_judged(group: GraderGroup) -> tuple[str, ...]:
    """Where nobody looked at the work, that comes first."""
    if group.kind is GroupKind.CONSTANT:
        return (f"Nobody judged this work: the figures are those of the constant rule {group.name}.",)
    if group.kind is GroupKind.SIMULATED:
        return ("Only simulated graders judged: the figures say nothing about any model.",)
    return ()


def _leader(model: str, half: Estimate, told: str, baseline: str, *, n: int) -> str:
    rate = shown(half, "percent")
    scores = f"Against the {baseline}, {model} scores {rate.value} with ties counted half"
    if half.interval is None:
        return f"{scores}, without an interval: {half.why_no_interval}."
    against = {
        "better": f"it is better than the {baseline}",
        "worse": f"it is worse than the {baseline}",
        "not told apart": f"it is not told apart from the {baseline}",
        "": f"a mean over {half.n_tasks} tasks",
    }.get(told, f"it is {told}")
    together = f", all {n} models looked at together" if told and n > 1 else ""
    return f"{scores} ({rate.interval} at {at_level(half.level)}): {against}{together}."


def _agreement(section: Section | None) -> tuple[str, ...]:
    if section is None or not section.tables or not section.tables[0].rows:
        return ()
    one = next((cell for cell in section.tables[0].rows[0] if isinstance(cell, Estimate)), None)
    if one is None or one.interval is None:
        return ()
    words = shown(one, "percent")
    return (f"Two graders of the same work agree {words.value} of the time ({words.interval}).",)


def answer_of(
    evidence: Evidence, sections: Sequence[Section], *, words: tuple[str, ...], planned_and_done: Sequence[str]
) -> ReportAnswer:
    """What the evidence allows to say first; `words` are the conclusions."""
    done = evidence.done
    departures = sum(one.startswith(DEPARTED) for one in planned_and_done)
    return ReportAnswer(
        words=words,
        state="rehearsal" if evidence.rehearsed else "running" if done is not None and done < 1.0 else "final",
        done=done,
        departures=departures,
        dated=_dated(evidence),
        rests_on=tuple(_rests_on(evidence)),
        caveat=next(_caveats(evidence, sections, departures)),
    )


def _dated(evidence: Evidence) -> date | None:
    """The day of the last counted judgment: the same judgments give the same page on any day. A rehearsal has none."""
    last = None if evidence.rehearsed else evidence.counted.answers["made_at"].max()
    return datetime.fromtimestamp(float(last) / MADE_PER_S, tz=UTC).date() if isinstance(last, int | float) else None


def _rests_on(evidence: Evidence) -> Iterator[str]:
    pairs, own = evidence.pairs, evidence.tasks.filter("pinned")
    fields = own["occupation"].n_unique()
    tasks = f"{len(np.unique(pairs.task.codes)):,} of {len(evidence.study.tasks):,} tasks"
    yield f"{tasks} in {fields} occupations" if fields > 1 else tasks
    people = len(np.unique(pairs.grader.codes[pairs.grader.codes >= 0]))
    judged = f"{evidence.counted.n_counted:,} judgments"
    group = evidence.group
    yield f"{people} {group.kind} graders, {judged}" if group.name is None else f"{group}, {judged}"
    others = sorted(evidence.others.items(), key=lambda one: str(one[0]))
    yield from (f"beside them {other}, {its.n_counted:,} judgments" for other, its in others[:MOST_OTHERS])
    if evidence.lacking is not None:
        missing = int(evidence.lacking["lacking"].sum())
        yield f"missing: {missing:,} grades" if missing else "nothing missing"


def _caveats(evidence: Evidence, sections: Sequence[Section], departures: int) -> Iterator[str]:
    """What to keep in mind, the gravest first."""
    rate, done = evidence.rates[0].half_tie, evidence.done
    if evidence.rehearsed:
        yield "The graders are simulated: no figure here is about any model."
    if evidence.group.kind is GroupKind.CONSTANT:
        yield "Nobody looked at the work: a rule gave every verdict."
    if done is not None and done < 1.0:
        yield f"{done:.0%} of the planned gradings are done: every figure may still move."
    if (rate.n_tasks or 0) < FEWEST_CLUSTERS:
        yield f"{rate.n_tasks} of the tasks were judged: too few for any interval."
    warnings = (one for section in sections for one in section.words if one.startswith(WARNING))
    yield from (one.removeprefix(WARNING) for one in warnings)
    if done is not None and evidence.lacking is not None:
        asked = evidence.wanted * max(1, len(evidence.lacking))
        if int(evidence.lacking["lacking"].sum()) > MUCH_MISSING * asked:
            yield "More than one grade in twenty is missing: the chapter on missing work says how far that could reach."
    if rate.target == THESE:
        yield "So few people judged that intervals are about these very graders, not about graders like these."
    if departures:
        yield "The plan was departed from: see what was planned and what was done."
    ranks = next((section for section in sections if section.name == "ranks"), None)
    first = [] if ranks is None else [row[0] for row in ranks.table("ranks").rows if row[1] == 1]
    if len(first) > 1:
        yield f"{len(first)} models share the first place: it takes more tasks or graders to tell them apart."
    yield "Figures are about tasks and graders like these, and about no other work."
