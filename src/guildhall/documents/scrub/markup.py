"""Plain text, HTML, SVG and notebooks: what describes the making goes or becomes uniform; what a reader sees stays."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from lxml import etree

from guildhall.documents.scrub.names import SIGNATURE, ScrubContext, ScrubLedger, bare_name, tells_a_machine
from guildhall.documents.xmltrees import Tree, drop, parse_xml, write_xml
from guildhall.errors import UnreadableFile

_META = re.compile(rb"<meta\b[^>]*>", re.IGNORECASE)
_LINK = re.compile(rb"""<link\b[^>]*\brel\s*=\s*["']?(author|me|license|publisher)\b[^>]*>""", re.IGNORECASE)
_NAME = re.compile(rb"""\b(name|property|itemprop|http-equiv)\s*=\s*["']?([\w:.-]+)""", re.IGNORECASE)
_CONTENT = re.compile(rb"""(\bcontent\s*=\s*)("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_LAYOUT_NAMES = frozenset(
    b"viewport color-scheme theme-color content-type content-language default-style refresh x-ua-compatible "
    b"content-security-policy".split()
)
_REMARK = re.compile(
    rb"(?P<words><(?P<tag>script|textarea|title|xmp)\b.*?</(?P=tag)\s*>)|(?P<style><style\b.*?</style\s*>)"
    rb"|<!--(?:-?>|.*?(?:--!?>|\Z))",
    re.IGNORECASE | re.DOTALL,
)
"""Inside the first group the signs of a remark are ordinary words or code. Remarks end as browsers end them."""
_STYLE_REMARK = re.compile(rb"""("[^"]*"|'[^']*'|url\([^)]*\))|/\*.*?\*/""", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(rb"""(\s(?:href|src|poster|data|action|background)\s*=\s*)(["'])([^"'<>]*)\2""", re.IGNORECASE)
_STRUCTURED = re.compile(rb"<script\b[^>]*application/ld\+json[^>]*>.*?</script>", re.IGNORECASE | re.DOTALL)
_DATA_PICTURE = re.compile(rb"data:image/(png|jpeg|jpg|gif|webp);base64,([A-Za-z0-9+/=\s]+)")
_PRIVATE_NAMESPACES = (
    "inkscape",
    "sodipodi",
    "adobe.com",
    "bohemiancoding",
    "figma",
    "serif.com",
    "purl.org",
    "creativecommons",
)


def scrub_text(data: bytes, _ledger: ScrubLedger, _context: ScrubContext) -> bytes:
    """Plain words are content, all of them."""
    return data


def scrub_html(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The page as it was, with its generator uniform and its other descriptions gone."""

    def clean_meta(tag: re.Match[bytes]) -> bytes:
        name = _NAME.search(tag[0])
        if name is None or name[2].lower() in _LAYOUT_NAMES:
            return tag[0]
        if name[2].lower() == b"generator":
            ledger.clean("generator", "made uniform")
            return _CONTENT.sub(rb'\1"' + SIGNATURE.encode() + b'"', tag[0])
        ledger.clean("meta tags", "removed")
        return b""

    data = _META.sub(clean_meta, data)
    for pattern, place in ((_LINK, "links to the author"), (_STRUCTURED, "structured data")):
        data, found = pattern.subn(b"", data)
        ledger.clean(place, "removed", found)
    data = _ADDRESS.sub(lambda found: found[1] + found[2] + _plain_address(found[3], ledger) + found[2], data)
    return _scrub_data_pictures(_without_remarks(data, ledger), context)


def _without_remarks(data: bytes, ledger: ScrubLedger) -> bytes:
    """The page with empty remarks: each keeps its place, so that no script or style counts its neighbours anew."""

    def clean(found: re.Match[bytes]) -> bytes:
        if found["words"]:
            return found[0]
        if found["style"]:
            return _STYLE_REMARK.sub(lambda inner: inner[1] or b"/**/", found[0])
        ledger.clean("remarks in the page", "emptied")
        return b"<!---->"

    return _REMARK.sub(clean, data)


def _plain_address(address: bytes, ledger: ScrubLedger) -> bytes:
    path = address.decode("utf-8", "surrogateescape")
    if not tells_a_machine(path):
        return address
    ledger.clean("folders in links", "shortened")
    return bare_name(path).encode("utf-8", "surrogateescape")


def scrub_svg(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The drawing without comments, metadata and editors' private elements and attributes."""
    root = parse_xml(re.sub(rb"<!DOCTYPE[^>\[]*>", b"", data, count=1), name="SVG")
    for element in list(root.iter()):
        tag = str(element.tag)
        if tag.rpartition("}")[2] == "metadata" or _is_private(tag):
            drop(element)
            ledger.clean("SVG metadata", "removed")
            continue
        for name in [name for name in element.attrib if _is_private(str(name))]:
            del element.attrib[name]
            ledger.clean("editors' private attributes", "removed")
        for name, value in element.attrib.items():
            element.set(name, _plain_address(str(value).encode(), ledger).decode())
    _forget_namespaces(root)
    return _scrub_data_pictures(write_xml(root), context)


def _is_private(name: str) -> bool:
    return name.startswith("{") and any(word in name.partition("}")[0] for word in _PRIVATE_NAMESPACES)


def _forget_namespaces(root: Tree) -> None:
    etree.cleanup_namespaces(root)


def _scrub_data_pictures(data: bytes, context: ScrubContext) -> bytes:
    """Pictures written into a page as base64 are pictures all the same."""

    def clean(found: re.Match[bytes]) -> bytes:
        picture = base64.b64decode(found[2])
        return b"data:image/" + found[1] + b";base64," + base64.b64encode(context.member("picture", picture))

    return _DATA_PICTURE.sub(clean, data)


_KEPT_METADATA = {"kernelspec": ("language",), "language_info": ("name", "file_extension", "mimetype")}
_KEPT_CELL_METADATA = frozenset({"tags", "collapsed", "scrolled", "jupyter", "slideshow", "hide_input"})
_PICTURES = ("image/png", "image/jpeg", "image/gif")


def scrub_notebook(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The same cells in one canonical form, with counted ids and the language as the only setting."""
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableFile("notebook", f"is no notebook of format 4 ({type(error).__name__})") from error
    metadata = notebook.get("metadata") or {}
    notebook["metadata"] = {
        part: {key: metadata[part][key] for key in keys if key in metadata[part]}
        for part, keys in _KEPT_METADATA.items()
        if isinstance(metadata.get(part), dict)
    }
    if "kernelspec" in notebook["metadata"]:
        notebook["metadata"]["kernelspec"] |= {"name": "kernel", "display_name": "Kernel"}
    ledger.clean("notebook metadata", "made uniform")
    for number, cell in enumerate(cells, start=1):
        _scrub_cell(cell, number, ledger, context)
    kept = {key: notebook[key] for key in ("cells", "metadata", "nbformat", "nbformat_minor") if key in notebook}
    return json.dumps(kept, indent=1, ensure_ascii=False).encode() + b"\n"


def _scrub_cell(cell: dict[str, Any], number: int, ledger: ScrubLedger, context: ScrubContext) -> None:
    cell["metadata"] = {key: value for key, value in (cell.get("metadata") or {}).items() if key in _KEPT_CELL_METADATA}
    ledger.clean("cell metadata", "made uniform")
    if "id" in cell:
        cell["id"] = f"cell-{number}"
    outputs = cell.get("outputs") or []
    bundles = [output.get("data") for output in outputs] + list((cell.get("attachments") or {}).values())
    for output in outputs:
        if "metadata" in output:
            output["metadata"] = {}
    for bundle in bundles:
        for kind in _PICTURES:
            if isinstance(bundle, dict) and kind in bundle:
                bundle[kind] = _scrubbed_picture(bundle[kind], context)


def _scrubbed_picture(encoded: str | list[str], context: ScrubContext) -> str:
    text = encoded if isinstance(encoded, str) else "".join(encoded)
    return base64.b64encode(context.member("picture", base64.b64decode(text))).decode()
