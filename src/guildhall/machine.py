"""What this machine can do: programs, extras, provider keys. Looks, changes nothing, and never shows a key."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from guildhall.confine.cgroup import held_by_here
from guildhall.domain.providers import PROVIDERS


@dataclass(frozen=True)
class Ability:
    """One ability: whether it is here, what was found, and how to get it when it is not."""

    name: str
    present: bool
    detail: str
    used_for: str
    fix: str


_PROGRAMS = (
    (
        "LibreOffice",
        "soffice",
        "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui",
        "pages of Office files",
    ),
    ("poppler", "pdftoppm", "poppler-utils", "checking PDF rendering"),
    ("ffmpeg", "ffmpeg", "ffmpeg", "audio and video"),
    ("tesseract", "tesseract", "tesseract-ocr", "text in scanned pages"),
    ("Chromium", "chromium", "chromium", "tests of the web pages"),
)
_EXTRAS = (
    ("psycopg", "psycopg", "postgres", "PostgreSQL as the database"),
    ("Ray", "ray", "ray", "work on many machines"),
    ("object stores", "s3fs", "s3", "files in an S3-compatible store"),
    ("metrics", "prometheus_client", "observe", "`serve --metrics` and `worker --metrics`"),
    ("traces", "opentelemetry.sdk", "observe", "traces, once OTEL_ variables ask for them"),
    ("model clients", "openai", "providers", "models of OpenAI, Anthropic, Google and whatever speaks like OpenAI"),
    ("hub client", "huggingface_hub", "hub", "downloading the public data set"),
    ("local models", "xllamacpp", "local", "a genuine run with no key"),
    ("compiled kernels", "numba", "fast", "statistics over tens of millions of votes"),
)
_KEYS = ("openai", "anthropic", "google", "grok", "mistral", "openrouter")
"""The providers whose keys are looked for."""


def examine(environment: Mapping[str, str] = os.environ) -> list[Ability]:
    """Everything Guildhall can make use of, in the order a reader cares about it."""
    rooms = (_bubblewrap(), _kernel_limits(), _docker())
    return [*_programs(), *rooms, _postgres_server(), *_extras(), *_keys(environment)]


def _programs() -> Iterator[Ability]:
    for name, program, packages, used_for in _PROGRAMS:
        place = shutil.which(program)
        detail = _first_line([place, "-v" if program == "pdftoppm" else "--version"]) if place else ""
        yield Ability(name, place is not None, detail, used_for, f"apt-get install --no-install-recommends {packages}")


def _bubblewrap() -> Ability:
    """Installed is not enough: many containers forbid the namespaces it needs, so it is tried."""
    used_for = "running models' work without harm"
    if not shutil.which("bwrap"):
        return Ability("bubblewrap", False, "", used_for, "apt-get install bubblewrap")
    tried = _run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"])
    if tried is None or tried.returncode != 0:
        fix = (
            "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or use Docker; the demo replays instead"
        )
        return Ability("bubblewrap", False, "", used_for, fix)
    return Ability("bubblewrap", True, _first_line(["bwrap", "--version"]), used_for, "")


def _kernel_limits() -> Ability:
    """A control group is made and removed again: whether one may be is not to be read anywhere."""
    held_by, used_for = held_by_here(), "memory and processes of rooms, kept by the kernel; a watch does it meanwhile"
    if held_by == "watch":
        fix = "a service with Delegate=memory pids (cgroup v2); see the threat model of the sandbox"
        return Ability("control groups", False, "", used_for, fix)
    return Ability("control groups", True, held_by, used_for, "")


def _docker() -> Ability:
    """The client alone is of no use: an engine must answer."""
    used_for = "the full package list in a container"
    tried = _run(["docker", "info", "--format", "{{.ServerVersion}}"]) if shutil.which("docker") else None
    if tried is not None and tried.returncode == 0 and tried.stdout.strip():
        return Ability("Docker engine", True, tried.stdout.strip(), used_for, "")
    return Ability("Docker engine", False, "", used_for, "install and start Docker; bubblewrap serves meanwhile")


def _postgres_server() -> Ability:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    detail = f"version {found[-1].parts[-3]}" if found else ""
    return Ability("PostgreSQL server", bool(found), detail, "tests on both databases", "apt-get install postgresql")


def _extras() -> Iterator[Ability]:
    for name, module, extra, used_for in _EXTRAS:
        present = _is_installed(module)
        yield Ability(name, present, "installed" if present else "", used_for, f"pip install 'guildhall[{extra}]'")


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package around it
        return False


def _keys(environment: Mapping[str, str]) -> Iterator[Ability]:
    for provider in map(PROVIDERS.__getitem__, _KEYS):
        found = next((variable for variable in provider.keys if environment.get(variable)), None)
        detail = f"{found} is set" if found else ""
        fix = f"export {provider.keys[0]}=..."
        yield Ability(f"key for {provider.title}", found is not None, detail, f"{provider.title} models", fix)


def _first_line(command: list[str]) -> str:
    result = _run(command)
    said = (result.stdout or result.stderr).strip() if result else ""
    return said.splitlines()[0][:80] if said else "found"


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
