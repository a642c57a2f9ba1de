"""Reports that the first format wrote: read into a `Report`, so that they can still be shown and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GraderGroup, Policy, Rule
from guildhall.domain.report import CellValue, Column, Figure, Forest, Form, Report, ReportTable, Section, TaskRates

_AUTOMATIC = "automatic: "
_CONSTANTS = frozenset({"always-human", "always-tie", "rubric-and-format"})
_READ = TypeAdapter(Estimate)
Old = Mapping[str, Any]


def read_report(written: Any) -> Report:
    """The report of a JSON document, in whatever format it was written."""
    if not isinstance(written, Mapping):
        raise ValueError("not a report")
    if written.get("format") == 2:
        return Report.model_validate(written)
    try:
        return _first_format(written)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a report: {error}") from error


def _first_format(old: Old) -> Report:
    counts = dict(old["counts"])
    failures, surplus = counts.pop("failures"), counts.pop("surplus")
    left_out = dict.fromkeys(Rule, 0) | {Rule.NO_VERDICT: failures, Rule.SURPLUS: surplus}
    # It counted judgments without a verdict among all: what is left are those its figures rest on.
    rates = old.get("task_rates")
    return Report(
        study=old["study"],
        title=old["title"],
        design_digest=old["design_digest"],
        seed=old["seed"],
        policy=Policy(studies=(old["study"],), baseline=old["baseline"], graders=_group(old["grader_kind"])),
        left_out=left_out,
        counts=counts,
        warnings=("The graders of this study are simulated: these figures say nothing about any model.",)
        if old["simulated"]
        else (),
        sections=tuple(_sections(old)),
        task_rates=TaskRates.model_validate(rates) if rates else None,
        methods=tuple(old.get("methods", ())),
        notes=(*old.get("notes", ()), "Written by an earlier version, and shown as it was counted then."),
        version=old["version"],
    )


def _group(kind: str) -> GraderGroup:
    name = kind.removeprefix(_AUTOMATIC)
    if name == kind:
        return GraderGroup.parse(kind)
    return GraderGroup.parse(f"{'constant' if name in _CONSTANTS else 'judge'}:{name}")


def _sections(old: Old) -> Iterator[Section]:
    yield Section(name="headline", title="Headline", tables=(_headline(old["headline"]),))
    if old.get("breakdowns"):
        tables = tuple(map(_breakdown, old["breakdowns"]))
        yield Section(name="breakdowns", title="Breakdowns", tables=tables)
    for name, title, rows in _own_shapes(old):
        if rows:
            yield Section(name=name, title=title, tables=(_table(name, rows, "number"),))
    for group in old.get("groups", ()):
        rows = [(one["name"], _estimate(one["estimate"])) for one in group["figures"]]
        form: Form = "percent" if group["in_percent"] else "number"
        plot = Forest(title=group["title"], entries=tuple(rows), form=form)
        yield Section(
            name=group["name"],
            title=group["title"],
            words=(group["words"],),
            figures=(Figure(name=group["name"], says=group["title"], plot=plot),),
            tables=(_table(group["name"], rows, form),),
        )


def _headline(records: Sequence[Old]) -> ReportTable:
    names = ("win", "win_or_tie", "half_tie")
    ranked = sorted(records, key=lambda one: -(one["win_or_tie"]["value"] or 0))
    return ReportTable(
        name="headline",
        columns=(
            Column(name="model", title="model"),
            *(Column(name=name, title=name, form="count") for name in ("wins", "ties", "losses")),
            *(Column(name=name, title=name.replace("_", " "), form="percent") for name in names),
        ),
        rows=tuple(
            (one["model"], one["wins"], one["ties"], one["losses"], *(_estimate(one[name]) for name in names))
            for one in ranked
        ),
        long_form="convention",
    )


def _breakdown(old: Old) -> ReportTable:
    [by] = old["by"]
    return ReportTable(
        name=f"by-{by.replace('_', '-')}",
        title=old["title"],
        columns=(
            Column(name=by, title=by.replace("_", " ")),
            Column(name="model", title="model"),
            *(Column(name=name, title=name, form="count") for name in ("wins", "ties", "losses")),
            Column(name="pooled", title="pooled", form="percent"),
            Column(name="win_or_tie", title="win or tie", form="percent"),
        ),
        rows=tuple(
            (
                cell["levels"][by],
                cell["model"],
                cell["wins"],
                cell["ties"],
                cell["losses"],
                _estimate(cell["pooled"]) if cell["pooled"] else None,
                _estimate(cell["win_or_tie"]),
            )
            for cell in old["cells"]
        ),
        long_form="convention",
    )


def _own_shapes(old: Old) -> Iterator[tuple[str, str, list[tuple[str, Estimate]]]]:
    """Chapters that had a shape of their own, as plain figures."""
    trend = old.get("trend")
    yield "trend", "Trend over release dates", [("change a year", _estimate(trend["slope_per_year"]))] if trend else []
    yield (
        "ablations",
        "What one setting does",
        [
            (
                f"{one['setting']}: {one['base_level']} to {one['changed_level']} ({one['changed']}), {name}",
                _estimate(each),
            )
            for one in old.get("ablations", ())
            for name, each in one["difference"].items()
        ],
    )
    yield "savings", "Speed and cost", list(_savings((old.get("savings") or {}).get("models", ())))
    reasons = (old.get("reasons") or {}).get("shares", ())
    words = [(f"{one['model']}, {one['side']}: {one['label']}", _estimate(one["share"])) for one in reasons]
    yield "reasons", "Why work lost and won", words
    scores = [
        (f"{one['model']}, {name}, {one['against']}", _estimate(one[name]))
        for one in old.get("calibrations", ())
        for name in ("brier", "overconfidence")
    ]
    yield "calibration", "Stated confidence against outcomes", scores


def _savings(models: Sequence[Old]) -> Iterator[tuple[str, Estimate]]:
    for one in models:
        for currency in ("speed", "cost"):
            if found := one[currency]:
                tried = {f"try {n}": each for n, each in found["try_n"].items()}
                for name, ratio in {"naive": found["naive"], **tried, "limit": found["limit"]}.items():
                    yield f"{one['model']}, {currency}, {name}", _estimate(ratio)


def _table(name: str, rows: Sequence[tuple[str, CellValue]], form: Form) -> ReportTable:
    columns = (Column(name="figure", title="figure"), Column(name="estimate", title="estimate", form=form))
    return ReportTable(name=name, columns=columns, rows=tuple(rows))


def _estimate(written: Old) -> Estimate:
    try:
        return _READ.validate_python(written)
    except ValidationError as error:
        raise ValueError(f"not an estimate: {error.error_count()} faults") from error
