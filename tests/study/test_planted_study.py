"""The short form of the proof reports-planted-study: a few planted studies, every interval of their reports."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from proofs._examining import Seen, p_value, records_of
from proofs._planted_intervals import BOUNDS, intervals_of
from proofs._planted_store import check, store_world
from proofs._planted_study import Desk, report_of_run, seen_in_run
from proofs._planted_truths import truths_of
from proofs._planted_world import draw_world, rates_of
from proofs.simulator import CELLS

from guildhall.domain.estimates import Estimate
from guildhall.domain.report import CellValue, ReportTable
from guildhall.store.verdicts import unlike_rebuild

SMALL = (2, 6)
"""Cells of 30 tasks with neither rare wins nor rare losses."""
ROUNDS = 5


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    return Desk(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def truths():
    return {cell: truths_of(CELLS[cell], tasks=4000) for cell in SMALL}


@pytest.fixture(scope="module")
def reports(desk):
    return {run: report_of_run(desk, run) for cell in SMALL for run in range(cell, ROUNDS * len(CELLS), len(CELLS))}


def test_no_interval_of_a_report_is_far_from_what_it_claims(reports, truths):
    seen: dict[str, list[tuple[int, Seen]]] = {}
    for run, report in reports.items():
        for one in seen_in_run(report, truths[run % len(CELLS)], run):
            seen.setdefault(one.interval, []).append((run % len(CELLS), one))
    for interval, rows in seen.items():
        assert any(one.held is not None for _, one in rows), f"no report shows {interval}"
        for record in records_of(interval, rows):
            assert p_value(record) > 1e-6, f"{record.interval}: {record.held} of {record.n}"


def test_over_all_their_intervals_reports_hold_about_nineteen_truths_in_twenty(reports, truths):
    held: Counter[bool] = Counter()
    for run, report in reports.items():
        planted = truths[run % len(CELLS)]
        for address, given in intervals_of(report).items():
            if given.interval is not None:
                held[given.interval[0] <= planted[address].truth <= given.interval[1]] += 1
    assert held.total() > 400 * len(reports)
    assert 0.93 < held[True] / held.total() < 0.99


def test_an_interval_without_a_planted_truth_is_a_defect(reports, truths):
    run, report = next(iter(reports.items()))
    fewer = {address: one for address, one in truths[run].items() if address != "headline / headline / alpha / win"}
    with pytest.raises(AssertionError, match="headline / headline / alpha / win"):
        list(seen_in_run(report, fewer, run))


def test_a_report_that_told_another_rate_would_be_found_out(reports, truths):
    seen: dict[str, list[tuple[int, Seen]]] = {}
    for run, report in reports.items():
        planted = truths[run % len(CELLS)]
        wrong = {address: one._replace(truth=one.truth + 0.35) for address, one in planted.items()}
        for one in seen_in_run(report, wrong, run):
            seen.setdefault(one.interval, []).append((run % len(CELLS), one))
    assert min(p_value(record) for record in records_of("headline, win", seen["headline, win"])) < 1e-3


def test_what_the_walk_finds_is_every_pair_of_ends_in_the_tables_of_the_report(reports):
    report = next(iter(reports.values()))
    tables = [table for section in report.sections for table in section.tables]
    written = sum(table.model_dump_json().count('"interval":[') for table in tables)
    bands = sum(cell is not None for table in tables for name, cell in _cells(table) if name == "band_high")
    cells = (cell for table in tables for name, cell in _cells(table) if name in BOUNDS)
    bounds = sum(isinstance(cell, Estimate) and cell.interval is not None for cell in cells)
    assert sum(one.interval is not None for one in intervals_of(report).values()) == written + bands - bounds
    assert bands > 50


def _cells(table: ReportTable) -> list[tuple[str, CellValue]]:
    return [(column.name, cell) for row in table.rows for column, cell in zip(table.columns, row, strict=True)]


def test_an_estimate_that_stands_in_a_figure_alone_is_a_defect(reports):
    report = next(iter(reports.values()))
    section = report.section("headline")
    told = section.table("headline")
    bare = section.but(tables=(told.but(rows=told.rows[1:]),))
    with pytest.raises(AssertionError, match="figure win-or-tie of headline shows what no table holds"):
        intervals_of(report.but(sections=(bare,)))


def test_the_store_holds_what_the_domain_would_have_written(desk):
    world = draw_world(CELLS[6], np.random.default_rng(5))
    with desk.workspace() as workspace:
        store_world(workspace.store, world)
        assert check(workspace.store, every=5) > 100
        assert not list(unlike_rebuild(workspace.store))


def test_the_same_run_gives_the_same_report(desk, reports):
    assert report_of_run(desk, SMALL[0]) == reports[SMALL[0]]


def test_models_win_as_often_as_was_planted():
    cell = CELLS[6]
    world = draw_world(cell, np.random.default_rng(1), n_tasks=20_000)
    for model, rate in enumerate(rates_of(cell)):
        mine = ~world.grades.anchor & (world.works.model[world.grades.work] == model)
        assert (world.grades.halves[mine] == 2).mean() == pytest.approx((1 - cell.ties) * rate, abs=0.01)
