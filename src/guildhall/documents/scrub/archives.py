"""Archives: members are scrubbed one by one and packed in one fixed way, at any depth up to a limit."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Container
from pathlib import PurePosixPath

from guildhall.documents.packages import MOST_BYTES, MOST_MEMBERS, read_members, write_members
from guildhall.documents.scrub.names import MemberScrub, ScrubContext, ScrubLedger
from guildhall.errors import UnreadableFile, UnsafePath

_LITTER = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)")
_OWNED = re.compile(r"(?:^|/)(?:Users|home)/[^/]+/", re.IGNORECASE)


def scrub_zip(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """Every member scrubbed; fixed times, order and attributes; system litter left out and counted."""
    members = _clean_members(read_members(data, name=context.name), ledger, context.member)
    ledger.clean("archive times, order and comments", "made uniform")
    return write_members(members)


def scrub_tar(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """As a zip; owners and groups go too."""
    members = _clean_members(tar_members(data, context.name), ledger, context.member)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in sorted(members):
            entry = tarfile.TarInfo(member)
            entry.size = len(members[member])
            archive.addfile(entry, io.BytesIO(members[member]))
    ledger.clean("archive times, order and owners", "made uniform")
    return out.getvalue()


def scrub_gzip(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The packed file scrubbed; the name and time that gzip keeps go."""
    inner = gunzipped(data, context.name)
    ledger.clean("gzip name and time", "removed")
    unpacked = context.name.removesuffix(".gz").removesuffix(".tgz")
    return gzip.compress(context.member(unpacked, inner), compresslevel=6, mtime=0)


def gunzipped(data: bytes, name: str, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What a gzip file holds, refused when damaged or larger than the limit."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            inner = stream.read(most_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(name, f"is a damaged gzip ({error})") from error
    if len(inner) > most_bytes:
        raise UnreadableFile(name, "unpacks to more than the limit allows")
    return inner


def tar_members(data: bytes, name: str) -> dict[str, bytes]:
    """All files of a tar by name; links, devices and paths that leave the folder are refused."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                if entry.isdir():
                    continue
                if not entry.isfile():
                    raise UnsafePath(entry.name, f"a member of {name} that is a link or a device")
                if entry.name.startswith("/") or ".." in entry.name.split("/"):
                    raise UnsafePath(entry.name, f"a member of {name} that would leave its folder")
                stream = archive.extractfile(entry)
                members[entry.name] = stream.read() if stream else b""
                if len(members) > MOST_MEMBERS:
                    raise UnreadableFile(name, f"holds more than {MOST_MEMBERS} members")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UnreadableFile(name, f"is a damaged tar ({error})") from error
    return members


def _clean_members(members: dict[str, bytes], ledger: ScrubLedger, scrub_member: MemberScrub) -> dict[str, bytes]:
    plain = plain_names(members)
    ledger.clean("system litter in the archive", "removed", len(members) - len(plain))
    ledger.clean("owner's folder in member names", "removed", len(plain.keys() - members.keys()))
    return {name: scrub_member(name, data) for name, data in plain.items()}


def plain_names(members: dict[str, bytes]) -> dict[str, bytes]:
    """Members without the litter of operating systems, and without their owner's folder in their names."""
    kept: dict[str, bytes] = {}
    for member in sorted(members):
        if not _LITTER.search(member):
            plain = _OWNED.sub("", member)
            free = plain if plain == member else _free_name(plain, taken=members.keys() | kept.keys())
            kept[free] = members[member]
    return kept


def _free_name(name: str, *, taken: Container[str]) -> str:
    """The name, numbered where another member has it: two people's folders may hold files of one name."""
    path, number = PurePosixPath(name), 2
    free = name
    while free in taken:
        free, number = str(path.with_stem(f"{path.stem}-{number}")), number + 1
    return free
