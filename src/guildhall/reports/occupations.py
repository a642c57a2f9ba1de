"""The selection of occupations as one page: the chosen, the others, and how much hangs on the thresholds."""

from __future__ import annotations

from collections import Counter

from guildhall.domain.occupations import LabelAgreement, Selection, Shift, Thresholds, Validation
from guildhall.reports.page import environment, inline
from guildhall.reports.plots.frame import Specification
from guildhall.reports.plots.occupations import content_scatter, content_strips, pay_bars, shift_plot
from guildhall.reports.svg import to_svg


def occupations_html(
    selection: Selection,
    shifts: tuple[Shift, ...],
    *,
    agreements: tuple[LabelAgreement, ...] = (),
    validation: Validation | None = None,
    not_validated: str = "",
) -> str:
    """The page; the same selection gives the same bytes. `not_validated` says why a validation is missing."""
    figures: dict[str, Specification] = {"pay": pay_bars(selection), "shifts": shift_plot(shifts, selection)}
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
            drawn={name: inline(to_svg(figure), name) for name, figure in figures.items()},
        )
    )


def moved(thresholds: Thresholds, base: Thresholds) -> str:
    """The one threshold that differs, in words."""
    if thresholds.digital_share != base.digital_share:
        return f"digital share at least {thresholds.digital_share:.2f}"
    if thresholds.gdp_share != base.gdp_share:
        return f"sectors of at least {thresholds.gdp_share:g} % of GDP"
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
