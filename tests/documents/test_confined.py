"""Parsers run where they can harm nobody, and every way of failing has its words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guildhall.documents.confined import LIMITS, confined, relocated
from guildhall.documents.handing import adopt, read_regular
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
    with pytest.raises(UnreadableFile, match=r"limit of 0\.01 s"):
        confined(draw_pages, sound.pdf(tmp_path / "a.pdf"), out=tmp_path / "out", limits=LIMITS.but(wall_s=0.01))


def test_a_function_outside_the_package_is_not_run(tmp_path: Path) -> None:
    def stranger(file: Path, out: Path) -> Rendered:
        raise AssertionError

    with pytest.raises(UnreadableFile, match="crashed"):
        confined(stranger, sound.pdf(tmp_path / "a.pdf"), out=tmp_path / "out")


def test_the_parser_s_own_refusal_is_handed_on(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="cannot be opened as a PDF"):
        confined(draw_pages, HOSTILE["garbage.pdf"](tmp_path), out=tmp_path / "out")


def test_a_path_outside_the_folder_is_refused() -> None:
    page = PageImage(number=1, image=Path("/job/out/../../etc/passwd"), width=1, height=1)
    with pytest.raises(UnreadableFile, match="outside its folder"):
        relocated(Rendered(kind=Kind.PDF, renderer="x", pages=(page,)), "/job/out", Path("/there"))


def test_links_and_pipes_left_in_a_room_are_not_taken_along(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    (left / "page.png").write_bytes(b"x")
    (left / "link").symlink_to("/etc/passwd")
    (left / "folder").symlink_to("/etc")
    os.mkfifo(left / "pipe")
    assert [path.name for path in adopt(left, tmp_path / "out")] == ["page.png"]
    assert read_regular(left / "link", limit=9) is None
    assert read_regular(left / "pipe", limit=9) is None
