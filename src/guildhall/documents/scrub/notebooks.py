"""Notebooks: code, text and outputs stay; who ran what, when and where goes."""

from __future__ import annotations

import base64
import json
from typing import Any

from guildhall.documents.scrub.ledger import Ledger, ScrubContext
from guildhall.errors import UnreadableFile

_KEPT_METADATA = {"kernelspec": ("language",), "language_info": ("name", "file_extension", "mimetype")}
_KEPT_CELL_METADATA = frozenset({"tags", "collapsed", "scrolled", "jupyter", "slideshow", "hide_input"})
_PICTURES = ("image/png", "image/jpeg", "image/gif")


def scrub_notebook(data: bytes, ledger: Ledger, context: ScrubContext) -> bytes:
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


def _scrub_cell(cell: dict[str, Any], number: int, ledger: Ledger, context: ScrubContext) -> None:
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
