"""Whose fault it is that work did not come to an end of its own: the one place that decides.

What a model made of its time is the model's. Laying out and collecting files, storage, credentials, disks, databases
and sandboxes are ours, and a provider that fails is the provider's: neither is ever held against a model.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator

from sqlalchemy.exc import SQLAlchemyError

from guildhall.domain.submissions import StopReason
from guildhall.errors import GuildhallError, MachineRefused, ModelError, StoreError
from guildhall.observe.redact import redact
from guildhall.store.database import fault_of

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE}
"""What a machine says when it, and not the work on it, has come to its end."""
LEAST_FREE_BYTES = 16 * 2**20
_DEEPEST = 8


def storage_failed(error: BaseException) -> bool:
    """Whether records or files could not be kept or fetched: the database, the object store, a file, the disk."""
    return any(
        isinstance(one, StoreError | SQLAlchemyError) or (isinstance(one, OSError) and one.errno in _DISK)
        for one in _causes(error)
    )


def fault_around_work(error: BaseException) -> StopReason:
    """Why work could not be laid out or collected: storage, or else the place where it was done."""
    return StopReason.STORAGE_FAILED if storage_failed(error) else StopReason.SANDBOX_FAILED


def fault_at_work(error: BaseException) -> StopReason:
    """What it was that ended a model's work with an error: storage, the place, or whoever serves the model."""
    from inspect_ai.util import OutputLimitExceededError, SandboxUnavailableError

    if storage_failed(error):
        return StopReason.STORAGE_FAILED
    place = isinstance(error, SandboxUnavailableError | OutputLimitExceededError | OSError) or (
        isinstance(error, GuildhallError) and not isinstance(error, ModelError)
    )
    return StopReason.SANDBOX_FAILED if place else StopReason.PROVIDER_FAILED


_EVERYDAY = {
    errno.ENOSPC: "make room there, then run the same command again",
    errno.EDQUOT: "make room there, then run the same command again",
    errno.EIO: "look at the disk; restore a backup to another one",
    errno.EROFS: "choose another place, or mount it for writing",
    errno.EACCES: "give this user permission, or choose another place",
    errno.EPERM: "give this user permission, or choose another place",
    errno.EMFILE: "raise `ulimit -n`, or do less at a time",
    errno.ENFILE: "do less at a time on this machine",
    errno.EADDRINUSE: "choose another port, or end what listens there",
    errno.ENOTDIR: "choose another place",
    errno.EISDIR: "choose another place",
    errno.EEXIST: "choose another place",
}


def everyday(error: BaseException) -> GuildhallError | None:
    """An error of ours for what goes wrong on any machine some day; None for what nobody foresaw."""
    for one in _causes(error):
        if isinstance(one, GuildhallError):
            return one
        if (fault := fault_of(one, "of this workspace")) is not None:
            return fault
        if isinstance(one, OSError) and one.errno in _EVERYDAY:
            return MachineRefused(str(one.filename or "the machine"), str(one.strerror), fix=_EVERYDAY[one.errno])
    return None


def in_words(error: BaseException) -> str:
    """An error as it is kept: its own sentence where it is one of ours, without secrets and of a bearable length."""
    said = str(error) if isinstance(error, GuildhallError) else f"{type(error).__name__}: {error}"
    return redact(said)[:2000]


def disk_is_full() -> str | None:
    """Why nothing that a room failed to deliver now can be held against anybody: rooms lie on this disk."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if free >= LEAST_FREE_BYTES:
        return None
    return f"the disk under {folder} was full while the work was done ({free // 2**20} MiB free); make room and retry"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(_DEEPEST):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__
