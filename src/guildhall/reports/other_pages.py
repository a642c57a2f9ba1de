"""Pages beside the report of a study: two reports side by side, speed and cost from tables, the selection of
occupations.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from guildhall import __version__
from guildhall.analysis.savings_files import SpeedAndCost
from guildhall.domain.differences import ModelDifference, StudyDifference
from guildhall.domain.occupations import LabelAgreement, Selection, Shift, Thresholds, Validation
from guildhall.domain.report import Forest
from guildhall.reports.chapters.savings import savings_section
from guildhall.reports.number_format import basis, rate_name, shown
from guildhall.reports.page import environment, inline
from guildhall.reports.plots import svg_of
from guildhall.reports.plots.occupations import content_scatter, content_strips, pay_bars, shift_plot
from guildhall.reports.text import text_table


def difference_plot(found: StudyDifference) -> Forest:
    """Win-or-tie differences of two reports, one line a model."""
    entries = [
        (one.model if one.model == one.against else f"{one.model} against {one.against}", one.difference["win_or_tie"])
        for one in found.models
    ]
    title = f"Win or tie: {found.second.study} minus {found.first.study}, paired by task"
    return Forest(title=title, entries=tuple(entries), form="points")


def difference_html(found: StudyDifference) -> str:
    drawn = inline(svg_of(difference_plot(found))) if found.models else ""
    return environment().get_template("difference.html").render(found=found, drawn=drawn)


def registration_html(made: Mapping[str, object]) -> str:
    """The page of a study's registration."""
    return environment().get_template("registration.html").render(made=made)


def difference_json(found: StudyDifference) -> str:
    return json.dumps(found.model_dump(mode="json") | {"passed": found.passed}, indent=2, ensure_ascii=False) + "\n"


def difference_markdown(found: StudyDifference) -> str:
    lines = [
        f"# {found.second.title} against {found.first.title}",
        "",
        f"Second minus first, paired over {found.tasks_shared} shared tasks; models against the {found.baseline}, "
        f"judged blind by {found.first.grader_kind} graders.",
        "",
    ]
    if found.first.simulated:
        lines += ["**The graders of these studies are simulated: these figures say nothing about any model.**", ""]
    if found.gate:
        rows = [[f"`{one.condition}`", one.model, one.outcome, one.words] for one in found.gate]
        lines += [f"## The gate {'is open' if found.passed else 'is shut'}", ""]
        lines += text_table(["condition", "model", "outcome", "because"], rows)
    lines += ["## Differences in points", ""]
    header = ["model", "against", "rate", found.first.study, found.second.study, "difference", "could see", "rests on"]
    lines += text_table(header, _rows(found))
    for side, names in ((found.first, found.only_first), (found.second, found.only_second)):
        lines += [f"Only in {side.study}: {', '.join(names)}.", ""] if names else []
    return "\n".join(lines).rstrip() + "\n"


def _rows(found: StudyDifference) -> list[list[str]]:
    return [
        [
            one.model,
            one.against,
            rate_name(name),
            *(shown(side[name], "percent").line for side in (one.first, one.second)),
            shown(estimate, "points").line,
            _could_see(one, name),
            basis(estimate),
        ]
        for one in found.models
        for name, estimate in one.difference.items()
    ]


def _could_see(one: ModelDifference, name: str) -> str:
    """The smallest difference that would show four times out of five, in points."""
    least = one.could_see.get(name)
    return "" if least is None else f"{100 * least:.1f}"


def savings_page(found: SpeedAndCost, *, title: str, seed: int = 0) -> str:
    """One self-contained page; hours that no expert stated are announced at its top."""
    section = savings_section(found)
    figures = section.figures if section is not None else ()
    return (
        environment()
        .get_template("savings.html")
        .render(
            section=section,
            found=found,
            drawn={one.name: inline(svg_of(one.plot)) for one in figures},
            title=title,
            estimated="estimate" in found.hours_by,
            version=__version__,
            seed=seed,
        )
    )


def occupations_html(
    selection: Selection,
    shifts: tuple[Shift, ...],
    *,
    agreements: tuple[LabelAgreement, ...] = (),
    validation: Validation | None = None,
    not_validated: str = "",
) -> str:
    """The page; the same selection gives the same bytes. `not_validated` says why a validation is missing."""
    figures = {"pay": pay_bars(selection), "shifts": shift_plot(shifts, selection)}
    if validation is not None:
        figures |= {"scatter": content_scatter(validation), "strips": content_strips(validation)}
    return (
        environment()
        .get_template("occupations.html")
        .render(
            found=selection,
            reasons=_reasons(selection),
            shifts=[(moved(one.thresholds, selection.thresholds), one) for one in shifts],
            agreements=agreements,
            validation=validation,
            not_validated=not_validated,
            drawn={name: inline(svg) for name, svg in figures.items()},
        )
    )


def moved(thresholds: Thresholds, base: Thresholds) -> str:
    """The one threshold that differs, in words."""
    if thresholds.digital_share != base.digital_share:
        return f"digital share at least {thresholds.digital_share:.2f}"
    if thresholds.gdp_share != base.gdp_share:
        return f"sectors of more than {thresholds.gdp_share:g} % of GDP"
    return f"{thresholds.per_sector} a sector"


def _reasons(selection: Selection) -> list[tuple[str, int]]:
    """Kinds of verdict on those not chosen, most frequent first; figures within a verdict do not make a kind."""
    kinds = Counter(_kind(one.verdict) for one in selection.occupations if one.verdict != "selected")
    kinds["a catch-all, “All Other”"] = len(selection.catch_alls)
    return kinds.most_common()


def _kind(verdict: str) -> str:
    if verdict.startswith("works mostly in sector"):
        return "works mostly in a sector under the GDP threshold"
    if verdict.startswith("digital share"):
        return "digital share under the threshold"
    if verdict.startswith("digital, but"):
        return "digital, but not among the best paid of its sector"
    return verdict
