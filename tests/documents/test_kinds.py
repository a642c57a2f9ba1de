"""The table of kinds: each row stands by what it says, and no other place says it again."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.documents.kinds import (
    Family,
    FileKind,
    Kind,
    claimed_kind,
    function,
    kept_kind,
)
from guildhall.documents.tells import files_named, files_stated

SOURCE = Path(__file__).parents[2] / "src" / "guildhall"
TABLE = SOURCE / "documents" / "kinds.py"
SHAPES = {
    "reader": ["file", "writer"],
    "renderer": ["file", "kind", "out", "means"],
    "scrubber": ["data", "ledger", "context"],
    "freezer": ["data", "ledger", "context"],
    "copier": ["file", "kind", "out", "means"],
}
ENDINGS = {ending for kind in Kind for ending in kind.row.endings}
ELSEWHERE = {
    "sampling/programs": "runs in a room where this package is not",
    "peer/reader.py": "what a fenced block in a reply calls plain text",
    "peer/statements.py": "programming languages as words of a reply",
}
"""Files that list endings for a reason of their own, below the package."""


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.value)
@pytest.mark.parametrize("what", SHAPES)
def test_each_function_a_row_names_exists_in_its_shape(kind: Kind, what: str) -> None:
    name = getattr(kind.row, what)
    if name is not None:
        asked = [parameter.lstrip("_") for parameter in inspect.signature(function(name)).parameters]
        assert asked == SHAPES[what]


def test_no_ending_belongs_to_two_kinds() -> None:
    told = Counter(ending for kind in Kind for ending in kind.row.endings)
    assert [ending for ending, count in told.items() if count > 1] == []
    assert all(claimed_kind(f"a.{ending.upper()}") is kind for kind in Kind for ending in kind.row.endings)


def test_a_kind_with_an_ending_of_its_own_claims_it() -> None:
    for kind in Kind:
        assert kind.ending in (None, f".{kind.value}")
        if kind.family is not Family.OPAQUE and kind is not Kind.CODE:
            assert kind.ending is not None


def test_no_two_kinds_begin_alike() -> None:
    starts = [(start, kind) for kind in Kind for start in kind.row.starts]
    assert [(a, b) for a, one in starts for b, other in starts if one is not other and a.startswith(b)] == []


def test_what_is_shown_inline_or_handed_to_models_has_a_type_that_was_looked_up() -> None:
    for kind in Kind:
        if kind.row.inline or kind.row.for_models:
            assert kind.row.media_type.partition("/")[0] == kind.family
            assert kind.row.copier is not None, "nothing goes out that we cannot write anew"


def test_a_recording_has_its_container_for_reading_and_for_writing() -> None:
    for kind in Kind:
        recorded = kind.family in (Family.AUDIO, Family.VIDEO)
        assert bool(kind.row.demuxer) is bool(kind.row.muxer) is recorded


def test_programs_in_other_languages_are_code() -> None:
    for kind in Kind:
        assert set(kind.row.foreign.split()) <= set(kind.row.endings)


def test_a_name_kept_by_another_version_is_of_unknown_kind() -> None:
    assert kept_kind("jpg") is Kind.JPEG
    assert kept_kind("hologram") is Kind.UNKNOWN


def test_file_names_are_found_in_sentences() -> None:
    text = "Send report(1).docx, a photo (p.jpeg), v1.2.step and [notes.md](notes.txt), not Node.js, e.g. or etc."
    assert files_named(text) == ["report(1).docx", "p.jpeg", "v1.2.step", "notes.md", "notes.txt"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Save it as `Final Report (v2).xlsx`.", ["Final Report (v2).xlsx"]),
        ("Name it “Q3 memo.docx,” or 'Q4 memo.docx' if late.", ["Q3 memo.docx", "Q4 memo.docx"]),
        (
            "Deliver:\n- memo.docx: one page\n* **plan.xlsx**\n 2) deck.pptx (ten slides)",
            ["memo.docx", "plan.xlsx", "deck.pptx"],
        ),
        ("Please read the sales of last year and write a report.docx with all totals.", []),
        ("- Please send the report.docx by noon", []),
        ("The client's file plan.xlsx isn't there.", []),
        ("You are given:\n- ledger.csv: the ledger\n- plan.xlsx", []),
        ("Based on the attached script (“Care Not_Script.pdf”), make a spot.", []),
        ('In the attached ("Closed- June.xlsx"). \nCreate a file titled "Daily Report.xlsx".', ["Daily Report.xlsx"]),
        ("Begin with the `logo.mp4` file. Save the film as `reel.mp4`.", ["reel.mp4"]),
    ],
)
def test_a_name_is_asked_for_only_where_the_brief_states_it_as_one(text: str, stated: list[str]) -> None:
    assert files_stated(text) == stated


def test_importing_the_table_imports_no_parser() -> None:
    looked = "import sys; import guildhall.documents.kinds; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True).stdout.split()
    assert not {"PIL", "lxml", "numpy", "pikepdf", "pypdfium2", "pydantic"} & set(loaded)


def listed(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Every list of endings in a module: line, and the endings or kinds that it names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.Set | ast.Tuple | ast.List | ast.Match):
            keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
            parts = keys if keys is not None else [case.pattern for case in getattr(node, "cases", ())]
            yield node.lineno, {name for part in parts if part is not None for name in named(part)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, set(re.findall(r"\.?\w+\??", node.value)) & ENDINGS if "|" in node.value else set()


def named(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Kind":
            yield Kind[node.attr].value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lstrip(".") in ENDINGS:
            yield node.value.lstrip(".")


def second_lists(source: Path) -> list[str]:
    found = []
    for path in sorted(source.rglob("*.py")):
        place = str(path.relative_to(source))
        if path != TABLE:
            lists = listed(ast.parse(path.read_text()))
            found += [f"{place}:{line}: {', '.join(sorted(one))}" for line, one in lists if len(one) > 3]
    return found


def test_only_the_table_lists_endings_and_kinds() -> None:
    everywhere = second_lists(SOURCE)
    assert [found for found in everywhere if not found.startswith(tuple(ELSEWHERE))] == []
    needed = {place for place in ELSEWHERE for found in everywhere if found.startswith(place)}
    assert needed == set(ELSEWHERE), "an exception for nothing"


def test_a_second_list_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('SHOWN = {"png": 1, "jpeg": 2, "gif": 3, "mp3": 4}\n')
    (tmp_path / "b.py").write_text("SHOWN = (Kind.PNG, Kind.GIF, Kind.MP3, Kind.WAV)\n")
    (tmp_path / "c.py").write_text('NAMED = r"\\w+\\.(?:docx|xlsx|pptx|pdf)"\n')
    assert [found.partition(":")[0] for found in second_lists(tmp_path)] == ["a.py", "b.py", "c.py"]


def test_each_row_says_what_a_stranger_needs_to_know() -> None:
    for kind in Kind:
        assert isinstance(kind.row, FileKind)
        assert re.fullmatch(r"[a-z]+/[\w.+-]+", kind.row.media_type), kind
