"""Faults of form in delivered files, as the document checks found them: per model and file type."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np

from guildhall.analysis.shares import clustered_share
from guildhall.domain.findings import Figure, FigureGroup
from guildhall.domain.prepared import Prepared
from guildhall.store.fields import read_fields
from guildhall.study.evidence import Evidence, codes, figure

ANY = "any finding"
MOST_RULES = 6
"""So many rules, those most often broken, have a figure of their own for each model."""


def chapter(evidence: Evidence) -> FigureGroup | None:
    """Shares of files with at least one finding, clustered by task; None where no file was checked."""
    files = _checked_files(evidence)
    if not files:
        return None
    by_model: dict[tuple[str, str], list[tuple[str, frozenset[str]]]] = defaultdict(list)
    broken: dict[str, int] = defaultdict(int)
    for model, task, ending, rules in files:
        by_model[model, ending].append((task, rules))
        for rule in rules:
            broken[rule] += 1
    groups = sorted(by_model.items())
    figures = [_share(f"{model}: {ending} files", ANY, own) for (model, ending), own in groups]
    for rule in sorted(broken, key=lambda name: (-broken[name], name))[:MOST_RULES]:
        figures += [
            _share(f"{model}: {ending} files", rule, own)
            for (model, ending), own in groups
            if any(rule in rules for _, rules in own)
        ]
    words = (
        "Shares of delivered files in which a program found a fault of form: cut or overlapping text, missing glyphs, "
        "empty pages, broken formulas and the like. Each file counts once, however many faults it has."
    )
    return FigureGroup(name="formatting", title="Faults of form", words=words, figures=tuple(figures))


def _share(whose: str, rule: str, own: list[tuple[str, frozenset[str]]]) -> Figure:
    hit = np.array([bool(rules) if rule == ANY else rule in rules for _, rules in own])
    name = f"{whose} with {rule}"
    return figure(name, clustered_share(hit, codes([task for task, _ in own]), what=f"share of {name}"))


def _checked_files(evidence: Evidence) -> list[tuple[str, str, str, frozenset[str]]]:
    """(Model, task, file ending, rules broken) for each file of the works that were judged, newest check first."""
    rows = evidence.rows
    works, first = np.unique(rows.submission.codes, return_index=True)
    place = {rows.submission.names[work]: at for work, at in zip(works.tolist(), first.tolist(), strict=True)}
    found: dict[str, str] = {}
    fields = {"files": (str, "files")}
    for chunk in read_fields(evidence.workspace.store, Prepared, fields, columns=("subject",)):
        found.update((subject, files) for subject, files in zip(*chunk.values(), strict=True) if subject in place)
    return [
        (
            rows.model.names[rows.model.codes[place[subject]]],
            rows.task.names[rows.task.codes[place[subject]]],
            str(file["ending"]),
            frozenset(rule for rule, times in file["findings"].items() if times),
        )
        for subject, files in found.items()
        for file in json.loads(files)
    ]
