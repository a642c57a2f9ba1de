"""The pages of a release: what it is, what readers should know beforehand, and under which licence it comes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from guildhall.domain.tasks import Task
from guildhall.domain.values import Id, Line, Value

_ADDRESS = re.compile(r"https?://([\w.-]+)")
_MARK = re.compile(r"([A-Z][\w&-]*)\s?[®™]")


class Licence(Value):
    """Under which terms a release comes: a text of one's own, or a known licence by its name."""

    name: Line = "CC-BY-4.0"
    holder: Line = "the contributors"
    text: str | None = None


KNOWN_LICENCES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
}
"""SPDX name -> where its full text stands."""


def licence_page(licence: Licence) -> str:
    if licence.text is not None:
        return licence.text
    return (
        f"SPDX-License-Identifier: {licence.name}\n\n"
        f"The tasks and reference files in this folder are the work of {licence.holder},\n"
        f"and are made available under {licence.name}. The full text of the licence:\n\n"
        f"    {KNOWN_LICENCES[licence.name]}\n\n"
        "Names and marks of third parties that occur in the tasks belong to their owners and are not licensed here;\n"
        "DISCLOSURES.md lists them.\n"
    )


def readme_page(tasks: Sequence[Task], *, per_occupation: int, seed: int) -> str:
    """What is in the folder, in figures; no date, so that the same bank gives the same page."""
    counts = Counter((task.sector, task.occupation) for task in tasks)
    files = sum(len(task.reference_files) for task in tasks)
    rows = [f"| {sector} | {occupation} | {count} |" for (sector, occupation), count in sorted(counts.items())]
    return "\n".join(
        [
            "# Professional tasks",
            "",
            f"{len(tasks)} tasks with {files} reference files, at most {per_occupation} an occupation, "
            f"drawn with seed {seed}.",
            "",
            "`data/` has one row a task in the layout of the public GDPval data set; `reference_files/` has the files",
            "it names. The experts' own deliverables and the rubrics are not part of it. Read DISCLOSURES.md first.",
            "",
            "| sector | occupation | tasks |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def disclosures_page(tasks: Sequence[Task], declared: Mapping[Id, tuple[str, ...]]) -> str:
    """Sensitive content and references to others, task by task, as declared by authors and as found in the briefs."""
    sensitive = [(task.id, task.occupation, ", ".join(task.sensitive)) for task in tasks if task.sensitive]
    parties = [
        (task.id, task.occupation, ", ".join(named))
        for task in tasks
        if (named := sorted({*declared.get(task.id, ()), *named_in(task.brief)}))
    ]
    return "\n".join(
        [
            "# Disclosures",
            "",
            "## Sensitive content",
            "",
            *_table(sensitive, "touches on", nothing="No task is marked as sensitive by its author and reviewers."),
            "## References to third parties",
            "",
            "Brands, firms and works of others are named because real work names them. Their owners have no part in",
            "these tasks, and naming them says nothing for or against them. Authors are asked to invent the people in",
            "their tasks; reviewers look for personal data.",
            "",
            *_table(parties, "refers to", nothing="No task declares or shows a reference to a third party."),
            "## What was taken out",
            "",
            "Every reference file was written anew without the traces of its makers: properties, comments, tracked",
            "changes, revision marks and the like. Briefs and files were searched for the names of authors and",
            "reviewers, byte by byte.",
            "",
        ]
    )


def named_in(brief: str) -> set[str]:
    """Web addresses and marked names in a brief."""
    return {*_ADDRESS.findall(brief), *_MARK.findall(brief)}


def _table(rows: Sequence[tuple[str, str, str]], heading: str, *, nothing: str) -> list[str]:
    if not rows:
        return [nothing, ""]
    cells = [[cell.replace("|", "/") for cell in row] for row in rows]
    lines = [f"| {task} | {occupation} | {what} |" for task, occupation, what in cells]
    return [f"| task | occupation | {heading} |", "| --- | --- | --- |", *lines, ""]
