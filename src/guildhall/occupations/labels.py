"""Is a task done on a computer? Labels from a file, which a model may have written, or from a shipped rule."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pydantic import JsonValue

from guildhall.domain.occupations import LabelAgreement
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import Answers
from guildhall.errors import UnreadableFile
from guildhall.occupations.digital import TaskStatement
from guildhall.occupations.sources import read_rows
from guildhall.occupations.tasks import plain_words

Labeller = Callable[[TaskStatement], bool | None]

DESK_WORDS = [
    "analy*",
    "audit*",
    "budget*",
    "calculat*",
    "coding",
    "communicat*",
    "compil*",
    "comput*",
    "confer",
    "consult*",
    "contract*",
    "correspond*",
    "data*",
    "design*",
    "develop*",
    "document*",
    "draft*",
    "edit*",
    "estimat*",
    "evaluat*",
    "financ*",
    "forecast*",
    "inform*",
    "interpret*",
    "invoic*",
    "manag*",
    "negotiat*",
    "plan*",
    "polic*",
    "program*",
    "propos*",
    "recommend*",
    "record*",
    "report*",
    "research*",
    "review*",
    "schedul*",
    "software",
    "spreadsheet*",
    "statist*",
    "strateg*",
    "writ*",
]
"""Beginnings of words that speak of work at a desk; a star stands for any ending."""
HAND_WORDS = [
    "assembl*",
    "attach*",
    "bath*",
    "carry*",
    "clean*",
    "cook*",
    "cut*",
    "dig*",
    "drill*",
    "driv*",
    "feed*",
    "grind*",
    "tools",
    "inject*",
    "install*",
    "lift*",
    "load*",
    "lubricat*",
    "mix*",
    "mount*",
    "move*",
    "paint*",
    "patrol*",
    "plant*",
    "polish*",
    "pour*",
    "press*",
    "push*",
    "repair*",
    "sew*",
    "spray*",
    "sweep*",
    "unload*",
    "vehicle*",
    "wash*",
    "weld*",
    "wrap*",
]
"""Words of work by hand."""


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    stems = "|".join(word.replace("*", r"\w*") for word in words)
    return re.compile(rf"\b(?:{stems})\b", re.IGNORECASE)


_DESK, _HAND = _pattern(DESK_WORDS), _pattern(HAND_WORDS)


def by_rule(statement: TaskStatement) -> bool:
    """The shipped baseline: words of desk work outweigh words of handwork. Named as a rule wherever it is used."""
    desk, hand = len(_DESK.findall(statement.task)), len(_HAND.findall(statement.task))
    return desk > hand


def from_file(path: Path) -> Labeller:
    """Labels by O*NET code and task: a column `digital` (true or false), or the public exposure labels (E0 is not)."""
    labels: dict[tuple[str, str], bool] = {}
    for row in read_rows(path, columns=("O*NET-SOC Code", "Task")):
        label = _label(row.get("digital"), row.get("gpt4_exposure"))
        if label is not None:
            labels[str(row["O*NET-SOC Code"]), plain_words(str(row["Task"]))] = label
    if not labels:
        raise UnreadableFile(path, "holds no labels", fix="give a column `digital` with true or false")
    return lambda statement: labels.get((statement.onet, plain_words(statement.task)))


def _label(digital: object, exposure: object) -> bool | None:
    text = str(digital).strip().casefold() if digital is not None else ""
    if text in {"true", "1", "yes", "digital"}:
        return True
    if text in {"false", "0", "no", "non-digital"}:
        return False
    kind = str(exposure).strip() if exposure is not None else ""
    return kind != "E0" if kind in {"E0", "E1", "E2", "E3"} else None


def agreement(
    first: Labeller, second: Labeller, statements: Sequence[TaskStatement], *, named: tuple[str, str]
) -> LabelAgreement:
    """Two labellers on the tasks that both have labelled."""
    pairs = [(first(one), second(one)) for one in statements]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    share = sum(a == b for a, b in both) / len(both) if both else None
    return LabelAgreement(first=named[0], second=named[1], tasks=len(both), share=share, kappa=_kappa(share, both))


def _kappa(share: float | None, both: Sequence[tuple[bool, bool]]) -> float | None:
    """Agreement beyond what the two would reach by chance; absent where chance alone reaches all of it."""
    if share is None:
        return None
    yes_first, yes_second = (sum(pair[place] for pair in both) / len(both) for place in (0, 1))
    chance = yes_first * yes_second + (1 - yes_first) * (1 - yes_second)
    return None if chance >= 1 else (share - chance) / (1 - chance)


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
