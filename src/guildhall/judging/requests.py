"""What a judge that is a model gets to see: the brief, the references and the sides, as text and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guildhall.domain.prepared import Prepared
from guildhall.engine.calls import FilePart, TextPart

Part = TextPart | FilePart
ReadBlob = Callable[[str], bytes]


@dataclass(frozen=True)
class Budget:
    """How much of each side is shown; what goes beyond is cut, and the cut is said in so many words."""

    characters: int = 60_000
    pages: int = 12


def material(
    title: str, prepared: Prepared, *, read_blob: ReadBlob, budget: Budget, names: Sequence[str] | None = None
) -> list[Part]:
    """One submission (or the reference files) as parts of a message, every file before its pages.

    Files go by a neutral name made of the title unless `names` are given. What could not be shown is said.
    """
    parts: list[Part] = [TextPart(text=f"## {title}")]
    if prepared.text.strip():
        parts.append(TextPart(text=f"Final message:\n\n{prepared.text.strip()}"))
    if not prepared.files:
        parts.append(TextPart(text="(no files)"))
    left, pages_left = budget.characters, budget.pages
    for number, file in enumerate(prepared.files, 1):
        name = names[number - 1] if names else file.public_name or f"file-{number}{file.ending}"
        text = read_blob(file.text).decode(errors="replace") if file.text else ""
        lines = [f"### {name}", *(f"(not shown: {why})" for why in file.omitted)]
        if text:
            lines.append(
                text if len(text) <= left else text[:left] + f"\n(cut here: {len(text) - left} characters more)"
            )
        parts.append(TextPart(text="\n\n".join(lines)))
        left = max(0, left - len(text))
        for page_number, page in enumerate(file.pages[:pages_left], 1):
            parts.append(FilePart(name=f"{name} page {page_number}.png", digest=page.image, media_type="image/png"))
        if len(file.pages) > pages_left:
            parts.append(TextPart(text=f"({len(file.pages) - pages_left} further pages of {name} are not shown)"))
        pages_left = max(0, pages_left - len(file.pages))
    return parts
