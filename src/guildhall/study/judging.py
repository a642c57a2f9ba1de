"""The stage of automatic grading: asking a study's graders, how that goes, and what their verdicts say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from pydantic import JsonValue

from guildhall.analysis.counting import Counted
from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import JudgePlan, RubricMark
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.engine.models import require_known
from guildhall.engine.terms import Terms
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline
from guildhall.grading.judges.queue import Queued, enqueue, missing_verdicts, standing
from guildhall.grading.judges.rubric import ask_rubric, missing_marks
from guildhall.grading.judges.spreading import Ask, open_desk, spread_judging
from guildhall.grading.judges.verdicts import AskingOutcome
from guildhall.grading.opening import gather
from guildhall.store.ledger import Ledger, booked_on
from guildhall.store.work import Work, WorkState
from guildhall.study.judge_rows import JudgedWork
from guildhall.study.judges import graders_of
from guildhall.study.planning import dollars_a_verdict, planned_layout
from guildhall.study.studies import OpenStudy

Report = Mapping[str, JsonValue]


class Judging:
    """Automatic graders judge. Without `[[judges]]` in the study file the stage has nothing to do."""

    name = "judging"

    def plan(self, study: OpenStudy) -> Report:
        return _forecast(study) if study.file.judges else {}

    def run(self, study: OpenStudy) -> Report:
        if not study.file.judges:
            return {}
        judged = sum((judge_study(study, grader) for grader in graders_of(study)), start=AskingOutcome())
        return {**standings(study), **faults_of(judged)}

    def status(self, study: OpenStudy) -> Report:
        return standings(study) if study.file.judges else {}

    def progress(self, study: OpenStudy) -> Callable[[], Report] | None:
        return progress_of_all(study) if study.file.judges else None


def progress_of_all(study: OpenStudy) -> Callable[[], Mapping[str, Any]] | None:
    """How the work of all models among the graders goes; None where only rules judge, which is over at once."""
    each = [progress_of(study, grader) for grader in graders_of(study) if grader.repeats]
    if not each:
        return None
    wanted = sum(int(one()["items"]) for one in each)
    return lambda: {**each[0](), "items": wanted}


def faults_of(judged: AskingOutcome) -> Report:
    """What a fault of ours kept from being asked for: no failure of a judge."""
    return {"faults": judged.faults, "why_fault": judged.why_fault}


def _forecast(study: OpenStudy) -> Report:
    """Calls and dollars of each grader, for what was made and for what is still to be made."""
    settings, store = study.file.grading, study.workspace.store
    require_known(plan.model for plan in study.file.judges)
    layout = planned_layout(study, judged_form(study), HallDesign(set_size=settings.set_size))
    rows: list[JsonValue] = []
    for grader in graders_of(study):
        now = standing(store, grader, layout.comparisons, sweeps=settings.sweeps)
        price = (
            0.0 if isinstance(grader, ByBaseline) else dollars_a_verdict(store, [one.key for one in grader.graders()])
        )
        usd = None if price is None else price * now.to_do
        rows.append({**asdict(now), "to_do": now.to_do, "usd": usd})
    return {
        "comparisons": len(layout.comparisons),
        "tasks_without_expert": len(layout.without_expert),
        "graders": rows,
    }


@contextmanager
def desk_of(study: OpenStudy) -> Iterator[JudgeDesk]:
    """A desk with everything of the study at hand; documents are opened in confined processes."""
    with open_desk(study.workspace, study.tasks, study.file.grading.bench()) as desk:
        yield desk


def terms_of(study: OpenStudy) -> Terms:
    """What judging spends is booked apart from what sampling spent."""
    return study.file.grading.terms(booked_on(study.id)[1], study.file.prices)


def queued(study: OpenStudy) -> Queued:
    """The comparisons of everything that is to be judged."""
    return enqueue(study.workspace, judged_form(study), set_size=study.file.grading.set_size)


def judged_form(study: OpenStudy) -> Study:
    """The frozen study as judges meet it: with its own authors, or with whoever submitted."""
    frozen = study.frozen()
    return frozen.but(authors=()) if study.file.grading.submissions == "all" else frozen


def judge_study(
    study: OpenStudy, grader: AutomaticGrader, *, again: bool = False, sweeps: int | None = None
) -> AskingOutcome:
    """Let one grader judge everything the study has submitted; what it judged before costs nothing.

    The study's form is kept before its first judgment, and a changed one is refused until it is kept in words.
    """
    study.freeze()
    rounds = sweeps or study.file.grading.sweeps
    comparisons = queued(study).comparisons
    return _asked(
        study,
        grader.ask,
        lambda: missing_verdicts(study.workspace.store, grader, comparisons, sweeps=rounds, again=again),
    )


def _asked(study: OpenStudy, ask: Ask, missing: Callable[[], Sequence[Any]]) -> AskingOutcome:
    """Ask for what is missing: here, or wherever the study's executor has room."""
    if study.executor is None:
        with desk_of(study) as desk:
            return ask(missing(), desk=desk, terms=terms_of(study))
    prepare_study(study)
    return spread_judging(
        ask,
        missing,
        workspace=study.workspace,
        tasks=study.tasks,
        terms=terms_of(study),
        bench=study.file.grading.bench(),
        executor=study.executor,
    )


