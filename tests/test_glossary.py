"""Every word of the glossary leads to a place that exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

GLOSSARY = Path(__file__).parent.parent / "docs" / "design" / "glossary.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| word", "| ---"))
]
PLACES = [(word, place) for word, _, places in ROWS for place in re.findall(r"`([\w.]+)`", places)]


def there(place: str) -> bool:
    """Whether `package.module` can be imported, or `package.module.Class` has its class defined there."""
    owner, _, name = place.rpartition(".")
    if not name[0].isupper():
        return import_module(f"guildhall.{place}").__doc__ is not None
    found = getattr(import_module(f"guildhall.{owner}"), name, None)
    return getattr(found, "__module__", None) == f"guildhall.{owner}"


@pytest.mark.parametrize(("word", "place"), PLACES, ids=[place for _, place in PLACES])
def test_a_word_leads_to_a_place_that_exists(word: str, place: str) -> None:
    assert there(place), f"{word}: nothing at guildhall.{place}"


def test_every_row_names_a_place_and_no_word_stands_twice() -> None:
    words = [row[0] for row in ROWS]
    assert len(words) == len(set(words)) > 40
    assert {word for word, _ in PLACES} == set(words)


def test_a_place_that_is_gone_is_seen() -> None:
    assert not there("domain.tasks.Comparison")
    with pytest.raises(ModuleNotFoundError):
        there("domain.nowhere")
