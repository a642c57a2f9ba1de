"""Two pieces of work on one brief and no study: a judge compares them in both orders, and the price is said first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from guildhall.domain.authors import ModelRun
from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.submissions import Problem, Submission, Usage
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.calls import Call, FilePart
from guildhall.engine.models import require_known
from guildhall.engine.terms import Pace, Terms
from guildhall.errors import FaultsOfOurs, InputError, UnreadableFile
from guildhall.grading.judges.asking import Asked
from guildhall.grading.judges.desk import JudgeDesk
from guildhall.grading.judges.graders import ByModel
from guildhall.grading.judges.queue import missing_verdicts
from guildhall.grading.judges.spreading import Bench, open_desk
from guildhall.grading.judges.verdicts import build_question
from guildhall.sampling.outside import import_references, import_single
from guildhall.store.workspace import Workspace
from guildhall.study.freezing import fenced_as

NAMES = ("brief.md", "brief.txt", "task.md", "README.md")
"""What the brief is called where it lies in a folder; everything else there is a reference file."""
LETTERS_A_TOKEN, TOKENS_A_PICTURE, TOKENS_A_VERDICT = 4, 1_600, 800


@dataclass(frozen=True)
class Expected:
    """What asking would take, by rule of thumb; dollars are unknown where the model's price is."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


@dataclass(frozen=True)
class PairAnswer:
    """What a judge said of the first work and the second, in each order and sweep."""

    judgments: tuple[Judgment, ...]
    first: str

    def outcomes(self, *, swapped: bool) -> dict[int, float]:
        """Sweep -> 1 where the first work won, 0 where the second did, .5 for a tie; the verdicts of one order."""
        told = {one.sweep: self.outcome(one) for one in self.judgments if (one.order[0] != self.first) is swapped}
        return {sweep: said for sweep, said in told.items() if said is not None}

    def outcome(self, one: Judgment) -> float | None:
        if one.ranks is None:
            return None
        mine = one.order.index(self.first)
        own, other = one.ranks[mine], one.ranks[1 - mine]
        return 0.5 if own == other else float(own < other)

    @property
    def score(self) -> float | None:
        """The mean over both orders, each as heavy; None where one of them gave no verdict."""
        both = [self.outcomes(swapped=swapped).values() for swapped in (False, True)]
        return sum(sum(said) / len(said) for said in both) / 2 if all(both) else None

    @property
    def flips(self) -> int:
        """Sweeps in which the verdict turned when the works changed places."""
        one, other = (self.outcomes(swapped=swapped) for swapped in (False, True))
        return sum(one[sweep] != other[sweep] for sweep in one.keys() & other.keys())

    @property
    def cost_usd(self) -> float | None:
        return sum((one.usage or Usage() for one in self.judgments), start=Usage(cost_usd=0.0)).cost_usd


@dataclass(frozen=True)
class Pair:
    """Two works on one brief before one judge; nothing is sent before `ask`."""

    desk: JudgeDesk
    judge: ByModel
    comparison: Comparison
    terms: Terms
    sweeps: int
    works: tuple[Submission, Submission]

    @property
    def problems(self) -> list[tuple[str, Problem]]:
        """What was not taken in as it lay there, by work: first or second."""
        return [
            (name, one) for name, work in zip(("first", "second"), self.works, strict=True) for one in work.problems
        ]

    @cached_property
    def wanted(self) -> list[Asked]:
        return missing_verdicts(self.desk.workspace.store, self.judge, [self.comparison], sweeps=self.sweeps)

    def expected(self) -> Expected:
        """Both questions are built as they would be sent, and measured."""
        calls = [
            build_question(self.judge.plan, one, self.desk).call(self.judge.plan, places=2, sample=one.sample)
            for one in self.wanted
        ]
        taken, given = sum(map(_tokens, calls)), len(calls) * TOKENS_A_VERDICT
        elsewhere = "base_url" in self.judge.plan.settings
        usage = Usage(input_tokens=taken, output_tokens=given, calls=len(calls))
        price = self.terms.priced(self.judge.plan.model, usage, elsewhere=elsewhere)
        return Expected(len(calls), taken, given, price.cost_usd)

    def ask(self) -> PairAnswer:
        """Ask in both orders. Where the judge could not be asked at all, that is a fault, and no verdict."""
        asked = self.judge.ask(self.wanted, desk=self.desk, terms=self.terms)
        store = self.desk.workspace.store
        known = {one.key for one in self.judge.graders()}
        found = store.find(Judgment, comparison=self.comparison.key)
        made = tuple(one for one in found if one.grader.key in known and one.sweep <= self.sweeps)
        if asked.faults or asked.left:
            why = asked.why_fault or asked.why_left or "unknown"
            raise FaultsOfOurs("verdicts could not be asked for", why, fix="mend that and ask again", exit_code=6)
        if made and all(one.ranks is None for one in made):
            raise FaultsOfOurs(
                f"{self.judge.plan.model} gave no verdict in {len(made)} answers",
                str(made[0].failure),
                fix="try another model",
                exit_code=6,
            )
        return PairAnswer(made, self.comparison.submissions[0])


