"""Ratings straight from a file: counts where counts are enough, votes one by one where clusters ask for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from guildhall.analysis.elo import elo_ratings
from guildhall.analysis.files import column_names
from guildhall.analysis.ratings import RatingTable, rate_counts, rate_votes
from guildhall.analysis.tie_models import TIE_MODELS, Ties
from guildhall.analysis.votes import count_vote_file, read_votes
from guildhall.errors import InputError, MissingColumn, UnknownName

CLUSTERS = ("task", "grader")
COMPILE_ABOVE_VOTES = 1_000_000


def rate_file(
    path: Path,
    *,
    ties: str = "davidson",
    cluster: str = "auto",
    anchors: Sequence[str] = (),
    position: bool = False,
    covariates: Sequence[str] = (),
    level: float = 0.95,
) -> RatingTable:
    """Ratings from a file with columns `left, right, winner`, clustered by task or grader where it names one.

    Without clusters and covariates only counts are kept, whatever the number of votes. `anchors` are MODEL=SCORE.
    """
    named, fixed = named_ties(ties), parse_anchors(anchors)
    by = _cluster(path, cluster)
    if by is None and not covariates:
        return rate_counts(count_vote_file(path), ties=named, anchors=fixed, position=position, level=level)
    votes = read_votes(path, clusters=(by,) if by else (), covariates=covariates)
    return rate_votes(votes, cluster=by, ties=named, anchors=fixed, position=position, level=level)


def elo_file(path: Path) -> dict[str, float]:
    """Elo ratings after all votes of a file in their order: no interval, and another order gives other ratings."""
    votes = read_votes(path)
    compiled = len(votes.left) > COMPILE_ABOVE_VOTES and find_spec("numba") is not None
    ratings = elo_ratings(votes.left, votes.right, votes.outcome, len(votes.names), compiled=compiled)
    return dict(zip(votes.names, ratings.tolist(), strict=True))


def named_ties(name: str) -> Ties:
    """The model of ties called `name`; an unknown name is refused."""
    for known in TIE_MODELS:
        if name == known:
            return known
    raise UnknownName("model of ties", name, known=list(TIE_MODELS))


def parse_anchors(words: Sequence[str]) -> dict[str, float]:
    """MODEL=SCORE words as a mapping; the score is in log-odds."""
    anchors = {}
    for word in words:
        model, _, score = word.rpartition("=")
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not model or not math.isfinite(value):
            raise InputError(f"{word!r} is no anchor; write MODEL=SCORE, the score in log-odds, e.g. gpt=0")
        anchors[model] = value
    return anchors


def _cluster(path: Path, wanted: str) -> str | None:
    if wanted == "none":
        return None
    if wanted not in ("auto", *CLUSTERS):
        raise UnknownName("cluster", wanted, known=["auto", *CLUSTERS, "none"])
    found = column_names(path)
    if wanted != "auto":
        if wanted not in found:
            raise MissingColumn(path.name, wanted, found=found)
        return wanted
    return next((name for name in CLUSTERS if name in found), None)
