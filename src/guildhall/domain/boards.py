"""The board of a running study: how far it has come, and intervals one may always look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from guildhall.domain.estimates import Estimate
from guildhall.domain.values import Id, Value


class BoardCell(Value):
    """Planned gradings of one model's work in one occupation. In sets of several models a grading counts for each."""

    occupation: str
    model: str
    planned: int
    held: int
    done: int


class BoardOccupation(Value):
    """The gradings of all models' work in one occupation."""

    name: str
    models: int
    planned: int
    held: int
    done: int


class Progress(Value):
    """Planned gradings of a whole study, each counted once."""

    planned: int
    held: int
    done: int


class Running(Value):
    """One model as it stands while the study runs, by one kind of grader."""

    model: str
    grader_kind: str
    estimate: Estimate


class RunningAgreement(Value):
    """How far graders of one kind agree while the study runs."""

    grader_kind: str
    estimate: Estimate


class Flow(Value):
    """How many of a model's works came how far, in the order of `Board.steps`; None where nothing was planned."""

    model: str
    works: tuple[int | None, ...]


class Board(Value):
    """A study's board as it was counted at one moment."""

    study: Id
    counted_at: float
    progress: Progress
    models: tuple[str, ...] = ()
    cells: tuple[BoardCell, ...] = ()
    running: tuple[Running, ...] = ()
    agreement: tuple[RunningAgreement, ...] = ()
    steps: tuple[str, ...] = ()
    """From plan to figure: what the numbers of `flow` are."""
    flow: tuple[Flow, ...] = ()

    @property
    def gradings(self) -> int:
        return sum(cell.planned for cell in self.cells)

    def occupations(self) -> list[BoardOccupation]:
        """The cells of each occupation together."""
        totals: dict[str, list[int]] = {}
        for cell in self.cells:
            total = totals.setdefault(cell.occupation, [0, 0, 0, 0])
            for at, more in enumerate((1, cell.planned, cell.held, cell.done)):
                total[at] += more
        return [
            BoardOccupation(name=name, models=models, planned=planned, held=held, done=done)
            for name, (models, planned, held, done) in sorted(totals.items())
        ]

    def narrowed(self, occupation: str) -> Self:
        """The same board with the cells of one occupation only."""
        return self.model_copy(update={"cells": tuple(cell for cell in self.cells if cell.occupation == occupation)})

    def under(self, shown: Mapping[str, str]) -> Self:
        """The same board with each model under the name it is shown by."""
        cells = (cell.but(model=shown[cell.model]) for cell in self.cells)
        running = (one.but(model=shown[one.model]) for one in self.running)
        flow = (one.but(model=shown[one.model]) for one in self.flow)
        return self.model_copy(
            update={
                "flow": tuple(sorted(flow, key=lambda one: one.model)),
                "models": tuple(sorted(shown[model] for model in self.models)),
                "cells": tuple(sorted(cells, key=lambda cell: (cell.occupation, cell.model))),
                "running": tuple(sorted(running, key=lambda one: (one.grader_kind, one.model))),
            }
        )
