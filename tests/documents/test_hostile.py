"""Files made to hurt end in a reason, quickly, and leave nothing behind. The whole set runs in the proofs."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.documents.looking import Documents
from guildhall.documents.values import LookOutcome
from tests.documents.hostile import HOSTILE

pytestmark = pytest.mark.xdist_group("office")

REFUSED = {
    "laughs.docx": "LibreOffice",
    "program.docx": "cannot be shown",
    "empty.docx": "cannot be shown",
    "leaves.zip": "leave its folder",
    "link.zip": "is a link",
    "nameless.zip": "a member without a name",
    "cut.zip": "damaged zip",
    "gigapixel.png": "65000 x 65000 pixels",
    "kids-loop.pdf": "PDF",
    "cut.pdf": "PDF",
    "garbage.pdf": "PDF",
    "cut.mp4": "cannot be read as mp4",
    "nan.stl": "no drawable triangles",
    "deep.ipynb": "",
    "pipe.pdf": "not a regular file",
    "endless-device.pdf": "not a regular file",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_in_words(name: str, look: Documents, tmp_path: Path) -> None:
    outcome = look.render(HOSTILE[name](tmp_path))
    assert outcome.outcome is LookOutcome.OMITTED
    assert REFUSED[name] in (outcome.reason or "")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["macro.docm", "script.pdf"])
def test_macros_are_reported_and_the_pages_still_shown(name: str, look: Documents, tmp_path: Path) -> None:
    outcome = look.render(HOSTILE[name](tmp_path))
    assert outcome.pages == 1
    assert "macros" in {finding.rule for finding in outcome.findings}


def test_what_a_document_would_load_from_elsewhere_is_told(look: Documents, tmp_path: Path) -> None:
    picture = look.renderer.render(HOSTILE["remote-picture.docx"](tmp_path))
    template = look.renderer.render(HOSTILE["remote-template.docx"](tmp_path))
    assert [(one.what, one.count) for one in picture.omitted] == [("linked pictures", 1)]
    assert "linked and not fetched: 1 x files or addresses" in template.warnings


def test_there_are_at_least_forty_of_them() -> None:
    assert len(HOSTILE) >= 40
