"""File names that a text speaks of: those in running sentences, and those it states as names."""

from __future__ import annotations

import re

from guildhall.documents.kinds import Kind

_NAMED = "|".join(sorted((ending for kind in Kind for ending in kind.row.named.split()), reverse=True))
_ONE_WORD = rf"[\w&+](?:[\w.&+-]|\(\d+\))*\.(?:{_NAMED})\b"
_WITH_BLANKS = rf"[\w(][\w ()&+,.'-]{{0,120}}\.(?:{_NAMED})\b"
_FILE_NAME = re.compile(_ONE_WORD, re.IGNORECASE)
_STATED = re.compile(
    rf"""(?:`+|["“”„«‹]|(?<!\w)['‘])({_WITH_BLANKS})[.,;]?(?:`+|["”“»›]|['’](?!\w))"""
    rf"|^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(?:\*\*)?({_ONE_WORD})(?:\*\*)?[ \t]*(?=$|[-:;,.(–—])",
    re.IGNORECASE | re.MULTILINE,
)


def files_named(text: str) -> list[str]:
    """The words of a text that read like a file's name, in their order; of a name that holds blanks, its last word."""
    return _FILE_NAME.findall(text)


def files_stated(text: str) -> list[str]:
    """File names that a text states as names: quoted, formatted as code, or at the head of a list's item.

    In a running sentence nobody can say where a name with blanks begins, or whether a name was asked for at all.
    """
    return [quoted or listed for quoted, listed in _STATED.findall(text)]
