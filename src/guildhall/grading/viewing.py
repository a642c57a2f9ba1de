"""What stands in a slot, blinded: from the stored order and the prepared files, never from authors."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.halls import Slot
from guildhall.domain.judgments import BlindedView, Comparison
from guildhall.domain.prepared import Prepared
from guildhall.domain.studies import Study
from guildhall.domain.values import Digest, Id
from guildhall.errors import UnknownName
from guildhall.judging.preparing import VERSION, blinded_view
from guildhall.store.records import Store
from guildhall.store.wordings import Wordings


def view_of(store: Store, slot: Slot) -> BlindedView:
    """The view every grader of this slot is given; its files were prepared when the study was opened."""
    return prepared_view(store, store.get(Comparison, slot.comparison), slot.order)


def prepared_view(store: Store, comparison: Comparison, order: Sequence[Digest]) -> BlindedView:
    """A comparison in one order, with its files as its study hands them out."""
    task = Wordings(store).task(comparison)
    references = store.get(Prepared, f"{task.content_digest()}:{VERSION}")
    design = newest_study(store, comparison.study).design.people
    sides = [store.get(Prepared, f"{key}:{VERSION}") for key in order]
    return blinded_view(task, references, sides, originals=bool(design and design.originals))


def newest_study(store: Store, identity: Id) -> Study:
    """The newest frozen form of a study."""
    found = store.newest(Study, id=identity)
    if found is None:
        raise UnknownName("study", identity, fix="`guildhall study run` keeps one")
    return found
