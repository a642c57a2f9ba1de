"""Which wording of a task a comparison is about, and the forms in which a study is kept."""

from __future__ import annotations

from guildhall.domain.judgments import Comparison
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task, TaskKey
from guildhall.domain.values import Id
from guildhall.errors import UnknownName
from guildhall.store.records import Store


class Wordings:
    """Looks up the wording of comparisons; a study's forms are read once.

    A comparison's own version comes first, else the wording its study pinned first. A study that keeps no form (gold
    sets, the grading service) is about the wording its work was made for.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pins: dict[Id, dict[Id, TaskKey]] = {}

    def of(self, comparison: Comparison) -> TaskKey:
        if comparison.task_version is not None:
            return TaskKey.of(comparison.task, comparison.task_version)
        return self.first_pin(comparison.study, comparison.task) or self._made_for(comparison)

    def task(self, comparison: Comparison) -> Task:
        return self._store.get(Task, self.of(comparison))

    def first_pin(self, study: Id, task: Id) -> TaskKey | None:
        """The wording of a task in the first kept form of a study that holds the task."""
        if task not in self._pins.get(study, {}):
            self._pins[study] = self.pins(study)  # asked again after a miss: a form may have been kept since
        return self._pins[study].get(task)

    def pins(self, study: Id) -> dict[Id, TaskKey]:
        """Task id -> the wording in the first kept form of a study that holds the task."""
        found: dict[Id, TaskKey] = {}
        for form in self._store.find(Study, id=study):
            found = form.pins | found
        return found

    def as_kept(self, comparison: Comparison) -> Comparison:
        """A comparison that states its version as its study keeps it: without one where the first form says the same.

        So what was kept before comparisons could state a version is found again, and nobody judges it twice.
        """
        plain = comparison.but(task_version=None)
        first = self.first_pin(comparison.study, comparison.task)
        if first in {None, self.of(comparison)} or self._store.has(Comparison, plain.key):
            return plain
        return comparison

    def _made_for(self, comparison: Comparison) -> TaskKey:
        return self._store.get(Submission, comparison.submissions[0]).task_key


def newest_study(store: Store, identity: Id) -> Study:
    """The newest frozen form of a study."""
    found = store.newest(Study, id=identity)
    if found is None:
        raise UnknownName("study", identity, fix="`guildhall study run` keeps one")
    return found
