"""Every deliverable reaches the judge: as text, as pictures, or as an omission that is counted and said."""

from __future__ import annotations

import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.grading.scripted_judges import judge_plan

from guildhall.documents.looking import documents
from guildhall.domain.authors import ModelRun
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.calls import FilePart, TextPart
from guildhall.grading.design import expert_submission
from guildhall.judging.comparing import Question, question
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from guildhall.taskbank.importing import import_tasks, read_source
from guildhall.taskbank.listing import latest_tasks
from guildhall.taskbank.sample import sample_folder
from proofs import Figures, proof, realdata

PAIRS = 50
AUTHORS = ("GLM-4.7", "Gemini 3.1", "Gemini_3.1", "Qwen3.5", "Qwen", "openrouter")
"""Words of the real authors' names that stand in paths; none may stand in a request."""


@dataclass
class Seen:
    """What became of every file, counted."""

    files: int = 0
    as_text: int = 0
    as_pictures: int = 0
    omissions: int = 0
    silent: list[str] = field(default_factory=list)
    in_both_forms: int = 0

    def look(self, asked: Question, sides: list[Prepared]) -> None:
        """Find every file of every side in the request by its neutral name."""
        parts = asked.messages[1].parts
        for letter, side in zip("AB", sides, strict=False):
            for number, file in enumerate(side.files, 1):
                name = f"{letter}-{number}{file.ending}"
                words = [part.text for part in parts if isinstance(part, TextPart) and f"### {name}" in part.text]
                pictures = [one for one in parts if isinstance(one, FilePart) and one.name.startswith(f"{name} page")]
                self._count(name, " ".join(words), len(pictures), has_text=file.text is not None)
            self.omissions += asked.omissions[letter]

    def _count(self, name: str, words: str, pictures: int, *, has_text: bool) -> None:
        said = words.count("(not shown: ")
        self.files += 1
        self.as_text += has_text
        self.as_pictures += pictures > 0
        if not words or not (pictures or has_text or said):
            self.silent.append(name)
        self.in_both_forms += has_text and pictures > 0


@proof(
    "judges-every-file",
    "Every file of the sample bank and of 50 real pairs reaches the request as text, pictures or a counted omission",
    budget_s=2400,
)
def every_file() -> Figures:
    plan = judge_plan("instant")
    seen = {"sample bank": Seen(), "real pairs": Seen()}
    leaks = 0
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-judges-") as folder,
        Workspace.create(Path(folder) / "w") as workspace,
        documents(Path(folder) / "cache") as looking,
    ):
        preparer = Preparer(workspace, looking)
        for where, task, pair in [*_sample_pairs(workspace), *_real_pairs(workspace)]:
            sides = [preparer.submission(one, task) for one in pair]
            asked = question(plan, task, preparer.references(task), sides, read_blob=workspace.blobs.read)
            seen[where].look(asked, sides)
            names = [part.name for part in asked.messages[1].parts if isinstance(part, FilePart)]
            leaks += sum(author in name for author in AUTHORS for name in names)
            for side in sides:
                headings = [f"### {file.public_name}" for file in side.files if file.public_name]
                leaks += len(headings)
    for found in seen.values():
        assert found.files and not found.silent, found.silent[:5]
    assert leaks == 0
    return {
        where: {
            "files": found.files,
            "reached": found.files - len(found.silent),
            "as_text": found.as_text,
            "as_pictures": found.as_pictures,
            "omissions_counted": found.omissions,
            "in_both_forms": found.in_both_forms,
        }
        for where, found in seen.items()
    }


def _sample_pairs(workspace: Workspace) -> Iterator[tuple[str, Task, list[Submission]]]:
    """Each sample task with the expert's work on one side and its reference files, as if handed in, on the other."""
    with sample_folder() as folder:
        import_tasks(workspace, read_source(folder))
    for task in latest_tasks(workspace.store).values():
        expert = expert_submission(task)
        if expert is not None:
            copied = Submission(task=task.id, author=ModelRun(name="copier", model="x/y"), files=task.reference_files)
            yield "sample bank", task, [expert, copied]


def _real_pairs(workspace: Workspace) -> Iterator[tuple[str, Task, list[Submission]]]:
    """Real deliverables of real agents, paired; where two agents did not do the same task, two tasks' are paired."""
    made: dict[str, list[Submission]] = defaultdict(list)
    for packed in sorted(realdata("gdpval/clawwork").glob("deliverables_*.tar.gz")):
        with tarfile.open(packed) as archive:
            by_folder: dict[tuple[str, str], list[FileRef]] = defaultdict(list)
            for member in archive:
                path = PurePosixPath(member.name)
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is None or len(path.parts) < 4:
                    continue
                digest = workspace.blobs.put(stream.read())
                by_folder[path.parts[0], path.parts[1]].append(FileRef(name="/".join(path.parts[2:]), digest=digest))
        for (agent, task), files in by_folder.items():
            author = ModelRun(name=agent.replace(" ", "-"), model="x/y")
            made[task].append(Submission(task=task, author=author, files=tuple(files)))
    together = [pair[:2] for pair in made.values() if len(pair) > 1]
    alone = [one[0] for one in made.values() if len(one) == 1]
    pairs = [*together, *([one, other] for one, other in zip(alone[::2], alone[1::2], strict=False))][:PAIRS]
    assert len(pairs) == PAIRS
    for pair in pairs:
        about = Task(id=pair[0].task, sector="Real", occupation="Real", brief="Do the task.")
        yield "real pairs", about, pair
