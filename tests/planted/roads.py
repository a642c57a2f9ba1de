"""Every road from a planted store to a number, and what the naive twin says in its place.

A road gives figures by name, `group / model / figure`. The twin gives the same names, so that a road that leaves a
figure out, or has one too many, is found out as one that counts otherwise.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import polars as pl
from starlette.testclient import TestClient

from guildhall.domain.estimates import Estimate
from guildhall.domain.halls import Member, Role
from guildhall.domain.report import Report
from guildhall.errors import GuildhallError
from guildhall.store.workspace import Workspace
from guildhall.study.accounting import accounts_of
from guildhall.study.boards import count_board
from guildhall.study.comparing import compare_reports
from guildhall.study.exports import exported
from guildhall.study.judging import grades_by
from guildhall.study.people import people_results
from guildhall.study.reporting import study_report
from guildhall.study.studies import OpenStudy
from guildhall.study.unblinding import shown_names
from guildhall.web.api.app import api_app
from guildhall.web.site import Addresses, Site
from tests.planted.ledger import PEOPLE, Planted, PlantedStudy, ranked
from tests.planted.naive import Figures, Row, by_rule, count, figures, groups_of, judgments_of, policy_of

Shown = dict[str, float]
COUNTS = ("wins", "ties", "losses")
RATES = ("win", "win_or_tie", "half_tie")
ALL = (*COUNTS, *RATES)


class Twin:
    """The naive twin's figures of one study, under the names roads give theirs."""

    def __init__(self, planted: Planted, study: PlantedStudy) -> None:
        self.planted, self.study = planted, study
        self.groups = ranked(groups_of(planted, study))
        self.people = [group for group in self.groups if group in (*PEOPLE, "simulated")]
        self.programs = [group for group in self.groups if group not in self.people]
        self._rows: dict[str, tuple[Row, ...]] = {}

    def rows(self, group: str) -> list[Row]:
        """What was judged, and what rules decide of work that left nothing to judge."""
        if group not in self._rows:
            given, policy = judgments_of(self.planted, self.study), policy_of(self.planted, self.study, group)
            judged = count(given, policy).rows
            self._rows[group] = (*judged, *by_rule(given, policy, judged))
        return list(self._rows[group])

    def shown(self, groups: Iterable[str], names: Iterable[str] = ALL, *, under: str | None = None) -> Shown:
        names = tuple(names)
        return {
            name: value
            for group in groups
            for name, value in _named(under or group, figures(self.rows(group)), names).items()
        }

    def leading(self, names: Iterable[str] = ALL) -> Shown:
        """What a report leads with."""
        return self.shown(self.groups[:1], names, under="leading")

    def own_wave(self, group: str) -> list[Row]:
        """A later wave's rows without its anchors, which tell of drift and of nothing else."""
        return [row for row in self.rows(group) if row.work not in self.study.anchors]

    def of_waves(self, shown: Shown) -> Shown:
        """The record on a later wave, with the earlier one where what is shown says that they are pooled."""
        found: Shown = {}
        for group in self.people:
            rows = self.own_wave(group)
            if pooled := any(name.startswith(f"{group}, pooled") for name in shown):
                rows += twin_of(self.planted, self.planted.first).rows(group)
            found |= _named(f"{group}{', pooled' if pooled else ''}", figures(rows), ALL)
        return found

    def n_rows(self) -> Shown:
        return {f"{group} / rows": sum(bool(row.judgment) for row in self.rows(group)) for group in self.programs}


@lru_cache(maxsize=64)
def twin_of(planted: Planted, study: PlantedStudy) -> Twin:
    """Counted once for all roads."""
    return Twin(planted, study)


def _named(group: str, by_model: Mapping[str, Figures], names: Iterable[str]) -> Shown:
    names = tuple(names)
    return {
        f"{group} / {model} / {name}": _plain(getattr(own, name)) for model, own in by_model.items() for name in names
    }


def _plain(value: Fraction | float | None) -> float:
    return float("nan") if value is None else round(float(value), 12)


def _record(group: str, model: str, record: object, names: Iterable[str] = ALL) -> Shown:
    """A record of any road: counts, and estimates by their values."""
    cells = {name: getattr(record, name) for name in names}
    values = {name: getattr(cell, "value", cell) for name, cell in cells.items()}
    return {f"{group} / {model} / {name}": _plain(value) for name, value in values.items()}


def by_report(workspace: Workspace, twin: Twin) -> Shown:
    """The headline of `guildhall report`, for the kind it leads with and for every other."""
    found: Shown = {}
    for group, graders in {"leading": None, **{group: group for group in twin.groups}}.items():
        found |= _records(group, study_report(workspace, twin.study.form, graders=graders))
    return found


def _records(group: str, report: Report) -> Shown:
    """The lines of a headline."""
    assert report.headline is not None
    found: Shown = {}
    names = [column.name for column in report.headline.columns]
    for row in report.headline.rows:
        cells: dict[str, Any] = dict(zip(names, row, strict=True))
        values = {name: getattr(cells[name], "value", cells[name]) for name in ALL}
        found |= {f"{group} / {cells['model']} / {name}": _plain(value) for name, value in values.items()}
    return found


def by_wave_report(workspace: Workspace, twin: Twin) -> Shown:
    """The headline on a later wave, which takes the earlier one in where their anchors allow it."""
    found: Shown = {}
    for group in twin.people:
        seen = study_report(workspace, twin.study.form, graders=group)
        pooled = any("is pooled with" in words for section in seen.sections for words in section.words)
        found |= _records(f"{group}{', pooled' if pooled else ''}", seen)
    return found


