"""Which sandbox work runs in, what it holds back on this machine, and the same for containers.

The bare host is never a default, and has no short name.

The same working environment for Docker and Kubernetes, through Inspect's own providers. Files are generated from the
package list; nothing here talks to an engine. Compose files are held against Inspect's own schema when they are
written.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.confine.limits import MIB, HeldBy, RoomLimits
from guildhall.confine.room import Room, start
from guildhall.domain.values import Value
from guildhall.engine.agents import BARE_HOST
from guildhall.engine.bubblewrap_config import BubblewrapConfig
from guildhall.engine.environments import ProfileName, of_profile, requirements
from guildhall.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.util import SandboxEnvironmentSpec


_UNCONFINED = {"local", "none", "host", ""}


class Sandbox(Value):
    """A sandbox by Inspect's name ("bubblewrap", "docker", "k8s" ...), and what the work may reach from inside.

    `environment` is a folder made by `guildhall sandbox build`; without it bubblewrap shows the packages Guildhall
    itself stands on. `allow` lists hosts that answer GET requests. `config` is the provider's own file.
    """

    kind: str = "bubblewrap"
    environment: Path | None = None
    allow: tuple[str, ...] = ()
    config: Path | None = None

    def spec(self) -> SandboxEnvironmentSpec:
        """The sandbox as Inspect takes it."""
        from inspect_ai.util import SandboxEnvironmentSpec

        if self.kind == BARE_HOST:
            return SandboxEnvironmentSpec("local")
        if self.kind in _UNCONFINED:
            raise InputError(
                f"work does not run unconfined under the name {self.kind!r}; choose bubblewrap, docker or k8s, "
                f"or write in words: {BARE_HOST!r}"
            )
        if self.kind == "bubblewrap":
            return SandboxEnvironmentSpec("bubblewrap", self.bubblewrap())
        if self.allow or self.environment:
            raise InputError(f"`allow` and `environment` belong to bubblewrap; put them into {self.kind}'s own config")
        return SandboxEnvironmentSpec(self.kind, None if self.config is None else str(self.config))

    def bubblewrap(self) -> BubblewrapConfig:
        """The settings of its rooms, with everything that is shown inside."""
        from guildhall.engine.environments import own_environment

        base = BubblewrapConfig.read(self.config) if self.config else BubblewrapConfig.model_validate({})
        fields = base.model_dump()
        if self.allow:
            fields["allow"] = self.allow
        if self.environment is not None:
            fields["environment"] = self.environment
        elif base.environment is None and (own := own_environment()) is not None:
            fields["read_only"] = (*base.read_only, *own.read_only)
            fields["env"] = own.env | base.env
        return BubblewrapConfig.model_validate(fields)


_LIMITS = RoomLimits(wall_s=10, cpu_s=10, memory_bytes=256 * MIB, temp_bytes=8 * MIB, processes=40)
_EAT_MEMORY = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = b"x" * (60 * 1024**2)
        time.sleep(9)
time.sleep(9)
"""
_REACH_OUT = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
_MANY = "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(5); os._exit(0)"
_WARM_RUNS = 21
WARM_EXEC_GOAL_MS = 30.0


class SandboxCheck(Value):
    """One thing a sandbox should do; `holds` is None where it could not be tried."""

    name: str
    holds: bool | None
    detail: str


def check_sandbox() -> list[SandboxCheck]:
    """Try what matters most, within seconds; `proofs/sandbox.py` holds the long list."""
    why_not = why_no_bubblewrap()
    found = [SandboxCheck(name="bubblewrap", holds=why_not is None, detail=why_not or shutil.which("bwrap") or "")]
    found.append(_program("LibreOffice", "soffice"))
    docker = shutil.which("docker")
    found.append(
        SandboxCheck(name="Docker", holds=None, detail="client found, not tried" if docker else "not installed")
    )
    if why_not is None:
        with (
            tempfile.TemporaryDirectory(prefix="guildhall-check-") as work,
            start(work=Path(work), limits=_LIMITS, how="bubblewrap") as room,
        ):
            found += [try_it(room) for try_it in _ATTEMPTS]
    return found


def _program(name: str, command: str) -> SandboxCheck:
    path = shutil.which(command)
    return SandboxCheck(name=name, holds=path is not None, detail=path or f"`{command}` is not installed")


def _no_network(room: Room) -> SandboxCheck:
    tried = room.run(["python3", "-c", _REACH_OUT])
    last = tried.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return SandboxCheck(name="no network", holds=tried.code != 0, detail=" ".join(last))


def _no_host_files(room: Room) -> SandboxCheck:
    seen = room.run(["ls", "/home", "/root", "/etc/shadow"])
    return SandboxCheck(name="host files hidden", holds=not seen.stdout.strip(), detail="/home, /root, /etc/shadow")


def _read_only(room: Room) -> SandboxCheck:
    tried = room.run(["sh", "-c", "touch /usr/x /etc/x /x /dev/x"])
    return SandboxCheck(name="system read-only", holds=tried.code != 0, detail="/usr, /etc, /, /dev")