def prepare_study(study: OpenStudy) -> None:
    """Make everything ready that is to be judged, wherever the study's executor has room."""
    from guildhall.judging.preparing import prepare_all

    tasks, made = gather(study.workspace, judged_form(study))
    by_id = {task.id: task for task in tasks}
    if study.executor is not None:
        works = [(one, by_id[one.task]) for one in made]
        prepare_all(works, workspace=study.workspace, executor=study.executor)


def mark_study(study: OpenStudy, plan: JudgePlan, *, whole: bool, sweeps: int, again: bool = False) -> AskingOutcome:
    """Hold every submission with a rubric against it, the experts' own included: theirs is the ceiling."""
    store = study.workspace.store
    tasks, made = gather(study.workspace, judged_form(study))
    with_rubric = {task.id for task in tasks if task.rubric is not None and task.rubric.items}
    submissions = [one for one in made if one.task in with_rubric]
    return _asked(
        study,
        partial(ask_rubric, plan, study=study.id, whole=whole),
        lambda: list(missing_marks(store, submissions, plan, whole=whole, sweeps=sweeps, again=again)),
    )


def marks_of(study: OpenStudy) -> list[tuple[RubricMark, Submission]]:
    """The current rubric marks of the study with what they are about."""
    store = study.workspace.store
    marks = store.find(RubricMark, study=study.id)
    replaced = {mark.replaces for mark in marks}
    return [(mark, store.get(Submission, mark.submission)) for mark in marks if mark.key not in replaced]


def standings(study: OpenStudy, names: Sequence[str] = ()) -> dict[str, JsonValue]:
    """How every grader's work stands, and which tasks take no part."""
    waiting = queued(study)
    sweeps = study.file.grading.sweeps
    store = study.workspace.store
    rows = [standing(store, one, waiting.comparisons, sweeps=sweeps) for one in graders_of(study, names)]
    return {
        "comparisons": len(waiting.comparisons),
        "tasks_without_expert": len(waiting.without_expert),
        "unanswered_calls": Ledger(store).spent(run=terms_of(study).run).unanswered,
        "graders": [{**asdict(row), "to_do": row.to_do, "expected_usd": row.expected_usd} for row in rows],
    }


def progress_of(
    study: OpenStudy, grader: AutomaticGrader, *, again: bool = False, sweeps: int | None = None
) -> Callable[[], Mapping[str, Any]]:
    """How one grader's work goes from now on: answers, failures, tokens, dollars; cheap enough for twice a second."""
    store, run = study.workspace.store, terms_of(study).run
    rounds = sweeps or study.file.grading.sweeps
    wanted = len(missing_verdicts(store, grader, queued(study).comparisons, sweeps=rounds, again=again))
    work, ledger = Work(store), Ledger(store)
    before = work.counts(run=run)

    def now() -> Mapping[str, Any]:
        spent = ledger.spent(run=run)
        new = {state: n - before.get(state, 0) for state, n in work.counts(run=run).items()}
        return {
            "items": wanted,
            "done": new.get(WorkState.DONE, 0),
            "failed": new.get(WorkState.FAILED, 0),
            "running": new.get(WorkState.RUNNING, 0),
            "input_tokens": spent.usage.input_tokens,
            "output_tokens": spent.usage.output_tokens,
            "cost_usd": spent.usage.cost_usd,
            "known_usd": spent.known_usd,
        }

    return now


def makers_of(study: OpenStudy) -> dict[str, str]:
    """The family each author of the study belongs to, by name; what the study file says counts first."""
    named = {author.name: author.model.partition("/")[0] for author in study.file.authors if author.model}
    return named | study.file.grading.makers


def judged_work(study: OpenStudy) -> JudgedWork:
    """Every verdict on the study's work, by group of graders, as all its figures count them."""
    judge_makers = {plan.name: plan.maker for plan in study.file.judges if plan.maker}
    return JudgedWork(study.workspace, study.frozen(), makers_of(study), judge_makers)


def grades_by(study: OpenStudy, graders: Sequence[str]) -> dict[str, list[WinRate]]:
    """Win rates by each grader; none by one that answered no round in every order."""
    work = judged_work(study)
    return {name: grades(work.counted(work.judges[name])) if name in work.judges else [] for name in graders}


def grades(counted: Counted) -> list[WinRate]:
    """The models' win rates by one judge's counted verdicts."""
    return win_rates(counted.outcomes) if counted.n_counted else []
