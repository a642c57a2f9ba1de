"""Starting a task of one's own: a folder that passes `tasks check` once its blanks are filled."""

from __future__ import annotations

from pathlib import Path

from guildhall.domain.tasks import check_relative_name
from guildhall.errors import InputError, UnsafePath

_TASK = """\
# What is said here is checked by `guildhall tasks check`; its schema is `guildhall tasks schema`.
id = "{id}"
version = 1
title = "{title}"
sector = "{sector}"
occupation = "{occupation}"
expert_hours = 2.0          # how long an expert takes; leave out when nobody measured it
# hourly_wage_usd = 40.00   # OEWS median for the occupation
languages = ["en"]
sensitive = []              # for example ["medical"]: graders are warned before the brief

[ratings]                   # 1 to 5, by experts other than the author; leave out what was not rated
# difficulty = 3
# representativeness = 4
# quality = 4

[onet]
tasks = []
skills = []
work_activities = []
"""

_BRIEF = """\
You are ... (role and situation).

You are asked to ... (what is wanted, for whom, by when).

Use the attached files: ... (each file in `reference/`, and what it is).

Deliver ... (files by name and type, length, and what must be in them).
"""

_RUBRIC = """\
# Signed points: negative items take points away for what must not happen.
[[items]]
points = 3
text = "States ... correctly."

[[items]]
points = -5
text = "Invents figures that are in no reference file."
"""


def new_task(folder: Path, *, title: str, sector: str, occupation: str) -> Path:
    """Make the folder; an existing one is never touched."""
    try:
        check_relative_name(folder.name)
    except ValueError as error:
        raise UnsafePath(folder, str(error)) from error
    if folder.exists():
        raise InputError(f"{folder} exists already; choose another name")
    (folder / "reference").mkdir(parents=True)
    (folder / "expert").mkdir()
    words = {"id": folder.name.replace(" ", "-"), "title": title, "sector": sector, "occupation": occupation}
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in words.items()}
    (folder / "task.toml").write_text(_TASK.format(**escaped), encoding="utf-8")
    (folder / "brief.md").write_text(_BRIEF, encoding="utf-8")
    (folder / "rubric.toml").write_text(_RUBRIC, encoding="utf-8")
    return folder
