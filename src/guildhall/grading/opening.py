"""Opening a study to people: gather what is to be judged, make it ready, lay out every grading, plan the slots.

Opening twice adds nothing: comparisons, slots and prepared files are all known by their content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.gradings import SERVICE
from guildhall.domain.halls import HallDesign, Member, Role
from guildhall.domain.judgments import Comparison
from guildhall.domain.prepared import Prepared
from guildhall.domain.studies import Study
from guildhall.domain.submissions import OUR_FAULT, Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Digest
from guildhall.errors import InputError, NotEnoughData
from guildhall.grading.design import Layout, OrderKey, Staffing, expert_submission, lay_out, staffing
from guildhall.grading.gold import gold_comparison
from guildhall.grading.queue import Queue
from guildhall.judging.preparing import Preparer
from guildhall.store.wordings import Wordings
from guildhall.store.workspace import Workspace

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Opened:
    """What is now open: the layout, new slots, and how much of the work could not be shown."""

    layout: Layout
    new_slots: int
    prepared: int
    omissions: int


def order_key(workspace: Workspace, study: Study) -> OrderKey:
    """The key of a study's orders: under the workspace's secret, so that no seed that is kept or shown tells them.

    Where simulated graders judge, the key follows from the study's seed: the same demo gives the same report anywhere.
    """
    return OrderKey.of_rehearsal(study.seed) if study.design.hall.simulated_graders else sealed_orders(workspace)


def sealed_orders(workspace: Workspace) -> OrderKey:
    """The key of all orders that are drawn in earnest. It is never kept: a restored workspace derives the same."""
    return OrderKey(workspace.key_for("orders"))


def gather(workspace: Workspace, study: Study) -> tuple[list[Task], list[Submission]]:
    """The study's tasks and everything to be compared: the experts' own work and the models' finished work."""
    tasks = workspace.store.get_all(Task, study.tasks)
    wanted = {author.key for author in study.authors}
    old = study.baseline if study.extends else None
    made: list[Submission] = []
    for task in tasks:
        expert = expert_submission(task)
        if expert is not None:
            workspace.store.add(expert)
            made.append(expert)
        found = [one for one in workspace.store.find(Submission, task=task.id) if one.task_key == task.key]
        made += [one for one in found if isinstance(one.author, ModelRun) and _takes_part(one, wanted, old)]
    made = _newest(made) if study.design.plan is None else list(_left_to_graders(_newest(made), study.baseline))
    return tasks, _newest([*made, *_anchors(workspace, study, made)])


def _left_to_graders(made: list[Submission], baseline: str) -> Iterator[Submission]:
    """What people and judges are shown: a rule decides where a model, or the baseline beside it, left nothing.

    The baseline's own tries all stay: which of them another author's try meets goes by their number.
    """
    bases: dict[str, list[Submission]] = {}
    for one in sorted(made, key=lambda one: one.author.sample if isinstance(one.author, ModelRun) else 0):
        if isinstance(one.author, ModelRun) and one.author.name == baseline:
            bases.setdefault(one.task, []).append(one)
    for one in made:
        tries = bases.get(one.task, [])
        if isinstance(one.author, Expert) or one in tries:
            yield one
        elif not one.leaves_nothing:
            met = tries[one.author.sample - 1 if one.author.sample <= len(tries) else 0] if tries else one
            if not met.leaves_nothing:
                yield one


def _anchors(workspace: Workspace, study: Study, made: list[Submission]) -> list[Submission]:
    """Work of an earlier wave that is judged again, to see whether graders judge as they did."""
    known = {one.key for one in made}
    anchors = study.extends.anchors if study.extends else ()
    return [workspace.store.get(Submission, key) for key in anchors if key not in known]


def _takes_part(submission: Submission, wanted: set[str], old: str | None) -> bool:
    """Work a program sent to the grading service is in no study, unless that very author is asked for.

    A model that is the baseline (`old`) takes part in later waves, whose own authors are others.
    """
    author = submission.author
    named = author.key in wanted or (isinstance(author, ModelRun) and author.name == old)
    return named if wanted else submission.origin != SERVICE


def _newest(made: list[Submission]) -> list[Submission]:
    """A submission that was replaced is out of the running; so is one that ended by no fault of its author."""
    replaced = {submission.replaces for submission in made if submission.replaces}
    return [
        one for one in made if one.key not in replaced and (isinstance(one.author, Expert) or one.stop not in OUR_FAULT)
    ]


