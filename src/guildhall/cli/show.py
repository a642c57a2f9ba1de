"""How the command line shows things: JSON for programs, quiet tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from pydantic import BaseModel

from guildhall.domain.estimates import Estimate

if TYPE_CHECKING:
    from guildhall.analysis.drawn_studies import Assumed, DrawnStudy


def plain(data: Any) -> Any:
    """Values as JSON-ready data."""
    if isinstance(data, BaseModel):
        return data.model_dump(mode="json")
    if isinstance(data, Estimate):
        return plain(asdict(data))
    if isinstance(data, Mapping):
        return {key: plain(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [plain(item) for item in data]
    return data


def as_json(data: Any) -> None:
    """One JSON document."""
    typer.echo(json.dumps(plain(data), ensure_ascii=False, indent=2, allow_nan=False))


def as_json_line(data: Any) -> None:
    """One line of JSON, flushed, so that a reader at the other end of a pipe sees it at once."""
    sys.stdout.write(json.dumps(plain(data), ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def done(words: str) -> None:
    typer.secho(words, fg="green")


def note(words: str) -> None:
    """Something worth knowing that is neither result nor error; kept off standard output."""
    typer.secho(words, fg="yellow", err=True)


def warn(words: str) -> None:
    """What must be read together with a result; in red, and kept off standard output."""
    typer.secho(words, fg="red", bold=True, err=True)


def sent_answer_unknown(calls: int) -> str:
    """How many calls a kill or a stop cut off, said everywhere alike."""
    return f"{calls} calls: sent, answer unknown; they were cut off, and what they cost is in no figure"


def share(value: float | None) -> str:
    """A share to three places, or `none`."""
    return "none" if value is None else f"{value:.3f}"


def ends(interval: tuple[float, float] | None) -> str:
    """The two ends of an interval, or `none`."""
    return "none" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def with_ends(value: float | None, interval: tuple[float, float] | None) -> str:
    """A share and its interval in one cell."""
    if value is None or interval is None:
        return share(value)
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def drawn_rows(drawn: Sequence[DrawnStudy]) -> list[dict[str, Any]]:
    """Drawn studies as rows for programs."""
    return [asdict(one) | {"per_hour": one.per_hour, "per_dollar": one.per_dollar} for one in drawn]


def show_drawn(drawn: Sequence[DrawnStudy], assumed: Assumed, *, tasks: int) -> None:
    """What so many graders in so many hours would show, drawn beforehand."""
    cells = [
        (
            one.graders,
            f"{one.hours:.0f}",
            "" if one.cost_usd is None else f"{one.cost_usd:,.0f}",
            "none" if one.width is None else f"{one.width:.3f}",
            "none" if one.smallest_difference is None else f"{one.smallest_difference:.3f}",
            "" if one.per_hour is None else f"{one.per_hour:.2f}",
            "" if one.per_dollar is None else f"{one.per_dollar:.4f}",
        )
        for one in drawn
    ]
    heads = ["graders", "hours", "dollars", "width", "sees", "an hour", "a dollar"]
    table(f"Drawn: {tasks} tasks, by graders and hours", heads, cells, numeric=range(7))
    shown = (
        f"tasks {assumed.tasks_differ:.2f}, severity {assumed.severity:.2f}, tastes {assumed.tastes:.2f} (SD, logits)"
    )
    note("hours and dollars for each model; sees: the smallest difference of two models found in 4 of 5 such studies")
    note("an hour, a dollar: what one buys of 1 over the squared width")
    note(f"{shown}, ties {assumed.ties:.0%}, lost {assumed.lost:.0%}: {assumed.source}")


def show_budgets(rows: list[dict[str, Any]], *, json: bool) -> None:
    """Three sizes of a study, with what each takes and shows; nothing is written."""
    if json:
        as_json(rows)
        return

    def dollars(figure: float | None) -> str:
        return "unknown" if figure is None else f"{figure:,.0f}"

    def share(figure: float | None) -> str:
        return "none" if figure is None else f"{figure:.2f}"

    cells = [
        (
            one["budget"],
            one["tasks"],
            f"{one['calls']:,}",
            dollars(one["model_usd"]),
            f"{one['hours']:,.0f}",
            dollars(one["people_usd"]),
            share(one["width"]),
            share(one["smallest_difference"]),
        )
        for one in rows
    ]
    heads = ("budget", "tasks", "calls", "their dollars", "hours", "people's dollars", "width", "sees")
    table("Three budgets", heads, cells, numeric=range(1, 8))
    for one in rows:
        note(f"{one['budget']}: {one['says']}")
    note("width: of a model's interval; sees: the smallest difference of two models found in 4 of 5 such studies; both")
    note("drawn, with nothing known yet. Calls: 25 an item. Dollars are unknown as soon as a price or a wage is.")
    note("`guildhall study new --gold --budget NAME --model MODEL` writes the file")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, numeric: Sequence[int] = ()) -> None:
    """A table for people; `numeric` names the columns that align right.

    Every word is shown as it is: brackets in it are no markup.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, show_header=any(columns)
    )
    shown.pad_edge, shown.collapse_padding = False, True
    for index, name in enumerate(columns):
        right = index in numeric
        shown.add_column(
            Text(name),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
            min_width=min(12, len(name)),
        )
    for row in rows:
        shown.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    Console().print(shown)
