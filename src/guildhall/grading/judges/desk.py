"""A judge's desk: the tasks of a study and its submissions made ready, each looked up once and kept for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from guildhall.domain.examples import ExampleCollection
from guildhall.domain.judges import JudgePlan, RubricMark
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Digest
from guildhall.engine.faults import in_words
from guildhall.engine.sandboxes import Sandbox
from guildhall.errors import SandboxError, StoreError
from guildhall.judging.examples import Examples
from guildhall.judging.fences import PURPOSE, UNFENCED, Fences
from guildhall.judging.pages import Render
from guildhall.judging.preparing import Preparer
from guildhall.store.wordings import Wordings
from guildhall.store.workspace import Workspace

V = TypeVar("V")


@dataclass(frozen=True)
class Workbench:
    """Where judges with tools work: how files are rendered for them, their sandbox, and how many work at a time."""

    render: Render
    sandbox: Sandbox = field(default_factory=Sandbox)
    at_once: int = 4


@dataclass
class Faults:
    """What could not be shown to a judge by a fault of ours: no failure of the judge, nothing a deliverable lacks."""

    count: int = 0
    why: str | None = None

    def note(self, words: str) -> None:
        self.count, self.why = self.count + 1, self.why or words

    def unless(self, build: Callable[[], V]) -> V | None:
        """What is built; None, and one fault more, where files could not be fetched or made ready."""
        try:
            return build()
        except (StoreError, SandboxError, OSError) as error:
            self.note(in_words(error))
            return None


class JudgeDesk:
    """What judges of every kind need at hand. Only the last few things looked at stay in memory."""

    def __init__(
        self,
        workspace: Workspace,
        preparer: Preparer,
        tasks: Iterable[Task],
        *,
        workbench: Workbench | None = None,
        require_hold: Callable[[], None] = lambda: None,
        fence_key: bytes | None = None,
    ) -> None:
        """`require_hold` raises where what is judged has become another worker's."""
        self.workspace = workspace
        self._require_hold = require_hold
        self._fence_key = fence_key
        self.workbench = workbench
        self._examples: _Recent[Examples] = _Recent(4)
        self._preparer = preparer
        self._wordings = Wordings(workspace.store)
        self._tasks: Mapping[TaskKey, Task] = {task.key: task for task in tasks}
        self._submissions: _Recent[Submission] = _Recent(512)
        self._prepared: _Recent[Prepared] = _Recent(128)
        self._references: _Recent[Prepared] = _Recent(16)
        self._texts: _Recent[bytes] = _Recent(64)

    def keep(self, made: Sequence[Judgment | RubricMark]) -> int:
        """Keep what was judged, while it is still this worker's to judge, where nobody was first; how much was new."""
        store = self.workspace.store

        def keep() -> int:
            with store.transaction():
                self._require_hold()
                return store.add_first(made)

        return store.outlast(keep)

    def task_of(self, about: Comparison | Submission) -> Task:
        """What was compared or made, in the very wording it was compared or made for."""
        key = about.task_key if isinstance(about, Submission) else self._wordings.of(about)
        return self._tasks[key] if key in self._tasks else self.workspace.store.get(Task, key)

    def submission(self, key: Digest) -> Submission:
        return self._submissions.get(key, lambda: self.workspace.store.get(Submission, key))

    def prepared(self, key: Digest) -> Prepared:
        """A submission's files scrubbed, rendered and read."""
        submission = self.submission(key)
        return self._prepared.get(key, lambda: self._preparer.submission(submission, self.task_of(submission)))

    def references(self, task: Task) -> Prepared:
        return self._references.get(task.key, lambda: self._preparer.references(task))

    def fences(self, plan: JudgePlan, task: Task, about: str) -> Fences:
        """What stands around the texts of a request: the same bytes whenever and wherever it is asked."""
        if plan.fence is None:
            return UNFENCED
        return Fences.of(self._fence_key or self.workspace.key_for(PURPOSE), task.key, about)

    def examples(self, collection: Digest) -> Examples:
        """A kept collection of judged examples, ready for search."""
        kept = self.workspace.blobs
        return self._examples.get(
            collection, lambda: Examples(ExampleCollection.model_validate_json(kept.read(collection)))
        )

    def read_blob(self, digest: str) -> bytes:
        return self._texts.get(digest, lambda: self.workspace.blobs.read(digest))


class _Recent(Generic[V]):
    """The last `size` values that were asked for."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[str, V] = OrderedDict()

    def get(self, key: str, make: Callable[[], V]) -> V:
        if key not in self._values:
            self._values[key] = make()
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key]
