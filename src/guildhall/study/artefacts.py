"""Trained graders as files: the artefact as JSON, its model card beside it, and reading one back."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from guildhall.analysis.splits import OverSplits
from guildhall.domain.estimates import Estimate
from guildhall.domain.examples import ExampleCollection
from guildhall.domain.trained import FittedWeights, SplitMargin, TrainedGrader
from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

V = TypeVar("V", bound=Value)


def write_trained(trained: Value, card: str, path: Path) -> tuple[Path, Path]:
    """The artefact as JSON, and its card beside it."""
    beside = path.with_suffix(".md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trained.model_dump_json(indent=2) + "\n", encoding="utf-8")
    beside.write_text(card, encoding="utf-8")
    return path, beside


def read_weights(path: Path) -> FittedWeights:
    """The votes `guildhall grade weigh` wrote."""
    return _read(FittedWeights, path, "fit the votes with `guildhall grade weigh`")


def read_calibrator(path: Path) -> TrainedGrader:
    """The calibrator `guildhall grade calibrate` wrote."""
    return _read(TrainedGrader, path, "train one with `guildhall grade calibrate`")


def read_examples(path: Path) -> ExampleCollection:
    """The collection `guildhall grade examples` wrote."""
    return _read(ExampleCollection, path, "collect examples with `guildhall grade examples`")


def split_margin(found: OverSplits) -> SplitMargin:
    return SplitMargin(
        mean=found.mean,
        n_splits=found.n_splits,
        least=found.least,
        most=found.most,
        above_zero=found.above_zero,
    )


def shown_margin(margin: SplitMargin) -> str:
    """A margin as a card prints it: the mean over deals with its interval; the least and the most of single deals."""
    return f"{shown(margin.mean)}; {margin.least:.4f} to {margin.most:.4f}"


def shown(estimate: Estimate) -> str:
    """An estimate as a card prints it."""
    if estimate.value is None:
        return f"unknown ({estimate.why_no_interval})"
    if estimate.interval is None:
        return f"{estimate.value:.4f}"
    return f"{estimate.value:.4f} [{estimate.interval[0]:.4f}, {estimate.interval[1]:.4f}]"


def _read(kind: type[V], path: Path, fix: str) -> V:
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "cannot be read", fix=fix) from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise UnreadableFile(path, f"is not what it should be ({where}: {fault['msg']})", fix=fix) from error