@contextmanager
def open_pair(
    brief: Path, sides: tuple[Path, Path], *, model: str, workspace: Workspace, sweeps: int = 1
) -> Iterator[Pair]:
    """Take in a brief and two works, files or folders, and set them before a judge. Nothing is sent yet."""
    require_known([model])
    if sides[0].resolve() == sides[1].resolve():
        raise InputError(f"{sides[0]} is given as both works; name two")
    task = read_brief(brief, workspace)
    made = [
        import_single(path, task, author=_maker(number), workspace=workspace)
        for number, path in enumerate(sides, start=1)
    ]
    for path, one in zip(sides, made, strict=True):
        if one.leaves_nothing:
            raise UnreadableFile(path, "holds no work that can be shown", fix=_why_nothing(one.problems))
    comparison = Comparison(study=task.id, task=task.id, task_version=1, submissions=(made[0].key, made[1].key))
    workspace.store.add(comparison)
    judge = ByModel(fenced_as(JudgePlan(name=model.replace("/", "-"), model=model), None))
    with open_desk(workspace, [task], Bench()) as desk:
        yield Pair(
            desk,
            judge,
            comparison,
            Terms(run=task.id, pace=Pace(retries=2, attempt_seconds=300)),
            sweeps,
            (made[0], made[1]),
        )


def read_brief(path: Path, workspace: Workspace) -> Task:
    """A brief from a text file, or from a folder that holds one beside its reference files."""
    references: Sequence[FileRef] = ()
    text = path
    if path.is_dir():
        text = next((path / name for name in NAMES if (path / name).is_file()), path / NAMES[0])
        references = _references(path, workspace, without=text)
    if not text.is_file():
        raise UnreadableFile(text, "is not there", fix="a brief is a text file, or a folder with brief.md in it")
    try:
        words = text.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFile(text, "is not text", fix="write the brief as .md or .txt") from None
    if not words.strip():
        raise UnreadableFile(text, "is empty")
    told = [words, [[one.name, one.digest] for one in references]]
    task = Task(
        id=f"pair-{sha256(canonical_json(told))[:12]}",
        sector="none stated",
        occupation="none stated",
        brief=words,
        reference_files=tuple(references),
    )
    workspace.store.add(task)
    return task


def _references(folder: Path, workspace: Workspace, *, without: Path) -> Sequence[FileRef]:
    collected = import_references(folder, workspace, without=without)
    if collected.problems:
        worst = collected.problems[0]
        raise UnreadableFile(folder / (worst.file or ""), worst.words, fix="a judge must see all that the makers had")
    return collected.files


def _maker(number: int) -> ModelRun:
    return ModelRun(name=f"work-{number}", model="outside/not-named", condition="outside")


def _why_nothing(problems: Sequence[Problem]) -> str:
    return problems[0].words if problems else "give a file, or a folder with files"


def _tokens(call: Call) -> int:
    parts = [part for message in call.messages for part in message.parts]
    pictures = sum(isinstance(part, FilePart) for part in parts)
    return sum(len(message.text) for message in call.messages) // LETTERS_A_TOKEN + pictures * TOKENS_A_PICTURE
