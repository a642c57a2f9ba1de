"""Parts are quicker than the table and never say anything else, whatever happened to them or to the table."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from polars.testing import assert_frame_equal

from guildhall.domain.authors import Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.values import sha256
from guildhall.store import verdict_parts
from guildhall.store.records import Store
from guildhall.store.verdict_parts import Verdicts, close_parts, read_verdicts
from guildhall.store.verdicts import rebuild
from guildhall.store.workspace import Workspace
from tests.store.judged import STUDIES, broken, emptied, put, said_by_table, said_by_values, world

SMALL = 8
"""Row numbers a part covers here, so that a small world has several."""
NOWHERE = Path("/nonexistent/parts")
JUDGMENTS = [one for one in world() if isinstance(one, Judgment)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_parts, "SPAN", SMALL)
    monkeypatch.setattr(verdict_parts, "WORTH_KEEPING", 1)


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "verdicts"


@pytest.fixture
def filled(store: Store) -> Iterator[Store]:
    store.add_all(world())
    yield store


def files(parts: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in parts.iterdir()}


def same(one: Verdicts, other: Verdicts) -> None:
    for mine, theirs in zip(one[:-1], other[:-1], strict=True):
        assert_frame_equal(mine, theirs)


def by_select(store: Store) -> Verdicts:
    with store.transaction():
        return read_verdicts(store, STUDIES, parts=NOWHERE)


def test_with_parts_without_them_and_in_a_transaction_the_same_is_read(filled: Store, parts: Path) -> None:
    made = read_verdicts(filled, STUDIES, parts=parts)
    assert len(files(parts)) == 1 + len(JUDGMENTS) // SMALL
    before = files(parts)
    used = read_verdicts(filled, STUDIES, parts=parts)
    assert files(parts) == before, "parts that fit are not written again"
    for found in (made, used):
        same(found, by_select(filled))
    assert said_by_table(filled, parts) == said_by_values(filled)
    assert close_parts(filled, parts) == 0


def test_one_study_is_read_from_parts_that_hold_several(filled: Store, parts: Path) -> None:
    close_parts(filled, parts)
    for study in STUDIES:
        assert said_by_table(filled, parts, (study,)) == said_by_values(filled, (study,))


def test_a_folder_that_takes_no_parts_costs_time_and_nothing_else(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    same(read_verdicts(filled, STUDIES, parts=tmp_path / "file" / "parts"), by_select(filled))
    assert close_parts(filled, tmp_path / "file" / "parts") == 0


def test_what_was_written_after_a_part_was_made_is_read_and_the_older_part_goes(store: Store, parts: Path) -> None:
    store.add_all(value for value in world() if value not in JUDGMENTS)
    for judgment in sorted(JUDGMENTS, key=lambda one: one.made_at):
        store.add(judgment)
        same(read_verdicts(store, STUDIES, parts=parts), by_select(store))
    spans = [name.partition("-")[0] for name in files(parts)]
    assert len(spans) == len(set(spans))


def test_a_judgment_projected_late_into_a_full_span_is_read(store: Store, parts: Path) -> None:
    late = next(one for one in world() if isinstance(one, Comparison))
    store.add_all(one for one in world() if one != late)
    before = read_verdicts(store, STUDIES, parts=parts).rows.height
    store.add(late)
    assert read_verdicts(store, STUDIES, parts=parts).rows.height > before
    same(read_verdicts(store, STUDIES, parts=parts), by_select(store))


@pytest.mark.parametrize("harm", ["cut short", "a byte changed", "emptied", "another's content", "not parquet"])
def test_a_damaged_part_is_never_used(filled: Store, parts: Path, harm: str) -> None:
    close_parts(filled, parts)
    first, second, *_ = sorted(parts.iterdir())
    content = first.read_bytes()
    harmed = {
        "cut short": content[:-1],
        "a byte changed": content[:40] + bytes([content[40] ^ 1]) + content[41:],
        "emptied": b"",
        "another's content": second.read_bytes(),
        "not parquet": b"words",
    }
    first.write_bytes(harmed[harm])
    same(read_verdicts(filled, STUDIES, parts=parts), by_select(filled))
    assert first.read_bytes() == content, "it was made again"


def test_parts_of_another_workspace_are_never_used(store: Store, parts: Path) -> None:
    """The same judgments under other row numbers, as another bundle's import leaves them."""
    theirs = parts.parent / "theirs"
    for folder, seed in ((theirs, 1), (parts, 2)):
        store.add_all(Random(seed).sample(world(), len(world())))
        close_parts(store, folder)
        if folder is theirs:
            emptied(store)
    for file in theirs.iterdir():
        (parts / file.name).write_bytes(file.read_bytes())
    same(read_verdicts(store, STUDIES, parts=parts), by_select(store))
    for file in parts.iterdir():
        file.unlink()
    theirs.rename(parts / "x")
    for file in (parts / "x").iterdir():
        file.rename(parts / file.name)
    same(read_verdicts(store, STUDIES, parts=parts), by_select(store))


def test_parts_made_before_the_table_was_made_anew_are_not_used(filled: Store, parts: Path) -> None:
    close_parts(filled, parts)
    before = files(parts)
    put(filled, broken())
    rebuild(filled)
    same(read_verdicts(filled, STUDIES, parts=parts), by_select(filled))
    assert not before.keys() & files(parts).keys()


def test_a_transaction_reads_what_it_wrote_itself(filled: Store, parts: Path) -> None:
    close_parts(filled, parts)
    before = read_verdicts(filled, STUDIES, parts=parts).rows.height
    one = next(judgment for judgment in JUDGMENTS if judgment.replaces is None and len(judgment.order) == 2)
    with filled.transaction(), filled.transaction():
        filled.add(one.but(grader=Person(code_name="late")))
        assert read_verdicts(filled, STUDIES, parts=parts).rows.height == before + 2
    assert read_verdicts(filled, STUDIES, parts=parts).rows.height == before + 2


WRITE_FOR_EVER = f"""
import sys, pathlib
from guildhall.store import verdict_parts
from guildhall.store.workspace import Workspace
verdict_parts.SPAN, verdict_parts.WORTH_KEEPING = {SMALL}, 1
opened = Workspace.open(pathlib.Path(sys.argv[1]))
while True:
    verdict_parts.close_parts(opened.store, opened.verdict_parts)
    print("written", flush=True)
    for file in opened.verdict_parts.glob("*.parquet"):
        file.unlink(missing_ok=True)
"""


def test_a_process_killed_while_it_writes_parts_leaves_no_wrong_one(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        workspace.store.add_all(world())
        expected, parts = by_select(workspace.store), workspace.verdict_parts
        rng = Random(7)
        for _ in range(6):
            command = [sys.executable, "-c", WRITE_FOR_EVER, str(workspace.path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
                assert child.stdout is not None and child.stdout.readline() == b"written\n"
                time.sleep(rng.random() * 0.05)
                child.kill()
            for file in parts.glob("*.parquet"):
                assert file.name.endswith(f".{sha256(file.read_bytes())}.parquet")
            same(read_verdicts(workspace.store, STUDIES, parts=parts), expected)
