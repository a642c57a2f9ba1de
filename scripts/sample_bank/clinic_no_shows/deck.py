"""The committee's deck: five slides, every figure computed from the cleaned appointments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample_bank import finish, slides
from sample_bank.clinic_no_shows.reference import (
    BANDS,
    CALLER_USD,
    CLINIC,
    REVENUE_USD,
    TEXTING_USD,
    Appointment,
    counted,
    lost,
    usable,
)

MONTHS = 8 * 12 / 52  # eight weeks in months
CALL_MINUTES = 6
SOURCE = "Source: appointment export, January 5 to February 27, 2026, cleaned (slide 5). Sample data, invented."


@dataclass(frozen=True)
class Findings:
    """What the slides quote, per eight weeks unless said otherwise."""

    exported: int
    left_out: int
    visits: int
    lost: int
    by_band: tuple[tuple[int, int], ...]
    by_band_and_reminder: tuple[tuple[float, float], ...]
    moved: float
    called: float

    @property
    def rate(self) -> float:
        return self.lost / self.visits

    def band_rate(self, band: int) -> float:
        visits, missed = self.by_band[band]
        return missed / visits

    @property
    def saved_by_moving(self) -> float:
        return self.moved * (self.band_rate(2) - self.band_rate(0))

    @property
    def saved_by_calls(self) -> float:
        """A third of the visits still lost among those booked eight or more days ahead: an assumption."""
        return (self.by_band[1][1] + (self.by_band[2][0] - self.moved) * self.band_rate(2)) / 3

    @property
    def rate_after(self) -> float:
        return (self.lost - self.saved_by_moving - self.saved_by_calls) / self.visits

    @property
    def calls_usd_a_month(self) -> float:
        return self.called * CALL_MINUTES / 60 * CALLER_USD / MONTHS

    def usd_a_month(self, visits: float) -> float:
        return visits * REVENUE_USD / MONTHS


def find(rows: list[Appointment]) -> Findings:
    clean = usable(rows)
    visits = counted(clean)
    bands = [[row for row in visits if row.band == number] for number in range(len(BANDS))]
    moved = len(bands[2]) / 2

    def rate(group: list[Appointment], reminder: str) -> float:
        chosen = [row for row in group if row.reminder == reminder]
        return lost(chosen) / len(chosen)

    return Findings(
        exported=len(rows),
        left_out=len(rows) - len(clean),
        visits=len(visits),
        lost=lost(visits),
        by_band=tuple((len(group), lost(group)) for group in bands),
        by_band_and_reminder=tuple((rate(group, "none"), rate(group, "text")) for group in bands),
        moved=moved,
        called=len(bands[1]) + len(bands[2]) - moved,
    )


def write(path: Path, rows: list[Appointment]) -> None:
    found = find(rows)
    deck = slides.new_deck()
    for draw in (_summary, _lead_time, _reminders, _options, _plan):
        draw(deck, found)
    finish.save_slides(deck, path, title="Lost visits: review and recommendation", author=CLINIC)


def _summary(deck: Any, found: Findings) -> None:
    page = slides.add_slide(
        deck, f"We lose {found.rate:.0%} of visits; booking closer to the visit is the strongest lever we have", SOURCE
    )
    share = found.by_band[2][1] / found.lost
    slides.tile(
        page,
        f"{found.rate:.1%}",
        f"of visits lost: {found.lost} of {found.visits} in eight weeks (target: under 10% by September)",
        left=0.6,
        top=1.75,
    )
    slides.tile(
        page,
        f"{share:.0%}",
        f"of lost visits were booked 22+ days ahead; they are {found.by_band[2][0] / found.visits:.0%} of visits",
        left=4.75,
        top=1.75,
    )
    slides.tile(
        page,
        f"${found.usd_a_month(found.lost):,.0f}",
        f"net revenue a month behind the lost visits, at ${REVENUE_USD} each",
        left=8.9,
        top=1.75,
    )
    slides.text(page, "Recommendation", at=(0.6, 3.8), box=(12, 0.5), size=20, bold=True, color=slides.TEAL)
    slides.text(
        page,
        [
            (
                "**Hold one slot in eight for same-week booking**, so that half of today's 22+ day bookings move inside"
                " a week."
            ),
            (
                "**Call every patient booked 8 or more days ahead**, two working days before: about"
                f" ${found.calls_usd_a_month:,.0f} of staff time a month."
            ),
            (
                f"Together we expect about {found.rate_after:.0%} lost: at the target, not safely under it. Pilot with"
                " one provider first."
            ),
            "**Do not buy texting for everyone yet**: our data cannot show that it works at every lead time.",
        ],
        at=(0.6, 4.3),
        box=(12.1, 2.5),
        size=17,
        bullet=True,
    )


def _lead_time(deck: Any, found: Findings) -> None:
    ratio = found.band_rate(2) / found.band_rate(0)
    page = slides.add_slide(
        deck,
        f"A visit booked more than three weeks ahead is {ratio:.0f} times as likely to be lost as one booked this week",
        SOURCE,
    )
    rates = [found.band_rate(number) for number in range(3)]
    slides.text(
        page,
        "Share of visits lost, by days between booking and visit",
        at=(0.6, 1.55),
        box=(7.3, 0.4),
        size=14,
        bold=True,
    )
    slides.bars(
        page, [name for name, *_ in BANDS], {"Lost": rates}, at=(0.6, 1.95), box=(7.3, 4.9), shape="0.0%", highlight=2
    )
    rows = [["Booked ahead", "Visits", "Lost", "Rate"]]
    rows += [
        [name, str(visits), str(missed), f"{missed / visits:.1%}"]
        for (name, *_), (visits, missed) in zip(BANDS, found.by_band, strict=True)
    ]
    rows.append(["All", str(found.visits), str(found.lost), f"{found.rate:.1%}"])
    slides.table(page, rows, at=(8.3, 1.8), widths=[1.7, 0.9, 0.9, 0.9], right=(1, 2, 3), bold_rows=(4,))
    slides.text(
        page,
        [
            "The order of the three groups is the same for all three providers.",
            "Visit types differ less (14% to 18%), within what chance gives in groups this small.",
            (
                "This is an association. People who book far ahead may differ, which is why we pilot before changing"
                " every template."
            ),
        ],
        at=(8.3, 4.5),
        box=(4.5, 2.4),
        size=14,
        bullet=True,
    )


def _reminders(deck: Any, found: Findings) -> None:
    page = slides.add_slide(
        deck,
        "Text reminders go with fewer lost visits at the ends but not in the middle: promising, not proven",
        SOURCE,
    )
    none, text = zip(*found.by_band_and_reminder, strict=True)
    slides.text(
        page, "Share of visits lost, by lead time and reminder", at=(0.6, 1.55), box=(7.8, 0.4), size=14, bold=True
    )
    slides.bars(
        page,
        [name for name, *_ in BANDS],
        {"No reminder": none, "Text reminder": text},
        at=(0.6, 1.95),
        box=(7.8, 4.9),
        shape="0.0%",
    )
    slides.text(
        page,
        [
            (
                "Texts went to patients with a mobile number on file, not to a random half. Those patients may be"
                " easier to reach anyway."
            ),
            (
                "Groups are small (73 to 132 visits): the middle band points the other way, and chance alone could do"
                " that."
            ),
            (
                f"Texting for everyone costs ${TEXTING_USD} a month and pays from {TEXTING_USD / REVENUE_USD:.1f}"
                " recovered visits a month, so it is worth a fair test."
            ),
            "Proposed test: alternate weeks with and without texts for one provider, twelve weeks, same measure.",
        ],
        at=(8.7, 1.9),
        box=(4.1, 4.9),
        size=15,
        bullet=True,
    )


def _options(deck: Any, found: Findings) -> None:
    page = slides.add_slide(deck, "Holding slots and calling ahead gets us to about 10%; neither does alone", SOURCE)
    calls_usd = _calls_alone_usd(found)
    slides.table(
        page,
        _option_rows(found),
        at=(0.6, 1.75),
        widths=[3.1, 1.3, 1.6, 1.6, 1.2, 3.3],
        row_height=0.68,
        right=(1, 2, 3, 4),
        bold_rows=(3,),
    )
    slides.text(
        page,
        [
            f"B breaks even at {calls_usd / REVENUE_USD:.1f} recovered visits a month.",
            "A + B is less than the sum of A and B: visits moved inside a week no longer need a call.",
            (
                "Considered and left out: overbooking. With six visits per provider and day, an extra one would run"
                f" over on {(1 - found.rate) ** 6:.0%} of days."
            ),
            (
                "If calls save one in five instead of one in three, A + B ends at "
                f"{(found.lost - found.saved_by_moving - found.saved_by_calls * 3 / 5) / found.visits:.1%}."
            ),
        ],
        at=(0.6, 5.3),
        box=(12.1, 1.6),
        size=14,
        bullet=True,
    )


def _calls_alone_usd(found: Findings) -> float:
    """A month of calls to everybody booked eight or more days ahead."""
    return (found.by_band[1][0] + found.by_band[2][0]) * CALL_MINUTES / 60 * CALLER_USD / MONTHS


def _option_rows(found: Findings) -> list[list[str]]:
    def after(saved: float) -> str:
        return f"{(found.lost - saved) / found.visits:.1%}"

    both = found.saved_by_moving + found.saved_by_calls
    calls_alone = (found.by_band[1][1] + found.by_band[2][1]) / 3
    return [
        ["Option", "Lost after", "Visits recovered a month", "Net revenue a month", "Cost a month", "What it rests on"],
        [
            "A  Hold 1 slot in 8 for same-week booking",
            after(found.saved_by_moving),
            f"{found.saved_by_moving / MONTHS:.1f}",
            f"${found.usd_a_month(found.saved_by_moving):,.0f}",
            "$0",
            "Half of 22+ day bookings move to 0-7 days and behave like them",
        ],
        [
            "B  Call all booked 8+ days ahead",
            after(calls_alone),
            f"{calls_alone / MONTHS:.1f}",
            f"${found.usd_a_month(calls_alone):,.0f}",
            f"${_calls_alone_usd(found):,.0f}",
            "A call saves one lost visit in three (assumed; to be tested)",
        ],
        [
            "A + B  Recommended",
            after(both),
            f"{both / MONTHS:.1f}",
            f"${found.usd_a_month(both):,.0f}",
            f"${found.calls_usd_a_month:,.0f}",
            "Both of the above",
        ],
        [
            "C  Text everyone",
            "not estimated",
            "not estimated",
            "not estimated",
            f"${TEXTING_USD}",
            "No fair comparison yet (slide 3)",
        ],
    ]


def _plan(deck: Any, found: Findings) -> None:
    page = slides.add_slide(deck, "Pilot from April with one provider, decide in July on the same measure", SOURCE)
    steps = [
        ["When", "What", "Who"],
        [
            "By March 20",
            "Change Dr. Boyle's template: hold one slot in eight until seven days before",
            "Scheduling lead",
        ],
        ["By March 27", "Call list from the system each morning; script for medical assistants", "Nursing supervisor"],
        [
            "Apr 1 - Jun 30",
            "Pilot; weekly rate by lead time; the other two providers as comparison",
            "Practice manager",
        ],
        ["July committee", "Extend if lost visits fall below 12%; otherwise stop or change", "Committee"],
        ["September", "Target check: under 10% clinic-wide", "COO"],
    ]
    slides.table(page, steps, at=(0.6, 1.7), widths=[1.5, 4.5, 1.7], row_height=0.62, size=13)
    slides.text(page, "How the data was cleaned", at=(8.6, 1.6), box=(4.2, 0.4), size=16, bold=True, color=slides.TEAL)
    slides.text(
        page,
        [
            (
                f"{found.exported} rows exported, {found.left_out} left out: repeated rows, ZZTEST patients, and"
                " January 26 (ice storm), when the system marked every patient no_show."
            ),
            (
                f"Of the remaining {found.exported - found.left_out}, earlier cancellations and visits we cancelled"
                " (Dr. Amari's leave) are in neither number."
            ),
            f"{found.visits} visits counted. Left uncleaned, the export shows 18.2% and makes Monday look worst.",
        ],
        at=(8.6, 2.05),
        box=(4.2, 3.2),
        size=13,
        bullet=True,
    )
    slides.text(
        page,
        f"Decision asked today: approve the pilot and about ${found.calls_usd_a_month / 3:,.0f} a month of staff time"
        " for it.",
        at=(0.6, 6.0),
        box=(12.1, 0.7),
        size=18,
        bold=True,
        color=slides.TEAL,
    )
