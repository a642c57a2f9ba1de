"""Where a comment is pinned, from the words in which people give it."""

from __future__ import annotations

from pydantic import ValidationError

from guildhall.domain.reviews import Anchor, Box
from guildhall.errors import InputError

PARTS: dict[str, Box] = {
    "upper third": Box(left=0, top=0, right=1, bottom=0.34),
    "middle": Box(left=0, top=0.33, right=1, bottom=0.67),
    "lower third": Box(left=0, top=0.66, right=1, bottom=1),
    "left half": Box(left=0, top=0, right=0.5, bottom=1),
    "right half": Box(left=0.5, top=0, right=1, bottom=1),
}
"""Parts of a page by name, for forms without a pointer."""


def anchor_at(file: str | None, *, page: int | None = None, box: str | None = None) -> Anchor | None:
    """An anchor, or None for a comment on the whole. `box` is a part's name, or `left,top,right,bottom` in shares."""
    if file is None:
        if page is not None or box is not None:
            raise InputError("a page belongs to a file: name the file too, as reference/NAME or expert/NAME")
        return None
    try:
        return Anchor(file=file, page=page, box=_box(box))
    except ValidationError as error:
        raise InputError(f"{error.errors()[0]['msg']}; correct the place of the comment") from error


def _box(text: str | None) -> Box | None:
    if not text:
        return None
    if text in PARTS:
        return PARTS[text]
    try:
        left, top, right, bottom = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{text!r} is no part of a page; give left,top,right,bottom such as 0,0.5,1,1") from error
    return Box(left=left, top=top, right=right, bottom=bottom)
