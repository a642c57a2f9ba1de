"""Runs made up for the tests."""

from __future__ import annotations

from datetime import UTC, datetime

from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.domain.authors import ModelRun
from guildhall.domain.boswell import Essay, Mark, RunRecord
from guildhall.domain.submissions import Usage
from guildhall.peer.reader import read_grade
from guildhall.reports.reporting import run_report_of
from guildhall.reports.text import run_markdown

STARTED = datetime(2026, 3, 6, 14, 28, 20, tzinfo=UTC)


def made_run(
    grades: dict[tuple[str, str], str],
    *,
    essay_s: dict[str, float] | None = None,
    mark_s: dict[str, float] | None = None,
    domain: str = "pol_sci_1",
    started_at: datetime = STARTED,
) -> RunRecord:
    """A run from `{(author, grader): reply}`; a bare grade stands for a reply that states it."""
    run = f"{started_at:%Y%m%d-%H%M%S}-{domain}"
    authors = dict.fromkeys(author for author, _ in grades)
    essays = {
        author: Essay(
            run=run,
            domain=domain,
            author=_model(author),
            text=f"An essay by {author}.",
            seconds=(essay_s or {}).get(author, 10.0),
            usage=Usage(input_tokens=100, output_tokens=700, calls=1, cost_usd=0.002),
            made_at=started_at,
        )
        for author in authors
    }
    marks = tuple(
        Mark(
            run=run,
            domain=domain,
            essay=essays[author].key,
            grader=_model(grader),
            reply=reply if len(reply) > 6 else f"Feedback.\n\nGrade: {reply}",
            reading=read_grade(reply if len(reply) > 6 else f"Feedback.\n\nGrade: {reply}"),
            seconds=(mark_s or {}).get(grader, 5.0),
            usage=Usage(input_tokens=900, output_tokens=400, calls=1, cost_usd=0.001),
            made_at=started_at,
        )
        for (author, grader), reply in grades.items()
    )
    return RunRecord(
        run=run,
        domain=domain,
        title="Political science",
        started_at=started_at,
        essays=tuple(essays.values()),
        marks=marks,
    )


def markdown_of(found: RunFigures) -> str:
    return run_markdown(run_report_of(found))


def _model(name: str) -> ModelRun:
    return ModelRun(name=name, model=f"scripted/{name}")


SQUARE = {
    ("ada", "ada"): "A+", ("ada", "bob"): "A", ("ada", "cyd"): "A-", ("ada", "dee"): "A",
    ("bob", "ada"): "B+", ("bob", "bob"): "A", ("bob", "cyd"): "B", ("bob", "dee"): "B+",
    ("cyd", "ada"): "C", ("cyd", "bob"): "I cannot assign a grade to this.", ("cyd", "cyd"): "B-", ("cyd", "dee"): "C+",
    ("dee", "ada"): "D", ("dee", "bob"): "F", ("dee", "cyd"): "D-/F", ("dee", "dee"): "B",
}  # fmt: skip
"""Four models, a refusal, D, F and a composite; keys are (author, grader)."""
