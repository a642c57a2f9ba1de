"""Slides: dates that would show the day they are looked at are frozen to the day they last showed."""

from __future__ import annotations

from guildhall.documents.opc import Opc
from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.xmltrees import drop, local

APPLICATION = "Microsoft Office PowerPoint"


def freeze_slides(package: Opc, ledger: Ledger) -> None:
    """Date, time, file-name and author fields become ordinary text; slide numbers stay fields."""
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
