"""Finding what looks like a grade: letters with signs, words such as "B minus", composites such as "A-/B+".

Letters inside words never count, nor "C++", "A-level", an article "A" before a word, or a possessive. Every
pattern here is bounded, so the work grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from guildhall.domain.grades import compose

_FULL_WIDTH = {"Ａ": "A", "Ｂ": "B", "Ｃ": "C", "Ｄ": "D", "Ｆ": "F", "＋": "+", "：": ":", "／": "/"}
_PLAIN = str.maketrans(
    dict.fromkeys("‐‑‒–−﹣－", "-")
    | dict.fromkeys('*_`"“”„«»＂~\u00a0\t\r\u200b\\$^', " ")
    | dict.fromkeys("→➜➔⇒", ":")
    | dict.fromkeys("’‘", "'")
    | _FULL_WIDTH
)

_LATIN = "A-Za-z0-9À-ɏͰ-ӿ"
_SIGN = rf"[+-](?![{_LATIN}+])"
_SIGN_WORD = rf"[ -]{{0,2}}(?i:plus|minus)(?![{_LATIN}])"
_NO_SIGN = rf"(?![{_LATIN}+'#&-])"
_LETTER = rf"[ABCDF](?:{_SIGN}|{_SIGN_WORD}|{_NO_SIGN})"
_SLASH = r"[ ]{0,3}/[ ]{0,3}"
_WORDS = r"(?:[ ]{1,3}(?:to|or|and)[ ]{1,3}(?:an?[ ]{1,3})?|,[ ]{1,3})"
_START = rf"(?<![{_LATIN}+'.&#@/-])"
_STOP = rf"(?!/[{_LATIN}])"

_TOKEN = re.compile(rf"{_START}(?:{_LETTER}(?:(?:{_SLASH}|{_WORDS}){_LETTER}){{0,13}}|N/A){_STOP}")
_ONE = re.compile(rf"(?<![{_LATIN}+]){_LETTER}")
_AFTER_ARTICLE = re.compile(
    r" +(?!(?:for|because|since|as|due|based|given|with|grade|mark|overall|level|range|rating|score|is|and|or|to|in|on|"
    r"from|reflect|reflects|but|would|seems|at|while|although|despite)\b)[a-zà-ÿ]"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One mention of a grade, or of several joined ones, with its place in the text."""

    start: int
    end: int
    letters: tuple[str, ...]
    words: str

    @property
    def void(self) -> bool:
        """Whether it says in so many words that there is no grade."""
        return self.letters == ("N/A",)

    @property
    def menu(self) -> bool:
        """Whether it offers a choice, as a copied instruction does: "A+/A/A-/B+"."""
        return len(self.letters) > 2 and "/" in self.words

    @property
    def listed(self) -> bool:
        """Whether several grades are listed, not joined into one: "A, B+, C"."""
        return len(self.letters) > 1 and ("," in self.words or (len(self.letters) > 2 and "/" not in self.words))

    @property
    def alternatives(self) -> bool:
        """Whether two grades are joined by a word: "A- or B+"."""
        return len(self.letters) == 2 and "/" not in self.words

    @property
    def grade(self) -> str | None:
        """The letter, or the composite of two neighbours; None for lists, menus and pairs that are no neighbours."""
        if len(self.letters) == 1:
            return None if self.void else self.letters[0]
        return compose(*self.letters) if len(self.letters) == 2 and not self.listed else None


def plain(text: str) -> str:
    """The text with markup blanked and look-alike characters replaced, every character at its old place."""
    return text.translate(_PLAIN)


def tokens(text: str) -> Iterator[Token]:
    """Every mention of a grade in plain text, in order."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        words = match.group()
        if words == "A" and _AFTER_ARTICLE.match(text, end, end + 24):
            continue
        yield Token(start, end, _letters(words), words)


def _letters(words: str) -> tuple[str, ...]:
    if len(words) == 1 or words == "N/A":
        return (words,)
    return tuple(_spelt(part) for part in _ONE.findall(words))


def _spelt(part: str) -> str:
    if part[0] == "F":
        return "F"
    lowered = part.lower()
    if "+" in part or "plus" in lowered:
        return part[0] + "+"
    return part[0] + "-" if "minus" in lowered or part.endswith("-") else part[0]
