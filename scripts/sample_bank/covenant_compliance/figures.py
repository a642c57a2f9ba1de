"""The invented borrower: six quarters of figures and the balances at the test date (USD thousands)."""

from __future__ import annotations

from collections.abc import Sequence

BORROWER, LENDER = "Lakeshore Packaging Holdings, Inc.", "Meridian Commercial Bank"

QUARTERS = ["Q2 2024", "Q3 2024", "Q4 2024", "Q1 2025", "Q2 2025", "Q3 2025"]

REVENUE = [24310, 25020, 23870, 22940, 24105, 23650]

COGS = [16980, 17440, 16790, 16290, 17020, 16845]

SGA = [4420, 4480, 4465, 4390, 4440, 4475]

DEPRECIATION = [1150, 1160, 1175, 1180, 1190, 1205]

RESTRUCTURING = [0, 0, 410, 620, 585, 640]

GAIN = [0, 0, 0, 0, 925, 0]

INTEREST = [820, 815, 805, 798, 812, 826]

TAX = [235, 281, 56, -85, 246, -85]

STOCK = [80, 80, 85, 90, 90, 95]

FEES = [40, 40, 40, 40, 40, 40]

CAPEX = [690, 610, 640, 580, 720, 610]

LEASED_CAPEX = [0, 0, 150, 0, 300, 0]

CASH_TAX = [180, 150, 60, 40, 110, 85]

DISTRIBUTIONS = [0, 0, 0, 0, 300, 0]

TERM_PRINCIPAL = [500] * 6

LEASE_PRINCIPAL = [85, 88, 92, 94, 96, 98]

BALANCES = [
    ("Cash: operating accounts (control agreement in place)", 2290),
    ("Cash: Halifax account (no control agreement)", 520),
    ("Cash: building-sale escrow (restricted)", 450),
    ("Term loan, current portion", 2000),
    ("Term loan, long-term portion", 22500),
    ("Revolving loans outstanding", 5750),
    ("Finance lease obligations", 1480),
    ("Operating lease liabilities", 3900),
    ("Seller note (subordinated)", 1500),
    ("Letters of credit issued and undrawn", 600),
    ("Revolving commitment", 10000),
]

INCOME: list[tuple[str, Sequence[int]]] = [
    ("Revenue", REVENUE),
    ("Cost of goods sold (excl. depreciation)", COGS),
    ("Selling, general and administrative (incl. stock compensation)", SGA),
    ("Depreciation and amortization", DEPRECIATION),
    ("Restructuring charges (cash)", RESTRUCTURING),
    ("Gain on sale of building", GAIN),
    ("Interest expense (incl. fee amortization)", INTEREST),
]

SUPPLEMENT: list[tuple[str, Sequence[int]]] = [
    ("Non-cash stock compensation (within SG&A)", STOCK),
    ("Amortization of financing fees (within interest)", FEES),
    ("Capital expenditures, total", CAPEX),
    ("  of which financed by finance leases", LEASED_CAPEX),
    ("Income taxes paid in cash", CASH_TAX),
    ("Distributions to shareholders", DISTRIBUTIONS),
    ("Scheduled principal: term loan", TERM_PRINCIPAL),
    ("Scheduled principal: finance leases", LEASE_PRINCIPAL),
]
