"""Slides: dates that would show the day they are looked at are frozen to the day they last showed."""

from __future__ import annotations

from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.documents.scrub.ooxml import freeze_package, scrub_package
from guildhall.documents.xmltrees import drop, local


def scrub_slides(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Fields frozen and makers' traces gone."""
    passes = (_freeze_fields,)
    return scrub_package(data, ledger, context, passes=passes, application="Microsoft Office PowerPoint")


def freeze_slides(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Date, time, file-name and author fields become ordinary text; slide numbers stay fields."""
    return freeze_package(data, ledger, context, _freeze_fields)


def _freeze_fields(package: Opc, ledger: ScrubLedger) -> None:
    for _, tree in package.trees():
        for moving in list(tree.iter("{*}fld")):
            kind = moving.get("type", "")
            if not kind.startswith(("datetime", "file", "author")):
                continue
            if not any(text.text for text in moving.iter("{*}t")):
                ledger.omit("volatile fields left as they are", "the file stores no value to freeze them to")
                continue
            moving.tag = str(moving.tag).replace("}fld", "}r")
            moving.attrib.clear()
            for child in [child for child in moving if local(child.tag) == "pPr"]:
                drop(child)
            ledger.clean("volatile fields", "frozen to their stored value")
