"""The rooms agents work in: how one is opened, and what it says of itself when asked."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from guildhall.confine.bubblewrap import Mount
from guildhall.confine.room import Room, start
from guildhall.domain.authors import RoomSettings
from guildhall.domain.values import canonical_json, sha256
from guildhall.engine.bubblewrap_config import BubblewrapConfig
from guildhall.engine.environments import own_environment, prepared_environment
from guildhall.engine.sandboxes import Sandbox
from guildhall.errors import RoomNotStarted, ToldButAbsent

_MOST_SAID = 4 * 1024**2
_PROGRAMS = {"soffice": "LibreOffice", "ffmpeg": "ffmpeg", "pdftotext": "Poppler", "tesseract": "Tesseract"}
_ASK = """
import importlib.metadata as metadata, json, platform, shutil, sys
found = sorted({f"{one.name}=={one.version}" for one in metadata.distributions() if one.name})
print(json.dumps([platform.python_version(), found, [name for name in sys.argv[1:] if shutil.which(name)]]))
"""


def open_room(
    config: BubblewrapConfig,
    *,
    work: Path,
    output_bytes: int,
    mounts: Sequence[Mount] = (),
    env: Mapping[str, str] | None = None,
) -> Room:
    """A room by these settings around a work folder, with the environment they name."""
    prepared = prepared_environment(config.environment) if config.environment else None
    return start(
        work=work,
        limits=config.limits(output_bytes=output_bytes),
        read_only=[*config.read_only, *(prepared.read_only if prepared else ())],
        mounts=mounts,
        env={**(prepared.env if prepared else {}), **(env or {}), **config.env},
        how="bubblewrap",
    )


@functools.cache
def ask_room(sandbox: Sandbox) -> RoomSettings:
    """What a room of this sandbox is and has; bubblewrap opens one and asks it, once in a process.

    A container cannot be asked before work begins: it is known by its own file, and its packages are not.
    """
    if sandbox.kind != "bubblewrap":
        written = sandbox.config.read_bytes() if sandbox.config is not None and sandbox.config.is_file() else b""
        return RoomSettings(sandbox=sandbox.kind, environment=sha256(written))
    config = sandbox.bubblewrap()
    python, packages, programs = _answer(config)
    recorded = prepared_environment(config.environment) if config.environment else own_environment()
    if recorded is not None and (absent := sorted(set(recorded.installed) - set(packages))):
        fix = "build it again with `guildhall sandbox build`"
        raise ToldButAbsent(absent[:5], told_by=f"the record of the environment {recorded.folder}", fix=fix)
    limits = config.limits(output_bytes=_MOST_SAID)
    return RoomSettings(
        sandbox=sandbox.kind,
        environment=sha256(canonical_json([python, packages, programs])),
        python=python,
        packages=tuple(packages),
        programs=tuple(_PROGRAMS[name] for name in programs),
        network=tuple(sorted(config.allow)),
        limits={name: float(getattr(limits, name)) for name in ("wall_s", "cpu_s", "memory_bytes", "processes")},
    )


def _answer(config: BubblewrapConfig) -> tuple[str, list[str], list[str]]:
    with (
        tempfile.TemporaryDirectory(prefix="guildhall-ask-") as work,
        open_room(config, work=Path(work), output_bytes=_MOST_SAID) as room,
    ):
        said = room.run(["python3", "-c", _ASK, *_PROGRAMS])
    if not said.ok:
        words = said.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RoomNotStarted(f"its python3 does not run: {' '.join(words) or said.ended}")
    python, packages, programs = json.loads(said.stdout)
    return python, packages, programs
