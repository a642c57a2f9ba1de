"""The grading service's work: take in what was sent, let a judge compare it with the experts' own, tell the grades.

Verdicts are kept as they come, so that a killed worker's grading goes on where it was, and nothing is paid for twice.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean
from typing import Annotated, Self

from pydantic import Field, model_validator
from sqlalchemy.exc import SQLAlchemyError

from guildhall.analysis.counting import LOOKED_AT, Counted, count
from guildhall.analysis.pairs import Pairs
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.authors import ModelRun
from guildhall.domain.gradings import SERVICE, Grades, GradingRequest, TaskGrade
from guildhall.domain.judges import FENCE, JudgePlan
from guildhall.domain.judgments import Comparison
from guildhall.domain.policy import GraderGroup, Policy, Rule
from guildhall.domain.prices import Price
from guildhall.domain.studies import Study
from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, Value
from guildhall.engine.journal import TAKEN_OVER
from guildhall.engine.prices import Prices
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.errors import (
    GuildhallError,
    HoldLost,
    InputError,
    ModelError,
    NotEnoughData,
    NothingJudged,
    SandboxError,
    StoreError,
)
from guildhall.grading.judges.asking import MOST_SWEEPS, SWEEPS, Kept, orders
from guildhall.grading.judges.baselines import BASELINES
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.gradability import ungradable
from guildhall.grading.judges.graders import AutomaticGrader, ByBaseline, ByModel
from guildhall.grading.judges.queue import enqueue
from guildhall.grading.judges.spreading import Bench, open_desk
from guildhall.sampling.outside import import_folder
from guildhall.store.gradings import Grading, Gradings
from guildhall.store.outbox import Outbox
from guildhall.store.settings import read_section
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.work import LEASE_S, ItemEnd, Work
from guildhall.store.workspace import Workspace
from guildhall.taskbank.listing import latest_tasks

Positive = Annotated[int, Field(ge=1)]


class ServiceSettings(Value):
    """`[gradings]`: who judges, how often, at which cost a grading at most, and how much a token may ask for.

    Without the section there is one judge, `rubric-and-format`, which needs no model.
    """

    judges: tuple[JudgePlan, ...] = ()
    baselines: tuple[str, ...] = ("rubric-and-format",)
    sweeps: Annotated[int, Field(ge=1, lt=MOST_SWEEPS)] = SWEEPS
    limits: Limits = Limits()
    pace: Pace = Pace()
    prices: dict[str, Price] = {}
    most_bytes: Positive = 200 << 20
    """The largest package, packed; what it unpacks to may be five times as much."""
    most_files: Positive = 2000
    gradings_per_day: Positive = 20
    bytes_per_day: Positive = 2 << 30

    @model_validator(mode="after")
    def _judges_are_known(self) -> Self:
        if unknown := sorted(set(self.baselines) - set(BASELINES)):
            raise ValueError(f"no baseline is called {unknown[0]!r}; known: {', '.join(sorted(BASELINES))}")
        names = [*(plan.name for plan in self.judges), *self.baselines]
        if len(set(names)) < len(names):
            raise ValueError("two judges share one name")
        return self

    def graders(self) -> Mapping[str, AutomaticGrader]:
        """Every judge of the service, by name."""
        return {plan.name: ByModel(plan.but(fence=FENCE)) for plan in self.judges} | {
            name: ByBaseline(name) for name in self.baselines
        }

    def grader(self, name: str) -> AutomaticGrader:
        known = self.graders()
        if name not in known:
            raise InputError(f"no judge of this service is called {name!r}; it has {', '.join(known) or 'none'}")
        return known[name]

    def terms(self, run: str) -> Terms:
        """What a grading may spend; it is booked on its own name."""
        return Terms(run=run, limits=self.limits, pace=self.pace, prices=Prices(self.prices))


def service_of(workspace: Workspace) -> ServiceSettings:
    """The grading service of a workspace, as its settings stand now."""
    return read_section(workspace.path, "gradings", ServiceSettings) or ServiceSettings()


BATCH = 8
"""Comparisons judged together: after each batch the progress shown is true again."""
MOST_TRIES = 10
Clock = Callable[[], float]
logger = logging.getLogger(__name__)


def request_grading(
    workspace: Workspace, folder: Path, *, name: Id, judge: Id, service: ServiceSettings
) -> GradingRequest:
    """Keep the work that lies in a folder, one folder for each task, as work that `judge` is to grade.

    Refused, with nothing kept, when the judge or a task is unknown. What the rules of collection leave out is told.
    """
    service.grader(judge)
    tasks = latest_tasks(workspace.store)
    wanted = sorted(inner.name for inner in folder.iterdir())
    if unknown := [one for one in wanted if one not in tasks]:
        raise InputError(f"{unknown[0]!r} is no task of this bank; the package holds one folder for each task id")
    identity = secrets.token_hex(16)
    author = ModelRun(name=name, model="outside", condition="outside", settings={"grading": identity})
    brought = import_folder(folder, list(tasks.values()), author=author, workspace=workspace, origin=SERVICE)
    return GradingRequest(
        id=identity,
        author=author,
        judge=judge,
        tasks=tuple(tasks[one].key for one in wanted),
        submissions=tuple(one.key for one in brought.submissions),
        problems=tuple(problem for one in brought.submissions for problem in one.problems),
    )


class _Stopped(Exception):
    """This process was told to stop; what is judged is kept, and the rest is for the next worker."""


class _NotNow(Exception):
    """A fault of ours, or another worker at it: the grading is given back and tried again, so many times."""


def work_once(workspace: Workspace, *, worker: str, clock: Clock, stopping: Callable[[], bool] = lambda: False) -> bool:
    """Carry out the grading that waits longest and that nobody is at work on; False when there is none.

    Once `stopping` says so, a grading is given back between two batches of verdicts.
    """
    desk = Gradings(workspace.store)
    for waiting in desk.open():
        if desk.work.claim([waiting.work.key], worker=worker):
            with suppress(_Stopped), _held(desk.work, waiting.work.key, worker=worker):
                _carry_out(workspace, waiting, worker=worker, clock=clock, stopping=stopping)
            return True
    return False


@contextmanager
def _held(work: Work, key: str, *, worker: str) -> Iterator[None]:
    """Keep what was claimed while it is worked on, however long a judge takes; give it back when interrupted."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(LEASE_S / 5):
            try:
                work.renew(worker=worker)
            except (SQLAlchemyError, StoreError):
                logger.exception("the hold on grading %s was not renewed; tried again soon", key)

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        yield
    except (KeyboardInterrupt, _Stopped):
        work.release([key], worker=worker)
        raise
    finally:
        ended.set()
        renewing.join()


