"""The invented month: the ledger, the statement, what was carried over, what has to be adjusted."""

from __future__ import annotations

from datetime import date

CLIENT, BANK, FIRM = "Harrow & Pine Woodworks LLC", "First Millbrook Bank", "Dorsey Lyle CPAs"

BANK_OPENING, BOOK_OPENING = 48212.66, 46820.76

# date, reference, description, offset account, amount (+ receipt, - payment)
BOOKS: list[tuple[date, str, str, str, float]] = [
    (date(2026, 2, 2), "DEP-0201", "Calder Interiors, remit 7741", "1200 Accounts receivable", 7480.00),
    (date(2026, 2, 3), "2211", "Ridgeway Lumber", "2000 Accounts payable", -5318.25),
    (date(2026, 2, 4), "2212", "Millbrook City Utilities", "2000 Accounts payable", -612.47),
    (date(2026, 2, 5), "PR-0205", "Payroll, net, by ACH", "2200 Accrued payroll", -11904.38),
    (date(2026, 2, 6), "DEP-0202", "Showroom sales", "4000 Sales", 2236.15),
    (date(2026, 2, 9), "2213", "Apex Hardware Supply", "2000 Accounts payable", -1487.60),
    (date(2026, 2, 10), "DEP-0203", "Fenn Builders, inv 3310", "1200 Accounts receivable", 9125.00),
    (date(2026, 2, 11), "2214", "Mill Street Partners, February rent", "2000 Accounts payable", -4200.00),
    (date(2026, 2, 12), "2215", "Granite Mutual Insurance", "2000 Accounts payable", -1865.00),
    (date(2026, 2, 13), "DEP-0204", "Showroom sales", "4000 Sales", 3042.80),
    (date(2026, 2, 17), "2216", "Ridgeway Lumber", "2000 Accounts payable", -3774.92),
    (date(2026, 2, 18), "ACH-ST", "State sales tax, January", "2300 Sales tax payable", -1918.33),
    (date(2026, 2, 19), "PR-0219", "Payroll, net, by ACH", "2200 Accrued payroll", -12146.71),
    (date(2026, 2, 20), "DEP-0205", "Fenn Builders, inv 3324", "1200 Accounts receivable", 4400.00),
    (date(2026, 2, 20), "2217", "Kessler Spray Equipment", "2000 Accounts payable", -728.00),
    (date(2026, 2, 23), "DEP-0206", "Calder Interiors, remit 7802", "1200 Accounts receivable", 6315.00),
    (date(2026, 2, 24), "2218", "Tri-County Freight", "2000 Accounts payable", -954.30),
    (date(2026, 2, 25), "2219", "Oakdale Office Products", "2000 Accounts payable", -143.76),
    (date(2026, 2, 25), "DEP-0207", "Calder Interiors, remit 7802", "1200 Accounts receivable", 6315.00),
    (date(2026, 2, 26), "2220", "Ridgeway Lumber", "2000 Accounts payable", -2650.00),
    (date(2026, 2, 27), "DEP-0208", "Showroom sales", "4000 Sales", 2871.45),
]

