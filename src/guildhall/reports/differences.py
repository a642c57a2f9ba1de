"""Two reports side by side, as a page, as Markdown and as JSON."""

from __future__ import annotations

import json

from guildhall.domain.differences import StudyDifference
from guildhall.reports.page import environment, inline
from guildhall.reports.plots.differences import difference_forest
from guildhall.reports.plots.frame import to_svg
from guildhall.reports.tables import text_table
from guildhall.reports.words import basis, interval_percent, percent, points, points_interval, rate_name


def difference_html(found: StudyDifference) -> str:
    drawn = inline(to_svg(difference_forest(found)), "differences") if found.models else ""
    return environment().get_template("difference.html").render(found=found, drawn=drawn)


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
    header = ["model", "against", "rate", found.first.study, found.second.study, "difference", "rests on"]
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
            *(f"{percent(side[name].value)} ({interval_percent(side[name])})" for side in (one.first, one.second)),
            f"{points(estimate)} ({points_interval(estimate)})",
            basis(estimate),
        ]
        for one in found.models
        for name, estimate in one.difference.items()
    ]
