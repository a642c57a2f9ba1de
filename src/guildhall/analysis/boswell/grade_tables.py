"""The tables of a run: marks received and given, medians, raw averages, bias, counts of marks without a grade.

Orientation is in the names. *Received*: a row is an author, its cells are what each grader gave it. *Given*: a row
is a grader, its cells are what it gave each author.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from guildhall.analysis.boswell.quotient import BiasTable, grading_bias, number_as_published
from guildhall.domain.boswell import Mark, RunRecord, grade_of, label, value_of
from guildhall.domain.grades import NO_GRADE, Ladder, letter_of, mean, median, percentage


@dataclass(frozen=True)
class GradeCell:
    """What one grader gave one author, over essays and rounds: grades read, and how often none was."""

    author: str
    grader: str
    grades: tuple[str, ...]
    values: tuple[float, ...]
    unread: int

    @property
    def asked(self) -> bool:
        return bool(self.grades) or self.unread > 0

    @property
    def own(self) -> bool:
        return self.author == self.grader

    @property
    def value(self) -> float | None:
        """The mark, or the mean of several."""
        return mean(self.values)

    @property
    def grade(self) -> str:
        """The grade; of several marks the letter of their mean."""
        if self.value is None:
            return NO_GRADE
        return self.grades[0] if len(set(self.grades)) == 1 else letter_of(self.value)


@dataclass(frozen=True)
class Tables:
    """Everything the reports show of a run's marks. Marks without a grade are left out of figures and counted."""

    run: RunRecord
    published: bool = False

    @cached_property
    def authors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label(essay.author) for essay in self.run.essays))

    @cached_property
    def graders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label(mark.grader) for mark in self.run.marks))

    @cached_property
    def _cells(self) -> dict[tuple[str, str], GradeCell]:
        marks: dict[tuple[str, str], list[Mark]] = {}
        for mark, author, grader in self.run.cells():
            marks.setdefault((author, grader), []).append(mark)
        return {key: self._cell(key, found) for key, found in marks.items()}

    def _cell(self, key: tuple[str, str], marks: list[Mark]) -> GradeCell:
        read = [(self.grade_of(mark), self.number_of(mark)) for mark in marks]
        known = [(grade, number) for grade, number in read if number is not None]
        return GradeCell(*key, tuple(g for g, _ in known), tuple(n for _, n in known), len(read) - len(known))

    def grade_of(self, mark: Mark) -> str:
        return mark.recorded.grade if self.published and mark.recorded is not None else grade_of(mark)

    def number_of(self, mark: Mark) -> float | None:
        """The number that counts; None where there is no grade."""
        return number_as_published(mark) if self.published else value_of(mark)

    def cell(self, *, author: str, grader: str) -> GradeCell:
        """What `grader` gave `author`; an empty cell where it was never asked."""
        return self._cells.get((author, grader), GradeCell(author, grader, (), (), 0))

    def received(self, author: str, *, own: bool = True) -> list[float]:
        """All marks an author was given."""
        return [v for (a, g), c in self._cells.items() if a == author and (own or g != author) for v in c.values]

    def given(self, grader: str, *, own: bool = True) -> list[float]:
        """All marks a grader gave."""
        return [v for (a, g), c in self._cells.items() if g == grader and (own or a != grader) for v in c.values]

    def median_received(self, author: str, *, own: bool = True) -> float | None:
        return median(self.received(author, own=own))

    def average_received(self, author: str, *, own: bool = True) -> float | None:
        """The raw numeric average, at full precision. As published, marks without a grade are noughts in it, and an

        average of nought is none.
        """
        if not self.published:
            return mean(self.received(author, own=own))
        unread = sum(c.unread for (a, g), c in self._cells.items() if a == author and (own or g != author))
        return mean([*self.received(author, own=own), *[0.0] * unread]) or None

    def median_given(self, grader: str) -> float | None:
        return median(self.given(grader))

    def percentage(self, value: float | None) -> float | None:
        ladder = Ladder.PUBLISHED if self.published else Ladder.CORRECTED
        return None if value is None else percentage(value, ladder=ladder)

    @cached_property
    def bias(self) -> BiasTable:
        return grading_bias({grader: self.given(grader) for grader in self.graders})

    @cached_property
    def unread_by_author(self) -> Counter[str]:
        return Counter({a: sum(c.unread for (b, _), c in self._cells.items() if b == a) for a in self.authors})

    @cached_property
    def unread_by_grader(self) -> Counter[str]:
        return Counter({g: sum(c.unread for (_, h), c in self._cells.items() if h == g) for g in self.graders})

    @property
    def unread(self) -> int:
        return self.unread_by_author.total()
