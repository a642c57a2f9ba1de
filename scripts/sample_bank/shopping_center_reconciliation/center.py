"""The invented center: its ledger for 2025, three leases and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from random import Random

CENTER, MANAGER = "Fernhill Crossing", "Alder & Wray Property Management"
LEASABLE_SF, TRASH_SF = 60_000, 36_000
ADMIN, CAP = 0.10, 0.05
POOLS = ("Controllable", "Management fee", "Snow and utilities", "Trash", "Insurance", "Real estate tax")


@dataclass(frozen=True)
class Entry:
    day: date
    account: str
    vendor: str
    memo: str
    amount: float
    pool: str
    counted: float
    reason: str = ""


@dataclass(frozen=True)
class Tenant:
    name: str
    unit: str
    area_sf: int
    share_of_year: float
    estimates: float
    pays_management: bool = True
    pays_trash: bool = True
    pays_admin: bool = True
    controllable_2024: float | None = None


TENANTS = [
    Tenant(
        "Brightleaf Grocers", "1", 24_000, 1.0, 12 * 9400.0, pays_management=False, pays_trash=False, pays_admin=False
    ),
    Tenant("Corner Vet", "6", 3_000, 1.0, 12 * 1480.0, controllable_2024=5600.00),
    Tenant("Luna Taqueria", "8", 2_400, 275 / 365, 9 * 1150.0),
]
_MONTHLY = [
    ("5010 Landscaping", "Greenline Grounds", "Monthly service", 2600.00, "Controllable"),
    ("5020 Sweeping", "CleanLot Services", "Monthly sweeping", 1040.00, "Controllable"),
    ("5050 Security", "Sentry Patrol", "Evening patrol", 2200.00, "Controllable"),
    ("5070 Trash", "Tri-Valley Disposal", "Dumpster service, shop tenants", 1200.00, "Trash"),
]
_SNOW = {1: 9850.00, 2: 7400.00, 3: 2900.00, 12: 8500.00}
_OTHER: list[tuple[date, str, str, str, float, str, float, str]] = [
    (
        date(2025, 3, 18),
        "5060 Repairs",
        "Dalton Electric",
        "Parking lot light repairs",
        2340.00,
        "Controllable",
        2340.00,
        "",
    ),
    (
        date(2025, 5, 6),
        "5060 Repairs",
        "Northside Paving",
        "Reseal and stripe whole lot, 5-year life",
        9200.00,
        "Controllable",
        1840.00,
        "Capital item over $5,000: one fifth a year (lease 7.3)",
    ),
    (
        date(2025, 6, 24),
        "5060 Repairs",
        "Hartwell Contracting",
        "Unit 9 (vacant): drywall and flooring",
        2150.00,
        "Excluded",
        0.00,
        "Work inside leasable space (lease 7.2 d)",
    ),
    (date(2025, 7, 15), "5060 Repairs", "Dalton Electric", "Pylon sign ballast", 1985.00, "Controllable", 1985.00, ""),
    (
        date(2025, 9, 9),
        "5060 Repairs",
        "Keystone Plumbing",
        "Storm drain cleaning",
        3640.00,
        "Controllable",
        3640.00,
        "",
    ),
    (
        date(2025, 10, 20),
        "5060 Repairs",
        "Marten Masonry",
        "Sidewalk trip hazards",
        3500.00,
        "Controllable",
        3500.00,
        "",
    ),
    (
        date(2025, 4, 30),
        "5080 Legal",
        "Voss & Lamb",
        "Lease enforcement, Unit 4",
        6750.00,
        "Excluded",
        0.00,
        "Tenant disputes (lease 7.2 b)",
    ),
    (
        date(2025, 12, 31),
        "5090 Management fee",
        MANAGER,
        "Management fee 2025",
        38000.00,
        "Management fee",
        38000.00,
        "",
    ),
    (
        date(2025, 2, 1),
        "5100 Insurance",
        "Granite Mutual",
        "Property and liability 2025",
        41300.00,
        "Insurance",
        41300.00,
        "",
    ),
    (
        date(2025, 5, 15),
        "5110 Real estate tax",
        "County treasurer",
        "First half 2025",
        58515.00,
        "Real estate tax",
        58515.00,
        "",
    ),
    (
        date(2025, 12, 5),
        "5110 Real estate tax",
        "County treasurer",
        "Second half 2025",
        58515.00,
        "Real estate tax",
        58515.00,
        "",
    ),
    (
        date(2025, 12, 5),
        "5110 Real estate tax",
        "County treasurer",
        "Penalty, second half paid late",
        1870.00,
        "Excluded",
        0.00,
        "Penalties (lease 7.2 e)",
    ),
    (
        date(2025, 8, 28),
        "5120 Roof",
        "Summit Roofing",
        "Replace roof section, Units 1 to 3",
        54000.00,
        "Excluded",
        0.00,
        "Roof and structure (lease 7.2 a)",
    ),
    (
        date(2025, 4, 1),
        "5130 Leasing",
        "Corbel Realty",
        "Commission, Luna Taqueria",
        12300.00,
        "Excluded",
        0.00,
        "Leasing costs (lease 7.2 c)",
    ),
]


def entries() -> list[Entry]:
    rng = Random(2025)
    made = [
        Entry(date(2025, month, 28), account, vendor, memo, amount, pool, amount)
        for month in range(1, 13)
        for account, vendor, memo, amount, pool in _MONTHLY
    ]
    power = [round(1600 + rng.uniform(-220, 220), 2) for _ in range(11)]
    power.append(round(19370 - sum(power), 2))
    made += [
        Entry(
            date(2025, month, 20),
            "5040 Electricity",
            "Valley Power",
            "Common area meter",
            cost,
            "Snow and utilities",
            cost,
        )
        for month, cost in enumerate(power, start=1)
    ]
    made += [
        Entry(
            date(2025, month, 27),
            "5030 Snow removal",
            "Frostline Plowing",
            "Plowing and salt",
            cost,
            "Snow and utilities",
            cost,
        )
        for month, cost in _SNOW.items()
    ]
    made += [Entry(*fields) for fields in _OTHER]
    return sorted(made, key=lambda entry: (entry.day, entry.account, entry.memo))


def pool(name: str) -> float:
    return round(sum(entry.counted for entry in entries() if entry.pool == name), 2)


@dataclass(frozen=True)
class Bill:
    """What one tenant owes for the year, by line."""

    controllable: float
    before_cap: float
    cap: float | None
    snow_and_utilities: float
    trash: float
    admin: float
    insurance: float
    tax: float

    @property
    def total(self) -> float:
        return round(
            self.controllable + self.snow_and_utilities + self.trash + self.admin + self.insurance + self.tax, 2
        )


def bill(tenant: Tenant) -> Bill:
    share = tenant.area_sf / LEASABLE_SF * tenant.share_of_year
    before = share * (pool("Controllable") + (pool("Management fee") if tenant.pays_management else 0))
    cap = None if tenant.controllable_2024 is None else tenant.controllable_2024 * (1 + CAP)
    controllable = round(before if cap is None else min(before, cap), 2)
    other = round(share * pool("Snow and utilities"), 2)
    trash = round(tenant.area_sf / TRASH_SF * tenant.share_of_year * pool("Trash"), 2) if tenant.pays_trash else 0.0
    return Bill(
        controllable=controllable,
        before_cap=round(before, 2),
        cap=cap,
        snow_and_utilities=other,
        trash=trash,
        admin=round(ADMIN * (controllable + other + trash), 2) if tenant.pays_admin else 0.0,
        insurance=round(share * pool("Insurance"), 2),
        tax=round(share * pool("Real estate tax"), 2),
    )
