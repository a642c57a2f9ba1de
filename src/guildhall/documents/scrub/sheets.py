"""Spreadsheets: volatile formulas are frozen to their stored values, all others stay formulas."""

from __future__ import annotations

import re

from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.documents.scrub.ooxml import freeze_package, scrub_package
from guildhall.documents.xmltrees import Tree, drop, local

_VOLATILE = re.compile(r"(?<![\w.])(TODAY|NOW|RAND|RANDBETWEEN|RANDARRAY|INFO)\s*\(", re.IGNORECASE)
_ASKS_FILE_NAME = re.compile(r'CELL\s*\(\s*"filename', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|\'[^\']*\'')
_UNSTORED_CODES = {"&D": "[date]", "&T": "[time]", "&F": "[file]", "&Z": "[folder]"}
_ELSEWHERE = re.compile(r"\[\d+\]")
"""A formula that asks another workbook."""


def is_volatile(formula: str) -> bool:
    """Whether a formula's value changes by itself: by the clock, by chance or by where the file lies."""
    return bool(_ASKS_FILE_NAME.search(formula) or _VOLATILE.search(_QUOTED.sub("", formula)))


def scrub_sheets(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Volatile cells frozen, makers' traces gone, also those that only workbooks keep."""
    passes = (_freeze_workbook, _scrub_workbook)
    return scrub_package(data, ledger, context, passes=passes, application="Microsoft Excel")


def freeze_sheets(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Cells with TODAY, NOW, RAND and their kin keep the value they showed; page headers lose date and file name."""
    return freeze_package(data, ledger, context, _freeze_workbook)


def _freeze_workbook(package: Opc, ledger: ScrubLedger) -> None:
    for part, tree in package.trees():
        if "worksheets/" in part or "chartsheets/" in part:
            _freeze_cells(tree, ledger)
            _freeze_headers(tree, ledger)


def _freeze_cells(tree: Tree, ledger: ScrubLedger) -> None:
    formulas = list(tree.iter("{*}f"))
    shared = {f.get("si") for f in formulas if f.get("t") == "shared" and is_volatile(f.text or "")}
    for formula in formulas:
        volatile = is_volatile(formula.text or "") or (formula.get("t") == "shared" and formula.get("si") in shared)
        cell = formula.getparent()
        if not volatile or cell is None:
            continue
        value = next((child for child in cell if local(child.tag) == "v"), None)
        if value is None or not value.text:
            ledger.omit("volatile formulas left as they are", "the file stores no value to freeze them to")
            continue
        drop(formula)
        ledger.clean("volatile formulas", "frozen to their stored value")
    for rule in tree.iter("{*}cfRule", "{*}dataValidation"):
        if any(is_volatile(child.text or "") for child in rule):
            ledger.omit("volatile rules left as they are", "a rule stores no value to freeze it to")


def _freeze_headers(tree: Tree, ledger: ScrubLedger) -> None:
    """A page header's date and file name are stored nowhere: they become a plain word on both renders."""
    for holder in tree.iter("{*}headerFooter"):
        for line in holder:
            for code, word in _UNSTORED_CODES.items():
                if code in (line.text or ""):
                    line.text = (line.text or "").replace(code, word)
                    ledger.clean("date and file name in page headers", "frozen to a word")


def _scrub_workbook(package: Opc, ledger: ScrubLedger) -> None:
    """Authors of comments become aliases; formulas that ask other workbooks keep the value they showed."""
    for part, tree in package.trees():
        if "comments" in part.lower() and local(tree.tag) == "comments":
            _rename_comment_authors(tree, ledger)
        for formula in list(tree.iter("{*}f", "{*}definedName")):
            if _ELSEWHERE.search(formula.text or ""):
                drop(formula)
                ledger.omit("links to other workbooks", "they keep the value the file stores")


def _rename_comment_authors(tree: Tree, ledger: ScrubLedger) -> None:
    """Authors become aliases, and so does the name that spreadsheet programs put before the comment's words."""
    authors: list[tuple[str, str]] = []
    for author in tree.iter("{*}author"):
        person = author.text or ""
        if person.startswith("tc="):  # the place holder of a threaded comment, joined to it by its id
            author.text = ledger.alias(person)
        elif person:
            author.text = ledger.alias(person)
            ledger.clean("people", "renamed")
        authors.append((person, author.text or ""))
    for comment in tree.iter("{*}comment"):
        person, alias = authors[int(comment.get("authorId", "0"))]
        first = next(comment.iter("{*}t"), None)
        if first is not None and person and (first.text or "").startswith(f"{person}:"):
            first.text = alias + (first.text or "").removeprefix(person)
