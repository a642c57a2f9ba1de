"""How fast judging is beside bare calls through the model layer, and whether its memory grows."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

from tests.grading.scripted_judges import TextPreparer, World, judge_plan, world

from guildhall.engine.terms import Pace, Terms
from guildhall.grading.judges.asking import Asked, Kept
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.verdicts import ask_judge, build_question
from guildhall.store.workspace import Workspace
from proofs import Figures, proof

CALLS = 2_000
MANY = 20_000
ROUNDS = 3


@proof(
    "judges-throughput",
    "With an instant judge and documents cached, judging keeps at least half the rate of bare calls through Inspect",
    tier="bench",
    budget_s=1800,
)
def throughput() -> Figures:
    bare, ours = [], []
    for _ in range(ROUNDS):
        with (
            tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
            Workspace.create(Path(folder) / "w") as workspace,
        ):
            made = world(workspace, tasks=CALLS // 12, people=0)
            bare.append(_bare_rate(workspace, made))
            ours.append(_judged_rate(workspace, made))
    ratios = sorted(one / other for one, other in zip(ours, bare, strict=True))
    ratio = ratios[len(ratios) // 2]
    assert ratio >= 0.5, (ours, bare)
    return {"bare_per_s": bare, "judged_per_s": ours, "median_ratio": ratio}


@proof(
    "judges-memory",
    "Memory stays flat over 20,000 verdicts",
    tier="bench",
    budget_s=1800,
)
def memory() -> Figures:
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
        Workspace.create(Path(folder) / "w") as workspace,
    ):
        made = world(workspace, tasks=250, people=0)
        rounds = MANY // (len(made.comparisons) * 2)
        grader = ByModel(judge_plan("instant"))
        desk = _desk(workspace, made)
        wanted = list(Kept(workspace.store, grader.graders()).missing(made.comparisons, sweeps=rounds, again=False))
        peaks: list[tuple[int, int]] = []
        ended = ask_judge(
            grader.plan,
            wanted,
            desk=desk,
            terms=Terms(run="memory", pace=Pace(connections=50)),
            heard=lambda verdicts, _: peaks.append((verdicts, _resident_kb())),
        )
    assert ended.verdicts == len(wanted) == MANY, ended
    warm = max(kb for verdicts, kb in peaks if verdicts <= MANY // 4)
    end = max(kb for _, kb in peaks)
    assert end <= warm * 1.1, (warm, end)
    return {"verdicts": ended.verdicts, "resident_mb_at_a_quarter": warm / 1024, "resident_mb_at_most": end / 1024}


def _desk(workspace: Workspace, made: World) -> JudgeDesk:
    return JudgeDesk(workspace, TextPreparer(workspace), made.tasks)  # type: ignore[arg-type]


def _wanted(workspace: Workspace, made: World, grader: ByModel) -> list[Asked]:
    return list(Kept(workspace.store, grader.graders()).missing(made.comparisons, sweeps=3, again=False))


def _judged_rate(workspace: Workspace, made: World) -> float:
    grader, desk = ByModel(judge_plan("instant")), _desk(workspace, made)
    for comparison in made.comparisons:
        for submission in comparison.submissions:
            desk.prepared(submission)
    wanted = _wanted(workspace, made, grader)
    begun = time.perf_counter()
    ended = ask_judge(grader.plan, wanted, desk=desk, terms=Terms(run="rate", pace=Pace(connections=50)))
    assert ended.verdicts == len(wanted)
    return len(wanted) / (time.perf_counter() - begun)


def _bare_rate(workspace: Workspace, made: World) -> float:
    """The same questions through Inspect's model layer, with nothing written down."""
    import anyio

    from guildhall.engine.models import chat_of, config_of, open_model
    from guildhall.engine.terms import Limits

    plan = judge_plan("instant")
    config = config_of({}, pace=Pace(connections=50), limits=Limits())
    model = open_model(plan.model, {}, config)
    desk = _desk(workspace, made)
    wanted = _wanted(workspace, made, ByModel(plan))
    chats = [chat_of(build_question(plan, one, desk).messages, workspace.blobs.read) for one in wanted]

    async def ask_all() -> None:
        queue = iter(chats)

        async def ask() -> None:
            for chat in queue:
                await model.generate(chat, config=config)

        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(ask)

    begun = time.perf_counter()
    anyio.run(ask_all)
    return len(chats) / (time.perf_counter() - begun)


def _resident_kb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024
