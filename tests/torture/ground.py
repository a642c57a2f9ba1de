"""The ground of a torture run: a workspace, the work of each round, what was acknowledged, and what must hold after."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import update

from guildhall.domain.halls import Member, Role
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.values import Value
from guildhall.grading.design import OrderKey, lay_out
from guildhall.grading.people import Roster
from guildhall.grading.queue import Queue
from guildhall.store.checking import examine_workspace
from guildhall.store.work import LEASE_S, Work, WorkState, work_items
from guildhall.store.workspace import Address, Workspace
from tests.grading.halls import MANY, OCCUPATION, submissions, task
from tests.torture.workload import CALLS, Round, work

GRADERS = tuple(
    Member(id=f"p-{number}", code_name=f"grader-{number}", role=Role.GRADER, occupations=(OCCUPATION,))
    for number in range(3)
)


KEY = OrderKey(b"secret")


@dataclass
class Ground:
    """One workspace under torture. Everything that works in it is a child process; this one only looks."""

    address: Address
    provider: int
    """The port through which the provider is reached."""
    rounds: int
    acknowledged: set[str] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)

    @classmethod
    def lay(cls, path: Path, *, database: str | None, provider: int, rounds: int) -> Ground:
        with Workspace.create(path, database=database) as workspace:
            roster = Roster(workspace.store, pepper=workspace.secret)
            for member in GRADERS:
                roster.invite(member, personal={})
            for number in range(rounds):
                cls._plan(workspace, number)
            return cls(workspace.at, provider, rounds)

    @staticmethod
    def _plan(workspace: Workspace, number: int) -> None:
        about, made = task(number), submissions(number)
        study = f"s-{number}"
        layout = lay_out(study=study, tasks=[about], submissions=made, design=MANY, seed=number, order_key=KEY)
        frozen = Study(
            id=study,
            title="Torture",
            seed=number,
            tasks=(about.key,),
            design={"people": MANY.model_dump(mode="json")},
        )
        workspace.store.add_all([about, *made, frozen, *layout.comparisons])
        Queue(workspace.store).plan(layout.slots)

    def child(self, number: int, *, before: Callable[[], None] = lambda: None, skew_s: float = 0.0) -> Child:
        """A process at work on one round; what it acknowledges can be read even after it was killed."""
        wanted = Round(number, self.provider, GRADERS)
        return Child(lambda say: work(self.address, wanted, say, clock=lambda: time.time() + skew_s), before)

    def settle(self, number: int, *, skew_s: float = 0.0) -> None:
        """Run the round once more without a fault: what was left is done, and nothing else."""
        child = self.child(number, skew_s=skew_s)
        status = child.wait()
        self.acknowledged |= child.said
        assert status == 0, f"round {number} could not be finished after the fault (status {status})"

    def let_leases_run_out(self) -> None:
        """As if so much time had passed on the database's clock, by which leases are kept."""
        with Workspace.at_address(self.address) as workspace, workspace.store.transaction() as connection:
            held = work_items.c.leased_until.is_not(None)
            passed = work_items.c.leased_until - LEASE_S - 1
            connection.execute(update(work_items).where(held).values(leased_until=passed))

    def check(self, number: int, *, everyone: bool = True) -> None:
        """Nothing acknowledged is lost, nothing stands twice, no lease is left, no reference is broken."""
        with Workspace.at_address(self.address) as workspace:
            self._nothing_lost(workspace)
            health = examine_workspace(workspace)
            assert health.faults == [], health.faults[:5]
            with workspace.store.reading() as connection:
                running = work_items.select().where(work_items.c.state == WorkState.RUNNING.value)
                assert connection.execute(running).all() == [], "a lease is left"
            done = Work(workspace.store).counts(run=f"r-{number}").get(WorkState.DONE, 0)
            assert done == CALLS, f"{done} of {CALLS} calls are done"
            (comparison,) = workspace.store.find(Comparison, study=f"s-{number}")
            judged = Counter(one.grader.key for one in workspace.store.find(Judgment, comparison=comparison.key))
            assert not judged or max(judged.values()) == 1, judged
            assert len(judged) == len(GRADERS) or not everyone, judged

    def _nothing_lost(self, workspace: Workspace) -> None:
        kinds: dict[str, type[Value]] = {"submission": Submission, "judgment": Judgment}
        wanted = [word.split(" ", 2) for word in self.acknowledged]
        for kind, key, *_ in wanted:
            if kind in kinds:
                assert workspace.store.has(kinds[kind], key), f"acknowledged {kind} {key} is lost"
        answers = {key: text for kind, key, *rest in wanted if kind == "call" for text in rest}
        kept = Work(workspace.store).items(answers)
        for key, text in answers.items():
            result = kept[key].result if key in kept else None
            assert result is not None and text in result, f"acknowledged answer {key} is lost"


class Child:
    """A forked process that says what it has acknowledged through a pipe, which outlives it."""

    def __init__(self, run: Callable[[Callable[[str], None]], None], before: Callable[[], None]) -> None:
        near, far = os.pipe()
        self.said: set[str] = set()
        self._rest = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.close(near)
            _be(run, before, far)
        os.close(far)
        os.set_blocking(near, False)
        self._near = near

    def heard(self) -> int:
        """How many acknowledgements have arrived so far."""
        try:
            while data := os.read(self._near, 1 << 16):
                self._rest += data
        except BlockingIOError:
            pass
        *lines, self._rest = self._rest.split(b"\n")
        self.said |= {line.decode() for line in lines}
        return len(self.said)

    def wait_for(self, count: int, *, at_most_s: float = 60.0) -> None:
        """Until so much is acknowledged, or the child has ended."""
        deadline = time.monotonic() + at_most_s
        while self.heard() < count and time.monotonic() < deadline:
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return
            time.sleep(0.002)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        self.heard()
        os.close(self._near)
        return status

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()


def _say(far: int, word: str) -> None:
    os.write(far, word.encode() + b"\n")


def _be(run: Callable[[Callable[[str], None]], None], before: Callable[[], None], far: int) -> None:
    """What a child does: its work, and nothing of its parent's afterwards."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        before()
        run(partial(_say, far))
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a child must never return into its parent's code
        os._exit(1)
