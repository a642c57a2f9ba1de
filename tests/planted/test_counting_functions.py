"""A number can be followed, by reading, from a report back to its judgments: few functions lie between.

The walk goes from a workspace to the page. Reading takes two (`read_evidence`, `read_verdicts`), whose judgments count
two (`count_groups`, `policies_of`), counting two (`count`, and `pairs_from` that makes columns of its rows), the rate
three (`spreads` how far it may be off, tasks and graders crossed, `rates_of` intervals, `win_rates` all three
conventions), the chapter one, the report one, the page four. What has no part in the cell is not on its way: of what
`report_of` makes beside the sections, the counts and the rates by task.

A property that hands on what a value holds, or keeps what it was once told, is read as a field; it is counted apart.
"""

from __future__ import annotations

import inspect
from functools import cached_property, reduce
from importlib import import_module

import numpy as np
import pytest

from guildhall.reports.chapters.headline import Headline
from guildhall.reports.page import html_page
from guildhall.reports.reporting import report_of
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from tests.planted.counting_functions import functions_that_carry
from tests.planted.store import Shape, planted_store

TO_THE_CELL = 10
TO_THE_PAGE = 15
OTHER_CELLS = {
    "analysis.paired.rates_by_task": "each task's own rate, for whoever compares two reports",
    "reports.reporting.counts_of": "the tiles at the head of a page",
    "reports.chapters.headline.explored": "rates of each level of a breakdown, for readers who choose",
    "reports.reporting.answer_of": "the answer in words on the first screen",
    "reports.reporting._leader": "the sentence on a model in that answer",
    "reports.page._rests": "what a rate that readers choose rests on",
    "reports.page._difference": "a gap between two models that readers choose",
}
"""What takes evidence or an estimate on the way, and what it makes of it instead of a headline cell."""


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """A study of the demo's size, two authors, one sample, pairs: to the section with the cell, and to the page."""
    planted = planted_store(0, tmp_path_factory.mktemp("planted"), shape=Shape(tasks=9, models=2, samples=1))
    with Workspace.open(planted.workspace) as workspace:

        def cell():
            return Headline().section(read_evidence(workspace, planted.first.form, needs=()))

        def page():
            evidence = read_evidence(workspace, planted.first.form, needs=())
            report = report_of(evidence, chapters=(Headline(),))
            return html_page(report, {figure.name: "<svg/>" for figure in report.sections[0].figures})

        return functions_that_carry(cell), functions_that_carry(page, elsewhere=OTHER_CELLS)


def is_property(name: str) -> bool:
    """Whether `package.module.Class.name` is read as a field of its class."""
    module, _, qualified = name.partition(".")
    parts = ["guildhall", module, *qualified.split(".")]
    for cut in range(len(parts) - 1, 1, -1):
        try:
            owner = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        found = reduce(inspect.getattr_static, parts[cut:], owner) if "<locals>" not in parts else None
        return isinstance(found, property | cached_property)
    return False


def test_a_headline_cell_passes_through_few_functions(walks):
    cell, _ = walks
    functions = sorted(name for name in cell if not is_property(name))
    assert len(functions) <= TO_THE_CELL, f"{len(functions)} functions, {len(cell)} with properties: {functions}"


def test_from_a_workspace_to_the_page_few_functions_lie_between(walks):
    _, page = walks
    on_its_way = page - OTHER_CELLS.keys()
    functions = sorted(name for name in on_its_way if not is_property(name))
    assert len(functions) <= TO_THE_PAGE, f"{len(functions)} functions, {len(on_its_way)} with properties: {functions}"


def test_what_is_said_to_lead_elsewhere_is_really_met(walks):
    """An exception nobody needs would hide the next function of that name."""
    _, page = walks
    assert page >= OTHER_CELLS.keys()


def test_properties_are_told_from_functions(walks):
    cell, _ = walks
    assert {name for name in cell if is_property(name)} == {
        "analysis.counting.Counted.by_rule",
        "analysis.counting.Counted.outcomes",
        "analysis.crossed.Crossing.expected",
        "analysis.evidence.Evidence.models",
        "analysis.evidence.Evidence.rates",
        "analysis.pairs.Pairs.outcomes",
    }
    assert not is_property("analysis.pairs.Pairs.keep")


def test_the_count_sees_what_hands_rows_or_estimates_on(walks):
    """A trace that saw nothing would pass any bound."""
    cell, page = walks
    assert "analysis.counting.count" in cell <= page
    assert functions_that_carry(lambda: np.zeros(3).sum()) == set()
