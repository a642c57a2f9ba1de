"""What a judge that is a model gets to see: the brief, the references and the sides, as text and pictures.

Every side has the same budget. What goes beyond it, and what could not be shown at all, is said to the judge in so
many words and counted for the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guildhall.documents.kinds import Family, Kind
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.engine.calls import FilePart, TextPart
from guildhall.judging.fences import UNFENCED, Fence
from guildhall.judging.preparing import missing_when_played

Part = TextPart | FilePart
ReadBlob = Callable[[str], bytes]

_CHARACTERS_A_TOKEN = 3
_TOKENS_A_PAGE = 1_600
_FOR_MATERIAL = 0.8
"""Of a model's context; the rest is for the prompt, the brief and the reply."""
_FOR_REFERENCES = 0.2
"""Of the context of a judge with fences, however many sides are shown, so that its requests begin alike."""


@dataclass(frozen=True)
class Budget:
    """How much of each side is shown; what goes beyond is cut, and the cut is said in so many words."""

    characters: int = 60_000
    pages: int = 12


def budget_for(context_tokens: int, *, sides: int) -> Budget:
    """Equal shares of a model's context for every side and the references, half for text and half for pages."""
    return _budget(context_tokens * _FOR_MATERIAL / (sides + 1))


def _budget(share: float) -> Budget:
    return Budget(characters=int(share / 2 * _CHARACTERS_A_TOKEN), pages=int(share / 2 / _TOKENS_A_PAGE))


def budgets_for(context_tokens: int, *, sides: int, fence: Fence) -> tuple[Budget, Budget]:
    """The budget of the references and that of each side."""
    if not fence.code:
        each = budget_for(context_tokens, sides=sides)
        return each, each
    return _budget(context_tokens * _FOR_REFERENCES), _budget(
        context_tokens * (_FOR_MATERIAL - _FOR_REFERENCES) / sides
    )


@dataclass(frozen=True)
class Material:
    """One submission as parts of a message, and each thing of it that is not shown, in words."""

    parts: tuple[Part, ...]
    omissions: tuple[str, ...]


def material(
    title: str,
    prepared: Prepared,
    *,
    read_blob: ReadBlob,
    budget: Budget,
    prefix: str = "file",
    with_text: bool = True,
    media: Sequence[str] = ("image",),
    fence: Fence = UNFENCED.works,
) -> Material:
    """One submission (or the reference files) as parts of a message, every file before its pages.

    Files go by a neutral name made of `prefix`; reference files keep the name the brief uses. `media` is what the judge
    can take: recordings go along for judges that hear or see them, and are a counted omission for the others. In a
    `fence` stands whatever its maker had a hand in, a name and the reasons of what is not shown among it.
    """
    parts: list[Part] = [TextPart(text=f"## {title}")]
    if with_text and prepared.text.strip():
        parts.append(TextPart(text=f"Final message:\n\n{fence.around(prepared.text.strip())}"))
    if not prepared.files:
        parts.append(TextPart(text="(no files)"))
    texts = [read_blob(file.text).decode(errors="replace") if file.text else "" for file in prepared.files]
    room = fair_shares([len(text) for text in texts], budget.characters)
    pages = fair_shares([len(file.pages) for file in prepared.files], budget.pages if "image" in media else 0)
    omissions: list[str] = []
    for number, file in enumerate(prepared.files, 1):
        neutral = f"{prefix}-{number}{file.ending}"
        name = file.public_name or neutral
        text = texts[number - 1]
        gone = _omissions(file, text, room[number - 1], pages[number - 1], media)
        omissions += [f"{name}: {words}" for words in gone]
        told = [*([text[: room[number - 1]]] if text else []), *(f"(not shown: {why})" for why in gone)]
        if fence.code:
            told = [fence.around(one) for one in ([name] if file.public_name else []) + told]
        parts.append(TextPart(text="\n\n".join([f"### {neutral if fence.code else name}", *told])))
        parts += _pictures(neutral if fence.code else name, file, pages[number - 1], media)
    if omissions:
        parts.append(TextPart(text=f"({len(omissions)} things of {title} are not shown, as said at each file)"))
    return Material(tuple(parts), tuple(omissions))


def fair_shares(wanted: Sequence[int], budget: int) -> list[int]:
    """What each gets of a budget: small wishes in full, and what they leave is shared by the larger ones."""
    given = [0] * len(wanted)
    left = budget
    for turn, index in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        given[index] = min(wanted[index], left // (len(wanted) - turn))
        left -= given[index]
    return given


def recordings(prepared: Prepared) -> set[str]:
    """The media beyond pages that this work holds: sound, moving pictures."""
    families = {_family(file) for file in prepared.files}
    return {str(family) for family in families & {Family.AUDIO, Family.VIDEO}}


def _omissions(file: PreparedFile, text: str, room: int, pages: int, media: Sequence[str]) -> list[str]:
    played = _recording(file, media) is not None
    gone = list(missing_when_played(file.omitted) if played else file.omitted)
    if len(text) > room:
        gone.append(f"{len(text) - room} of {len(text)} characters, beyond what this judge can read")
    if len(file.pages) > pages:
        gone.append(f"{len(file.pages) - pages} of {len(file.pages)} pages, beyond what this judge can look at")
    if _family(file) in (Family.AUDIO, Family.VIDEO) and not played:
        gone.append(f"the {_family(file)} itself, which this judge cannot take")
    if not (gone or text or file.pages or played):
        gone.append("there is nothing in it that can be shown")
    return gone


def _pictures(name: str, file: PreparedFile, pages: int, media: Sequence[str]) -> list[Part]:
    made: list[Part] = [
        FilePart(name=f"{name} page {number}.png", digest=page.image, media_type="image/png")
        for number, page in enumerate(file.pages[:pages], 1)
    ]
    recording = _recording(file, media)
    if recording and file.copied:
        made.append(FilePart(name=name, digest=file.copied, media_type=recording))
    return made


def _recording(file: PreparedFile, media: Sequence[str]) -> str | None:
    """The media type under which a recording can be handed to this judge, or None."""
    if file.copied is None or str(_family(file)) not in media:
        return None
    row = Kind(file.copied_as).row
    return row.media_type if row.for_models else None


def _family(file: PreparedFile) -> Family:
    return Kind(file.kind).family
