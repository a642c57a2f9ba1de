"""Three slides for the plant manager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_bank import finish, slides
from sample_bank.line_balance.study import (
    AVAILABLE_MIN,
    DEMAND,
    NOW,
    PLANT,
    PRODUCT,
    TAKT_S,
    THEN,
    loads,
    respects_precedence,
    standard_times,
)

SOURCE = "Source: time study, May 2026; line_balance_p40.xlsx. Sample data, invented."


def write(path: Path) -> None:
    if not respects_precedence(THEN) or max(loads(THEN)) > TAKT_S:
        raise ValueError("the proposed balance breaks precedence or takt")
    deck = slides.new_deck()
    _answer(deck)
    _stations(deck)
    _change(deck)
    finish.save_slides(deck, path, title=f"Rebalancing the {PRODUCT} line", author=PLANT)


def _per_day(stations: list[str]) -> int:
    return int(AVAILABLE_MIN * 60 / max(loads(stations)))


def _answer(deck: Any) -> None:
    page = slides.add_slide(
        deck, f"Six stations can build {DEMAND} pumps a day; today seven build {_per_day(NOW)}", SOURCE
    )
    slides.tile(page, f"{TAKT_S:.0f} s", f"takt: {AVAILABLE_MIN} minutes available, {DEMAND} pumps", left=0.6, top=1.75)
    slides.tile(
        page,
        f"{max(loads(NOW)):.0f} s",
        f"slowest station today (5: I, J, K): {_per_day(NOW)} pumps a day, {DEMAND - _per_day(NOW)} short",
        left=4.75,
        top=1.75,
    )
    slides.tile(
        page,
        f"{max(loads(THEN)):.0f} s",
        f"slowest station rebalanced (5: L, M): up to {_per_day(THEN)} pumps a day",
        left=8.9,
        top=1.75,
    )
    work = sum(standard_times().values())
    before, after = (work / (len(plan) * max(loads(plan))) for plan in (NOW, THEN))
    slides.text(
        page,
        [
            "**Recommendation:** move to the six-station balance from July, with no overtime and no new equipment.",
            (
                f"Balance efficiency rises from {before:.0%} to {after:.0%}. {work:.0f} s of work at {TAKT_S:.0f} s"
                " takt needs at least six stations, so five is not possible."
            ),
            "One operator is released: worth $60,760 a year if redeployed to other paid work, nothing if not.",
            f"Labor per pump falls from ${7 * 8 * 31 / _per_day(NOW):.2f} to ${6 * 8 * 31 / DEMAND:.2f}.",
        ],
        at=(0.6, 3.85),
        box=(12.1, 2.9),
        size=18,
        bullet=True,
    )


def _stations(deck: Any) -> None:
    page = slides.add_slide(
        deck,
        "The wiring station is the bottleneck; splitting it and joining the light stations levels the line",
        SOURCE,
    )
    new = [*loads(THEN), 0.0]
    slides.text(
        page,
        f"Standard time per station in seconds (takt {TAKT_S:.0f})",
        at=(0.6, 1.55),
        box=(7.6, 0.4),
        size=14,
        bold=True,
    )
    slides.bars(
        page,
        [str(number) for number in range(1, 8)],
        {"Today": loads(NOW), "New": new},
        at=(0.6, 1.95),
        box=(7.9, 4.9),
        shape='0;-0;""',
    )
    rows = [["Station", "Elements", "Time (s)", "Of takt"]]
    rows += [
        [str(number), ", ".join(station), f"{load:.1f}", f"{load / TAKT_S:.0%}"]
        for number, (station, load) in enumerate(zip(THEN, loads(THEN), strict=True), start=1)
    ]
    slides.text(page, "New balance", at=(8.8, 1.55), box=(3.9, 0.4), size=14, bold=True)
    slides.table(page, rows, at=(8.8, 2.0), widths=[0.9, 1.3, 0.95, 0.9], row_height=0.45, right=(2, 3))
    slides.text(
        page,
        [
            "Precedence is respected, the press stays at station 1, both tests share station 5.",
            "Station 6 has time for kitting or rework.",
        ],
        at=(8.8, 5.4),
        box=(4.0, 1.5),
        size=14,
        bullet=True,
    )


def _change(deck: Any) -> None:
    page = slides.add_slide(
        deck, "Try it for a week in June; stations 4 and 5 have four to five percent in hand", SOURCE
    )
    rows = [
        ["When", "What", "Who"],
        ["June 1 - 5", "Move impeller fixture (D) to station 1; wiring tools (K) to station 4", "Maintenance"],
        ["June 8 - 12", "Cross-train: torque and adapter (3), couple and wire (4), both tests (5)", "Line lead"],
        ["June 15 - 19", "Trial week at 250 a day, seventh operator as floater", "Industrial engineering"],
        ["June 22 - 26", "Re-time stations 4 and 5; adjust; update standard work", "Industrial engineering"],
        ["July 1", "Go live with six", "Plant manager"],
    ]
    slides.table(page, rows, at=(0.6, 1.7), widths=[1.6, 4.7, 2.0], row_height=0.6, size=14)
    slides.text(page, "Risks", at=(9.2, 1.6), box=(3.6, 0.4), size=16, bold=True, color=slides.TEAL)
    slides.text(
        page,
        [
            "Six readings per element are few; the trial week replaces them.",
            (
                "The leak rig is 72 of 103 s at station 5 and cannot be sped up: a retest stops the line. Keep two"
                " pumps of buffer."
            ),
            f"Above about {_per_day(THEN)} a day the balance no longer holds.",
            "One reading (H, dropped bolt) was struck.",
        ],
        at=(9.2, 2.05),
        box=(3.6, 4.2),
        size=14,
        bullet=True,
    )
    slides.text(
        page,
        "Decision asked: approve the trial week and the fixture move.",
        at=(0.6, 5.9),
        box=(12, 0.6),
        size=18,
        bold=True,
        color=slides.TEAL,
    )