def _carry_out(
    workspace: Workspace, grading: Grading, *, worker: str, clock: Clock, stopping: Callable[[], bool]
) -> None:
    request, result, error = grading.request, None, None
    try:
        if grading.work.tries >= MOST_TRIES:
            raise ModelError(f"it was begun {MOST_TRIES} times and never ended")
        result = _judged(workspace, request, stopping, worker=worker).canonical().decode()
    except (NotEnoughData, ModelError) as reason:
        error = str(reason)
    except HoldLost as lost:
        logger.warning("%s", lost)
        return
    except (_NotNow, StoreError, SandboxError, OSError) as fault:
        logger.warning(
            "grading %s was put off, try %d of %d: %s", request.id, grading.work.tries + 1, MOST_TRIES, fault
        )
        Gradings(workspace.store).work.put_off(request.id, worker=worker)
        return
    except GuildhallError:
        # Its words may name this machine's folders and programs: they are for whoever runs it, not for a caller.
        logger.exception("grading %s failed", request.id)
        error = "it could not be carried out here; the worker's log says why"
    store, work = workspace.store, Gradings(workspace.store).work
    with store.transaction():
        if not work.still_held([request.id], worker=worker):
            logger.warning("%s", HoldLost(f"grading {request.id}"))
            return
        work.finish([ItemEnd(request.id, at=clock(), result=result, error=error)])
        event = "grading.done" if error is None else "grading.failed"
        Outbox(store).announce(event, {"grading": request.id, "name": request.author.name}, now=clock())