def by_board(workspace: Workspace, twin: Twin) -> Shown:
    """The running rates of the board."""
    board = count_board(workspace, twin.study.form, now=0.0)
    return {f"{one.grader_kind} / {one.model} / half_tie": _plain(one.estimate.value) for one in board.running}


def by_export(workspace: Workspace, twin: Twin) -> Shown:
    """What somebody finds who counts the rows of the exported CSV."""
    frame = pl.read_csv(io.BytesIO(exported(workspace, twin.study.form, "csv").content), infer_schema=False)
    names = {shown: model for model, shown in shown_names(workspace, twin.study.form).items()}
    rows = [
        Row(
            "",
            twin.study.pins[one["task"]],
            names[one["model"]],
            int(one["sample"]),
            "",
            "",
            int(2 * float(one["score"])),
        )
        for one in frame.iter_rows(named=True)
    ]
    return _named("leading", figures(rows), ALL)


def by_api(workspace: Workspace, twin: Twin) -> Shown:
    """The results a program is answered with."""
    site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"), clock=lambda: 0.0)
    manager = site.roster.invite(Member(id="m", code_name="m", role=Role.MANAGER), personal={})
    token = site.door.new_api_token(manager.id, name="t", scopes=["results:read"], now=0.0)
    client = TestClient(api_app(site))
    answer = client.get(f"/studies/{twin.study.id}/results", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    names = {shown: model for model, shown in shown_names(workspace, twin.study.form).items()}
    found: Shown = {}
    for one in answer.json()["headline"]:
        values = {name: one[name] if name in COUNTS else one[name]["value"] for name in ALL}
        found |= {f"leading / {names[one['model']]} / {name}": _plain(value) for name, value in values.items()}
    return found


def by_grade(workspace: Workspace, twin: Twin) -> Shown:
    """The rates `guildhall grade judge` prints of each grader that is a program."""
    study = OpenStudy.open(twin.study.file, workspace)
    found: Shown = {}
    for group in twin.programs:
        name = group.partition(":")[2]
        for one in grades_by(study, [name])[name]:
            found |= _record(group, one.model, one)
    return found


def by_account(workspace: Workspace, twin: Twin) -> Shown:
    """How many verdicts `guildhall grade account` rests on."""
    names = {group.partition(":")[2]: group for group in twin.programs}
    made = accounts_of(OpenStudy.open(twin.study.file, workspace), list(names)).accounts
    return {f"{names[one.grader]} / rows": one.coverage.verdicts - one.coverage.left_out_with_them for one in made}


def by_peer(workspace: Workspace, twin: Twin) -> Shown:
    """People's wins, ties and losses beside what models mark of the same deliverables."""
    found: Shown = {}
    for one in people_results(workspace, twin.study.form):
        found |= _record(one.kind, one.model, one, COUNTS)
    return found


def by_comparing(workspace: Workspace, twin: Twin) -> Shown:
    """The rates `report --compare` prints of a study; held against itself, nothing differs."""
    made = compare_reports((twin.study.id, twin.study.id), of_study=lambda _: study_report(workspace, twin.study.form))
    found: Shown = {}
    for one in made.models:
        assert one.first == one.second
        found |= {f"leading / {one.model} / {name}": _plain(_value(one.first[name])) for name in RATES}
    return found


def _value(estimate: Estimate) -> float | None:
    return estimate.value


Road = tuple[Callable[[Workspace, Twin], Shown], Callable[[Twin], Shown]]
ROADS: dict[str, Road] = {
    "report": (by_report, lambda twin: twin.shown(twin.groups) | twin.leading()),
    "board": (by_board, lambda twin: twin.shown(twin.people, ("half_tie",))),
    "export": (by_export, Twin.leading),
    "api": (by_api, Twin.leading),
    "compare": (by_comparing, lambda twin: twin.leading(RATES)),
    "grade": (by_grade, lambda twin: twin.shown(twin.programs)),
    "account": (by_account, Twin.n_rows),
    "peer": (by_peer, lambda twin: twin.shown(twin.people, COUNTS)),
}
"""What each road shows, and what the twin says it should show."""


def unlike_on_a_wave(planted: Planted) -> dict[str, tuple[float | None, float | None]]:
    """The same of the report on a later wave, by each kind of people."""
    twin = twin_of(planted, planted.studies[1])
    with Workspace.open(planted.workspace) as workspace:
        shown = by_wave_report(workspace, twin)
    return _differences(shown, twin.of_waves(shown))


def unlike(planted: Planted, road: str) -> dict[str, tuple[float | None, float | None]]:
    """Figures of the first study in which a road and the twin differ: what it shows, what the twin says.

    The twin has figures of every group that is asked for, so that a road which refuses differs too.
    """
    walk, wanted = ROADS[road]
    twin = twin_of(planted, planted.first)
    with Workspace.open(planted.workspace) as workspace:
        try:
            shown = walk(workspace, twin)
        except GuildhallError as refusal:
            return {f"refused: {refusal}": (None, None)}
    return _differences(shown, wanted(twin))


def _differences(shown: Shown, told: Shown) -> dict[str, tuple[float | None, float | None]]:
    both = sorted(shown.keys() | told.keys())
    return {name: (shown.get(name), told.get(name)) for name in both if shown.get(name) != told.get(name)}
