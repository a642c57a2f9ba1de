"""The invented order: what was asked, what the price list and the stock allow, what is confirmed."""

from __future__ import annotations

from dataclasses import dataclass

SELLER, BUYER, PO = "Bellwether Foodservice Supply", "Marigold Diner Group", "7751"
DISCOUNT, TAX, FREIGHT_FREE_FROM = 0.03, 0.065, 1500


@dataclass(frozen=True)
class Item:
    sku: str
    text: str
    pack: str
    list_price: float
    break_at: int | None = None
    break_price: float | None = None
    status: str = "active"
    on_hand: int = 0
    allocated: int = 0
    next_receipt: str = ""


@dataclass(frozen=True)
class Line:
    number: int
    sku: str
    text: str
    quantity: int
    unit: str
    price: float
    cases: float
    ship: int
    back_order: int
    net: float
    basis: str
    remark: str


ITEMS = [
    Item("BW-1104", "Cup, hot, 12 oz", "1000/CS", 63.40, on_hand=44, allocated=6),
    Item("BW-1121", "Lid, dome, 12 oz", "1000/CS", 43.00, on_hand=61, allocated=10),
    Item("BW-1140", "Cup, cold, 16 oz", "1000/CS", 74.80, break_at=10, break_price=70.10, on_hand=38, allocated=4),
    Item("BW-1152", "Lid, flat, 16 oz", "1000/CS", 41.20, on_hand=25),
    Item("BW-2210", "Napkin, dinner, 2-ply", "3000/CS", 38.20, status="discontinued 01/31/2026; replaced by BW-2212"),
    Item("BW-2212", "Napkin, dinner, 2-ply, recycled", "3000/CS", 39.40, on_hand=70, allocated=12),
    Item("BW-3300", "Degreaser, 1 gal", "4/CS", 46.80, on_hand=19, allocated=2),
    Item("BW-4150", "Glove, nitrile, L", "1000/CS", 52.00, on_hand=11, allocated=6, next_receipt="03/17/2026: 20 CS"),
    Item("BW-5007", "Foil, 18 in x 500 ft", "1 RL", 34.75, on_hand=16),
]
LINES = [
    Line(1, "BW-1104", "Cup, hot, 12 oz", 6, "CS", 61.50, 6, 6, 0, 61.50, "List 63.40 less 3%", "As ordered"),
    Line(
        2,
        "BW-1121",
        "Lid, dome, 12 oz",
        6000,
        "EA",
        0.041,
        6,
        6,
        0,
        41.71,
        "List 43.00 less 3%",
        "6,000 EA = 6 CS. PO price $0.0410 is $41.00 a case; current net price is $41.71",
    ),
    Line(
        3,
        "BW-2210",
        "Napkin, dinner, 2-ply",
        10,
        "CS",
        38.20,
        10,
        0,
        0,
        0.00,
        "Discontinued",
        "Not shipped. BW-2212 (recycled, same pack) is in stock at $39.40; please approve or decline",
    ),
    Line(
        4,
        "BW-3300",
        "Degreaser, 1 gal",
        10,
        "EA",
        11.70,
        2.5,
        2,
        0,
        46.80,
        "List",
        "Sold by the case of 4: 8 EA confirmed. Reply if you want a third case",
    ),
    Line(
        5,
        "BW-4150",
        "Glove, nitrile, L",
        8,
        "CS",
        52.00,
        8,
        5,
        3,
        52.00,
        "List",
        "5 CS now, 3 CS back-ordered: delivery Friday, March 20",
    ),
    Line(6, "BW-5007", "Foil, 18 in x 500 ft", 4, "RL", 34.75, 4, 4, 0, 34.75, "List", "As ordered"),
    Line(
        7,
        "BW-1140",
        "Cup, cold, 16 oz",
        12,
        "CS",
        72.56,
        12,
        12,
        0,
        70.10,
        "Quantity price, 10 CS and more",
        "Lower than your PO price; not combined with the 3%",
    ),
]


def goods() -> float:
    return round(sum(line.ship * line.net for line in LINES), 2)


def tax() -> float:
    return round(goods() * TAX, 2)


def later_goods() -> float:
    return round(sum(line.back_order * line.net for line in LINES), 2)
