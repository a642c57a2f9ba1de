"""`sandbox="bubblewrap"` for Inspect: one confined room for each sample, without a container engine.

The room has no network unless hosts are allowed, sees the system read-only, and keeps `/tmp` and background
processes from one `exec` to the next. It never falls back to the bare host: where bubblewrap does not
work, starting it fails and says why.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import anyio
import anyio.to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    concurrency,
)
from pydantic import BaseModel

from guildhall.confine.bubblewrap import INSIDE_ID
from guildhall.confine.command import Command
from guildhall.confine.limits import ROOM_WIDE, Finished
from guildhall.confine.room import Room
from guildhall.engine.agents import AT_ITS_LIMIT
from guildhall.engine.bubblewrap_config import BubblewrapConfig, Network
from guildhall.engine.inspect_private import SandboxUserUnsupportedError, subprocesses_at_once
from guildhall.engine.rooms import open_room
from guildhall.errors import RoomClosed

logger = logging.getLogger(__name__)
T = TypeVar("T")

_AT_ONCE = 32
_USERS = ("agent", str(INSIDE_ID))


class BubblewrapSandboxEnvironment(SandboxEnvironment):
    """One sample's room, to Inspect's contract; `work` is its work folder on the host."""

    def __init__(self, config: BubblewrapConfig) -> None:
        super().__init__()
        self.config = config
        self.work = Path(tempfile.mkdtemp(prefix="guildhall-sandbox-"))
        self._threads = anyio.CapacityLimiter(_AT_ONCE)
        self._network: Network | None = None
        try:
            self._network = Network.open(config.allow) if config.allow else None
            self._room = self._open_room()
        except BaseException:
            self.close()
            raise

    def _open_room(self) -> Room:
        network = self._network
        room = open_room(
            self.config,
            work=self.work,
            output_bytes=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE,
            mounts=network.mounts if network else (),
            env=network.env if network else {},
        )
        if self._network is not None:
            self._network.connect(room)
        return room

    @classmethod
    async def sample_init(
        cls,
        task_name: str,  # noqa: ARG003
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],  # noqa: ARG003
    ) -> dict[str, SandboxEnvironment]:
        settings = _settings(config)
        return {"default": await anyio.to_thread.run_sync(lambda: cls(settings))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,  # noqa: ARG003
        config: SandboxEnvironmentConfigType | None,  # noqa: ARG003
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,  # noqa: ARG003
    ) -> None:
        for environment in environments.values():
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(environment.as_type(cls).close)

    @classmethod
    def config_files(cls) -> list[str]:
        return ["bubblewrap.toml"]

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return BubblewrapConfig.model_validate(config)

    @classmethod
    def default_concurrency(cls) -> int | None:
        return 2 * (os.cpu_count() or 1)

    def default_polling_interval(self) -> float:
        return 0.2

    def close(self) -> None:
        """End everything in the room and remove its work folder; safe to call twice."""
        if hasattr(self, "_room"):
            self._room.close()
        if self._network is not None:
            self._network.close()
        remove_hostile_tree(self.work)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002 - Inspect's name
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,  # noqa: ARG002 - nothing between us and the command can be flaky
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if user is not None and user not in _USERS:
            raise SandboxUserUnsupportedError(f"a bubblewrap sandbox has one user, `agent`; it cannot run as {user!r}")
        stdin = input.encode() if isinstance(input, str) else input
        if concurrency:
            async with _throttle():
                finished = await self._run(cmd, stdin=stdin, cwd=cwd, env=env or {}, wall_s=timeout)
        else:
            finished = await self._run(cmd, stdin=stdin, cwd=cwd, env=env or {}, wall_s=timeout)
        return _as_result(cmd, finished, wall_s=timeout or self.config.exec_s)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        await self._in_thread(lambda: self._room.write_file(file, data))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            data = await self._in_thread(lambda: self._room.read_file(file, limit_bytes=limit))
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None) from None
            raise
        return data.decode() if text else data

    async def _run(
        self, cmd: list[str], *, stdin: bytes | None, cwd: str | None, env: dict[str, str], wall_s: float | None
    ) -> Finished:
        output_bytes = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        command: Command = await self._in_thread(
            lambda: self._room.begin(cmd, stdin=stdin, cwd=cwd, env=env, output_bytes=output_bytes)
        )
        try:
            finished = await anyio.to_thread.run_sync(
                lambda: self._room.wait(command, wall_s=wall_s), abandon_on_cancel=True, limiter=self._threads
            )
        except anyio.get_cancelled_exc_class():
            self._room.end(command)  # the abandoned thread hears of the end and clears up
            raise
        network = self._network
        if network is not None and finished.ended in ROOM_WIDE:  # the bridge ended along with everything else
            await self._in_thread(lambda: network.connect(self._room))
        return finished

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._threads)
        except RoomClosed as error:
            raise SandboxUnavailableError(str(error)) from error


def _settings(config: SandboxEnvironmentConfigType | None) -> BubblewrapConfig:
    if config is None:
        return BubblewrapConfig()
    if isinstance(config, str):
        return BubblewrapConfig.read(Path(config))
    return BubblewrapConfig.model_validate(config.model_dump())


def _throttle() -> Any:
    return concurrency("subprocesses", subprocesses_at_once(), resizable=True)


def _as_result(cmd: list[str], finished: Finished, *, wall_s: float) -> ExecResult[str]:
    """What Inspect expects for each way in which a command can end."""
    stdout, stderr = finished.stdout.decode(errors="replace"), finished.stderr.decode(errors="replace")
    if finished.refused in (errno.EACCES, errno.EPERM):
        raise PermissionError(stderr)
    if finished.ended == "wall":
        raise TimeoutError(f"{cmd[0]!r} ran past {wall_s:g} s")
    if finished.ended == "output":
        raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, stdout + stderr)
    if finished.ended == "lost":
        raise SandboxUnavailableError("the sandbox went away while the command ran")
    if finished.ended != "exit":
        logger.warning("sandbox: %r was ended at its %s limit", cmd[0], finished.ended)
        stderr += f"\n{AT_ITS_LIMIT}: the {finished.ended} limit was reached\n"
    return ExecResult(finished.ok, finished.code, stdout, stderr)


def remove_hostile_tree(folder: Path) -> None:
    """Remove a folder whatever was built in it; Python's own way gives up on a tree nested thousands deep."""
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], check=False, capture_output=True)
    if folder.exists():  # closed to its owner: open the folders, then try once more
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(folder)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