# date, description, book reference it clears (or None), amount
STATEMENT: list[tuple[date, str, str | None, float]] = [
    (date(2026, 2, 2), "Deposit", "JAN-DEP", 3150.00),
    (date(2026, 2, 3), "Deposit", "DEP-0201", 7480.00),
    (date(2026, 2, 4), "Check 2207", "2207", -2916.40),
    (date(2026, 2, 5), "Check 2211", "2211", -5318.25),
    (date(2026, 2, 5), "ACH debit  PAYCREST PAYROLL", "PR-0205", -11904.38),
    (date(2026, 2, 6), "Check 2198", "2198", -1240.00),
    (date(2026, 2, 9), "Deposit", "DEP-0202", 2236.15),
    (date(2026, 2, 9), "Check 2212", "2212", -612.47),
    (date(2026, 2, 11), "Deposit", "DEP-0203", 9125.00),
    (date(2026, 2, 12), "Check 2213", "2213", -1478.60),
    (date(2026, 2, 13), "Check 2214", "2214", -4200.00),
    (date(2026, 2, 17), "Deposit", "DEP-0204", 3042.80),
    (date(2026, 2, 18), "ACH debit  STATE REV SALES TAX", "ACH-ST", -1918.33),
    (date(2026, 2, 19), "ACH debit  PAYCREST PAYROLL", "PR-0219", -12146.71),
    (date(2026, 2, 20), "Check 2216", "2216", -3774.92),
    (date(2026, 2, 23), "Deposit", "DEP-0205", 4400.00),
    (date(2026, 2, 24), "Deposit", "DEP-0206", 6315.00),
    (date(2026, 2, 25), "Returned deposited item  FENN BUILDERS  NSF", None, -4400.00),
    (date(2026, 2, 25), "Returned item fee", None, -15.00),
    (date(2026, 2, 25), "Check 2217", "2217", -728.00),
    (date(2026, 2, 26), "Check 1187", None, -860.00),
    (date(2026, 2, 27), "Check 2219", "2219", -143.76),
    (date(2026, 2, 27), "ACH debit  NORTHFIELD EQUIP FIN  LN 40-2281", None, -1125.00),
    (date(2026, 2, 27), "Monthly service charge", None, -32.00),
    (date(2026, 2, 27), "Interest paid", None, 11.84),
]

CARRIED = [
    ("2061", date(2025, 8, 11), "D. Marchetti (refund of deposit)", -385.50),
    ("2198", date(2026, 1, 27), "Ashgrove Millwork", -1240.00),
    ("2207", date(2026, 1, 30), "Ridgeway Lumber", -2916.40),
    ("JAN-DEP", date(2026, 1, 30), "Showroom sales (deposit in transit)", 3150.00),
]

# side of the reconciliation -> label, amount, where it was found
BOOK_ITEMS = [
    ("Check 2213 recorded as 1,487.60, cleared as 1,478.60", 9.00, "AJE 1"),
    ("Deposit DEP-0207 repeats DEP-0206 (Calder remit 7802)", -6315.00, "AJE 2"),
    ("Returned item, Fenn Builders inv 3324", -4400.00, "AJE 3"),
    ("Returned item fee", -15.00, "AJE 3"),
    ("Northfield equipment loan, February payment", -1125.00, "AJE 4"),
    ("Monthly service charge", -32.00, "AJE 5"),
    ("Interest paid by bank", 11.84, "AJE 6"),
]

ENTRIES: list[tuple[str, list[tuple[str, float, float]], str]] = [
    (
        "AJE 1",
        [("1000 Cash, operating", 9.00, 0), ("2000 Accounts payable", 0, 9.00)],
        "Correct the transposition in check 2213 to Apex Hardware; the bill and the cleared check are 1,478.60.",
    ),
    (
        "AJE 2",
        [("1200 Accounts receivable", 6315.00, 0), ("1000 Cash, operating", 0, 6315.00)],
        "Remove DEP-0207, the second posting of Calder remittance 7802. Calder's account is understated until posted.",
    ),
    (
        "AJE 3",
        [("1200 Accounts receivable", 4415.00, 0), ("1000 Cash, operating", 0, 4415.00)],
        (
            "Reinstate Fenn Builders inv 3324 (4,400.00) and recharge the bank's fee (15.00) as the credit policy"
            " provides."
        ),
    ),
    (
        "AJE 4",
        [
            ("2500 Note payable, Northfield", 937.80, 0),
            ("6700 Interest expense", 187.20, 0),
            ("1000 Cash, operating", 0, 1125.00),
        ],
        "Record the February autopay on loan 40-2281, split as in the lender's schedule (payment 14).",
    ),
    (
        "AJE 5",
        [("6120 Bank charges", 32.00, 0), ("1000 Cash, operating", 0, 32.00)],
        "Record the service charge for February.",
    ),
    (
        "AJE 6",
        [("1000 Cash, operating", 11.84, 0), ("4900 Interest income", 0, 11.84)],
        "Record interest credited on 27 February.",
    ),
]
