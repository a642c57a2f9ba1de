"""A bundle is the same bytes twice, the identity out and in, and refuses a single changed byte."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import Value
from guildhall.errors import Conflict, GuildhallError
from guildhall.store.bundles import check_bundle, export_bundle, import_bundle
from guildhall.store.shelves import SHELVES
from guildhall.store.workspace import Workspace
from tests.strategies import kept_values


def filled(folder: Path) -> Workspace:
    workspace = Workspace.create(folder)
    digests = [workspace.blobs.put(f"file {number}".encode() * 300) for number in range(3)]
    for number, digest in enumerate(digests):
        file = FileRef(name=f"in-{number}.txt", digest=digest, size=1800)
        workspace.store.add(
            Task(id=f"t-{number}", sector="Information", occupation="Editors", brief="Write.", reference_files=(file,))
        )
    return workspace


def records(workspace: Workspace) -> dict[str, list[Value]]:
    return {
        shelf.table.name: sorted(workspace.store.find(shelf.type), key=lambda value: value.canonical())
        for shelf in SHELVES
        if not shelf.derived
    }


@given(values=st.lists(kept_values, max_size=6))
def test_out_and_in_is_the_identity(tmp_path_factory: pytest.TempPathFactory, values: list[Value]) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    with Workspace.create(folder / "a") as source, Workspace.create(folder / "b") as target:
        for value in values:
            try:
                source.store.add(value)
            except Conflict:
                continue
        export_bundle(source.store, source.blobs, folder / "a.tar")
        import_bundle(target.store, target.blobs, folder / "a.tar")
        assert records(target) == records(source)
        export_bundle(target.store, target.blobs, folder / "b.tar")
    assert (folder / "a.tar").read_bytes() == (folder / "b.tar").read_bytes()


def test_any_tar_program_can_open_a_bundle(tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        export_bundle(workspace.store, workspace.blobs, tmp_path / "w.tar")
    with tarfile.open(tmp_path / "w.tar") as archive:
        assert archive.getnames()[0] == "records/tasks.jsonl"
        assert archive.getnames()[-1] == "manifest.json"


def test_a_changed_byte_anywhere_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        export_bundle(workspace.store, workspace.blobs, tmp_path / "w.tar")
    sound = (tmp_path / "w.tar").read_bytes()
    rng = random.Random(0)
    broken = tmp_path / "broken.tar"
    with Workspace.create(tmp_path / "target") as target:
        for place in sorted(rng.sample(range(len(sound)), 400)):
            broken.write_bytes(sound[:place] + bytes([sound[place] ^ (1 << rng.randrange(8))]) + sound[place + 1 :])
            with pytest.raises(GuildhallError, match=r"broken\.tar"):
                import_bundle(target.store, target.blobs, broken)
        assert target.store.count(Task) == 0
        assert not list(target.blobs.each())


@pytest.mark.parametrize("cut", [1, 511, 512, 1024, 3000])
def test_a_cut_bundle_is_refused(tmp_path: Path, cut: int) -> None:
    with filled(tmp_path / "w") as workspace:
        export_bundle(workspace.store, workspace.blobs, tmp_path / "w.tar")
    (tmp_path / "cut.tar").write_bytes((tmp_path / "w.tar").read_bytes()[:-cut])
    with pytest.raises(GuildhallError, match=r"cut\.tar"):
        check_bundle(tmp_path / "cut.tar")


def test_files_known_by_name_only_are_counted(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        file = FileRef(name="far.xlsx", digest="0" * 64)
        workspace.store.add(Task(id="t", sector="Information", occupation="Editors", brief="x", expert_files=(file,)))
        assert export_bundle(workspace.store, workspace.blobs, tmp_path / "w.tar").absent == 1
    assert check_bundle(tmp_path / "w.tar").absent == 1
