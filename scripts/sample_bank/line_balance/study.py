"""The invented line: its elements, the observations, the stations before and after."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

PLANT, PRODUCT = "Calloway Pump Works", "P-40 pump"
ALLOWANCE, DEMAND, AVAILABLE_MIN = 0.12, 250, 450
TAKT_S = AVAILABLE_MIN * 60 / DEMAND


@dataclass(frozen=True)
class Element:
    key: str
    text: str
    normal_s: float
    rating: float
    after: str
    machine: bool = False


ELEMENTS = [
    Element("A", "Load casing into fixture", 14, 1.00, ""),
    Element("B", "Press bearing into casing", 32, 0.95, "A"),
    Element("C", "Fit O-ring and shaft seal", 21, 1.05, "A"),
    Element("D", "Fit impeller to shaft", 38, 1.10, ""),
    Element("E", "Insert shaft assembly", 27, 1.00, "BD"),
    Element("F", "Install wear ring", 18, 0.95, "CE"),
    Element("G", "Place gasket and cover", 16, 1.00, "F"),
    Element("H", "Torque cover bolts (8)", 52, 1.05, "G"),
    Element("I", "Mount motor adapter", 30, 1.00, "H"),
    Element("J", "Couple motor", 44, 0.90, "I"),
    Element("K", "Wire terminal box", 48, 1.10, "J"),
    Element("L", "Leak test (automatic cycle)", 72, 1.00, "H", machine=True),
    Element("M", "Electrical test", 28, 1.00, "K"),
    Element("N", "Label and final inspection", 24, 1.00, "LM"),
    Element("O", "Pack", 35, 0.95, "N"),
]
NOW = ["ABC", "D", "EFG", "H", "IJK", "L", "MNO"]
THEN = ["ABD", "CEFG", "HI", "JK", "LM", "NO"]
OUTLIER = ("H", 3, 96.4, "Bolt dropped, retrieved from under bench")


def observations() -> dict[str, list[float]]:
    """Six readings per element in seconds, to a tenth; one of them spoilt by a dropped bolt."""
    rng = Random(40)
    seen = {}
    for element in ELEMENTS:
        spread = 0.0 if element.machine else 0.05
        seen[element.key] = [
            round(element.normal_s / element.rating * (1 + rng.uniform(-spread, spread)), 1) for _ in range(6)
        ]
    seen[OUTLIER[0]][OUTLIER[1]] = OUTLIER[2]
    return seen


def standard_times() -> dict[str, float]:
    times = {}
    for element in ELEMENTS:
        readings = observations()[element.key]
        kept = [value for number, value in enumerate(readings) if (element.key, number) != OUTLIER[:2]]
        mean = sum(kept) / len(kept)
        times[element.key] = mean if element.machine else mean * element.rating * (1 + ALLOWANCE)
    return times


def loads(stations: list[str]) -> list[float]:
    times = standard_times()
    return [sum(times[key] for key in station) for station in stations]


def respects_precedence(stations: list[str]) -> bool:
    place = {key: number for number, station in enumerate(stations) for key in station}
    return all(place[before] <= place[element.key] for element in ELEMENTS for before in element.after)
