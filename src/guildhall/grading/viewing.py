"""What stands in a slot, blinded: from the stored order and the prepared files, never from authors."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.halls import Slot
from guildhall.domain.judgments import BlindedView, Comparison
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.domain.values import Digest, Id
from guildhall.judging.preparing import blinded_view
from guildhall.store.records import Store
from guildhall.store.wordings import Wordings, newest_study


def view_of(store: Store, slot: Slot) -> BlindedView:
    """The view every grader of this slot is given; its files were prepared when the study was opened."""
    return prepared_view(store, store.get(Comparison, slot.comparison), slot.order, study=slot.study)


def prepared_view(store: Store, comparison: Comparison, order: Sequence[Digest], *, study: Id) -> BlindedView:
    """A comparison in one order, with its files as the study that shows it hands them out."""
    task = Wordings(store).task(comparison)
    references = store.get(Prepared, f"{task.content_digest()}:{VERSION}")
    design = newest_study(store, study).design.hall
    sides = [store.get(Prepared, f"{key}:{VERSION}") for key in order]
    return blinded_view(task, references, sides, originals=bool(design.originals))
