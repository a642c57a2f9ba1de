"""A report as a value: sections of words, tables and figures, from which every format is written.

An estimate stands in a table's cell as it is, and the column says how it is to be read. So page, Markdown, JSON,
workbook, CSV and API cannot tell different numbers: they write the same cells.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import Policy, Rule
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import Digest, Id, Value

Form = Literal["text", "count", "percent", "points", "times", "number", "dollars", "grade", "date"]
"""How a column is read: shares in per cent, differences of shares in points, ratios as times, marks as letters."""
CellValue = int | float | str | Estimate | None
"""What a cell holds: no number is kept as text. A date is kept as text, year first."""


class Column(Value):
    """`name` is for programs (CSV, JSON, `--where`), `title` for people."""

    name: Id
    title: str
    form: Form = "text"


class ReportTable(Value):
    """Rows of cells. `traced`: each row rests on the judgments in which the columns named like theirs hold its words.

    `long_form` names the column of the CSV that tells a row's estimates apart. A table that is `folded` stands behind
    its figure until it is asked for.
    """

    name: Id
    title: str = ""
    columns: tuple[Column, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    words: tuple[str, ...] = ()
    """What is to be said below it: why cells are empty, what was left out."""
    traced: bool = False
    folded: bool = False
    long_form: str = "estimate"

    @model_validator(mode="after")
    def _rows_fill_the_columns(self) -> ReportTable:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of table {self.name!r} has not one cell for each column")
        return self


class Forest(Value):
    """Estimates with their intervals, one under the other. `signed`: differences, better or worse than nothing."""

    kind: Literal["forest"] = "forest"
    title: str
    subtitle: tuple[str, ...] = ()
    entries: tuple[tuple[str, Estimate], ...]
    form: Literal["percent", "number", "points"] = "number"
    reference: float | None = None


class HeatMap(Value):
    """Cells by row and column, each with its words; columns and rows stand in the order given."""

    kind: Literal["heat map"] = "heat map"
    title: str
    subtitle: tuple[str, ...] = ()
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, str, float | None, str], ...]
    """Row, column, value from 0 to 1, and what stands in the cell."""


class Bars(Value):
    """Stacked shares, a bar a row: what each part is called, and how many of each every row has."""

    kind: Literal["bars"] = "bars"
    title: str
    subtitle: tuple[str, ...] = ()
    parts: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


class BarPanel(Value):
    """Bars with intervals: a label, whose it is, and the share."""

    title: str
    bars: tuple[tuple[str, str, Estimate], ...]


class BarPanels(Value):
    """Bars with intervals side by side in panels; the commonest label stands on top in all of them."""

    kind: Literal["bar panels"] = "bar panels"
    title: str
    subtitle: tuple[str, ...] = ()
    panels: tuple[BarPanel, ...]


class CurvePoint(Value):
    """Where a curve passes; without an interval when there is none."""

    x: float
    y: Estimate


class Curve(Value):
    name: str
    points: tuple[CurvePoint, ...]


class CurvePanel(Value):
    """Curves on one pair of axes. `reference` is a height that means nothing gained."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    reference: float | None = None


class Lines(Value):
    """Curves in panels. `diagonal`: both axes are shares, and on the line between the corners claims come true."""

    kind: Literal["lines"] = "lines"
    title: str
    subtitle: tuple[str, ...] = ()
    panels: tuple[CurvePanel, ...]
    diagonal: bool = False


class DatedPoint(Value):
    """One model on the day it was released."""

    name: str
    day: date
    rate: Estimate


class Timeline(Value):
    """Points by date, the line through them, and the band of that line."""

    kind: Literal["timeline"] = "timeline"
    title: str
    subtitle: tuple[str, ...] = ()
    points: tuple[DatedPoint, ...]
    line: tuple[tuple[date, Estimate], ...] = ()


Plot = Annotated[Forest | HeatMap | Bars | BarPanels | Lines | Timeline, Field(discriminator="kind")]
"""A figure as plain data: whoever draws it needs nothing else."""


class Figure(Value):
    """A plot with the name of its file; `says` is read to whoever cannot see it."""

    name: Id
    says: str
    plot: Plot


WARNING = "Warning: "
"""How words begin that a page shows in red: they belong in the same breath as the figures beside them."""


class Quotation(Value):
    """Somebody's own words, what they are filed under, and where they come from."""

    under: str
    words: str
    source: str


class Section(Value):
    """One chapter of a report: what is said, the figures, the tables. `exploratory`: no plan foresaw it."""

    name: Id
    title: str
    words: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    exploratory: bool = False

    def table(self, name: str) -> ReportTable:
        return next(table for table in self.tables if table.name == name)