def pool_of(members: Iterable[Member], occupations: Iterable[str], design: HallDesign) -> dict[str, int]:
    """How many graders each occupation has; with `match_occupation` off, everybody counts for all."""
    graders = [one for one in members if one.role is Role.GRADER]
    return {
        name: sum(not design.match_occupation or name in one.occupations for one in graders) for name in occupations
    }


def layout_of(workspace: Workspace, study: Study) -> Layout:
    """Every grading of a study as its work stands now; cheap, since nothing is prepared for it."""
    tasks, made = gather(workspace, study)
    return _laid_out(workspace, study, tasks, made)


def _laid_out(workspace: Workspace, study: Study, tasks: list[Task], made: list[Submission]) -> Layout:
    return lay_out(
        study=study.id,
        tasks=tasks,
        submissions=made,
        design=study.design.hall,
        seed=study.seed,
        order_key=order_key(workspace, study),
        earlier=study.extends.study if study.extends else None,
        baseline=study.baseline,
        as_kept=Wordings(workspace.store).as_kept,
        draw=study.design.draw,
    )


def staff_of(workspace: Workspace, study: Study, members: Iterable[Member]) -> Staffing:
    """What a study asks of people, held against the people there are."""
    layout, design = layout_of(workspace, study), study.design.hall
    pool = pool_of(members, {slot.occupation for slot in layout.slots}, design)
    return staffing(layout, design, pool=pool)


def open_hall(workspace: Workspace, study: Study, preparer: Preparer, *, progress: Progress | None = None) -> Opened:
    """Make everything ready and plan all slots of a study."""
    design = study.design.hall
    tasks, made = gather(workspace, study)
    if strangers := sorted({item.task for item in design.gold} - {task.id for task in tasks}):
        raise InputError(
            f"study {study.id!r} has checks or practice sets of tasks that are not its own "
            f"({', '.join(strangers[:5])}); take them out, or take the tasks into the study"
        )
    layout = _laid_out(workspace, study, tasks, made)
    if not layout.slots:
        raise NotEnoughData(
            f"study {study.id!r} has nothing to compare: {len(layout.without_expert)} of {len(tasks)} tasks have no "
            "expert's work, and the others no finished submission; sample first with `guildhall sample run`"
        )
    gold = [gold_comparison(study.id, item) for item in design.gold]
    comparisons = [*layout.comparisons, *gold]
    omissions = _prepare(workspace, preparer, _with_gold(workspace, made, gold), comparisons, progress)
    workspace.store.add_all(comparisons)
    new = Queue(workspace.store).plan(layout.slots)
    return Opened(layout, new, prepared=len(made), omissions=omissions)


def _with_gold(workspace: Workspace, made: list[Submission], gold: list[Comparison]) -> list[Submission]:
    known = {one.key for one in made}
    wanted = {key for comparison in gold for key in comparison.submissions} - known
    return made + [workspace.store.get(Submission, key) for key in sorted(wanted)]


def _prepare(
    workspace: Workspace,
    preparer: Preparer,
    made: list[Submission],
    comparisons: list[Comparison],
    progress: Progress | None,
) -> int:
    wordings = Wordings(workspace.store)
    wording_of = {key: wordings.of(one) for one in reversed(comparisons) for key in one.submissions}
    keys = sorted(set(wording_of.values()))
    tasks = dict(zip(keys, workspace.store.get_all(Task, keys), strict=True))
    needed = [one for one in made if one.key in wording_of]
    omissions, whole = 0, set[Digest]()
    for number, submission in enumerate(needed, 1):
        task = tasks[wording_of[submission.key]]
        prepared = preparer.submission(submission, task)
        omissions += sum(len(file.omitted) for file in prepared.files)
        # Here, and not at a file's first fetch, which would take longer than any other and tell who has looked.
        for digest in handed_out(preparer.references(task), prepared) - whole:
            workspace.blobs.verify(digest)
            whole.add(digest)
        if progress:
            progress(task.id, number, len(needed))
    return omissions


def handed_out(*prepared: Prepared) -> set[Digest]:
    """Every stored file that a grader may be handed of some prepared work."""
    files = [file for one in prepared for file in one.files]
    own = {digest for file in files for digest in (file.copied, file.scrubbed, file.text, file.grid, file.layer)}
    return {digest for digest in own if digest} | {page.image for file in files for page in file.pages}
