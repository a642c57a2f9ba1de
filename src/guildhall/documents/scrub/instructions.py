"""Field instructions of letters: what a field would fetch, and what an add-in keeps in it beside what it shows."""

from __future__ import annotations

import re

from guildhall.documents.scrub.ledger import Ledger
from guildhall.documents.scrub.links import bare_name, tells_a_machine
from guildhall.documents.xmltrees import Tree, attribute, local

_QUOTED = re.compile(r'"([^"]*)"')
_ADDIN = re.compile(r"^\s*ADDIN\b")


def plain_instruction(instruction: str) -> str:
    """The instruction without folders of somebody's disk, and without what an add-in wrote for itself.

    A reference manager keeps whole records there, with the number of the person's account in each.
    """
    if _ADDIN.match(instruction):
        return " ADDIN "
    return _QUOTED.sub(lambda found: f'"{_without_folders(found[1])}"', instruction)


def _without_folders(path: str) -> str:
    single = path.replace("\\\\", "\\")
    return bare_name(single) if tells_a_machine(single) or tells_a_machine(path) else path


def scrub_instructions(tree: Tree, ledger: Ledger) -> None:
    """Every field of a part; an instruction may be spread over several runs, and is then gathered in the first."""
    for simple in tree.iter("{*}fldSimple"):
        name = next((name for name in simple.attrib if local(name) == "instr"), None)
        if name is not None and (plain := plain_instruction(str(simple.attrib[name]))) != simple.attrib[name]:
            simple.set(name, plain)
            ledger.clean("folders and add-in data in fields", "removed")
    open_fields: list[list[Tree]] = []
    for element in tree.iter("{*}fldChar", "{*}instrText", "{*}delInstrText"):
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            open_fields.append([])
        elif not kind and open_fields:
            open_fields[-1].append(element)
        elif kind == "end" and open_fields:
            _scrub_spread(open_fields.pop(), ledger)
    for left_open in open_fields:
        _scrub_spread(left_open, ledger)


def _scrub_spread(pieces: list[Tree], ledger: Ledger) -> None:
    whole = "".join(piece.text or "" for piece in pieces)
    plain = plain_instruction(whole)
    if plain == whole:
        return
    for piece in pieces:
        piece.text = ""
    pieces[0].text = plain
    ledger.clean("folders and add-in data in fields", "removed")
