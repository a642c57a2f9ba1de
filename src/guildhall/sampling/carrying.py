"""Work that was begun before rooms counted is carried on as it was begun; nothing that was paid for is done again."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from guildhall.sampling.plan import SampleItem
from guildhall.store.work import Work


def carried_on(
    planned: Sequence[SampleItem], before: Sequence[SampleItem], *, work: Work, authors: Collection[str] = ()
) -> list[SampleItem]:
    """For each item the one to go on with: as `planned` with its room, or as it was made `before` rooms counted.

    The latter where it was begun and the former was not; its environment stays unknown. `authors` are the keys a study
    was frozen with: of the two, only one whose author is among them is taken.
    """
    states = work.items([one.key for one in (*planned, *before)])

    def chosen(now: SampleItem, then: SampleItem) -> SampleItem:
        frozen = [one for one in (now, then) if one.author.key in authors]
        if len(frozen) == 1:
            return frozen[0]
        return then if then.key in states and now.key not in states else now

    return [chosen(now, then) for now, then in zip(planned, before, strict=True)]
