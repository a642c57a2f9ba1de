"""From prepared work to what a grader may see: places instead of authors, neutral names, and nothing else.

A final message is shown only when a submission has no files or every side has one: models write one and experts seldom
do, so that alone it would tell who is who. The asymmetry itself is recorded as a tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.judgments import BlindedFile, BlindedSide, BlindedView
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.tasks import Task

MESSAGE_ON_ONE_SIDE = "final message on one side only"


def blinded_view(task: Task, references: Prepared, sides: Sequence[Prepared]) -> BlindedView:
    """What is shown for a comparison, `sides` in their stored order: A first."""
    with_text = all(side.text.strip() for side in sides)
    return BlindedView(
        brief=task.brief,
        reference_files=tuple(
            shown_file(file, file.public_name or f"reference{file.ending}") for file in references.files
        ),
        sides=tuple(_side(chr(ord("A") + index), side, with_text=with_text) for index, side in enumerate(sides)),
    )


def asymmetries(sides: Sequence[Prepared]) -> tuple[str, ...]:
    """Differences between the sides that tell something, whatever the content."""
    told = {bool(side.text.strip()) for side in sides}
    return (MESSAGE_ON_ONE_SIDE,) if len(told) == 2 else ()


def omissions_by_place(view: BlindedView) -> dict[str, int]:
    """How much could not be shown, a side; printed with every result."""
    return {side.place: sum(len(file.omitted) for file in side.files) for side in view.sides}


def _side(place: str, prepared: Prepared, *, with_text: bool) -> BlindedSide:
    files = tuple(shown_file(file, f"{place}-{number}{file.ending}") for number, file in enumerate(prepared.files, 1))
    shows_text = with_text or not files
    return BlindedSide(place=place, files=files, text=prepared.text if shows_text and prepared.text.strip() else None)


def shown_file(file: PreparedFile, name: str) -> BlindedFile:
    """A prepared file under the name it is shown by."""
    return BlindedFile(
        name=name,
        kind=file.kind,
        digest=file.scrubbed,
        pages=file.pages,
        text=file.text,
        grid=file.grid,
        layer=file.layer,
        words=file.words,
        omitted=file.omitted,
        named_as_asked=file.named_as_asked,
    )
