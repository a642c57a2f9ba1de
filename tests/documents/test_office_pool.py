"""LibreOffices that hang, die or grow old are replaced, and no file pays for another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.documents.render import office
from guildhall.documents.render.office import LIMITS, LoadAs, OfficePool, OfficeWorker
from guildhall.errors import UnreadableFile
from tests.documents import sound
from tests.documents.hostile import HOSTILE

pytestmark = pytest.mark.xdist_group("office")
DOCX, XLSX = LoadAs("docx"), LoadAs("xlsx")


@pytest.fixture(scope="module")
def pool() -> Iterator[OfficePool]:
    office.require_office()
    with OfficePool(workers=1, limits=LIMITS.but(cpu_s=4)) as warm:
        yield warm


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    return sound.docx(tmp_path / "letter.docx")


def served(pool: OfficePool, file: Path) -> bool:
    return pool.convert(file, file.read_bytes(), DOCX, max_pages=5).content.startswith(b"%PDF-")


def idle(pool: OfficePool) -> list[OfficeWorker]:
    return list(pool._idle.queue)


def test_a_crash_before_a_file_is_not_blamed_on_it(pool: OfficePool, letter: Path) -> None:
    assert served(pool, letter)
    (worker,) = idle(pool)
    worker._room.run(["pkill", "-9", "soffice.bin"])
    assert served(pool, letter)
    assert idle(pool) != [worker]


def test_a_file_without_end_is_stopped_and_the_next_one_served(pool: OfficePool, letter: Path, tmp_path: Path) -> None:
    endless = HOSTILE["far-cell.xlsx"](tmp_path)
    with pytest.raises(UnreadableFile, match="processor time"):
        pool.convert(endless, endless.read_bytes(), XLSX, max_pages=5)
    assert idle(pool) == []
    assert served(pool, letter)


def test_a_worker_that_refused_a_file_is_thrown_away(pool: OfficePool, letter: Path, tmp_path: Path) -> None:
    assert served(pool, letter)
    broken = HOSTILE["not-xml.docx"](tmp_path)
    with pytest.raises(UnreadableFile, match="LibreOffice cannot convert it"):
        pool.convert(broken, broken.read_bytes(), DOCX, max_pages=5)
    assert idle(pool) == []


def test_a_worker_serves_a_limited_number_of_files(
    pool: OfficePool, letter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "FILES_PER_WORKER", 2)
    pool.close()
    assert served(pool, letter)
    assert len(idle(pool)) == 1
    assert served(pool, letter)
    assert idle(pool) == []
