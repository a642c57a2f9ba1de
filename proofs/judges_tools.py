"""The judge with tools: right by recomputing, blind to every maker, and killed without a verdict lost or paid twice."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from tests.grading.judge_cases import LISTED, unpacked
from tests.grading.scripted_judges import SEEN

from guildhall.domain.authors import Expert, ModelRun
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.solver import ONE_DATE
from guildhall.engine.terms import Terms
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import judge, standing
from guildhall.grading.judges.spreading import Bench, open_desk
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from proofs import Figures, proof

TASKS, KILLS = 12, 3
SECRETS = ("Zanzibar-9", "Quillfeather", "zanzibar-maker", "2019-03-04")
RECOUNTER = ByModel(JudgePlan(name="recounter", model="scripted/recounter", tools=True))
LISTER = ByModel(JudgePlan(name="lister", model="scripted/tests.grading.judge_cases:lister", tools=True))


@proof(
    "judges-tools",
    "A judge with tools decides every pair by recomputing it in its sandbox, finds no maker's trace in any byte sent "
    "or placed nor in any date, and loses no verdict and gives none twice when it is killed",
    budget_s=900,
)
def judges_with_tools() -> Figures:
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
        Workspace.create(Path(folder) / "w") as workspace,
    ):
        pairs = _lay_out(workspace)
        with _desk(workspace) as desk:
            for pair in pairs:
                for key in pair.submissions:
                    desk.prepared(key)
        kills = _judge_and_kill(workspace, pairs)
        kept = workspace.store.find(Judgment, grader=[one.key for one in RECOUNTER.graders()])
        places = {(one.comparison, one.order) for one in kept}
        assert len(kept) == len(places) == 2 * TASKS, (len(kept), len(places))
        wrong = [one.reason for one in kept if one.outcome(*_pair(one, pairs)) != _truth(one, pairs, workspace)]
        assert not wrong, wrong
        spent = Ledger(workspace.store).spent(run="tools")
        told = sum(one.usage.calls for one in kept if one.usage is not None)
        assert told == 4 * TASKS <= spent.usage.calls, "every verdict stands for the two calls it took"
        searched = _search(workspace, pairs)
    return {
        "pairs": TASKS,
        "verdicts": len(kept),
        "right": len(kept),
        "kills": kills,
        "calls_of_verdicts": told,
        "calls_answered_in_all": spent.usage.calls,
        "searched_for_makers": searched,
    }


def _lay_out(workspace: Workspace) -> list[Comparison]:
    """Ledgers of which the expert's, the model's, or neither states a wrong total."""
    model, expert, maker, _ = SECRETS
    pairs = []
    for number in range(TASKS):
        task = Task(id=f"t-{number}", sector="Information", occupation="Editors", brief=f"Add up account {number}.")
        faults = ((0.0, 10.0), (10.0, 0.0), (0.0, 0.0))[number % 3]
        made = [
            Submission(
                task=task.id,
                author=author,
                files=(FileRef(name=f"{name}.xlsx", digest=workspace.blobs.put(_ledger(name, word, number, fault))),),
                made_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
            for author, name, word, fault in (
                (Expert(code_name=expert), expert, "item", faults[0]),
                (ModelRun(name=model, model=f"{maker}/{model}"), model, "entry", faults[1]),
            )
        ]
        pairs.append(Comparison(study="s", task=task.id, submissions=(made[0].key, made[1].key)))
        workspace.store.add_all([task, *made, pairs[-1]])
    return pairs


def _ledger(author: str, word: str, number: int, fault: float) -> bytes:
    import openpyxl

    rng, book = Random(number), openpyxl.Workbook()
    book.properties.creator = book.properties.lastModifiedBy = book.properties.title = author
    book.properties.created = book.properties.modified = datetime(2019, 3, 4)  # noqa: DTZ001 - as workbooks keep it
    amounts = [float(rng.randint(1, 900)) for _ in range(8)]
    sheet = book.worksheets[0]
    sheet.append([word, "amount"])
    for place, amount in enumerate(amounts):
        sheet.append([f"{word} {place}", amount])
    sheet.append(["Total", sum(amounts) + fault])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@contextmanager
def _desk(workspace: Workspace) -> Iterator[JudgeDesk]:
    with open_desk(workspace, workspace.store.find(Task), Bench(at_once=2)) as desk:
        yield desk


def _work_until_killed(path: str) -> None:
    with Workspace.open(Path(path)) as workspace, _desk(workspace) as desk:
        judge(RECOUNTER, workspace.store.find(Comparison), desk=desk, terms=Terms(run="tools"), sweeps=1)


def _judge_and_kill(workspace: Workspace, pairs: list[Comparison]) -> int:
    rng, kills = Random(7), 0
    context = multiprocessing.get_context("spawn")
    while standing(workspace.store, RECOUNTER, pairs, sweeps=1).to_do:
        child = context.Process(target=_work_until_killed, args=(str(workspace.path),))
        child.start()
        begun = Ledger(workspace.store).spent().usage.calls
        while child.is_alive() and Ledger(workspace.store).spent().usage.calls == begun:
            time.sleep(0.05)
        if kills < KILLS and child.is_alive():
            time.sleep(rng.uniform(0.2, 2.0))
            os.kill(child.pid or 0, signal.SIGKILL)
            kills += 1
        child.join()
        child.close()
    return kills


def _pair(one: Judgment, pairs: list[Comparison]) -> tuple[str, str]:
    found = next(pair for pair in pairs if pair.key == one.comparison)
    return found.submissions[0], found.submissions[1]


def _truth(one: Judgment, pairs: list[Comparison], workspace: Workspace) -> str:
    """What the expert's side deserves: the files are laid out by number."""
    task = workspace.store.get(Submission, _pair(one, pairs)[0]).task
    return ("win", "loss", "tie")[int(task.removeprefix("t-")) % 3]


def _search(workspace: Workspace, pairs: list[Comparison]) -> dict[str, int]:
    """A judge lists what it finds: every byte of it, packed or not, and every date."""
    SEEN.clear()
    LISTED.clear()
    with _desk(workspace) as desk:
        ended = judge(LISTER, pairs, desk=desk, terms=Terms(run="listing"), sweeps=1)
    assert ended.verdicts == len(SEEN) == len(LISTED) == 2 * TASKS, ended
    stamp = datetime.fromisoformat(ONE_DATE).timestamp()
    assert {changed for listed in LISTED for _, changed in listed.values()} == {stamp}
    digests = {digest for listed in LISTED for digest, _ in listed.values()}
    data = [request.encode() for request in SEEN]
    data += [part for digest in sorted(digests) for part in unpacked(workspace.blobs.read(digest))]
    found = [secret for secret in SECRETS for part in data if secret.lower().encode() in part.lower()]
    assert not found, found
    return {"requests": len(SEEN), "files_placed": len(digests), "parts_and_requests": len(data)}
