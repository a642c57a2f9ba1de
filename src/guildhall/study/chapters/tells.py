"""Results with and without the pairs whose files still hint at who made them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.win_rates import WinRate, win_rates
from guildhall.domain.findings import Figure, FigureGroup
from guildhall.domain.prepared import Prepared
from guildhall.domain.submissions import Submission
from guildhall.store.fields import JsonText, read_fields
from guildhall.study.evidence import Evidence, figure
from guildhall.study.works import author_name


def chapter(evidence: Evidence) -> FigureGroup | None:
    """Win or tie over all pairs and over those without a tell; None where no file that was shown carries one."""
    told = _carry_tells(evidence)
    if not told.any():
        return None
    every, clean = evidence.outcomes, evidence.rows.keep(~told)
    without = {rate.model: rate for rate in win_rates(clean.outcomes())} if len(clean) else {}
    figures: list[Figure] = []
    for rate in win_rates(every):
        figures.append(_figure(f"{rate.model}: all pairs", rate))
        if rate.model in without:
            figures.append(_figure(f"{rate.model}: without tells", without[rate.model]))
    words = (
        f"Scrubbed files may still hint at their maker: {int(told.sum())} of {len(told)} judged pairs hold such a tell "
        "on one side or the other. Win or tie with and without them. Tells do not fall at random, so this describes "
        "and does not correct."
    )
    return FigureGroup(
        name="tells", title="With and without tells", words=words, figures=tuple(figures), in_percent=True
    )


def _figure(name: str, rate: WinRate) -> Figure:
    return figure(name, rate.win_or_tie)


def _carry_tells(evidence: Evidence) -> NDArray[np.bool_]:
    """For each row whether its own work or the baseline's on the same task carries a tell."""
    rows, telling = evidence.rows, _telling(evidence)
    if not telling:
        return np.zeros(len(rows), dtype=np.bool_)
    own = np.array([name in telling for name in rows.submission.names], dtype=np.bool_)
    baselines = _tasks_of(evidence, telling)
    base = np.array([name in baselines for name in rows.task.names], dtype=np.bool_)
    return np.asarray(own[rows.submission.codes] | base[rows.task.codes])


def _telling(evidence: Evidence) -> set[str]:
    """Digests of the work in which something was found, in its words or in a file; the newest look counts."""
    found: dict[str, bool] = {}
    fields = {"tells": (list, "tells"), "files": (list, "files")}
    for chunk in read_fields(evidence.workspace.store, Prepared, fields, columns=("subject",)):
        found.update(
            (subject, bool(tells) or any(file["tells"] for file in files))
            for subject, tells, files in zip(*chunk.values(), strict=True)
        )
    return {subject for subject, tells in found.items() if tells}


def _tasks_of(evidence: Evidence, telling: set[str]) -> set[str]:
    """Tasks on which the baseline's own work carries a tell."""
    tasks = set()
    for chunk in read_fields(
        evidence.workspace.store, Submission, {"author": (JsonText, "author")}, columns=("key", "task")
    ):
        for key, task, author in zip(chunk["key"], chunk["task"], chunk["author"], strict=True):
            if key in telling and author_name(author) == evidence.baseline:
                tasks.add(task)
    return tasks
