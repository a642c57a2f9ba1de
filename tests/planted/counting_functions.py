"""Through how many functions of ours rows or estimates pass on the way from a study to a headline cell.

Traced with `sys.setprofile`: a function counts when it is handed, or gives back, a frame, rows (a value of ours that
holds arrays), or an estimate; arithmetic on bare arrays is no station. Constructors and comprehensions are no functions
a reader has to follow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl

import guildhall

OURS = str(Path(guildhall.__file__).parent)
ESTIMATES = {"Estimate", "Measured"}
DEPTH = 3
"""So deep a value of ours is looked into: evidence holds rows, which hold columns."""


def functions_that_carry(work: Callable[[], object], *, elsewhere: Collection[str] = ()) -> set[str]:
    """`module.function` of every function that took part in it; nothing that those which lead `elsewhere` call."""
    seen: set[str] = set()
    left: list[FrameType] = []

    def look(frame: FrameType, event: str, given: object) -> None:
        code = frame.f_code
        if left:
            if event == "return" and frame is left[0]:
                left.clear()
            return
        if (
            event not in {"call", "return"}
            or not code.co_filename.startswith(OURS)
            or _is_none_of_them(code.co_qualname)
        ):
            return
        carried = list(frame.f_locals.values()) if event == "call" else [given]
        if any(_carries(one) for one in carried):
            module = Path(code.co_filename).relative_to(OURS).with_suffix("").as_posix().replace("/", ".")
            seen.add(name := f"{module}.{code.co_qualname}")
            if event == "call" and name in elsewhere:
                left.append(frame)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


def _is_none_of_them(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith("<") or (last.startswith("__") and last.endswith("__"))


def _carries(value: object, depth: int = DEPTH) -> bool:
    if isinstance(value, pl.DataFrame | pl.LazyFrame) or type(value).__name__ in ESTIMATES:
        return True
    if depth == 0:
        return False
    inside = _inside(value)
    holds_arrays = _is_ours(value) and any(isinstance(one, np.ndarray) for one in inside)
    return holds_arrays or any(_carries(one, depth - 1) for one in inside)


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith("guildhall.")


def _inside(value: object) -> list[Any]:
    """The parts of a value of ours; of a collection its first member."""
    if isinstance(value, tuple | list):
        return [*value] if hasattr(value, "_fields") else [*value[:1]]
    if isinstance(value, dict):
        return [*value.values()][:1]
    if not _is_ours(value):
        return []
    if is_dataclass(value):
        return [getattr(value, one.name) for one in fields(value)]
    return [getattr(value, name) for name in getattr(type(value), "model_fields", ())]