def _memory_held(room: Room) -> SandboxCheck:
    tried = room.run(["python3", "-c", _EAT_MEMORY])
    ended = f"ended by {tried.ended}, held by {_in_words(tried.limits_held_by)}"
    detail = f"6 x 60 MiB under {_LIMITS.memory_bytes // MIB} MiB: {ended}"
    return SandboxCheck(name="memory of the tree", holds=tried.ended == "memory", detail=detail)


def _processes_held(room: Room) -> SandboxCheck:
    tried = room.run(["python3", "-c", _MANY])
    held = tried.peak_processes <= _LIMITS.processes and not tried.ok
    seen = f"at most {tried.peak_processes} seen, held by {_in_words(tried.limits_held_by)}"
    return SandboxCheck(name="processes of the tree", holds=held, detail=f"200 wanted, {seen}")


def _in_words(held_by: HeldBy) -> str:
    return "a watch that looks every 20 ms" if held_by == "watch" else f"the kernel ({held_by})"


def _warm_exec(room: Room) -> SandboxCheck:
    times_ms = []
    for _ in range(_WARM_RUNS):
        began = time.perf_counter()
        room.run(["true"])
        times_ms.append((time.perf_counter() - began) * 1000)
    median = statistics.median(times_ms)
    # Slow is not unsafe, and a busy machine is slow: this one is reported and never fails.
    holds = True if median < WARM_EXEC_GOAL_MS else None
    return SandboxCheck(name="warm command", holds=holds, detail=f"{median:.1f} ms at the median")


_ATTEMPTS: tuple[Callable[[Room], SandboxCheck], ...] = (
    _no_network,
    _no_host_files,
    _read_only,
    _memory_held,
    _processes_held,
    _warm_exec,
)


Engine = Literal["docker", "kubernetes"]
NOT_RUN_HERE = "generated, not run here"

_DOCKERFILE = """\
# The working environment of agents and judges, profile `{profile}`. Generated by `guildhall sandbox build`.
FROM python:3.12-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends \\
        libreoffice-writer libreoffice-calc libreoffice-impress libreoffice-draw fonts-liberation fonts-dejavu \\
        fonts-crosextra-carlito fonts-crosextra-caladea fontconfig poppler-utils procps file unzip{system} \\
    && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /opt/requirements.txt
RUN pip install --no-cache-dir -r /opt/requirements.txt
RUN useradd --uid 1000 --create-home agent && mkdir /job && chown agent:agent /job
USER agent
ENV HOME=/tmp LANG=C.UTF-8 LC_ALL=C.UTF-8
WORKDIR /job
CMD ["tail", "-f", "/dev/null"]
"""
_SYSTEM_FOR_FULL = " build-essential ffmpeg ghostscript graphviz libgraphviz-dev pandoc tesseract-ocr espeak libzbar0"

_COMPOSE = """\
# Inspect: sandbox=("docker", "compose.yaml"). Generated by `guildhall sandbox build`; no network, no privileges.
services:
  default:
    build: .
    init: true
    user: agent
    working_dir: /job
    command: tail -f /dev/null
    network_mode: none
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    mem_limit: {memory_mb}m
    cpus: "2"
"""

_VALUES = """\
# Inspect: sandbox=("k8s", "values.yaml"), chart `agent-env`. Generated by `guildhall sandbox build`; no network.
# Build the Dockerfile beside this file, push it where your cluster finds it, and name it here.
services:
  default:
    image: guildhall-{profile}:latest
    command: ["tail", "-f", "/dev/null"]
    workingDir: /job
    resources:
      requests: {{memory: {memory_mb}Mi, cpu: "1"}}
      limits: {{memory: {memory_mb}Mi, cpu: "2", ephemeral-storage: {disk_mb}Mi}}
    securityContext:
      runAsUser: 1000
      runAsNonRoot: true
      allowPrivilegeEscalation: false
      capabilities: {{drop: [ALL]}}
allowDomains: []
"""


def write_container_files(profile: ProfileName, engine: Engine, into: Path, *, config: BubblewrapConfig) -> list[Path]:
    """Write a build context, and the file that makes Inspect use it under the limits of `config`."""
    into.mkdir(parents=True, exist_ok=True)
    files = {
        "Dockerfile": _DOCKERFILE.format(profile=profile, system=_SYSTEM_FOR_FULL if profile == "full" else ""),
        "requirements.txt": "\n".join(requirements(of_profile(profile))) + "\n",
    }
    if engine == "docker":
        files["compose.yaml"] = _COMPOSE.format(memory_mb=config.memory_mb)
    else:
        disk_mb = config.work_mb + config.temp_mb
        files["values.yaml"] = _VALUES.format(profile=profile, memory_mb=config.memory_mb, disk_mb=disk_mb)
    for name, text in files.items():
        (into / name).write_text(text, encoding="utf-8")
    if engine == "docker":
        _hold_against_schema(into / "compose.yaml")
    return [into / name for name in files]


def _hold_against_schema(compose: Path) -> None:
    """Inspect refuses a compose file with a field it does not know; better here than at the first sample."""
    from guildhall.engine.inspect_private import hold_against_compose_schema

    hold_against_compose_schema(str(compose))
