"""Two reports side by side, as a page, as Markdown and as JSON."""

from __future__ import annotations

import json

from guildhall.domain.differences import StudyDifference
from guildhall.domain.report import Forest
from guildhall.reports.number_format import basis, rate_name, shown
from guildhall.reports.page import environment, inline
from guildhall.reports.plots import specification
from guildhall.reports.svg import to_svg
from guildhall.reports.tables import text_table


def difference_plot(found: StudyDifference) -> Forest:
    """Win-or-tie differences of two reports, one line a model."""
    entries = [
        (one.model if one.model == one.against else f"{one.model} against {one.against}", one.difference["win_or_tie"])
        for one in found.models
    ]
    title = f"Win or tie: {found.second.study} minus {found.first.study}, paired by task"
    return Forest(title=title, entries=tuple(entries), form="points")


def difference_html(found: StudyDifference) -> str:
    drawn = inline(to_svg(specification(difference_plot(found))), "differences") if found.models else ""
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
            *(shown(side[name], "percent").line for side in (one.first, one.second)),
            shown(estimate, "points").line,
            basis(estimate),
        ]
        for one in found.models
        for name, estimate in one.difference.items()
    ]
