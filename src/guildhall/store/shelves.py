"""Which values are kept, and by which columns they are found.

A shelf is one table: the whole value as canonical JSON, its key, its digest, and copies of the few fields one
searches by. Rows are only ever added. A new kind of value is one entry in `SHELVES` and one migration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, Text

from guildhall.domain.boswell import Essay, Mark
from guildhall.domain.judges import Gradability, RubricMark
from guildhall.domain.judgments import Comparison, Judgment, SeverityRating
from guildhall.domain.picks import Pick
from guildhall.domain.prepared import Prepared
from guildhall.domain.reviews import Comment, Decision, Draft, Review, Screening
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.domain.values import Value
from guildhall.domain.variants import BriefVariant
from guildhall.errors import UnknownName

V = TypeVar("V", bound=Value)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)
"""All tables of the store; names are fixed so that migrations mean the same on both databases."""

RowNumber = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself only for a plain INTEGER."""

_COLUMN_TYPES: Mapping[type, Any] = {str: String(1024), int: Integer, bool: Boolean}


@dataclass(frozen=True)
class Shelf(Generic[V]):
    """One kind of value in one table."""

    table: Table
    type: type[V]
    key: Callable[[V], str]
    columns: Mapping[str, Callable[[V], Any]]
    derived: bool = False
    """Whether it can be made again from the rest; then it stays out of bundles."""

    def row(self, value: V) -> dict[str, Any]:
        body = value.canonical()
        found = {name: read(value) for name, read in self.columns.items()}
        return {"key": self.key(value), "digest": value.content_digest(), "body": body.decode(), **found}


def _shelf(
    name: str,
    kind: type[V],
    key: Callable[[V], str],
    *,
    derived: bool = False,
    unsearched: tuple[str, ...] = (),
    once: str | None = None,
    **columns: tuple[type, Callable[[V], Any]],
) -> Shelf[V]:
    """A shelf and its table; a column is indexed unless nobody looks values up by it, but only reads it off.

    A value of the column `once` stands in one row at most.
    """
    table = Table(
        name,
        metadata,
        Column("seq", RowNumber, primary_key=True, autoincrement=True),
        Column("key", String(512), nullable=False, unique=True),
        Column("digest", String(64), nullable=False),
        Column("body", Text, nullable=False),
        *(Column(column, _COLUMN_TYPES[python_type]) for column, (python_type, _) in columns.items()),
        *(Index(None, column, unique=column == once) for column in columns if column not in unsearched),
    )
    return Shelf(table, kind, key, {column: read for column, (_, read) in columns.items()}, derived)


SHELVES: tuple[Shelf[Any], ...] = (
    _shelf(
        "tasks",
        Task,
        lambda task: task.key,
        id=(str, lambda task: task.id),
        sector=(str, lambda task: task.sector),
        occupation=(str, lambda task: task.occupation),
    ),
    _shelf(
        "submissions",
        Submission,
        lambda submission: submission.key,
        task=(str, lambda submission: submission.task),
        author=(str, lambda submission: submission.author.key),
        replaces=(str, lambda submission: submission.replaces),
    ),
    _shelf(
        "comparisons",
        Comparison,
        lambda comparison: comparison.key,
        study=(str, lambda comparison: comparison.study),
        task=(str, lambda comparison: comparison.task),
    ),
    _shelf(
        "judgments",
        Judgment,
        lambda judgment: judgment.key,
        comparison=(str, lambda judgment: judgment.comparison),
        grader=(str, lambda judgment: judgment.grader.key),
        failed=(bool, lambda judgment: judgment.ranks is None),
        replaces=(str, lambda judgment: judgment.replaces),
        once="place",
        place=(str, lambda judgment: judgment.place),
    ),
    _shelf(
        "severity_ratings",
        SeverityRating,
        lambda rating: rating.key,
        study=(str, lambda rating: rating.study),
        submission=(str, lambda rating: rating.submission),
        grader=(str, lambda rating: rating.grader.key),
    ),
    _shelf(
        "essays",
        Essay,
        lambda essay: essay.key,
        run=(str, lambda essay: essay.run),
        domain=(str, lambda essay: essay.domain),
        author=(str, lambda essay: essay.author.key),
    ),
    _shelf(
        "marks",
        Mark,
        lambda mark: mark.key,
        run=(str, lambda mark: mark.run),
        essay=(str, lambda mark: mark.essay),
        grader=(str, lambda mark: mark.grader.key),
        replaces=(str, lambda mark: mark.replaces),
    ),
    _shelf(
        "picks",
        Pick,
        lambda pick: pick.key,
        task=(str, lambda pick: pick.task),
        author=(str, lambda pick: pick.author),
    ),
    _shelf(
        "brief_variants",
        BriefVariant,
        lambda variant: variant.key,
        task=(str, lambda variant: variant.task),
    ),
    _shelf(
        "studies",
        Study,
        lambda study: study.key,
        id=(str, lambda study: study.id),
    ),
    _shelf(
        "rubric_marks",
        RubricMark,
        lambda mark: mark.key,
        study=(str, lambda mark: mark.study),
        submission=(str, lambda mark: mark.submission),
        grader=(str, lambda mark: mark.grader.key),
    ),
    _shelf(
        "gradability",
        Gradability,
        lambda word: word.key,
        task=(str, lambda word: word.task),
    ),
    _shelf(
        "drafts",
        Draft,
        lambda draft: draft.key,
        task=(str, lambda draft: draft.task.id),
        author=(str, lambda draft: draft.author),
    ),
    _shelf("screenings", Screening, lambda screening: screening.key, task=(str, lambda screening: screening.task)),
    _shelf(
        "reviews",
        Review,
        lambda review: review.key,
        task=(str, lambda review: review.task),
        reviewer=(str, lambda review: review.reviewer),
    ),
    _shelf("review_comments", Comment, lambda comment: comment.key, task=(str, lambda comment: comment.task)),
    _shelf("review_decisions", Decision, lambda decision: decision.key, task=(str, lambda decision: decision.task)),
    _shelf(
        "prepared",
        Prepared,
        lambda prepared: prepared.key,
        derived=True,
        unsearched=("words", "tells"),
        subject=(str, lambda prepared: prepared.subject),
        words=(int, lambda prepared: sum(file.words for file in prepared.files)),
        tells=(int, lambda prepared: len(prepared.tells) + sum(len(file.tells) for file in prepared.files)),
    ),
)

_BY_TYPE = {shelf.type: shelf for shelf in SHELVES}
_BY_NAME = {shelf.table.name: shelf for shelf in SHELVES}


def shelf_of(kind: type[V]) -> Shelf[V]:
    """The shelf a kind of value is kept on."""
    if kind not in _BY_TYPE:
        raise UnknownName("kept value", kind.__name__, known=sorted(kept.__name__ for kept in _BY_TYPE))
    return _BY_TYPE[kind]


def shelf_named(name: str) -> Shelf[Any]:
    if name not in _BY_NAME:
        raise UnknownName("shelf", name, known=sorted(_BY_NAME))
    return _BY_NAME[name]
