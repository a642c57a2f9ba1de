"""Faults of form in delivered files, as the document checks found them: per model and file type."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

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
    files = _by_model_and_type(evidence)
    if not files:
        return None
    words = (
        "Shares of delivered files in which a program found a fault of form: cut or overlapping text, missing glyphs, "
        "empty pages, broken formulas and the like. Each file counts once, however many faults it has."
    )
    figures = tuple(_share(whose, ANY, own) for whose, own in files.items())
    return FigureGroup(
        name="formatting", title="Files with a fault of form", words=words, figures=figures, in_percent=True
    )


def by_rule(evidence: Evidence) -> FigureGroup | None:
    """Which faults they are: the rules most often broken, for each model and file type that broke them."""
    files = _by_model_and_type(evidence)
    broken = Counter(rule for own in files.values() for _, rules in own for rule in rules)
    common = sorted(broken, key=lambda rule: (-broken[rule], rule))[:MOST_RULES]
    figures = tuple(
        _share(whose, rule, own)
        for rule in common
        for whose, own in files.items()
        if any(rule in rules for _, rules in own)
    )
    if not figures:
        return None
    words = f"The {len(common)} faults found most often, as shares of the files of each model and type that show them."
    return FigureGroup(
        name="formatting-rules", title="Which faults of form", words=words, figures=figures, in_percent=True
    )


def _by_model_and_type(evidence: Evidence) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """(Task, rules broken) of every file, by whose it is and what it is."""
    files: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for model, task, ending, rules in sorted(_checked_files(evidence), key=lambda file: (file[0], file[2])):
        files[f"{model}: {ending} files"].append((task, rules))
    return files


def _share(whose: str, rule: str, own: list[tuple[str, frozenset[str]]]) -> Figure:
    hit = np.array([bool(rules) if rule == ANY else rule in rules for _, rules in own])
    name = whose if rule == ANY else f"{rule.replace('-', ' ')}, {whose}"
    found = clustered_share(hit, codes([task for task, _ in own]), what=f"share of {whose} with {rule}")
    return figure(name, replace(found, n_judgments=None, n_samples=len(own), unit="file"))


def _checked_files(evidence: Evidence) -> list[tuple[str, str, str, frozenset[str]]]:
    """(Model, task, file ending, rules broken) for each file of the works that were judged, newest check first."""
    rows = evidence.rows
    works, first, _ = rows.deliverables
    place = {rows.submission.names[work]: at for work, at in zip(works.tolist(), first.tolist(), strict=True)}
    found: dict[str, list[dict[str, Any]]] = {}
    fields = {"files": (list, "files")}
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
        for file in files
    ]