def _judged(workspace: Workspace, request: GradingRequest, stopping: Callable[[], bool], *, worker: str) -> Grades:
    store, service = workspace.store, service_of(workspace)
    grader = service.grader(request.judge)
    tasks = store.get_all(Task, request.tasks)
    out = ungradable(store, tasks, takes=grader.takes)
    gradable = [task for task in tasks if task.id not in out]
    if not gradable:
        raise NotEnoughData(
            f"none of the {len(tasks)} tasks can be graded automatically: {'; '.join(sorted(set(out.values())))}"
        )
    study = Study(
        id=request.study,
        title="Grading service",
        seed=0,
        tasks=tuple(task.key for task in gradable),
        authors=(request.author,),
    )
    waiting = enqueue(workspace, study)
    if not waiting.comparisons:
        raise NotEnoughData("none of the tasks has an expert's work to compare with")

    def require_hold() -> None:
        if not Gradings(store).work.still_held([request.id], worker=worker):
            raise HoldLost(f"grading {request.id}")

    with open_desk(workspace, gradable, Bench(), require_hold=require_hold) as at_hand:
        _ask(at_hand, request, grader, service, waiting.comparisons, stopping=stopping)
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    policy = Policy(
        studies=(study.id,),
        baseline=study.baseline,
        graders=GraderGroup.of(grader.graders()[0]),
        grader_keys=tuple(one.key for one in grader.graders()),
    )
    return _grades(count(verdicts, policy), without_expert=waiting.without_expert, ungradable=out)


def _ask(
    at_hand: JudgeDesk,
    request: GradingRequest,
    grader: AutomaticGrader,
    service: ServiceSettings,
    comparisons: Sequence[Comparison],
    *,
    stopping: Callable[[], bool],
) -> None:
    rounds, workspace = service.sweeps if grader.repeats else 1, at_hand.workspace
    desk, terms = Gradings(workspace.store), service.terms(request.study)
    desk.want(request.id, rounds * sum(len(orders(one)) for one in comparisons))
    # A model is asked for many verdicts at once; a rule judges one after the other, so its progress may be told so.
    for batch in _batches(comparisons, BATCH if grader.repeats else 1):
        if stopping():
            raise _Stopped
        kept = Kept(workspace.store, grader.graders(), among=batch)
        judged = grader.ask(list(kept.missing(batch, sweeps=rounds, again=False)), desk=at_hand, terms=terms)
        if judged.faults or judged.why_left == TAKEN_OVER:
            raise _NotNow(judged.why_fault or TAKEN_OVER)
        if judged.left:
            raise ModelError(f"it reached a limit of the service: {judged.why_left}")


def _batches(comparisons: Sequence[Comparison], size: int) -> Iterator[Sequence[Comparison]]:
    return (comparisons[start : start + size] for start in range(0, len(comparisons), size))


def _grades(counted: Counted, *, without_expert: Sequence[Id], ungradable: dict[str, str]) -> Grades:
    if not counted.n_counted:
        raise NothingJudged(f"grades by {counted.policy.graders}")
    [found] = win_rates(counted.outcomes)
    return Grades(
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        win=found.win,
        win_or_tie=found.win_or_tie,
        half_tie=found.half_tie,
        by_task=tuple(_by_task(counted.pairs)),
        failures=counted.left_out[Rule.NO_VERDICT],
        without_expert=tuple(without_expert),
        ungradable=ungradable,
    )


def _by_task(pairs: Pairs) -> Iterator[TaskGrade]:
    for code, task in enumerate(pairs.task.names):
        scores = pairs.score[pairs.task.codes == code].tolist()
        if scores:
            yield TaskGrade(task=task, score=fmean(scores), verdicts=len(scores))
