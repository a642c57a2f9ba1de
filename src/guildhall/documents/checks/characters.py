"""Characters that many computers show badly: U+2011, invisible ones, private ones, emoji, odd bullets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from guildhall.documents.checks.findings import FindingMaker
from guildhall.documents.checks.pages import PageView, hull
from guildhall.documents.values import Finding, Gravity

RISKY = re.compile(
    "[\u2011\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u0080-\u0084\u0086-\u009f\ue000-\uf8ff"
    "\U000f0000-\U0010ffff]"
)
EMOJI = re.compile(
    "[\u2600-\u260f\u2613-\u26ff\u2700-\u275a\u2761-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa"
    "\U0001f000-\U0001faff\U0001fb00-\U0001fbff\ufe0f\u20e3]"
)
_LIST_FONT_BULLETS = re.compile("^[\uf000-\uf0ff\ue000-\ue0ff]$")
"""Word's own bullets are letters of symbol fonts; at the start of a line they are standard."""
ODD_BULLETS = frozenset("➢➤➔➜►▶▷▸◆◇❖◉◎★☆✦✧✓✔✗✘⁃‣»›→⇒✱❑❒⦿⁌⁍")
_USUAL_BULLETS = frozenset("●○■□▪▫◦◾◽☐☑☒°©®™№")
"""Signs that lists and forms of every program begin lines with."""
_WIDE_JOINER = "\u200d"


def risky_letters(text: str) -> dict[str, int]:
    """Each risky character of a text and how often it stands there; list bullets of symbol fonts are not."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        for position, char in enumerate(line):
            bullet = _LIST_FONT_BULLETS.match(char) and not line[:position].strip(" -|\t")
            if RISKY.match(char) and not bullet and not _joins_emoji(line, position):
                found[char] = found.get(char, 0) + 1
    return found


def _joins_emoji(line: str, position: int) -> bool:
    return line[position] == _WIDE_JOINER and bool(EMOJI.match(line[position - 1 : position] or " "))


def odd_bullets(text: str) -> dict[str, int]:
    """Marks that begin two or more lines as bullets do and that are not among the usual ones."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        start = re.match(r"\s*(?:[-|]\s+)?(\S)\s+\S", line)
        if start and _is_odd_bullet(start[1]):
            found[start[1]] = found.get(start[1], 0) + 1
    return {char: count for char, count in found.items() if count >= 2}


def _is_odd_bullet(char: str) -> bool:
    return char in ODD_BULLETS or (unicodedata.category(char) == "So" and char not in _USUAL_BULLETS)


def emoji(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    bullets = ODD_BULLETS & odd_bullets(text).keys()
    for char in EMOJI.findall(text):
        if char not in "\ufe0f\u20e3" and char not in bullets:
            found[char] = found.get(char, 0) + 1
    return found


@dataclass(frozen=True)
class _Suspect:
    """A character to report once, and the words before it, which help to find it on a page."""

    rule: str
    char: str
    words: str
    before: str


class CharacterCheck:
    """One finding for each risky character, emoji or odd bullet of a text, at the first page where it is seen.

    Pages come one by one and are not kept. A program may draw another character than the source holds: the
    words before it then tell the place.
    """

    def __init__(self, text: str) -> None:
        self._suspects = [
            _Suspect(rule, char, f"The text has {describe(char)} {_times(count)}: it {why}.", _before(text, char))
            for rule, find, why in _RULES
            for char, count in sorted(find(text).items())
        ]
        self._known = {suspect.char for suspect in self._suspects}

    def on_page(self, page: PageView, make: FindingMaker) -> Iterator[Finding]:
        """Findings of the suspects that stand on this page; they are not looked for again."""
        for suspect in list(self._suspects):
            wanted = next((w for w in (suspect.char, suspect.before) if w and w in page.text), None)
            if wanted is not None:
                self._suspects.remove(suspect)
                start = page.text.index(wanted)
                box = hull(page.letters[start : start + len(wanted)])
                yield make.on_page(page, suspect.rule, _severity(suspect.char), suspect.words, box)
        yield from self._drawn_bullets(page, make)

    def _drawn_bullets(self, page: PageView, make: FindingMaker) -> Iterator[Finding]:
        """Bullets that the program draws from a list's settings: they stand in no text."""
        for char, count in sorted(odd_bullets(page.text).items()):
            if char not in self._known:
                self._known.add(char)
                words = (
                    f"Page {page.number} has {describe(char)} {_times(count)} as a bullet: it is not a standard one."
                )
                yield make.on_page(page, "odd-bullet", Gravity.MINOR, words, page.letters[page.text.index(char)].box)

    def elsewhere(self, make: FindingMaker) -> Iterator[Finding]:
        """Findings of the suspects no page showed: in notes, comments, hidden sheets, or in plain text."""
        for suspect in self._suspects:
            yield make.on_file(suspect.rule, _severity(suspect.char), suspect.words)


def _before(text: str, char: str) -> str:
    at = text.index(char)
    words = text[max(0, at - 16) : at].rpartition("\n")[2].strip(" |-")
    return words if len(words) >= 3 else ""


def _severity(char: str) -> Gravity:
    return Gravity.MAJOR if char == "\u2011" else Gravity.MINOR


def describe(char: str) -> str:
    name = unicodedata.name(char, "a private or unnamed character").lower()
    return f"U+{ord(char):04X} ({name})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


_RULES = (
    ("risky-character", risky_letters, "may show as a box or vanish on other computers"),
    ("emoji", emoji, "shows differently or not at all on other computers"),
    ("odd-bullet", odd_bullets, "is not a standard bullet"),
)
