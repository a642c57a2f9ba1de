"""The grading queue: what was submitted is judged, resumed and judged again, and nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.engine.terms import Terms
from guildhall.grading.design import lay_out
from guildhall.grading.judges.asking import Asked, Kept
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import AutomaticGrader
from guildhall.grading.judges.verdicts import AskingOutcome
from guildhall.grading.opening import gather, order_key
from guildhall.store.records import Store
from guildhall.store.wordings import Wordings
from guildhall.store.workspace import Workspace


@dataclass(frozen=True)
class Queued:
    """What a study puts before its judges, and the tasks that take no part for want of an expert's work."""

    comparisons: tuple[Comparison, ...]
    without_expert: tuple[str, ...]


@dataclass(frozen=True)
class GraderStanding:
    """How one grader's work stands: both denominators, and what its answers cost, unknown as soon as one price is."""

    grader: str
    asked: int
    verdicts: int
    failures: int
    cost_usd: float | None = None

    @property
    def to_do(self) -> int:
        return self.asked - self.verdicts - self.failures

    @property
    def expected_usd(self) -> float | None:
        """What the rest would cost if it went on like this; unknown before the first answer."""
        answered = self.verdicts + self.failures
        if self.to_do == 0:
            return 0.0
        return self.cost_usd / answered * self.to_do if answered and self.cost_usd is not None else None


def enqueue(workspace: Workspace, study: Study, *, set_size: int = 2) -> Queued:
    """Lay out the comparisons of everything submitted so far. Doing it again adds only what is new.

    Pairs are the very comparisons people judge, so that verdicts of both can be held against each other.
    """
    tasks, made = gather(workspace, study)
    design = HallDesign(set_size=set_size)
    layout = lay_out(
        study=study.id,
        tasks=tasks,
        submissions=made,
        design=design,
        seed=study.seed,
        order_key=order_key(workspace, study),
        baseline=study.baseline,
        as_kept=Wordings(workspace.store).as_kept,
    )
    workspace.store.add_all(layout.comparisons)
    return Queued(layout.comparisons, layout.without_expert)


def judge(
    grader: AutomaticGrader,
    comparisons: Sequence[Comparison],
    *,
    desk: JudgeDesk,
    terms: Terms,
    sweeps: int,
    again: bool = False,
) -> AskingOutcome:
    """Ask a grader for what it has not judged yet; with `again`, for what it failed at too."""
    wanted = missing_verdicts(desk.workspace.store, grader, comparisons, sweeps=sweeps, again=again)
    return grader.ask(wanted, desk=desk, terms=terms)


def missing_verdicts(
    store: Store, grader: AutomaticGrader, comparisons: Sequence[Comparison], *, sweeps: int, again: bool = False
) -> list[Asked]:
    """What a grader has not judged yet; with `again`, what it failed at too."""
    kept = Kept(store, grader.graders())
    return list(kept.missing(comparisons, sweeps=sweeps if grader.repeats else 1, again=again))


def standing(
    store: Store, grader: AutomaticGrader, comparisons: Sequence[Comparison], *, sweeps: int
) -> GraderStanding:
    """Verdicts and failures among everything this grader is to be asked."""
    rounds = sweeps if grader.repeats else 1
    kept = Kept(store, grader.graders())
    verdicts, failures = kept.counts(comparisons, sweeps=rounds)
    asked = rounds * sum(_orders(one) for one in comparisons)
    return GraderStanding(grader.name, asked, verdicts, failures, kept.cost_usd(comparisons))


def _orders(comparison: Comparison) -> int:
    size = len(comparison.submissions)
    return size if size % 2 == 0 else 2 * size
