"""The working environment of agents and judges: the published package list, as something one can install.

`environment_packages.toml` holds every package of the list (GDPval A.6.4 and its additional packages) with the
published version, what is installed today, and, where today's Python cannot have it, the replacement and why.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Literal

from guildhall.confine.launch import PATH, system_python
from guildhall.domain.values import Value, canonical_json, sha256
from guildhall.errors import EnvironmentNotBuilt, InterpreterNotShown, NoEnvironment

ProfileName = Literal["small", "full"]
_RECORD = "environment.json"
_LIST_PACKAGES = """
import json, importlib.metadata as metadata
print(json.dumps(sorted(f"{found.name}=={found.version}" for found in metadata.distributions())))
"""


class Package(Value):
    """One package of the published list, and what stands for it today."""

    name: str
    published: str
    profile: ProfileName = "full"
    install: str | None = None  # the name to install today, when it is another; empty when nothing is
    why: str = ""

    @property
    def requirement(self) -> str | None:
        return self.name if self.install is None else self.install or None


class ReadyEnvironment(Value):
    """An environment on this machine that sandboxes can use."""

    profile: str
    folder: Path
    venv: Path
    python: str
    installed: tuple[str, ...]
    replaced: tuple[Package, ...] = ()
    interpreter: tuple[Path, ...] = ()
    """Folders its Python needs beside its own, where that Python lies outside /usr."""

    @classmethod
    def at(cls, folder: Path) -> ReadyEnvironment:
        """The environment `build` made there."""
        try:
            return cls.model_validate_json((folder / _RECORD).read_bytes())
        except (OSError, ValueError) as error:
            raise NoEnvironment(folder) from error

    @property
    def read_only(self) -> tuple[Path, ...]:
        return (self.folder, *self.interpreter)

    @property
    def env(self) -> dict[str, str]:
        """Makes `python3` and the environment's programs come first inside the sandbox."""
        return {"VIRTUAL_ENV": str(self.venv), "PATH": f"{self.venv}/bin:{PATH}", "PYTHONDONTWRITEBYTECODE": "1"}


def packages() -> tuple[Package, ...]:
    """The whole published list, in its order."""
    text = resources.files("guildhall.engine").joinpath("environment_packages.toml").read_text(encoding="utf-8")
    return tuple(Package.model_validate(entry) for entry in tomllib.loads(text)["package"])


def of_profile(profile: ProfileName) -> tuple[Package, ...]:
    """`small` is a part of `full`."""
    return tuple(package for package in packages() if profile == "full" or package.profile == "small")


def requirements(wanted: Iterable[Package]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(package.requirement for package in wanted if package.requirement))


def prepared_environment(named: Literal["own"] | Path) -> ReadyEnvironment:
    """The environment a configuration names."""
    if named != "own":
        return ReadyEnvironment.at(Path(named))
    own = own_environment()
    if own is None:
        raise NoEnvironment(Path(sys.prefix))
    return own


@functools.cache
def own_environment() -> ReadyEnvironment | None:
    """The packages Guildhall itself runs on: enough for office files, nothing to download.

    Their folder is shown read-only inside, and so is that of a Python outside /usr (pyenv, uv, conda). None where all
    of it is the system's own, which every room shows.
    """
    prefix = Path(sys.prefix)
    if prefix.is_relative_to("/usr") and sys.prefix == sys.base_prefix:
        return None
    return ReadyEnvironment(
        profile="own",
        folder=prefix,
        venv=prefix,
        python=platform.python_version(),
        installed=_installed(prefix),
        interpreter=interpreter_places(Path(sys.executable), Path(sys.base_prefix), shown=prefix),
    )


def interpreter_places(executable: Path, base: Path, *, shown: Path) -> tuple[Path, ...]:
    """The folders outside /usr and outside `shown` in which a Python lies: its own, and those its links lead through.

    Refused where one of them is a whole home folder, or holds one: nobody's files are shown to an agent for that.
    """
    places, link = [base], executable
    while link.is_symlink():
        link = link.parent / link.readlink()
        places.append(Path(os.path.normpath(link)).parent.parent)
    outside = [one for one in places if not one.is_relative_to("/usr") and not one.is_relative_to(shown)]
    home = Path.home()
    for one in outside:
        if home.is_relative_to(one):
            raise InterpreterNotShown(executable, one)
    return tuple(dict.fromkeys(outside))


def default_folder(profile: ProfileName) -> Path:
    """Where an environment is kept unless told otherwise: the user's cache, by the digest of what it holds."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    key = sha256(canonical_json([*requirements(of_profile(profile)), _system_version()]))[:12]
    return cache / "guildhall" / "environments" / f"{profile}-{key}"


def build(profile: ProfileName, folder: Path) -> ReadyEnvironment:
    """Install a profile's packages for the system's Python; a finished environment is left as it is."""
    if (folder / _RECORD).exists():
        return ReadyEnvironment.at(folder)
    wanted = of_profile(profile)
    folder.mkdir(parents=True, exist_ok=True)
    venv = folder / "venv"
    _install(venv, requirements(wanted))
    prepared = ReadyEnvironment(
        profile=profile,
        folder=folder.resolve(),
        venv=folder.resolve() / "venv",
        python=_system_version(),
        installed=_installed(venv),
        replaced=tuple(package for package in wanted if package.install is not None),
    )
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)  # its users are not its owner
    record = folder / f"{_RECORD}.new"
    record.write_text(prepared.model_dump_json(indent=2), encoding="utf-8")
    record.replace(folder / _RECORD)
    return prepared


def _install(venv: Path, wanted: tuple[str, ...]) -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if uv:
        _must([uv, "venv", "--quiet", "--clear", "--python", system_python(), str(venv)])
        _must([uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), *wanted])
    else:
        _must([system_python(), "-m", "venv", "--clear", str(venv)])
        _must([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted])


def _must(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EnvironmentNotBuilt(" ".join(command[:3]), done.stderr.strip()[-600:])


def _installed(venv: Path) -> tuple[str, ...]:
    done = subprocess.run([venv / "bin" / "python", "-I", "-c", _LIST_PACKAGES], capture_output=True, check=True)
    return tuple(json.loads(done.stdout))


def _system_version() -> str:
    done = subprocess.run([system_python(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]
