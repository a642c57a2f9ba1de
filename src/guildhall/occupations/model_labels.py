"""Labels by a model: each distinct task of an occupation asked once, read strictly; what cannot be read stays open."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pydantic import JsonValue

from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import Answers
from guildhall.occupations.digital import TaskStatement

PROMPT = "label-1.md"
_SAID = {"DIGITAL": True, "NOT DIGITAL": False}
Ask = Callable[[Iterable[Call]], Answers]
"""Asks calls on somebody's terms, and gives what came back."""


@dataclass(frozen=True)
class Labelled:
    """The labels of a run: by statement, with the tasks that got none and why."""

    labels: dict[tuple[str, str], bool]
    unread: dict[tuple[str, str], str]


def label_by_model(
    statements: Sequence[TaskStatement], *, model: str, ask: Ask, settings: Mapping[str, JsonValue] | None = None
) -> Labelled:
    """Ask about each task of each occupation. A task without a label is left out of shares, never taken for a no."""
    prompt = files("guildhall.occupations").joinpath("prompts", PROMPT).read_text(encoding="utf-8")
    calls = {
        (one.onet, one.task): Call.ask(
            model,
            f"Occupation: {one.title}\nTask: {one.task}",
            system=prompt,
            settings=dict(settings or {}),
            purpose="digital-label",
        )
        for one in statements
    }
    answers = ask(calls.values())
    labels: dict[tuple[str, str], bool] = {}
    unread: dict[tuple[str, str], str] = {}
    for key, call in calls.items():
        label, why = read_label(answers.of(call))
        if label is None:
            unread[key] = why
        else:
            labels[key] = label
    return Labelled(labels, unread)


def read_label(reply: Reply | None) -> tuple[bool | None, str]:
    """The label a reply states, or none with the reason. Only the two answers asked for count."""
    if reply is None:
        return None, "not asked: a limit of the run was reached"
    if reply.failed:
        return None, f"could not be asked: {reply.error}"
    said = reply.text.strip().strip("`*.").strip().upper()
    return (_SAID[said], "") if said in _SAID else (None, "the reply is neither DIGITAL nor NOT DIGITAL")


def write_labels(path: Path, labelled: Labelled) -> None:
    """A file that `--labels` takes: labelled tasks with true or false, the others with an empty cell and the reason."""
    rows = [(*key, str(label).lower(), "") for key, label in labelled.labels.items()]
    rows += [(*key, "", why) for key, why in labelled.unread.items()]
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("O*NET-SOC Code", "Task", "digital", "why_absent"))
        writer.writerows(sorted(rows))
