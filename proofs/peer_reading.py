"""Reading grades from real replies: how well, how fast, and not by heart."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable
from typing import Any

from proofs import Figures, proof, realdata


def _replies() -> list[dict[str, Any]]:
    with gzip.open(realdata("boswell/grader_replies_dev.jsonl.gz"), "rt") as lines:
        return [json.loads(line) for line in lines]


@proof(
    "peer-reads-grades",
    "Of 5,440 real replies at least 99.5 % are read exactly, at most 1 grade is invented among those that state none",
)
def reads_grades() -> Figures:
    from guildhall.peer.reader import read_grade

    rows = _replies()
    read = [(row, read_grade(row["text"]).grade or "N/A") for row in rows]
    wrong = [(row, grade) for row, grade in read if grade not in (row["grade"], *row.get("accept", ()))]
    invented = sum(row["grade"] == "N/A" for row, _ in wrong)
    without = sum(row["grade"] == "N/A" for row in rows)
    exact = 1 - len(wrong) / len(rows)
    figures = {"replies": len(rows), "exact": exact, "wrong": len(wrong), "state_none": without, "invented": invented}
    assert (len(rows), without) == (5440, 444), figures
    assert exact >= 0.995 and invented <= 1, figures
    return figures


@proof(
    "peer-reading-is-not-tuned",
    "The same replies with other language names, other words for the work, other headings, other line ends and no "
    "markup at all are still read at least 99.5 % exactly",
)
def reading_is_not_tuned() -> Figures:
    from guildhall.peer.reader import read_grade

    rows = _replies()
    figures: Figures = {}
    for name, changed in _DISGUISES.items():
        texts = [(row, changed(row["text"])) for row in rows]
        wrong = [
            row["grade"]
            for row, text in texts
            if (read_grade(text).grade or "N/A") not in (row["grade"], *row.get("accept", ()))
        ]
        exact = 1 - len(wrong) / len(rows)
        altered = sum(text != row["text"] for row, text in texts)
        figures[name] = {"altered": altered, "exact": exact, "invented": wrong.count("N/A")}
        assert exact >= 0.995, figures
    return figures


def _other_languages(text: str) -> str:
    return text.replace("TypeScript", "Lua").replace("Python", "Perl").replace("Rust", "Zig")


_DISGUISES: dict[str, Callable[[str], str]] = {
    "other languages": _other_languages,
    "solutions, not implementations": lambda text: re.sub("implementation", "solution", text, flags=re.IGNORECASE),
    "bold headings": lambda text: re.sub(r"(?m)^#{1,6} *(.*?) *$", r"**\1**", text),
    "no bold": lambda text: text.replace("**", ""),
    "no markup": lambda text: re.sub(r"(?m)^#{1,6} *", "", text.replace("**", "").replace("`", "")),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
}


@proof(
    "peer-reading-speed",
    "Grades are read from at least 2,000 real replies a second on one core, in time linear in their length",
    tier="bench",
)
def reading_speed() -> Figures:
    from guildhall.peer.reader import read_grade

    texts = [row["text"] for row in _replies()]
    rates = []
    for _ in range(5):
        started = time.process_time()
        for text in texts:
            read_grade(text)
        rates.append(len(texts) / (time.process_time() - started))
    growth = {name: _growth(unit) for name, unit in _TRAPS.items()}
    figures = {"replies_per_s_median": sorted(rates)[2], "time_ratio_for_4x_length": growth}
    assert sorted(rates)[2] >= 2000, figures
    assert all(ratio < 7 for ratio in growth.values()), figures
    return figures


_TRAPS = {
    "real prose": "The essay is well argued, an A- at least in parts.\n\n**Strengths:** A clear line. Grade: B+\n",
    "one long line of grades": "A+ ",
    "labels on one line": "Grade: A Grade: B ",
    "sections": "**Strengths:**\nGrade: B\n## Python\nGrade: A\n",
    "menus": "A/B/C/",
    "refusals": "cannot please provide ",
}


def _growth(unit: str) -> float:
    """How much longer four times the text takes, median of five."""
    from guildhall.peer.reader import read_grade

    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.process_time()
        read_grade(text)
        return time.process_time() - started

    return sorted(seconds(200_000) / max(seconds(50_000), 1e-6) for _ in range(5))[2]
