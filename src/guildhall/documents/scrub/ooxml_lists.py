"""The lists of `ooxml.toml`, and what a value made of nothing but them looks like."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SHAPED = re.compile(
    r"_b\d+|#?\b[0-9A-Fa-f]{4}(?:[0-9A-Fa-f]{2}){0,2}\b|\$?\b[A-Z]{1,3}\$?\d{1,7}\b|\$?\b[A-Z]{1,3}:\$?[A-Z]{1,3}\b"
)
_RUN = re.compile(r"[A-Za-z]{3,}")


@dataclass(frozen=True)
class OoxmlLists:
    """The lists of `ooxml.toml`."""

    words: frozenset[str]
    spoken: frozenset[str]
    shown: frozenset[tuple[str, str]]
    style_references: frozenset[str]
    style_names: re.Pattern[str]
    prefixes: dict[str, str]
    places: dict[str, str]
    lacking: dict[str, str]


@cache
def ooxml_lists() -> OoxmlLists:
    with Path(__file__).with_name("ooxml.toml").open("rb") as file:
        lists = tomllib.load(file)
    words, spoken, references = (frozenset(lists[name].split()) for name in ("words", "spoken", "style_references"))
    return OoxmlLists(
        words,
        spoken,
        frozenset(
            (element, attribute) for element, _, attribute in (one.partition(".") for one in lists["shown"].split())
        ),
        references,
        re.compile(lists["style_names"].replace("\n", ""), re.IGNORECASE),
        {uri: prefix for prefix, uri in lists["namespaces"].items()},
        lists["places"],
        lists["lacking"],
    )


def is_plain(value: str) -> bool:
    """Whether a value says nothing but numbers, colours, places of cells, and words of the format."""
    if not value.isascii():
        return False
    return all(word.lower() in ooxml_lists().words for word in _RUN.findall(_SHAPED.sub("", value)))
