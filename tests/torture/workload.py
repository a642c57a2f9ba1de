"""What a child of a torture run does: ask a provider, keep files and records, judge. All of it can be done again."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from guildhall.domain.authors import ModelRun
from guildhall.domain.halls import Member
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.engine.calls import Call
from guildhall.engine.oneshot import run_calls
from guildhall.engine.scripted import Answer, ScriptedFailure, Turn, scripted
from guildhall.engine.terms import Pace, Terms
from guildhall.grading.queue import Queue, Seat
from guildhall.grading.submitting import FINISHED, submit
from guildhall.store.workspace import Address, Workspace
from tests.grading.halls import MANY, VERDICT

CALLS, FILES = 4, 3
Say = Callable[[str], None]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Round:
    """The work of one round: calls to a provider, files with their records, and one verdict of each grader."""

    number: int
    provider: int
    graders: tuple[Member, ...]


def work(address: Address, wanted: Round, say: Say, *, clock: Clock) -> None:
    """Do the round in an order of its own; `say` is told of everything as soon as it is safe."""
    with Workspace.at_address(address) as workspace:
        steps: list[Callable[[], None]] = [partial(_ask, workspace, wanted, say, clock)]
        steps += [partial(_keep, workspace, wanted, number, say) for number in range(FILES)]
        steps += [partial(_judge, workspace, wanted, member, say, clock) for member in wanted.graders]
        Random(wanted.number).shuffle(steps)
        for step in steps:
            step()


def calls_of(wanted: Round) -> list[Call]:
    asked = (f"{wanted.provider} round {wanted.number} question {number}" for number in range(CALLS))
    return [Call.ask("scripted/over-the-wire", words) for words in asked]


def _ask(workspace: Workspace, wanted: Round, say: Say, clock: Clock) -> None:
    answers = run_calls(
        calls_of(wanted),
        workspace=workspace,
        terms=Terms(run=f"r-{wanted.number}", pace=Pace(connections=2, retries=0), now=clock),
        retry_failed=True,
        on_reply=lambda call, reply: None if reply.error else say(f"call {call.key} {reply.text}"),
    )
    assert not answers.left and all(reply.error is None for reply in answers.replies.values())


@scripted("over-the-wire")
def over_the_wire(turn: Turn) -> Answer:
    """Asks the provider on loopback, and fails as a provider does when the wire is cut."""
    port, _, question = turn.prompt.partition(" ")
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=5) as wire, wire.makefile("rwb") as lines:
            lines.write(question.encode() + b"\n")
            lines.flush()
            answer = lines.readline().decode().strip()
    except OSError as error:
        raise ScriptedFailure(str(error), status=400) from error
    if answer != question:
        raise ScriptedFailure("the line went dead", status=400)
    time.sleep(0.01)
    return Answer(text=answer)


def _keep(workspace: Workspace, wanted: Round, number: int, say: Say) -> None:
    content = f"deliverable {number} of round {wanted.number} ".encode() * 50
    file = FileRef(name="a.txt", size=len(content), digest=workspace.blobs.put(content))
    author = ModelRun(name=f"file-{number}", model="scripted/x")
    made = Submission(task=f"t-{wanted.number}", author=author, files=(file,))
    workspace.store.add(made)
    say(f"submission {made.key}")


def _judge(workspace: Workspace, wanted: Round, member: Member, say: Say, clock: Clock) -> None:
    queue, study = Queue(workspace.store), f"s-{wanted.number}"
    seat = _seat(queue, member, study, clock)
    if seat is None:
        return
    if seat.state not in FINISHED:
        queue.save(seat.id, '{"overall": "A"}', version=seat.draft_version, now=clock(), lease_s=3600)
    queue.mark_brief_read(seat.id, now=clock())
    receipt = submit(queue, seat, member, VERDICT, design=MANY, submit_key=f"{study}-{member.id}", now=clock())
    say(f"judgment {receipt.judgment}")


def _seat(queue: Queue, member: Member, study: str, clock: Clock) -> Seat | None:
    mine = [seat for seat in queue.seats_of(member.id) if seat.slot.study == study]
    return mine[0] if mine else queue.claim(member, study=study, design=MANY, now=clock())
