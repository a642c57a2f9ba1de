"""Coding one justification: the question, the strict reading of its answer, and sentences as vectors for clusters.

The package for vectors is no part of ours, nor of any extra: it would bring some gigabytes to everybody who installs
all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from guildhall.domain.reasons import LABELS
from guildhall.engine.calls import Call
from guildhall.engine.scripted import Answer, Turn, scripted
from guildhall.errors import MissingTool, UnreadableVerdict
from guildhall.judging.verdicts import last_line

UNCLEAR = "unclear"
_VERDICT = re.compile(r"REASON\[([a-z ]+)\]")


def reason_call(model: str, words: str, side: str, settings: dict[str, JsonValue] | None = None) -> Call:
    """The question why work won or lost; who made it is nowhere in it."""
    question = f"The work in question {side}. The grader's justification:\n\n<justification>\n{words}\n</justification>"
    return Call.ask(model, question, system=_prompt(), settings=settings or {}, purpose="reason")


def read_reason(reply: str) -> str:
    """The label, empty when the coder found it unclear. Only a last line that is the verdict alone counts."""
    found = _VERDICT.fullmatch(last_line(reply))
    if found is None:
        raise UnreadableVerdict("the last line is not REASON[label] alone", reply=reply)
    if found[1] == UNCLEAR:
        return ""
    if found[1] not in LABELS:
        raise UnreadableVerdict(f"{found[1]!r} is not one of the labels", reply=reply)
    return found[1]


@cache
def _prompt() -> str:
    text = files("guildhall.judging").joinpath("prompts", "reason-1.md").read_text(encoding="utf-8")
    return text.replace("{labels}", "\n".join(f"- `{label}`: {words}" for label, words in LABELS.items()))


_TELLING = {
    "missing deliverable": ("missing file", "no file", "not delivered"),
    "wrong format": ("wrong format", "instead of a", "file type"),
    "ignored references": ("reference",),
    "accuracy": ("wrong", "error", "incorrect", "accurate", "right figures", "add up"),
    "formatting": ("format", "layout", "legible", "polish"),
    "completeness": ("incomplete", "missing", "complete", "thin"),
    "instruction following": ("brief", "asked", "instruction"),
    "clarity": ("clear", "confus", "follow"),
}


@scripted("reason-coder")
def reason_coder(turn: Turn) -> Answer:
    """A stand-in for a coder: the first label whose telling words occur, else unclear."""
    said = turn.prompt.rpartition("<justification>")[2].lower()
    label = next((name for name, words in _TELLING.items() if any(word in said for word in words)), UNCLEAR)
    return Answer(text=f"REASON[{label}]")


Encoder = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts to rows of numbers: texts of one meaning lie close together."""


def sentence_encoder(model: str) -> Encoder:
    """An encoder by the model of this name or in this folder; it is loaded once, when first used."""
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        fix = "install it with `pip install sentence-transformers`, or leave `--embeddings` out"
        raise MissingTool("sentence-transformers", needed_for="--embeddings", fix=fix) from error
    loaded = SentenceTransformer(model, device="cpu")
    return lambda texts: np.asarray(loaded.encode(list(texts), show_progress_bar=False), dtype=np.float64)
