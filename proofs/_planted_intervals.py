"""Every interval that findings carry, each under an address of its own, found by walking them: none is listed by hand.

An interval is any pair of numbers [low, high], whatever field it stands in, and any two fields called low and high. An
estimate without one is walked too, so that an interval that is never given does not go unseen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from guildhall.domain.findings import Findings

NAMING = ("model", "setting", "changed", "changed_level", "against", "side", "label", "released")
"""Fields that tell one entry of a list from another, where it has no name or title; else its first word or number."""


class Given(NamedTuple):
    """One interval of a report, or its absence; `value` and `method` are the estimate's where it belongs to one."""

    address: str
    interval: tuple[float, float] | None
    value: float | None
    method: str


def intervals_of(findings: Findings) -> dict[str, Given]:
    """Address -> interval, over everything the findings hold."""
    found: dict[str, Given] = {}
    for given in _walk(findings.model_dump(mode="json"), ()):
        if given.address in found:
            raise AssertionError(f"two intervals stand at {given.address}")
        found[given.address] = given
    return found


def _walk(part: Any, at: tuple[str, ...]) -> Iterator[Given]:
    if isinstance(part, Mapping):
        yield from _walk_fields(part, at)
    elif _is_pair(part):
        yield Given(" / ".join(at), (part[0], part[1]), None, "")
    elif isinstance(part, list):
        for place, one in enumerate(part):
            yield from _walk(_entry(one), (*at, *_label(one, place)))


def _walk_fields(part: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[Given]:
    if "interval" in part and "estimand" in part:
        ends = part["interval"]
        yield Given(" / ".join(at), None if ends is None else (ends[0], ends[1]), part["value"], part["method"])
        part = {name: one for name, one in part.items() if name != "interval"}
    if _is_pair([part.get("low"), part.get("high")]):
        yield Given(" / ".join(at), (part["low"], part["high"]), None, "")
    for name, one in part.items():
        yield from _walk(one, (*at, name))


def _is_pair(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 2 and all(_is_number(one) for one in part)


def _is_number(one: Any) -> bool:
    return isinstance(one, int | float) and not isinstance(one, bool)


def _entry(one: Any) -> Any:
    """What stands under a label: a pair of a word and something is labelled by the word."""
    return one[1] if _is_labelled(one) else one


def _is_labelled(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)


def _label(one: Any, place: int) -> tuple[str, ...]:
    if _is_labelled(one):
        return (one[0],)
    if not isinstance(one, Mapping):
        return (str(place),)
    called = one.get("name", one.get("title"))
    names = [called] if called else [str(one[name]) for name in NAMING if isinstance(one.get(name), str)]
    names += one.get("levels", {}).values()
    if not names:
        names = [f"{cell:.6g}" for cell in one.values() if _is_number(cell)][:1]
    return (", ".join(names),)
