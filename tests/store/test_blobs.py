"""Files by digest: durable, deduplicated, verified on read, streamed."""

from __future__ import annotations

import hashlib
import io
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from guildhall.errors import CorruptBlob, MissingBlob
from guildhall.store.blobs import Blobs


def test_bytes_files_and_streams_are_kept_under_their_sha256(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    (tmp_path / "file").write_bytes(b"work")
    expected = hashlib.sha256(b"work").hexdigest()
    assert {blobs.put(b"work"), blobs.put(tmp_path / "file"), blobs.put(io.BytesIO(b"work"))} == {expected}
    assert list(blobs.each()) == [expected]
    assert blobs.read(expected) == b"work"


def test_a_damaged_blob_is_never_handed_out(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"work" * 1000)
    blobs.path(digest).chmod(0o644)
    blobs.path(digest).write_bytes(b"wore" + b"work" * 999)
    with pytest.raises(CorruptBlob, match=digest[:12]):
        blobs.read(digest)
    with pytest.raises(CorruptBlob):
        blobs.copy_to(digest, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_blob_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingBlob, match=r"0{12}"):
        Blobs(tmp_path).read("0" * 64)


def test_an_interrupted_write_leaves_no_blob(tmp_path: Path) -> None:
    class Breaks(io.RawIOBase):
        def read(self, _size: int = -1) -> bytes:
            raise OSError("the disk went away")

    blobs = Blobs(tmp_path)
    with pytest.raises(OSError, match="went away"):
        blobs.put(Breaks())
    assert not list(blobs.each())
    assert not list((tmp_path / "incoming").iterdir())


def test_a_large_file_needs_little_memory(tmp_path: Path) -> None:
    """288 MB (sparse) within 256 MB of address space: the whole file can never be in memory."""
    large = tmp_path / "large"
    with large.open("wb") as out:
        out.truncate(288 << 20)
    code = f"""
import resource
from pathlib import Path
from guildhall.store.blobs import Blobs
limit = 256 << 20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
blobs = Blobs(Path({str(tmp_path)!r}) / "blobs")
digest = blobs.put(Path({str(large)!r}))
blobs.copy_to(digest, Path({str(tmp_path)!r}) / "out")
"""
    assert resource.RLIMIT_AS
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "out").stat().st_size == 288 << 20