class RunReport(Value):
    """Everything a report of a Boswell run says; `words` tell of what run it is, and by which formulas."""

    format: Literal[1] = 1
    run: Id
    title: str
    words: tuple[str, ...]
    sections: tuple[Section, ...]
    version: str


class GraderErrors(Value):
    """What graders add to the variance of one rate, and what it takes to say so of a difference between two.

    `added` goes on top of what tasks say; `of_graders` has their degrees of freedom. `noise` is what of the squares of
    the `errors` is not theirs, and `scale` makes of the rest what they add.
    """

    added: float
    of_graders: float
    noise: float
    scale: float


class GradersOfModel(Value):
    """The graders of one model's work. `errors` has an entry for each of `TaskRates.graders`, in shares of the rate."""

    number: int
    effective: float
    df: float
    like_these: bool
    unnamed: float
    parts: dict[str, GraderErrors]
    errors: dict[str, tuple[float, ...]]

    def errors_of(self, convention: str) -> tuple[float, ...]:
        if convention != "half_tie":
            return self.errors[convention]
        return tuple(0.5 * (one + other) for one, other in zip(*self.errors.values(), strict=True))


class TaskRates(Value):
    """Each task's own rates by model, from which two reports are compared paired by task.

    `tasks` are keys with their version: a task that was changed is another task. Each model has one entry for each
    task, absent where the model was not judged on it.
    """

    tasks: tuple[TaskKey, ...]
    win: dict[str, tuple[float | None, ...]]
    win_or_tie: dict[str, tuple[float | None, ...]]
    graders: tuple[str, ...] = ()
    """Digests of the graders' code names: the same person in two reports has the same one."""
    of_graders: dict[str, GradersOfModel] = {}
    """By model; reports of earlier versions do not say."""

    def of(self, model: str, convention: str) -> dict[str, float]:
        """Task -> the model's mean there, for `win`, `win_or_tie` or `half_tie`."""
        rates = zip(self.tasks, self.win[model], self.win_or_tie[model], strict=True)
        known = {task: (win, either) for task, win, either in rates if win is not None and either is not None}
        share_of_ties = {"win": 0.0, "win_or_tie": 1.0, "half_tie": 0.5}[convention]
        return {task: win + share_of_ties * (either - win) for task, (win, either) in known.items()}


class ReportAnswer(Value):
    """The first screen: what is answered, how far the study is, what it rests on, what to keep in mind."""

    words: tuple[str, ...]
    """The first sentence is the answer."""
    state: Literal["rehearsal", "running", "final"]
    done: float | None = None
    """The share of the planned gradings that is done; None where nobody planned how many."""
    departures: int = 0
    """How often the plan was departed from."""
    dated: date | None = None
    """The day of the last counted judgment."""
    rests_on: tuple[str, ...] = ()
    caveat: str = ""


class Report(Value):
    """Everything a report says. `warnings`, of a rehearsal say, stand first on every page and in every file."""

    format: Literal[2] = 2
    study: Id
    title: str
    design_digest: Digest | str
    seed: int
    policy: Policy
    left_out: dict[Rule, int]
    """Judgments that each rule left out; with those that are counted they are all there are."""
    counts: dict[str, int]
    """Tasks, submissions, comparisons, judgments and parts not shown, both denominators of every figure."""
    warnings: tuple[str, ...] = ()
    conclusions: tuple[str, ...] = ()
    answer: ReportAnswer | None = None
    """None in reports that earlier versions wrote."""
    sections: tuple[Section, ...]
    explored: tuple[ReportTable, ...] = ()
    """What readers may ask for beside the chapters: each model, and each two, in each level of each breakdown."""
    task_rates: TaskRates | None = None
    methods: tuple[str, ...] = ()
    planned_and_done: tuple[str, ...] = ()
    """The plan of analysis as it was frozen, and what was done otherwise."""
    notes: tuple[str, ...] = ()
    version: str

    @property
    def headline(self) -> ReportTable | None:
        """The table of models."""
        section = self.section("headline")
        return None if section is None else section.table("headline")

    @property
    def models(self) -> tuple[str, ...]:
        """The best first, in the order of every table and with the colours of every figure."""
        return () if self.headline is None else tuple(str(row[0]) for row in self.headline.rows)

    @property
    def rates(self) -> dict[str, dict[str, Estimate]]:
        """Model -> convention -> rate, as the headline tells them, the best first."""
        table = self.headline
        if table is None:
            return {}
        names = [column.name for column in table.columns]
        return {
            str(row[0]): {name: cell for name, cell in zip(names, row, strict=True) if isinstance(cell, Estimate)}
            for row in table.rows
        }

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)
