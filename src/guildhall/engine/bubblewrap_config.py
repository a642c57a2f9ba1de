"""What one sample's bubblewrap sandbox may do and use, and how it is granted its GET-only network.

The same names serve in Python and in a TOML file. Of the network the proxy is outside, the bridge inside, and a
certificate authority of its own is the trust between.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from guildhall.confine.bubblewrap import Mount
from guildhall.confine.launch import hand_over, system_python
from guildhall.confine.limits import GIB, MIB, RoomLimits
from guildhall.confine.room import Room
from guildhall.engine import bubblewrap_bridge
from guildhall.engine.bubblewrap_authority import Authority
from guildhall.engine.bubblewrap_proxy import ProxiedRequest, Proxy
from guildhall.errors import RoomNotStarted, UnreadableFile

_INSIDE = "/run/network"
_PORT = 3128
_TRUST_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT")
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class BubblewrapConfig(BaseModel):
    """Settings of `sandbox="bubblewrap"`; the defaults suit office work, without any network."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exec_s: float = Field(600, gt=0, description="seconds one command may take when its caller names no time")
    cpu_s: float = Field(600, gt=0, description="processor seconds of the whole tree during one command")
    memory_mb: int = Field(2 * GIB // MIB, ge=32, description="memory of the whole tree")
    processes: int = Field(256, ge=8, description="processes and threads of the whole tree")
    file_mb: int = Field(512, ge=1, description="the largest single file")
    work_mb: int = Field(2048, ge=1, description="the whole work folder")
    work_files: int = Field(20_000, ge=1)
    temp_mb: int = Field(512, ge=1, description="temporary space, and as much again for shared memory")
    allow: tuple[str, ...] = Field((), description="hosts that may be asked by GET; none means no network")
    environment: Literal["own"] | Path | None = Field(
        None, description="a folder made by `guildhall sandbox build`, or `own` for the packages Guildhall runs on"
    )
    read_only: tuple[Path, ...] = Field((), description="host paths shown read-only where they are")
    env: dict[str, str] = Field(default_factory=dict)

    def __hash__(self) -> int:
        # Inspect keeps sandbox settings in a set, and `env` is a dictionary.
        return hash(self.model_dump_json())

    @classmethod
    def read(cls, path: Path) -> BubblewrapConfig:
        """Settings from a TOML file."""
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise UnreadableFile(path, error.strerror or "cannot be read") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
            raise UnreadableFile(path, f"is not a sandbox configuration: {error}") from error

    def limits(self, *, output_bytes: int) -> RoomLimits:
        return RoomLimits(
            wall_s=self.exec_s,
            cpu_s=self.cpu_s,
            memory_bytes=self.memory_mb * MIB,
            processes=self.processes,
            file_bytes=self.file_mb * MIB,
            output_bytes=output_bytes,
            work_bytes=self.work_mb * MIB,
            work_files=self.work_files,
            temp_bytes=self.temp_mb * MIB,
        )


class Network:
    """The way out of one sandbox, to the allowed hosts and no further."""

    def __init__(self, folder: Path, proxy: Proxy) -> None:
        self._folder, self._proxy = folder, proxy
        self.mounts = (Mount(folder, _INSIDE),)
        self.env = dict.fromkeys(_TRUST_VARIABLES, f"{_INSIDE}/authority.pem") | dict.fromkeys(
            _PROXY_VARIABLES, f"http://127.0.0.1:{_PORT}"
        )

    @classmethod
    def open(cls, allow: Collection[str], **outward: Any) -> Network:
        """`outward` may replace how the proxy resolves, dials and trusts; see `Proxy`."""
        folder = Path(tempfile.mkdtemp(prefix="guildhall-network-"))
        authority = Authority(now=datetime.now(UTC))
        (folder / "authority.pem").write_bytes(authority.certificate_pem)
        shutil.copyfile(bubblewrap_bridge.__file__, folder / "bridge.py")
        proxy = Proxy(folder / "proxy.sock", allow=allow, authority=authority, **outward)
        hand_over(folder)  # to the room's user, and to nobody else on this machine
        return cls(folder, proxy)

    @property
    def asked(self) -> tuple[ProxiedRequest, ...]:
        """Every request so far, allowed or refused."""
        return tuple(self._proxy.asked)

    def connect(self, room: Room) -> None:
        """Start the bridge inside; it listens when this returns."""
        bridge = [system_python(), "-I", "-S", f"{_INSIDE}/bridge.py", str(_PORT), f"{_INSIDE}/proxy.sock"]
        begun = room.run(bridge)
        if not begun.ok:
            raise RoomNotStarted(f"the bridge to the network did not start: {begun.stderr.decode(errors='replace')}")

    def close(self) -> None:
        self._proxy.close()
        shutil.rmtree(self._folder, ignore_errors=True)
