"""The invented claim: what was charged, what supports it, and what a careful reviewer finds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

COUNTY, GRANTEE = "Tamarack County Office of Community Services", "Riverbend Youth Alliance"
AWARD, PROGRAM = "TCY-2025-014", "After-School Learning Hubs"
FRINGE, INDIRECT = 0.23, 0.10
CATEGORIES = ("Personnel", "Fringe", "Supplies", "Equipment", "Travel", "Contractual")
BUDGET = {
    "Personnel": 92000,
    "Fringe": 21160,
    "Supplies": 16500,
    "Equipment": 7000,
    "Travel": 4200,
    "Contractual": 34000,
}
PRIOR = {
    "Personnel": 7410.00,
    "Fringe": 1704.30,
    "Supplies": 1128.55,
    "Equipment": 0.00,
    "Travel": 252.00,
    "Contractual": 2400.00,
}


@dataclass(frozen=True)
class Line:
    number: int
    day: date
    document: str
    payee: str
    text: str
    category: str
    amount: float
    support: str
    disallowed: float = 0.0
    questioned: float = 0.0
    finding: str = ""


@dataclass(frozen=True)
class TimeRecord:
    employee: str
    month: str
    hours: float
    signed: str


def _pay(employee: str, text: str, amounts: tuple[float, float, float]) -> list[tuple[object, ...]]:
    ends = (date(2025, 10, 31), date(2025, 11, 30), date(2025, 12, 31))
    return [
        (day, f"PR-{day:%m}", employee, f"{text}, {day:%B}", "Personnel", amount, "Payroll register")
        for day, amount in zip(ends, amounts, strict=True)
    ]


_RAW: list[tuple[object, ...]] = [
    *_pay("M. Ferro", "Program director, 60% of salary", (3900.00, 3900.00, 3900.00)),
    *_pay("D. Salcedo", "Site lead, $24.00 an hour", (1680.00, 1488.00, 1392.00)),
    *_pay("K. Whitaker", "Site lead, $24.00 an hour", (1728.00, 1584.00, 1440.00)),
    *_pay("J. Lindqvist", "Tutor, $22.00 an hour", (1408.00, 1320.00, 1056.00)),
    (
        date(2025, 8, 26),
        "INV 90417",
        "Schoolhouse Supply Co.",
        "Workbooks and paper for fall",
        "Supplies",
        684.20,
        "Invoice; paid 10/06/2025",
    ),
    (date(2025, 10, 8), "INV 90966", "Schoolhouse Supply Co.", "Art and science kits", "Supplies", 1212.75, "Invoice"),
    (
        date(2025, 10, 21),
        "INV T-5518",
        "Northgate Technology",
        "Laptops, 6 at $780.00",
        "Supplies",
        4680.00,
        "Invoice; three quotes on file",
    ),
    (
        date(2025, 11, 12),
        "RCT 1180",
        "Market Fresh",
        "Snacks for 84 pupils, 4 weeks",
        "Supplies",
        638.40,
        "Itemized receipts",
    ),
    (
        date(2025, 12, 15),
        "RCT 1207",
        "Market Fresh",
        "Gift cards for volunteers, 16 at $25.00",
        "Supplies",
        400.00,
        "Receipt",
    ),
    (
        date(2025, 12, 16),
        "INV 91822",
        "Schoolhouse Supply Co.",
        "Printer toner and paper",
        "Supplies",
        356.18,
        "Invoice",
    ),
    (
        date(2025, 11, 4),
        "INV C-2207",
        "Courtline Sports",
        "Portable court system, 1 unit",
        "Equipment",
        6200.00,
        "Invoice; county approval of 10/14/2025; three quotes",
    ),
    (
        date(2025, 12, 31),
        "MIL-Q4",
        "Staff mileage",
        "1,240 miles at $0.80",
        "Travel",
        992.00,
        "Mileage logs, 1,240 miles",
    ),
    (date(2025, 11, 20), "INV 3341", "Hillside Van Rental", "Van for museum visit", "Travel", 310.00, "Invoice"),
    (
        date(2025, 12, 22),
        "INV 3341-L",
        "Hillside Van Rental",
        "Late payment charge, invoice 3341",
        "Travel",
        45.00,
        "Statement",
    ),
    (
        date(2025, 10, 15),
        "INV 2231",
        "BrightPath Curriculum",
        "Reading assessments, fall",
        "Contractual",
        1850.00,
        "Invoice 2231",
    ),
    (
        date(2025, 10, 31),
        "INV LW-10",
        "LearnWell Tutoring LLC",
        "Tutoring under contract, October",
        "Contractual",
        2400.00,
        "Invoice; contract $24,000, three quotes on file",
    ),
    (
        date(2025, 11, 18),
        "INV 2231",
        "BrightPath Curriculum",
        "Assessments",
        "Contractual",
        1850.00,
        "Invoice 2231 (copy)",
    ),
    (
        date(2025, 11, 30),
        "INV LW-11",
        "LearnWell Tutoring LLC",
        "Tutoring under contract, November",
        "Contractual",
        2400.00,
        "Invoice; contract $24,000, three quotes on file",
    ),
    (
        date(2025, 12, 31),
        "INV LW-12",
        "LearnWell Tutoring LLC",
        "Tutoring under contract, December",
        "Contractual",
        2400.00,
        "Invoice; contract $24,000, three quotes on file",
    ),
]
# line number -> disallowed, questioned, why
_FOUND: dict[int, tuple[float, float, str]] = {
    5: (0.00, 1488.00, "F7 No time record for November (section 5)"),
    9: (144.00, 0.00, "F5 Time record shows 54 hours; 60 claimed (section 5)"),
    13: (684.20, 0.00, "F1 Incurred 08/26/2025, before the period (section 2)"),
    17: (400.00, 0.00, "F3 Gift cards without prior approval (section 7)"),
    20: (124.00, 0.00, "F4 Mileage above $0.70 (section 6)"),
    22: (45.00, 0.00, "F3 Late charge is a penalty (section 7)"),
    25: (1850.00, 0.00, "F2 Invoice 2231 already claimed on line 23 (section 8)"),
}


def _lines() -> list[Line]:
    made = []
    for number, fields in enumerate(_RAW, start=1):
        disallowed, questioned, why = _FOUND.get(number, (0.0, 0.0, ""))
        made.append(Line(number, *fields, disallowed=disallowed, questioned=questioned, finding=why))  # type: ignore[arg-type]
    return made


LINES = _lines()
TIME_RECORDS = [
    TimeRecord(employee, month, hours, "both" if hours else "not provided")
    for employee, by_month in (
        ("D. Salcedo", (70, 0, 58)),
        ("K. Whitaker", (72, 66, 54)),
        ("J. Lindqvist", (64, 60, 48)),
    )
    for month, hours in zip(("October", "November", "December"), by_month, strict=True)
]


@dataclass(frozen=True)
class Outcome:
    """The claim as made and as it stands after review."""

    claimed: float
    disallowed: float
    questioned: float

    @property
    def approved(self) -> float:
        return self.claimed - self.disallowed - self.questioned


def total(category: str, column: str = "amount") -> float:
    if category == "Fringe":
        return round(FRINGE * total("Personnel", column), 2)
    return round(sum(getattr(line, column) for line in LINES if line.category == category), 2)


def outcome() -> Outcome:
    """Direct costs, fringe and indirect as claimed, disallowed and questioned."""
    direct = sum(total(category) for category in CATEGORIES)
    disallowed = sum(total(category, "disallowed") for category in CATEGORIES)
    questioned = sum(total(category, "questioned") for category in CATEGORIES)
    claimed_indirect = round(INDIRECT * direct, 2)
    base = direct - disallowed - questioned - total("Equipment")
    questioned_indirect = round(INDIRECT * questioned, 2)
    approved_indirect = round(INDIRECT * base, 2)
    return Outcome(
        claimed=round(direct + claimed_indirect, 2),
        disallowed=round(disallowed + claimed_indirect - approved_indirect - questioned_indirect, 2),
        questioned=round(questioned + questioned_indirect, 2),
    )
