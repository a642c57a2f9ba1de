"""Judges of known behaviour, and a small study whose truth is known: for tests and proofs of accountability.

Every side states its own merit and length in words the scripted judges can read, and who made it is nowhere in it:
`family` below is a word of the work itself, as a style would be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from guildhall.domain.authors import Expert, GraderKind, ModelRun, Person
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.studies import Study
from guildhall.domain.submissions import StopReason, Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.store.workspace import Workspace

SECRETS = ("model-plum", "model-pear", "expert-of-", "provider-x")
SEEN: list[str] = []
TIMES: Counter[int] = Counter()
_SIDE = re.compile(r"^## Submission ([AB])$(.*?)(?=^## Submission|\Z)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"piece A\n(.*?)### .*?piece B\n(.*?)### .*?They decided: (A|B)$", re.MULTILINE | re.DOTALL)
LIKES_LONGER, LIKES_KIN = 0.8, 0.5


def sides(turn: Turn) -> dict[str, str]:
    return dict(_SIDE.findall(turn.prompt))


def merit(text: str) -> int:
    return int(re.findall(r"merit (\d+)", text)[0])


def better(turn: Turn) -> str:
    found = sides(turn)
    gap = merit(found["A"]) - merit(found["B"])
    return "TIE" if gap == 0 else "A" if gap > 0 else "B"


def says(letter: str) -> Answer:
    return Answer(text=f"Reasons.\nVERDICT[{letter}]")


def chance(turn: Turn) -> float:
    """Uniform, by the question and how often it was asked: a judge asked twice may answer twice differently."""
    TIMES[turn.seed] += 1
    return Random(f"{turn.seed}-{TIMES[turn.seed]}").random()


@scripted("test-perfect")
def perfect(turn: Turn) -> Answer:
    SEEN.append("\n".join(said.text for said in turn.messages))
    return says(better(turn))


@scripted("test-random")
def at_random(turn: Turn) -> Answer:
    return says("A" if chance(turn) < 0.5 else "B")


@scripted("test-always-a")
def always_a(turn: Turn) -> Answer:
    return says("A")


@scripted("test-longer")
def prefers_longer(turn: Turn) -> Answer:
    found = sides(turn)
    longer = max(found, key=lambda letter: len(found[letter].split()))
    return says(longer if chance(turn) < LIKES_LONGER else "AB".replace(longer, ""))


@scripted("test-kin")
def prefers_kin(turn: Turn) -> Answer:
    """As people judge, but half the time its own family's work wins whatever it is."""
    kin = [letter for letter, text in sides(turn).items() if "family plum" in text]
    return says(kin[0] if kin and chance(turn) < LIKES_KIN else better(turn))


@scripted("test-refuses")
def refuses_some(turn: Turn) -> Answer:
    if chance(turn) < 0.1:
        return Answer(text="I would rather not.", stop=StopReason.REFUSED)
    return says(better(turn))


@scripted("test-malformed")
def malformed_some(turn: Turn) -> Answer:
    if chance(turn) < 0.1:
        return Answer(text=f"I think VERDICT[{better(turn)}] is right.")
    return says(better(turn))


@scripted("test-learner")
def learner(turn: Turn) -> Answer:
    """Knows nothing of the field's taste in length: it takes it from the examples, and likes length without any."""
    SEEN.append("\n".join(said.text for said in turn.messages))
    shown, _, asked = turn.prompt.rpartition("# The request")
    votes = [(len(a.split()) > len(b.split())) == (said == "A") for a, b, said in _EXAMPLE.findall(shown)]
    likes_length = 2 * sum(votes) >= len(votes)
    found = dict(_SIDE.findall(asked))
    longer = max(found, key=lambda letter: len(found[letter].split()))
    return says(longer if likes_length else "AB".replace(longer, ""))


@scripted("test-slow")
def slow(turn: Turn) -> Answer:
    return Answer(text=f"VERDICT[{better(turn)}]", seconds=0.02)


@scripted("test-instant")
def instant(turn: Turn) -> Answer:
    return Answer(text="VERDICT[A]", input_tokens=1, output_tokens=1)


def judge_plan(name: str, **fields: object) -> JudgePlan:
    made = {"name": name, "model": f"scripted/test-{name}", "maker": "plum", **fields}
    return JudgePlan.model_validate(made)


def brevity(text: str) -> float:
    """A taste no request speaks of: shorter is better, on the scale of merit."""
    return -len(text.split()) / 12


class TextPreparer:
    """Prepares submissions that consist of a message only, and keeps them as the real one does."""

    def __init__(self, workspace: Workspace) -> None:
        self.store = workspace.store

    def submission(self, submission: Submission, task: Task) -> Prepared:
        made = Prepared(subject=submission.key, version=VERSION, files=(), text=submission.text)
        self.store.add(made)
        return made

    def references(self, task: Task) -> Prepared:
        return Prepared(subject=sha256(task.id.encode()), version=VERSION, files=())


@dataclass(frozen=True)
class World:
    """A made-up study: tasks, pairs of an expert and each of two models, and three people's verdicts on each pair."""

    tasks: list[Task]
    comparisons: list[Comparison]
    makers = {"model-plum": "plum", "model-pear": "pear"}

    @property
    def study(self) -> Study:
        """The study its comparisons are of."""
        return Study(id="w", title="A world", seed=0, tasks=tuple(task.key for task in self.tasks))


def world(
    workspace: Workspace, *, tasks: int, seed: int = 0, people: int = 3, taste: Callable[[str], float] = merit
) -> World:
    """People judge by `taste`; unless told otherwise, by merit."""
    TIMES.clear()
    rng = Random(seed)
    made_tasks, comparisons, values = [], [], []
    for number in range(tasks):
        task = Task(id=f"t-{number}", sector="Information", occupation="Editors", brief=f"Edit text {number}.")
        expert = _work(task, Expert(code_name=f"expert-of-{task.id}"), rng, "family none")
        made_tasks.append(task)
        values += [task, expert]
        for name in World.makers:
            author = ModelRun(name=name, model=f"provider-x/{name}")
            one = _work(task, author, rng, f"family {World.makers[name]}")
            comparison = Comparison(study="w", task=task.id, submissions=(expert.key, one.key))
            comparisons.append(comparison)
            values += [one, comparison, *_verdicts(comparison, (expert, one), rng, people, taste)]
    workspace.store.add_all(values)
    return World(made_tasks, comparisons)


def _work(task: Task, author: Expert | ModelRun, rng: Random, style: str) -> Submission:
    padding = "word " * rng.randint(5, 120)
    text = f"{style}, merit {rng.randint(0, 9)} {padding}{task.id}"
    return Submission(task=task.id, author=author, text=text, made_at=datetime(2026, 1, 1, tzinfo=UTC))


def _verdicts(
    comparison: Comparison, pair: Sequence[Submission], rng: Random, people: int, taste: Callable[[str], float]
) -> list[Judgment]:
    """What people see in each side, each with some noise."""
    verdicts = []
    for number in range(people):
        seen = [taste(one.text) + rng.gauss(0, 1.5) for one in pair]
        gap = seen[0] - seen[1]
        ranks = (1, 1) if abs(gap) < 0.5 else (1, 2) if gap > 0 else (2, 1)
        verdicts.append(
            Judgment(
                comparison=comparison.key,
                grader=Person(code_name=f"person-{number}", grader_kind=GraderKind.SIMULATED),
                order=comparison.submissions,
                ranks=ranks,
                reason="as it seems to me",
                made_at=datetime(2026, 1, 2, tzinfo=UTC),
            )
        )
    return verdicts
