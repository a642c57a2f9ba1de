"""The inside of a room: one function, one file, one result, run as `python -m guildhall.documents.worker`.

The job comes as one JSON document on standard input (`function`, `file`, `also`, `options`); the result, or the
refusal in words, is left as `result.json` in the work folder, so that standard output stays free for chatty parsers.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

RESULT = "result.json"
ONLY_FROM = "guildhall.documents."


def main() -> None:
    job = json.load(sys.stdin)
    answer = _answer(job, Path("out").absolute())
    Path(RESULT).write_text(json.dumps(answer), encoding="utf-8")


def _answer(job: dict[str, Any], out: Path) -> dict[str, Any]:
    from guildhall.errors import GuildhallError, UnreadableFile

    module_name, _, name = job["function"].partition(":")
    if not module_name.startswith(ONLY_FROM):
        raise ValueError(f"{module_name} is not a module of the documents package")
    function = getattr(importlib.import_module(module_name), name)
    also = {name: Path(path).absolute() for name, path in job["also"].items()}
    try:
        value = function(Path(job["file"]).absolute(), out, **also, **job["options"])
    except UnreadableFile as refusal:
        return {"refused": refusal.why}
    except GuildhallError as refusal:
        return {"refused": str(refusal)}
    except MemoryError:
        return {"refused": "needs more memory than its limit"}
    except RecursionError:
        return {"refused": "is nested too deeply"}
    except Exception as fault:  # noqa: BLE001 - a parser may fail in any way on a hostile file; all are told by name
        return {"refused": f"cannot be parsed ({type(fault).__name__}: {fault})"[:500]}
    return {"value": value.model_dump(mode="json"), "out": str(out)}


if __name__ == "__main__":
    main()
