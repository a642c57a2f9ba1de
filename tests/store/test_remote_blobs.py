"""Files in object stores: the same promises as in a folder, with the network in between."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.errors import CorruptBlob, InputError, MissingBlob, StoreOutOfReach
from guildhall.store.blobs import Blobs
from guildhall.store.remote_blobs import PART_BYTES, RemoteBlobs, open_blobs
from guildhall.store.workspace import SETTINGS, Workspace

SECRET = "a-secret-that-must-not-be-kept"


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An empty bucket of an S3 server on loopback; its address and keys are in the environment."""
    import fsspec
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ACCESS_KEY_ID": "guildhall",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    name = f"b-{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"
    s3fs.S3FileSystem().mkdir(name)
    return f"s3://{name}/files"


@pytest.fixture(params=["memory", "s3"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "s3":
        return str(request.getfixturevalue("bucket"))
    return f"memory://{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"


def test_what_one_machine_keeps_another_reads_and_keeps_in_its_cache(url: str, tmp_path: Path) -> None:
    here, there = RemoteBlobs(url, tmp_path / "here"), RemoteBlobs(url, tmp_path / "there")
    digest = here.put(b"work")
    assert there.has(digest) and there.size(digest) == 4
    assert there.read(digest) == b"work"
    assert list(there.each()) == [digest]
    there.copy_to(digest, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"work"
    assert Blobs(tmp_path / "there").has(digest)


def test_a_cached_copy_is_read_without_the_store(url: str, tmp_path: Path) -> None:
    blobs = RemoteBlobs(url, tmp_path)
    digest = blobs.put(b"work")
    blobs._system.rm(blobs._remote(digest))
    assert blobs.read(digest) == b"work"
    assert not blobs.has(digest)
    with pytest.raises(MissingBlob):
        RemoteBlobs(url, tmp_path / "other").read(digest)


def test_bytes_that_changed_in_the_store_are_never_handed_out(url: str, tmp_path: Path) -> None:
    blobs = RemoteBlobs(url, tmp_path / "here")
    digest = blobs.put(b"work")
    blobs._system.pipe_file(blobs._remote(digest), b"wore")
    other = RemoteBlobs(url, tmp_path / "there")
    with pytest.raises(CorruptBlob, match=digest[:12]):
        other.read(digest)
    assert list(Blobs(tmp_path / "there").each()) == []


def test_a_damaged_cache_is_mended_from_the_store(url: str, tmp_path: Path) -> None:
    blobs = RemoteBlobs(url, tmp_path)
    digest = blobs.put(b"work")
    for ask in (blobs.read, lambda digest: blobs.copy_to(digest, tmp_path / "out")):
        cached = Blobs(tmp_path).path(digest)
        cached.chmod(0o644)
        cached.write_bytes(b"wore")
        ask(digest)
    assert (tmp_path / "out").read_bytes() == blobs.read(digest) == b"work"


def test_a_large_file_goes_up_in_parts_and_shows_only_when_it_is_whole(bucket: str, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as out:
        out.truncate(2 * PART_BYTES + 1)
    blobs = RemoteBlobs(bucket, tmp_path / "here")
    seen: list[list[str]] = []
    parts: list[str] = []
    call = blobs._system._call_s3

    async def watched(method: str, *arguments: object, **named: object) -> object:
        parts.append(method)
        if method == "upload_part":
            listed = await call("list_objects_v2", Bucket=bucket.split("/")[2])
            seen.append([found["Key"] for found in listed.get("Contents", [])])
        return await call(method, *arguments, **named)

    blobs._system._call_s3 = watched
    digest = blobs.put(large)
    assert parts.count("upload_part") == 3 and parts.count("complete_multipart_upload") == 1
    assert seen == [[], [], []]
    assert RemoteBlobs(bucket, tmp_path / "there").size(digest) == 2 * PART_BYTES + 1


def test_a_store_that_is_not_there_is_named_at_once(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(StoreOutOfReach, match="s3://no-such-bucket"):
        Workspace.create(tmp_path / "w", blobs="s3://no-such-bucket/files")
    assert not (tmp_path / "w" / SETTINGS).exists()


def test_a_workspace_remembers_its_store_and_no_credential(bucket: str, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", blobs=bucket) as workspace:
        digest = workspace.blobs.put(b"work")
    with Workspace.open(tmp_path / "w") as workspace:
        assert workspace.blobs.read(digest) == b"work"
    written = [file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file()]
    assert not any(SECRET.encode() in content for content in written)


@pytest.mark.parametrize("url", ["s3://key:secret@bucket/files", "s3://bucket/files?secret=x", "bucket", ""])
def test_a_url_with_a_secret_or_without_a_scheme_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        open_blobs(url, tmp_path)


def test_a_file_url_is_a_plain_folder_and_other_stores_move_files_into_place(tmp_path: Path) -> None:
    digest = open_blobs(f"file://{tmp_path}/blobs", tmp_path / "unused").put(b"work")
    assert Blobs(tmp_path / "blobs").read(digest) == b"work"
    moving = RemoteBlobs(f"local://{tmp_path}/moved", tmp_path / "cache")
    assert RemoteBlobs(f"local://{tmp_path}/moved", tmp_path / "cache-2").read(moving.put(b"work")) == b"work"
