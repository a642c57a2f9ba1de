"""The public gold set, as its hub lays it out: all files kept or all refusals told; wages with their source."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import Workbook

from guildhall.domain.tasks import Task
from guildhall.errors import FaultsFound, InputError, UnreadableFile
from guildhall.occupations.sources import published_wages
from guildhall.store.workspace import Workspace
from guildhall.taskbank.banks import bank_differences, bank_of, enrich_tasks, opened_bank, read_hours
from guildhall.taskbank.importing import Imported, import_tasks, opened_source
from guildhall.taskbank.listing import newest_tasks
from tests.taskbank.gold import hub_layout


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory, realdata: Path) -> Path:
    return hub_layout(tmp_path_factory.mktemp("gold") / "gdpval", realdata)


@pytest.fixture
def dozen(tmp_path: Path, realdata: Path) -> Path:
    return hub_layout(tmp_path / "gdpval", realdata, tasks=12)


def bring(workspace: Workspace, source: Path | str, *, without_files: bool = False) -> Imported:
    with opened_source(str(source)) as incoming:
        return import_tasks(workspace, incoming, without_files=without_files)


def test_all_509_files_come_in_as_the_readme_says_and_again_adds_nothing(workspace: Workspace, gold: Path) -> None:
    told: list[tuple[int, int]] = []
    with opened_source(str(gold / "data/train-00000-of-00001.parquet")) as incoming:
        first = import_tasks(workspace, incoming, progress=lambda _name, at, of: told.append((at, of)))
    assert (first.new, first.files, first.files_absent, first.files_unlisted) == (220, 509, 0, 0)
    assert told[-1] == (509, 509) and len(told) == 509
    tasks = newest_tasks(workspace.store)
    assert all(file.digest for task in tasks for file in (*task.reference_files, *task.expert_files))
    assert {task.provenance and task.provenance.licence for task in tasks} == {"cc-by-4.0"}
    again = bring(workspace, gold)
    assert (again.new, again.known, again.revised) == (0, 220, 0), "another path to the same copy"


def test_a_zip_with_a_folder_in_it_is_the_folder(workspace: Workspace, dozen: Path, tmp_path: Path) -> None:
    made = shutil.make_archive(str(tmp_path / "gdpval-main"), "zip", root_dir=dozen.parent, base_dir="gdpval")
    files = bring(workspace, made).files
    assert files == sum(path.is_file() for path in dozen.glob("*_files/*/*"))
    with opened_bank(str(dozen)) as folder, opened_bank(made) as packed:
        assert bank_differences(folder, packed).changed == {}


def _removed(path: Path) -> None:
    path.unlink()


def _pointer(path: Path) -> None:
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")


@pytest.mark.parametrize(("harm", "words"), [(_removed, "is not here"), (_pointer, "pointer of Git LFS")])
def test_what_cannot_be_kept_is_refused_in_one_list_and_nothing_is_imported(
    workspace: Workspace, dozen: Path, harm: Callable[[Path], None], words: str
) -> None:
    for path in sorted(dozen.glob("reference_files/*/*"))[:3]:
        harm(path)
    with pytest.raises(FaultsFound, match=r"3 of .* listed files cannot be kept") as caught:
        bring(workspace, dozen)
    assert len(caught.value.faults) == 3 and all(words in fault for fault in caught.value.faults)
    assert workspace.store.count(Task) == 0
    assert bring(workspace, dozen, without_files=True).files_absent == 3


def test_a_table_of_which_a_part_is_missing_and_rows_of_nonsense_are_refused(dozen: Path, tmp_path: Path) -> None:
    (dozen / "data/train-00000-of-00001.parquet").rename(dozen / "data/train-00000-of-00002.parquet")
    with pytest.raises(UnreadableFile, match="1 of 2 parts"), opened_source(str(dozen)):
        pass
    (tmp_path / "bad.jsonl").write_text('{"task_id": "a"}\n{"task_id": "b"}\n')
    with pytest.raises(FaultsFound, match="2 rows") as caught, opened_source(str(tmp_path / "bad.jsonl")):
        pass
    assert ["line 1" in caught.value.faults[0], "line 2" in caught.value.faults[1]] == [True, True]


def _bomb(archive: zipfile.ZipFile) -> None:
    with archive.open("data/a.parquet", "w", force_zip64=True) as out:
        for _ in range(40):
            out.write(bytes(1 << 20))


def _link(archive: zipfile.ZipFile) -> None:
    entry = zipfile.ZipInfo("data/a.parquet")
    entry.external_attr = 0o120777 << 16
    archive.writestr(entry, "/etc/passwd")


HOSTILE = {
    "leaves": (lambda archive: archive.writestr("../../x.parquet", "x"), UnreadableFile),
    "absolute": (lambda archive: archive.writestr("/etc/x.parquet", "x"), UnreadableFile),
    "a link": (_link, UnreadableFile),
    "a bomb": (_bomb, UnreadableFile),
    "a file as a folder": (lambda archive: [archive.writestr("a", "x"), archive.writestr("a/b", "x")], UnreadableFile),
    "a half parquet": (lambda archive: archive.writestr("data/a.parquet", b"PAR1half"), UnreadableFile),
    "nothing": (lambda _archive: None, InputError),
}


@pytest.mark.parametrize(("fill", "error"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_zip_is_refused_and_leaves_nothing(
    tmp_path: Path, fill: Callable[[zipfile.ZipFile], object], error: type[InputError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildhall.taskbank.importing._ALWAYS_BYTES", 8 << 20)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    with pytest.raises(error), opened_source(str(tmp_path / "z.zip")):
        pass
    assert list((tmp_path / "temporary").iterdir()) == []


OEWS: tuple[str, ...] = (
    "NAICS",
    "NAICS_TITLE",
    "OCC_CODE",
    "OCC_TITLE",
    "O_GROUP",
    "TOT_EMP",
    "A_MEAN",
    "H_MEAN",
    "H_MEDIAN",
)


def official(folder: Path) -> Path:
    """The two official files, in little."""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "oews_national_M2024_dl.xlsx": [
            ("000000", "Cross-industry", "27-3040", "Editors", "broad", 1, 1, 1, 99.0),
            ("000000", "Cross-industry", "27-3041", "Editors", "detailed", 1, 1, 1, 36.18),
            ("000000", "Cross-industry", "29-1171", "Surgeons", "detailed", 1, 1, 1, "#"),
            ("000000", "Cross-industry", "39-9032", "Recreation Workers", "detailed", 1, 1, 1, 17.01),
        ],
        "oews_natsector_M2024_dl.xlsx": [
            ("51", "Information", "27-3041", "Editors", "detailed", 1, 1, 1, 37.32),
            ("99", "Federal, State, and Local Government", "39-9032", "Recreation Workers", "detailed", 1, 1, 1, 18.5),
            ("42", "Wholesale Trade", "39-9032", "Recreation Workers", "detailed", 1, 1, 1, "*"),
        ],
    }
    for name, lines in rows.items():
        book = Workbook()
        sheet = book.create_sheet(index=0)
        for line in (OEWS, *lines):
            sheet.append(list(line))
        book.save(folder / name)
    return folder


def test_wages_are_those_of_occupation_and_sector_with_their_source(workspace: Workspace, tmp_path: Path) -> None:
    workers = "Recreation Workers"
    asked = [
        ("Editors", "Information"),
        ("Editors", "Retail Trade"),
        (workers, "Government"),
        (workers, "Wholesale Trade"),
    ]
    asked += [("Surgeons", "Information"), ("Alchemists", "Information")]
    workspace.store.add_all(
        [Task(id=f"t{at}", sector=sector, occupation=what, brief="B") for at, (what, sector) in enumerate(asked)]
    )
    paid = published_wages(official(tmp_path))
    made = enrich_tasks(workspace.store, wage=paid.of)
    tasks = newest_tasks(workspace.store)
    assert [one.hourly_wage_usd for one in tasks] == [37.32, 36.18, 18.5, 17.01, None, None], (
        "above the scale is unknown"
    )
    assert (made.changed, made.with_wage, made.with_hours) == (4, 4, 0)
    assert tasks[0].sources == {
        "hourly_wage_usd": "BLS OEWS median hourly wage, SOC 27-3041, sector Information (oews_natsector_M2024_dl.xlsx)"
    }
    assert tasks[0].value_usd is None, "without hours there is no value"
    assert enrich_tasks(workspace.store, wage=paid.of).changed == 0, "again changes nothing"
    (tmp_path / "oews_national_M2024_dl.xlsx").unlink()
    with pytest.raises(UnreadableFile, match="holds no OEWS national"):
        published_wages(tmp_path)


def hours(path: Path, *rows: tuple[str, object]) -> Path:
    path.write_text("\ufefftask_id,hours\n" + "".join(f"{task},{told}\n" for task, told in rows))
    return path


def test_hours_come_from_a_file_and_unknown_stays_unknown(workspace: Workspace, tmp_path: Path) -> None:
    stated, other, third = (
        Task(id=name, sector="S", occupation="O", brief="B", expert_hours=length)
        for name, length in (("a", 2.0), ("b", None), ("c", None))
    )
    workspace.store.add_all([stated, other, third])
    told = read_hours(hours(tmp_path / "h.csv", ("a", 9), ("b", 3.5), ("c", ""), ("z", 1)), column="hours", source=None)
    made = enrich_tasks(workspace.store, hours=told)
    after = {task.id: task for task in newest_tasks(workspace.store)}
    assert [after[name].expert_hours for name in "abc"] == [2.0, 3.5, None], "what a task states itself stays"
    assert after["b"].sources == {"expert_hours": "h.csv, column hours"} and after["b"].version == 2
    assert any("name no task of this bank: z" in words for words in made.unknown)


@pytest.mark.parametrize("bad", ["nan", "-1", "0", "inf", "two", "1e9"])
def test_hours_that_are_none_refuse_the_whole_file(tmp_path: Path, bad: str) -> None:
    with pytest.raises(InputError, match="row 2"):
        read_hours(hours(tmp_path / "h.csv", ("a", 1), ("b", bad)), column="hours", source=None)
    with pytest.raises(InputError, match="other hours"):
        read_hours(hours(tmp_path / "h.csv", ("a", 1), ("a", 2)), column="hours", source=None)


def test_two_banks_are_told_apart_by_what_their_tasks_say(dozen: Path, tmp_path: Path) -> None:
    with opened_bank(str(dozen)) as tasks:
        first = list(tasks)
    elsewhere = [one.but(version=4, provenance=None) for one in first]
    assert bank_of(first).digest == bank_of(elsewhere).digest, "versions and places are no content"
    after = [first[0].but(brief="Another"), first[1].but(expert_hours=3.0), *first[3:]]
    found = bank_differences(first, after)
    assert found.removed == (first[2].id,) and found.same == 9
    assert found.changed == {first[0].id: ("brief",), first[1].id: ("expert hours: unknown -> 3.0",)}
    assert bank_of(after).digest != bank_of(first).digest
    table = pl.read_parquet(dozen / "data/train-00000-of-00001.parquet")
    table.with_columns(prompt=pl.lit("P")).write_parquet(tmp_path / "later.parquet")
    with opened_bank(str(tmp_path / "later.parquet")) as later:
        assert set(bank_differences(first, later).changed.values()) == {("brief",)}
