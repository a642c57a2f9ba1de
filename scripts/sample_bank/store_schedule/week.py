"""The invented store: who works there, what the week needs, and a schedule that keeps every rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

STORE = "Juniper & Oak Home, Store 12"
MONDAY = date(2026, 3, 16)
DAYS = [MONDAY + timedelta(days=number) for number in range(7)]
BUDGET_HOURS, BUDGET_USD, VISITORS_PER_PERSON = 212, 3900, 12


@dataclass(frozen=True)
class Shift:
    code: str
    start: float
    end: float
    paid_hours: float

    @property
    def times(self) -> str:
        return f"{_clock(self.start)}-{_clock(self.end)}"


@dataclass(frozen=True)
class Person:
    name: str
    role: str
    keys: bool
    max_hours: int
    rate_usd: float
    can_work: str
    week: tuple[str, ...]


def _clock(hour: float) -> str:
    return f"{int(hour)}:{round(hour % 1 * 60):02d}"


SHIFTS = [
    Shift("O", 9.5, 17, 7.0),
    Shift("C", 13, 20.5, 7.0),
    Shift("M", 12, 17, 5.0),
    Shift("S", 16.5, 20.5, 4.0),
    Shift("A", 10.5, 18.5, 7.5),
    Shift("E", 10.5, 14.5, 4.0),
    Shift("L", 14.5, 18.5, 4.0),
]
STAFF = [
    Person(
        "Rosa M.",
        "Supervisor",
        True,
        40,
        22.00,
        "Any day; Tuesday not before 13:00 (regional meeting)",
        tuple("--OOOOA"),
    ),
    Person("Dev P.", "Supervisor", True, 40, 20.50, "Any day", tuple("CCC-CC-")),
    Person("Alan T.", "Lead associate", True, 32, 19.00, "Not Wednesday", tuple("OO-SCC-")),
    Person("Beth K.", "Associate", False, 32, 17.50, "Any day; vacation approved March 19 and 20", tuple("OSS--OA")),
    Person(
        "Cho L.",
        "Associate, age 17",
        False,
        18,
        15.00,
        "Weekdays from 16:00 (school); weekend any time",
        tuple("S--SSS-"),
    ),
    Person("Emre S.", "Associate", False, 28, 16.50, "Not Sunday", tuple("-OSCSS-")),
    Person("Fay W.", "Associate", False, 20, 16.00, "Friday, Saturday, Sunday", tuple("-----OA")),
    Person("Gus N.", "Associate", False, 24, 16.75, "Until 17:00 on any day", tuple("--OOO--")),
]
_NEED = {0: (2, 3, 2), 1: (2, 3, 2), 2: (2, 3, 3), 3: (2, 3, 3), 4: (2, 4, 4), 5: (3, 5, 4)}
_SUNDAY = {11: 2, 12: 2, 13: 3, 14: 3, 15: 3, 16: 3, 17: 2}


def open_hours(day: int) -> range:
    return range(11, 18) if day == 6 else range(10, 20)


def need(day: int, hour: int) -> int:
    """People needed on the floor, as the traffic forecast implies."""
    if day == 6:
        return _SUNDAY[hour]
    return _NEED[day][0 if hour < 13 else 1 if hour < 17 else 2]


def visitors() -> dict[tuple[int, int], int]:
    """A forecast per open hour from which the need follows: one person per twelve visitors, at least two."""
    rng = Random(312)
    top = VISITORS_PER_PERSON
    return {
        (day, hour): rng.randint(9 if need(day, hour) == 2 else top * (need(day, hour) - 1) + 1, top * need(day, hour))
        for day in range(7)
        for hour in open_hours(day)
    }


def on_floor(day: int, hour: int) -> int:
    by_code = {shift.code: shift for shift in SHIFTS}
    working = [by_code[person.week[day]] for person in STAFF if person.week[day] != "-"]
    return sum(shift.start <= hour and shift.end >= hour + 1 for shift in working)


def paid_hours(person: Person) -> float:
    by_code = {shift.code: shift.paid_hours for shift in SHIFTS}
    return sum(by_code[code] for code in person.week if code != "-")
