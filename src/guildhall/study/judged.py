"""From the store to columns of judgments, a million as well as ten: fields are read in chunks, no value is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from sqlalchemy import func, select

from guildhall.analysis.tables import Coded
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.store.fields import Along, read_fields
from guildhall.store.records import Store
from guildhall.store.shelves import shelf_of
from guildhall.study.beside import Hand, when_asked
from guildhall.study.entries import COLUMNS, COUNTED, FIELDS, Compared, Entries, all_entries, entries_of
from guildhall.study.rows import Rows, is_word, taken
from guildhall.study.waves import joined
from guildhall.study.works import BREAKDOWNS, Works, read_sets

MOSTLY = 0.3
"""From this share of all comparisons on, judgments are read as they stand in the store: finding each takes longer."""
PARTS = 8
"""Into so many parts judgments are cut where two processes read them."""


@dataclass
class Judged:
    """All entries of a study against one baseline, and the counts of what gave none, by kind of grader."""

    rows: Rows
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    comparisons: int = 0
    tasks: set[str] = field(default_factory=set)
    submissions: int = 0

    def counted(self, name: str, kind: str | None = None) -> int:
        """One of `COUNTED` for a kind of grader, or over all of them."""
        kinds = self.counts if kind is None else [kind]
        return sum(self.counts.get(one, {}).get(name, 0) for one in kinds)

    def and_also(self, other: Judged) -> Judged:
        """Both together. Work that was shown in both is counted twice, as it was judged twice."""
        kinds = {*self.counts, *other.counts}
        return Judged(
            rows=joined(self.rows, other.rows),
            counts={
                kind: {name: self.counted(name, kind) + other.counted(name, kind) for name in COUNTED} for kind in kinds
            },
            comparisons=self.comparisons + other.comparisons,
            tasks=self.tasks | other.tasks,
            submissions=self.submissions + other.submissions,
        )


def judged_rows(store: Store, study: str, *, baseline: str = "expert", beside: Hand = when_asked) -> Judged:
    """The current judgments of a study against one baseline; a judgment that was replaced is left out.

    Where there is a hand `beside`, it reads some of them meanwhile.
    """
    sets, works = read_sets(store, study)
    base_of = sets.first_by(is_word(works.model, baseline))
    compared = Compared(sets.places, base_of, works.places, works.by_model)
    if len(sets.key) < MOSTLY * store.count(Comparison):
        parts = [_entries(store, compared, along=of_study(study))]
    elif beside is when_asked:
        parts = [_entries(store, compared)]
    else:
        address = store.engine.url.render_as_string(hide_password=False)
        begun = [beside(_entries_between, address, compared, *ends) for ends in _parts(store)]
        parts = [part() for part in reversed(begun)][::-1]
    entries = all_entries(parts)
    return Judged(
        rows=_rows(entries, works),
        counts={kind: times for kind, times in entries.counts.items() if times["judgments"]},
        comparisons=len(base_of),
        tasks={sets.task[at] for at in np.flatnonzero(base_of >= 0).tolist()},
        submissions=len(np.unique(sets.works[base_of[sets.shown_by] >= 0])),
    )


def of_study(study: str) -> Along:
    """A study's judgments, in the order in which the indexes hold them: nothing is sorted."""
    judgments, comparisons = shelf_of(Judgment).table, shelf_of(Comparison).table
    return Along(comparisons, judgments.c.comparison == comparisons.c.key, comparisons.c.study == study)


def _entries(
    store: Store, compared: Compared, *, along: Along | None = None, between: tuple[int, int] | None = None
) -> Entries:
    """Entries of the study's judgments: of those `along` its comparisons, or of all between two row numbers."""
    judgments = shelf_of(Judgment).table
    replaced = select(judgments.c.replaces).where(judgments.c.replaces.is_not(None))
    chunks = read_fields(
        store,
        Judgment,
        FIELDS,
        columns=COLUMNS,
        along=along,
        narrowed=lambda query: query.where(judgments.c.key.not_in(replaced)),
        between=between,
    )
    return entries_of(chunks, compared)


def _entries_between(address: str, compared: Compared, first: int, last: int) -> Entries:
    """The same in any process, by the address of the database."""
    store = Store.open(address)
    try:
        return _entries(store, compared, between=(first, last))
    finally:
        store.close()


def _parts(store: Store) -> list[tuple[int, int]]:
    """First and last row numbers of parts that hold all judgments."""
    with store.reading() as connection:
        last = connection.execute(select(func.max(shelf_of(Judgment).table.c.seq))).scalar() or 0
    cuts = np.linspace(0, last, PARTS + 1).astype(int).tolist()
    return [(before + 1, end) for before, end in pairwise(cuts)]


def _rows(entries: Entries, works: Works) -> Rows:
    columns = dict(entries.columns)
    del columns["comparison"]
    work, grader, kind = (columns.pop(name) for name in ("work", "grader", "grader_kind"))
    return Rows(
        task=taken(works.task, work),
        wording=taken(works.wording, work),
        model=taken(works.model, work),
        sample=taken(works.sample, work),
        submission=Coded(work.astype(np.int32), works.key),
        grader=Coded(grader, entries.graders),
        grader_kind=Coded(kind, entries.kinds),
        confidence=works.confidence[work],
        seconds=works.seconds[work],
        cost_usd=works.cost_usd[work],
        columns={name: taken(works.columns[name], work) for name in BREAKDOWNS},
        **columns,
    )
