"""Paths that tell whose machine a file was made on: they keep their last step and lose their folders."""

from __future__ import annotations

import re

_DISK = r"[A-Za-z]:[\\/]|\\\\"
_TOP = r"(?:Users|home|Volumes|mnt|tmp|var|private)/"
_HOME = re.compile(rf"^(?:file:/*)?(?:(?:\.\.[\\/])*(?:{_DISK})|/+{_TOP}|(?:\.\./)+{_TOP})", re.IGNORECASE)
"""Programs also write a disk path as one that climbs: `../../../C:/Users/...`."""

_SOMEBODYS = re.compile(r"[\\/](?:Users|home|Documents and Settings)[\\/][^\\/]+[\\/]*$", re.IGNORECASE)


def tells_a_machine(path: str) -> bool:
    """Whether this is a path on somebody's disk or share, not a web address or a name inside a package."""
    return bool(_HOME.match(path))


def bare_name(path: str) -> str:
    """The last step of a path; that of somebody's own folder is their name, and not told."""
    if _SOMEBODYS.search(path):
        return "folder"
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]
