"""Parsers run where they can harm nobody, and every way of failing has its words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guildhall.confine.room import start
from guildhall.documents.confined import LIMITS, Rooms, confined, relocated
from guildhall.documents.handing import take_out
from guildhall.documents.inside import read
from guildhall.documents.kinds import Kind
from guildhall.documents.render.pdf_pages import draw_pages
from guildhall.documents.values import PageImage, Rendered
from guildhall.errors import UnreadableFile
from tests.documents import sound
from tests.documents.hostile import HOSTILE


def test_what_a_function_writes_arrives_and_belongs_to_the_caller(tmp_path: Path) -> None:
    drawn = confined(draw_pages, sound.pdf(tmp_path / "a.pdf"), out=tmp_path / "out")
    assert drawn.pages[0].image == tmp_path / "out" / "page-001.png"
    assert drawn.pages[0].image.stat().st_uid == os.geteuid()


def test_a_file_nobody_else_may_read_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "private.txt"
    path.write_text("words for one")
    path.chmod(0o600)
    assert "words for one" in confined(read, path, out=tmp_path / "out", kind=Kind.TEXT.value).text


def test_a_parser_past_its_time_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"limit of 0\.0001 s"):
        confined(draw_pages, sound.pdf(tmp_path / "a.pdf"), out=tmp_path / "out", limits=LIMITS.but(wall_s=0.0001))


def test_a_function_outside_the_package_is_not_run(tmp_path: Path) -> None:
    def stranger(file: Path, out: Path) -> Rendered:
        raise AssertionError

    with pytest.raises(UnreadableFile, match="not a module of the documents package"):
        confined(stranger, sound.pdf(tmp_path / "a.pdf"), out=tmp_path / "out")


def test_the_parser_s_own_refusal_is_handed_on(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="cannot be opened as a PDF"):
        confined(draw_pages, HOSTILE["garbage.pdf"](tmp_path), out=tmp_path / "out")


def test_a_path_outside_the_folder_is_refused() -> None:
    page = PageImage(number=1, image=Path("/job/out/../../etc/passwd"), width=1, height=1)
    with pytest.raises(UnreadableFile, match="outside its folder"):
        relocated(Rendered(kind=Kind.PDF, renderer="x", pages=(page,)), "/job/out", Path("/there"))


def test_a_link_left_in_a_room_is_read_as_the_room_sees_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    (tmp_path / "work").mkdir()
    with start(work=tmp_path / "work") as room:
        room.run(["ln", "-s", str(tmp_path / "secret"), "page.png"])
        with pytest.raises(OSError, match="No such file"):
            take_out(room, ".", ["page.png"], tmp_path / "out", limit_bytes=99)
        with pytest.raises(UnreadableFile, match="outside its folder"):
            take_out(room, ".", ["../../etc/passwd"], tmp_path / "out", limit_bytes=99)


def test_a_room_serves_many_files_and_none_after_a_refusal(tmp_path: Path) -> None:
    good, bad = sound.pdf(tmp_path / "a.pdf"), HOSTILE["garbage.pdf"](tmp_path)
    with Rooms(places=1) as rooms:
        rooms.call(draw_pages, good, out=tmp_path / "1")
        (warm,) = rooms._idle.queue
        rooms.call(draw_pages, good, out=tmp_path / "2")
        assert list(rooms._idle.queue) == [warm]
        with pytest.raises(UnreadableFile):
            rooms.call(draw_pages, bad, out=tmp_path / "3")
        assert list(rooms._idle.queue) == []
