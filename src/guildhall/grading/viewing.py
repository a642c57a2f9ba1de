"""What stands in a slot, blinded: from the stored order and the prepared files, never from authors."""

from __future__ import annotations

from guildhall.domain.halls import Slot
from guildhall.domain.judgments import BlindedView, Comparison
from guildhall.domain.prepared import VERSION, Prepared
from guildhall.judging.preparing import blinded_view
from guildhall.store.records import Store
from guildhall.store.wordings import Wordings


def view_of(store: Store, slot: Slot) -> BlindedView:
    """The view every grader of this slot is given; its files were prepared when the study was opened."""
    task = Wordings(store).task(store.get(Comparison, slot.comparison))
    references = store.get(Prepared, f"{task.content_digest()}:{VERSION}")
    return blinded_view(task, references, [store.get(Prepared, f"{key}:{VERSION}") for key in slot.order])
