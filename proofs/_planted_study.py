"""One run of the planted study: draw it, put it through the store, find what a report says, hold it to the truth."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from guildhall.domain.report import Report
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.reporting import report_from
from proofs._examining import Seen
from proofs._planted_intervals import Given, intervals_of
from proofs._planted_store import store_world
from proofs._planted_truths import Planted
from proofs._planted_world import draw_world
from proofs.simulator import CELLS

SEED = 20_261
RARE = ("exact on", "imagined")
"""In the method of an interval that is used where wins, losses or differences are few."""


class Desk:
    """A folder with an empty workspace in it, of which each run gets a fresh copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        Workspace.create(folder / "empty").store.close()

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        fresh = self.folder / "one"
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(self.folder / "empty", fresh)
        with Workspace.open(fresh) as opened:
            yield opened


def report_of_run(desk: Desk, run: int) -> Report:
    """What the report of this run's study says; its cell is the run's own, and so is its seed."""
    world = draw_world(CELLS[run % len(CELLS)], np.random.default_rng([SEED, run]))
    with desk.workspace() as workspace:
        stored = store_world(workspace.store, world)
        return report_from(workspace, read_evidence(workspace, stored.study, reasons=stored.reasons))


def seen_in_run(report: Report, truths: Mapping[str, Planted], run: int) -> Iterator[Seen]:
    """Each family once: one of its intervals, another one each time, since those of one report are not independent.

    A band is examined over all its cells at once. An interval without a planted truth is a defect of the proof.
    """
    given = intervals_of(report)
    unknown = [address for address, one in given.items() if one.interval and address not in truths]
    assert not unknown, f"these intervals of the report have no planted truth: {unknown}"
    families: dict[str, list[str]] = {}
    for address, planted in truths.items():
        families.setdefault(planted.family, []).append(address)
    for family, addresses in families.items():
        kind, shown = truths[addresses[0]].kind, [address for address in addresses if address in given]
        if not shown:
            yield Seen(family, kind, None)
        elif kind == "simultaneous":
            yield Seen(family, kind, all(_holds(given[one], truths[one].truth) is not False for one in shown))
        else:
            one = shown[run // len(CELLS) % len(shown)]
            yield _seen(given[one], truths[one])


def _seen(given: Given, planted: Planted) -> Seen:
    if given.interval is None or given.value is None:
        return Seen(planted.family, planted.kind, None)
    low, high = given.interval
    rare = planted.kind == "level" and any(words in given.method for words in RARE)
    held = _holds(given, planted.truth)
    return Seen(planted.family, planted.kind, held, given.value - planted.truth, high - low, rare)


def _holds(given: Given, truth: float) -> bool | None:
    return None if given.interval is None else bool(given.interval[0] - 1e-9 <= truth <= given.interval[1] + 1e-9)
