"""Collection: what other harnesses lost or graded by mistake, each as a case."""

from __future__ import annotations

import asyncio
import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guildhall.domain.values import sha256
from guildhall.sampling.collection import MOST_BYTES, Collection, collect_files
from tests.sampling.rooms import FolderRoom

BRIEFING = b"the input as it was handed over"


@pytest.fixture
def room(tmp_path):
    (tmp_path / "reference_files").mkdir()
    (tmp_path / "deliverables").mkdir()
    (tmp_path / "reference_files" / "briefing.txt").write_bytes(BRIEFING)
    return FolderRoom(tmp_path)


def collected(room: FolderRoom, named: list[str] | None, text: str = "Done.") -> Collection:
    placed = {"reference_files/briefing.txt": sha256(BRIEFING)}
    return asyncio.run(collect_files(room, placed=placed, named=named, text=text, keep=sha256))


def put(room: FolderRoom, path: str, content: bytes = b"work") -> None:
    target = room.folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def rules(collection: Collection) -> list[str]:
    return [problem.rule for problem in collection.problems]


def names(collection: Collection) -> list[str]:
    return [file.name for file in collection.files]


def test_named_new_files_are_the_work_in_the_authors_order(room):
    put(room, "deliverables/b.docx")
    put(room, "deliverables/a.xlsx", b"figures")
    found = collected(room, ["deliverables/b.docx", "deliverables/a.xlsx"])
    assert names(found) == ["b.docx", "a.xlsx"] and not found.problems
    assert found.files[1].digest == sha256(b"figures")


@pytest.mark.parametrize("path", ["reference_files/briefing.txt", "deliverables/report.txt"])
def test_an_echoed_input_is_never_work_under_any_name(room, path):
    put(room, path, BRIEFING)
    found = collected(room, [path])
    assert not found.files and rules(found) == ["echoed input"]


def test_a_changed_input_counts_as_work(room):
    put(room, "reference_files/briefing.txt", BRIEFING + b" and corrected")
    assert names(collected(room, ["reference_files/briefing.txt"])) == ["reference_files/briefing.txt"]


def test_thirty_seven_stray_files_are_recorded_and_not_graded(room):
    put(room, "deliverables/report.docx")
    for number in range(37):
        put(room, f"draft_{number}.txt", str(number).encode())
    found = collected(room, ["deliverables/report.docx"])
    assert names(found) == ["report.docx"]
    assert rules(found) == ["stray files"] and "37 files" in found.problems[0].words


def test_a_named_folder_brings_everything_below_it_and_keeps_the_tree(room):
    put(room, "deliverables/model/src/main.py", b"1")
    put(room, "deliverables/model/data/in.csv", b"2")
    put(room, "deliverables/model/__pycache__/main.pyc", b"3")
    assert sorted(names(collected(room, ["deliverables/model"]))) == ["model/data/in.csv", "model/src/main.py"]


def test_a_link_out_of_the_folder_is_recorded_and_not_followed(room):
    (room.folder / "deliverables" / "passwords.txt").symlink_to("/etc/passwd")
    found = collected(room, ["deliverables/passwords.txt"])
    assert not found.files and rules(found) == ["link"] and "/etc/passwd" in found.problems[0].words


def test_a_link_to_a_folder_is_not_walked_into(room):
    (room.folder / "deliverables" / "etc").symlink_to("/etc")
    found = collected(room, ["deliverables"])
    assert not found.files and rules(found) == ["link"]


def test_a_three_gigabyte_sparse_file_is_refused_unread(room):
    with (room.folder / "deliverables" / "big.bin").open("wb") as stream:
        stream.truncate(3 * 2**30)
    found = collected(room, ["deliverables/big.bin"])
    assert not found.files and rules(found) == ["too large"]
    assert MOST_BYTES < 3 * 2**30


def test_a_promised_file_that_is_not_there_is_a_recorded_failure(room):
    put(room, "deliverables/model.xlsx")
    found = collected(room, ["deliverables/model.xlsx", "deliverables/memo.pdf"])
    assert names(found) == ["model.xlsx"] and rules(found) == ["promised but not delivered"]
    assert not found.note()["delivered"]


def test_a_file_promised_in_the_message_only_is_found_missing_too(room):
    put(room, "deliverables/model.xlsx")
    found = collected(room, ["deliverables/model.xlsx"], "See model.xlsx and memo.pdf; briefing.txt was the source.")
    assert [problem.file for problem in found.problems] == ["memo.pdf"]


@pytest.mark.parametrize("content", [b"print('x')\n# CONFIDENCE[92]\n", None])
def test_a_confidence_left_inside_a_file_is_recorded_and_the_file_kept_as_it_is(room, content):
    if content is None:
        made = BytesIO()
        with zipfile.ZipFile(made, "w") as package:
            package.writestr("word/document.xml", "<w:t>CONFIDENCE[92]</w:t>")
        content = made.getvalue()
    put(room, "deliverables/run.py", content)
    found = collected(room, ["deliverables/run.py"])
    assert rules(found) == ["confidence inside a file"] and found.files[0].digest == sha256(content)


def test_names_that_clash_on_some_file_systems_are_kept_apart(room):
    put(room, "deliverables/Report.docx", b"1")
    put(room, "report.docx", b"2")
    found = collected(room, ["deliverables/Report.docx", "report.docx"])
    assert names(found) == ["Report.docx", "report (2).docx"] and rules(found) == ["name clash"]


def test_names_with_control_characters_are_refused(room):
    put(room, "deliverables/evil\x1b[2J.txt")
    found = collected(room, ["deliverables"])
    assert not found.files and rules(found) == ["hostile name"]


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "a/../../b", ""])
def test_a_named_path_that_leaves_the_folder_is_refused(room, path):
    assert rules(collected(room, [path])) == ["unsafe path"]


def test_special_files_are_recorded(room):
    os.mkfifo(room.folder / "deliverables" / "pipe")
    assert rules(collected(room, ["deliverables/pipe"])) == ["special file"]


def test_without_a_list_the_deliverables_folder_counts_and_nothing_else(room):
    put(room, "deliverables/report.docx", b"1")
    put(room, "scratch.txt", b"2")
    assert names(collected(room, None)) == ["report.docx"]


def test_without_a_list_or_a_folder_everything_new_counts_but_no_input(room):
    put(room, "report.docx", b"1")
    put(room, ".cache/x", b"2")
    found = collected(room, None)
    assert names(found) == ["report.docx"]
    assert rules(found) == ["echoed input"]


def test_a_bare_name_is_looked_for_in_the_deliverables_folder(room):
    put(room, "deliverables/report.docx")
    assert names(collected(room, ["report.docx"])) == ["report.docx"]


@settings(max_examples=12)
@given(
    made=st.dictionaries(
        st.text("abAB./ é", min_size=1, max_size=8).filter(
            lambda path: not path.startswith("/") and all(part not in {"", ".", ".."} for part in path.split("/"))
        ),
        st.sampled_from([b"1", b"2", BRIEFING]),
        max_size=6,
    )
)
def test_no_input_is_ever_collected_and_no_two_names_are_equal(tmp_path_factory, made):
    room = FolderRoom(tmp_path_factory.mktemp("room"))
    for path, content in made.items():
        try:
            put(room, path, content)
        except OSError:
            continue
    found = collected(room, None)
    assert all(file.digest != sha256(BRIEFING) for file in found.files)
    assert len({file.name.lower() for file in found.files}) == len(found.files)
    assert all(not Path(file.name).is_absolute() for file in found.files)
