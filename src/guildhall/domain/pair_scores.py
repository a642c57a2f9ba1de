"""One verdict on one pair, seen from the model's side: the row agreement, bias and calibration are counted from."""

from __future__ import annotations

from typing import NamedTuple


class PairScore(NamedTuple):
    """How a model's work did against the expert's in one verdict of one grader.

    `score` is 1, 0.5 or 0, and None when the grader failed: then `failure` says how. What is unknown is None.
    """

    task: str
    model: str
    sample: str
    grader: str
    human: bool
    score: float | None
    shown_first: bool
    grader_kind: str = "automatic"
    sweep: int = 1
    log_length_ratio: float | None = None
    kin: bool | None = None
    failure: str | None = None
    cost_usd: float | None = None
    criteria: dict[str, float] = {}
