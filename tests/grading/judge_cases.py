"""What tests and proofs of trained judges and judges with tools share: planted panels, and a judge that lists."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from guildhall.analysis.panel_weights import Ballots
from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from tests.grading.scripted_judges import SEEN

LISTED: list[dict[str, Any]] = []
"""What the listing judge found in each of its sandboxes: path -> digest and date."""
_LIST = """
import hashlib, json, pathlib
files = [path for path in pathlib.Path().rglob("*") if path.is_file()]
print(json.dumps({str(p): [hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime] for p in files}))
"""


@scripted("test-lister")
def lister(turn: Turn) -> Answer:
    """Lists its folder, looks at the first side's pages, then says tie."""
    if turn.number == 0:
        SEEN.append("\n".join(said.text for said in turn.messages))
        look = ToolUse("look_at_pages", {"path": "A-1.xlsx"})
        return Answer(text="", tools=(ToolUse("python", {"code": _LIST}), look))
    LISTED.append(json.loads(next(said.text for said in turn.messages if said.tool == "python")))
    assert sum(said.images for said in turn.messages) >= 1, [said.text for said in turn.messages]
    return Answer(text="Alike.\nVERDICT[TIE]")


def unpacked(data: bytes) -> list[bytes]:
    """A file's bytes, and those of everything packed inside it."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return [data]
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return [data, *(packed.read(name) for name in packed.namelist())]


def ballots(*accuracies: float, n: int = 200, seed: int = 0) -> Ballots:
    """Members right with these chances on two orders of every sample; three people a sample, right 9 times in 10."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    people = np.zeros((n, 3))
    for _ in range(3):
        people[np.arange(n), 2 * np.where(rng.random(n) < 0.9, truth, 1 - truth)] += 1
    sample = np.repeat(np.arange(n), 2)
    right = [rng.random(2 * n) < accuracy for accuracy in accuracies]
    votes = np.column_stack([np.where(hit, truth[sample], 1 - truth[sample]) for hit in right]).astype(np.float64)
    return Ballots(tuple("abcde"[: len(accuracies)]), votes, sample, people, np.arange(n) // 4)
