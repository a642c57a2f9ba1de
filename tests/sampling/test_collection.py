"""Collection: what other harnesses lost or graded by mistake, each as a case."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guildhall.domain.submissions import Problem
from guildhall.domain.tasks import check_relative_name, plain_name
from guildhall.domain.values import sha256
from guildhall.engine.agents import AT_ITS_LIMIT, Ran
from guildhall.errors import SandboxError
from guildhall.sampling.collection import MOST_BYTES, Collection, collect_files
from tests.sampling.hostile_trees import TREES
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


ODD_NAMES = {
    b"evil\x1b[2J.txt": "evil%1B[2J.txt",
    b"caf\xe9.docx": "caf%E9.docx",
    b"two\nlines.csv": "two%0Alines.csv",
    b"back\\slash.pdf": "back%5Cslash.pdf",
    "\u202egpj.exe".encode(): "%E2%80%AEgpj.exe",
    b"\xed\xa0\x80.md": "%ED%A0%80.md",
    b'"], "file", 0, null]': '"], "file", 0, null]',
    b" ": " ",
    b"%FF.txt": "%FF.txt",
}


@pytest.mark.parametrize(("raw", "plain"), ODD_NAMES.items(), ids=ODD_NAMES.values())
def test_a_file_may_be_called_by_any_bytes_and_is_kept_under_a_plain_name(room, raw, plain):
    (Path(os.fsdecode(os.fsencode(room.folder) + b"/deliverables/" + raw))).write_bytes(raw)
    found = collected(room, None)
    assert names(found) == [plain] and found.files[0].digest == sha256(raw)
    assert rules(found) == ([] if plain.encode() == raw else ["name written anew"])


def test_names_that_come_to_the_same_plain_name_are_kept_apart(room):
    folder = os.fsencode(room.folder) + b"/deliverables/"
    for raw in (b"\xff.txt", b"%FF.txt"):
        Path(os.fsdecode(folder + raw)).write_bytes(raw)
    found = collected(room, None)
    assert len(found.files) == 2 and {file.digest for file in found.files} == {sha256(b"\xff.txt"), sha256(b"%FF.txt")}


@given(st.binary(max_size=1400))
def test_every_byte_string_has_a_legal_plain_name_that_is_its_own(raw):
    name = plain_name(raw)
    check_relative_name(name)
    assert plain_name(name.encode()) == name


@pytest.mark.parametrize("tree", TREES)
def test_of_a_hostile_tree_every_readable_file_is_kept_and_every_other_counted(room, tree):
    subprocess.run([sys.executable, "-c", TREES[tree]], cwd=room.folder, check=True)
    lying, closed = lying_in(room.folder / "deliverables")
    found = collected(room, None)
    kept = Counter(str(file.digest) for file in found.files)
    assert not kept - lying, "nothing is kept that does not lie there"
    counted = sum(counted_by(problem) for problem in found.problems)
    assert (lying - kept).total() + closed == counted
    assert sha256(b"a good file beside it") in kept
    assert all(problem.model_validate_json(problem.canonical()) == problem for problem in found.problems)


def lying_in(folder: Path) -> tuple[Counter[str], int]:
    """A naive look: digests of the plain files, and how many entries are something else or cannot be read."""
    lying: Counter[str] = Counter()
    closed = 0
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            lying[sha256(path.read_bytes())] += 1
        elif path.is_symlink() or not path.is_dir():
            closed += 1
    return lying, closed


def counted_by(problem: Problem) -> int:
    """How many files a problem says were left out; notes on files that were kept leave out none."""
    return int(problem.rule in {"link", "special file", "unreadable", "too large", "too many"})


def test_what_lies_beyond_the_listed_is_counted(room, monkeypatch):
    monkeypatch.setattr("guildhall.sampling.collection.MOST_ENTRIES", 3)
    for number in range(7):
        put(room, f"deliverables/{number}.txt", str(number).encode())
    found = collected(room, None)
    assert [problem.words for problem in found.problems if problem.rule == "too many"] == [
        "5 files lie beyond the first 3"
    ]


def test_a_room_that_went_away_while_a_file_was_read_is_no_fault_of_the_file(room):
    class Gone(FolderRoom):
        gone = False

        async def read(self, path):
            self.gone = True
            raise RuntimeError("the sandbox is gone")

        async def run(self, argv, *, stdin=None, timeout_s=60):
            if self.gone:
                raise SandboxError("the sandbox is gone")
            return await super().run(argv, stdin=stdin, timeout_s=timeout_s)

    put(room, "deliverables/report.docx")
    with pytest.raises(SandboxError):
        collected(Gone(room.folder), None)


def test_a_room_that_its_author_filled_ends_the_work_and_is_not_tried_for_ever(room):
    class Full(FolderRoom):
        async def run(self, argv, *, stdin=None, timeout_s=60):
            return Ran(137, "", f"\n{AT_ITS_LIMIT}: the disk limit was reached\n")

    found = collected(Full(room.folder), None)
    assert rules(found) == ["unreadable"] and not found.files


METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflated": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("where", ["member", "length", "directory", "end"])
def test_a_damaged_archive_costs_a_counted_problem_and_loses_nothing(room, method, where):
    made = BytesIO()
    with zipfile.ZipFile(made, "w", METHODS[method]) as package:
        package.writestr("notes.txt", "nothing of note " * 40)
    content = bytearray(made.getvalue())
    spot = {"member": 45, "length": 22, "directory": content.rindex(b"PK\1\2") + 10, "end": len(content) - 6}[where]
    content[spot : spot + 4] = b"\xff\xff\xff\xff"
    put(room, "deliverables/broken.zip", bytes(content))
    put(room, "deliverables/good.txt")
    found = collected(room, None)
    assert names(found) == ["broken.zip", "good.txt"]
    assert set(rules(found)) <= {"damaged archive"}


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
