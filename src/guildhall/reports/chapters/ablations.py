"""Ablations as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.ablations import Ablation
from guildhall.reports.tables import csv_text, text_table
from guildhall.reports.words import points, points_interval, rate_name


def ablations_markdown(ablations: Sequence[Ablation]) -> list[str]:
    rows = [
        [
            one.title,
            one.who,
            *(f"{points(estimate)} ({points_interval(estimate)})" for estimate in one.difference.values()),
        ]
        for one in ablations
    ]
    header = ["change of one setting", "authors", *(rate_name(name) for name in ablations[0].difference)]
    words = "Changed minus base in points, paired by task: everything but the named setting is the same."
    return ["## What one setting does", "", words, "", *text_table(header, rows)]


def ablations_csv(ablations: Sequence[Ablation]) -> str:
    header = ["setting", "base", "base_level", "changed", "changed_level", "convention", "difference", "low", "high"]
    rows = [
        [
            one.setting,
            one.base,
            one.base_level,
            one.changed,
            one.changed_level,
            name,
            estimate.value,
            *(estimate.interval or ("", "")),
            estimate.n_tasks,
            estimate.why_no_interval or "",
        ]
        for one in ablations
        for name, estimate in one.difference.items()
    ]
    return csv_text([*header, "n_tasks", "why_no_interval"], rows)
