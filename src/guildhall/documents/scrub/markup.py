"""Plain text and notebooks: what a reader sees is written anew."""

from __future__ import annotations

import base64
import json
from typing import Any

from guildhall.documents.extract.plain import decode_text
from guildhall.documents.extract.writing import visible
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import UnreadableFile


def scrub_text(data: bytes, _ledger: ScrubLedger, _context: ScrubContext) -> bytes:
    """Letters that can be seen, all of them, with lines ended in one way."""
    return visible(decode_text(data)).encode("utf-8", "replace")


_KEPT_OUTPUT = {
    "stream": ("name", "text"),
    "error": ("ename", "evalue", "traceback"),
    "display_data": ("data",),
    "execute_result": ("data", "execution_count"),
}


def scrub_notebook(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The same cells with their words and pictures in one canonical form, and the language as the only setting."""
    try:
        notebook = json.loads(data)
        language = str((notebook.get("metadata") or {}).get("language_info", {}).get("name", "python"))
        plain = language if language.isalpha() and len(language) < 12 else "python"
        made = {
            "cells": [_cell(cell, context) for cell in notebook["cells"]],
            "metadata": {"language_info": {"name": plain}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableFile("notebook", f"is no notebook of format 4 ({type(error).__name__})") from error
    ledger.clean("all but cells and outputs", "removed")
    return json.dumps(made, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _cell(cell: dict[str, Any], context: ScrubContext) -> dict[str, Any]:
    kind = cell["cell_type"] if cell["cell_type"] in ("code", "markdown") else "raw"
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": _words(cell.get("source"))}
    if kind == "code":
        count = cell.get("execution_count")
        outputs = [one for output in cell.get("outputs") or [] if (one := _output(output, context))]
        made |= {"execution_count": count if isinstance(count, int) else None, "outputs": outputs}
    return made


def _output(output: dict[str, Any], context: ScrubContext) -> dict[str, Any] | None:
    kind = str(output.get("output_type"))
    made: dict[str, Any] = {"output_type": kind} | ({"metadata": {}} if "data" in _KEPT_OUTPUT.get(kind, ()) else {})
    for key in _KEPT_OUTPUT.get(kind, ()):
        value = output.get(key)
        if key == "data":
            made[key] = _bundle(value or {}, context)
        elif key == "execution_count":
            made[key] = value if isinstance(value, int) else None
        else:
            made[key] = (
                [str(line) for line in value] if key == "traceback" and isinstance(value, list) else _words(value)
            )
    return made if kind in _KEPT_OUTPUT else None


def _bundle(bundle: dict[str, Any], context: ScrubContext) -> dict[str, str]:
    """Words and pictures; markup of other programs is shown by neither."""
    made: dict[str, str] = {
        kind: _words(bundle[kind]) for kind in ("text/plain", "text/markdown", "text/latex") if kind in bundle
    }
    for kind in ("image/png", "image/jpeg"):
        if kind in bundle:
            picture = context.member("picture", base64.b64decode(_words(bundle[kind])))
            made[kind] = base64.b64encode(picture).decode()
    return made


def _words(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")
