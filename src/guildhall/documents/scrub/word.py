"""Word processing: fields that would change by themselves are frozen; comments and changes keep their words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from zlib import crc32

from guildhall.documents.opc import Opc
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger, bare_name, tells_a_machine
from guildhall.documents.scrub.ooxml import freeze_package, scrub_package
from guildhall.documents.scrub.ooxml_lists import is_plain
from guildhall.documents.xmltrees import Tree, attribute, drop, local, unwrap

_VOLATILE = frozenset(
    [
        "DATE",
        "TIME",
        "CREATEDATE",
        "SAVEDATE",
        "PRINTDATE",
        "EDITTIME",
        "FILENAME",
        "FILESIZE",
        "AUTHOR",
        "LASTSAVEDBY",
        "USERNAME",
        "USERINITIALS",
        "USERADDRESS",
        "TEMPLATE",
        "REVNUM",
        "DOCPROPERTY",
        "INFO",
        "TITLE",
        "SUBJECT",
        "KEYWORDS",
        "COMMENTS",
        "DOCVARIABLE",
    ]
)
_UNSTORED = frozenset({"dayShort", "monthShort", "yearShort", "dayLong", "monthLong", "yearLong"})


@dataclass
class _Field:
    """A field whose end has not been met yet: its switches, its instruction and whether it has a result."""

    switches: list[Tree]
    instruction: str = ""
    code: list[Tree] = field(default_factory=list)
    nested: bool = False
    separated: bool = False
    shows: bool = False


def scrub_word(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Fields frozen, makers' traces gone, also folders and private data in the instructions of fields."""
    passes = (_freeze_fields, _rename_bookmarks, _scrub_field_instructions)
    return scrub_package(data, ledger, context, passes=passes, application="Microsoft Office Word")


def freeze_word(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Date, time, file-name, author and property fields become the text they last showed."""
    return freeze_package(data, ledger, context, _freeze_fields)


def _freeze_fields(package: Opc, ledger: ScrubLedger) -> None:
    for part, tree in package.trees():
        if part.startswith("word/"):
            _freeze_simple_fields(tree, ledger)
            _freeze_complex_fields(tree, ledger)
            for binding in list(tree.iter("{*}dataBinding")):
                drop(binding)
                ledger.clean("content bound to properties", "frozen to its stored value")
            for element in tree.iter():
                if local(element.tag) in _UNSTORED:
                    ledger.omit("volatile fields left as they are", "the file stores no value to freeze them to")


def _rename_bookmarks(package: Opc, ledger: ScrubLedger) -> None:
    """Names that join two places are numbered, in links and in fields alike."""
    trees = [tree for part, tree in package.trees() if part.startswith("word/")]
    names = {attribute(mark, "name") for tree in trees for mark in tree.iter("{*}bookmarkStart")}

    def renamed(text: str) -> str:
        return re.sub(r"\w+", lambda word: f"_b{ledger.number(word[0])}" if word[0] in names else word[0], text)

    for tree in trees:
        for element in tree.iter("{*}bookmarkStart", "{*}hyperlink", "{*}fldSimple", "{*}instrText", "{*}delInstrText"):
            if local(element.tag).lower().endswith("instrtext"):
                element.text = renamed(element.text or "")
            for key in [key for key in element.attrib if local(key) in ("name", "anchor", "instr")]:
                element.set(key, renamed(str(element.attrib[key])))


def _scrub_field_instructions(package: Opc, ledger: ScrubLedger) -> None:
    for part, tree in package.trees():
        if part.startswith("word/"):
            scrub_instructions(tree, ledger)


def _freeze_simple_fields(tree: Tree, ledger: ScrubLedger) -> None:
    for simple in list(tree.iter("{*}fldSimple")):
        if _is_volatile(attribute(simple, "instr")):
            if any(text.text for text in simple.iter("{*}t")):
                unwrap(simple)
                ledger.clean("volatile fields", "frozen to their stored value")
            else:
                ledger.omit("volatile fields left as they are", "the file stores no value to freeze them to")


def _freeze_complex_fields(tree: Tree, ledger: ScrubLedger) -> None:
    open_fields: list[_Field] = []
    for element in list(tree.iter("{*}fldChar", "{*}instrText", "{*}t")):
        name = local(element.tag)
        kind = attribute(element, "fldCharType") if name == "fldChar" else ""
        if kind == "begin":
            if open_fields and not open_fields[-1].separated:
                open_fields[-1].nested = True
            open_fields.append(_Field([element]))
        elif not open_fields:
            continue
        elif name == "instrText":
            open_fields[-1].instruction += element.text or ""
            open_fields[-1].code.append(element)
        elif name == "t":
            open_fields[-1].shows |= open_fields[-1].separated and bool(element.text)
        else:
            open_fields[-1].switches.append(element)
            open_fields[-1].separated |= kind == "separate"
            if kind == "end":
                _freeze(open_fields.pop(), ledger)


def _freeze(ended: _Field, ledger: ScrubLedger) -> None:
    if not _is_volatile(ended.instruction):
        return
    if ended.nested or not ended.shows:
        ledger.omit("volatile fields left as they are", "the file stores no value to freeze them to")
        return
    for element in ended.switches + ended.code:
        drop(element)
    ledger.clean("volatile fields", "frozen to their stored value")


def _is_volatile(instruction: str) -> bool:
    words = instruction.split()
    return bool(words) and words[0].upper() in _VOLATILE


_QUOTED = re.compile(r'"([^"]*)"')
_COMPUTED = frozenset(
    """PAGE NUMPAGES SECTION SECTIONPAGES SEQ REF PAGEREF NOTEREF STYLEREF TOC INDEX HYPERLINK EQ SYMBOL FORMTEXT
    FORMCHECKBOX FORMDROPDOWN LISTNUM AUTONUM =""".split()  # noqa: SIM905 - a list to be read
)
"""Fields that show something by what stands in the document."""
_WORD = re.compile(r"[^\W\d_]{3,}\w*")


def plain_instruction(instruction: str) -> str:
    """The instruction in the words that fields have: free ones are numbers, folders of somebody's disk are gone.

    A reference manager keeps whole records in fields of its own, with the number of the person's account in each.
    """
    name = next(iter(instruction.split()), "").upper()
    if name not in _COMPUTED:
        return " "
    if name == "HYPERLINK":
        return _QUOTED.sub(lambda found: f'"{_without_folders(found[1])}"', instruction)
    return _WORD.sub(lambda word: _known(word[0]), instruction)


def _known(word: str) -> str:
    """A word of the format as it is, any other as a number: what counts is that it is the same in two places."""
    return word if word.startswith("_b") or word.upper() in _COMPUTED or is_plain(word) else f"w{crc32(word.encode())}"


def _without_folders(path: str) -> str:
    single = path.replace("\\\\", "\\")
    return bare_name(single) if tells_a_machine(single) or tells_a_machine(path) else path


def scrub_instructions(tree: Tree, ledger: ScrubLedger) -> None:
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


def _scrub_spread(pieces: list[Tree], ledger: ScrubLedger) -> None:
    whole = "".join(piece.text or "" for piece in pieces)
    plain = plain_instruction(whole)
    if plain == whole:
        return
    for piece in pieces:
        piece.text = ""
    pieces[0].text = plain
    ledger.clean("folders and add-in data in fields", "removed")
