"""Damaged files: whatever bytes are handed over, scrubbing, reading and checking end in an answer, never in a crash."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random

import pytest

from guildhall.documents.checks.checking import check_file
from guildhall.documents.extract.reading import extract_file
from guildhall.documents.extract.writing import TextBudget
from guildhall.documents.inside import scrub_file
from guildhall.documents.kinds import Family, Kind
from tests.documents.canary_files import MADE, made

SMALL = [kind for kind in MADE if kind is not Kind.ZIP]


def damaged(data: bytes, rng: Random) -> bytes:
    """Some bytes changed, and in one of three cases the end cut off."""
    broken = bytearray(data[: rng.randrange(1, len(data))] if rng.random() < 0.3 else data)
    for _ in range(rng.choice([1, 3, 20])):
        broken[rng.randrange(len(broken))] = rng.randrange(256)
    return bytes(broken)


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.value)
def test_a_damaged_file_is_scrubbed_or_refused_and_never_crashes(kind: Kind, tmp_path: Path) -> None:
    rng = Random(kind.value)
    whole = made(kind, tmp_path).read_bytes()
    path = tmp_path / "damaged"
    for _ in range(5):
        path.write_bytes(damaged(whole, rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries warn of the damage
            scrubbed = scrub_file(path, tmp_path / "out", kind=kind)
            assert scrubbed.out is not None or scrubbed.omitted[0].reason
            check_file(path, kind=kind, pdf=None)
            if kind.family not in (Family.IMAGE, Family.ARCHIVE):  # reading words in noise takes long, shows nothing
                extract_file(path, kind=kind, budget=TextBudget(ocr_pages=0))
