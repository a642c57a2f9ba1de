"""A bare Debian in a folder, for showing that a clone works on a machine that has nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proofs import ROOT, NotRun

_MOUNTS = (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "tmp"))
_PACKAGE_SETTINGS = ("etc/apt", "etc/pip.conf", "etc/resolv.conf", "etc/hosts")


_CERTIFICATES = "/etc/machine-certificates.pem"
"""This machine's trusted certificates, under a name that the new system's own packages leave alone."""


_ENTER = """
mount --rbind "$1" "$1" && cd "$1" && mkdir -p before && pivot_root . before && cd / && umount -l /before \\
  && exec /bin/bash -c "$2"
"""
"""The new root is made the whole root: a plain chroot may not open the user namespaces a sandbox needs."""


@dataclass(frozen=True)
class Machine:
    root: Path

    def run(self, command: str, *, timeout_s: float) -> str:
        """Run a command inside and give its output; its failure is ours."""
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
        }
        environment |= {
            name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "NPM_"))
        }
        environment |= dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), _CERTIFICATES)
        environment |= {"DEBIAN_FRONTEND": "noninteractive", "CI": "true"}
        result = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", _ENTER, "sh", str(self.root), command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert result.returncode == 0, _what_failed(command, result)
        return result.stdout


def _what_failed(command: str, result: subprocess.CompletedProcess[str]) -> str:
    """The names of the failed tests first: the difference of two pictures fills any number of last lines."""
    failed = [line[:300] for line in result.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return "\n".join([command, *failed, result.stdout[-600:], result.stderr[-300:]])


@contextmanager
def bare_debian() -> Iterator[Machine]:
    """debootstrap's minimal system with this machine's package settings and a clone's source at /source."""
    root = Path(tempfile.mkdtemp(prefix="guildhall-chroot-"))
    root.chmod(0o755)  # it becomes "/", which every user must be able to pass
    mounted: list[Path] = []

    def mount(*arguments: str, at: Path) -> None:
        at.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", *arguments, str(at)], check=True)
        mounted.append(at)

    try:
        _bootstrap(root)
        for kind, inside in _MOUNTS:
            mount("-t", kind, kind, at=root / inside)
        # The devices of a whole machine; as a slave, so that leaving takes nothing away from this one.
        mount("--rbind", "--make-rslave", "/dev", at=root / "dev")
        mount("--bind", "-o", "ro", str(ROOT / ".git"), at=root / "source" / ".git")
        yield Machine(root)
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "-R", "-l", str(place)], check=False)
        shutil.rmtree(root, ignore_errors=True)


def _bootstrap(root: Path) -> None:
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", str(root), *_mirror()],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise NotRun(f"debootstrap failed: {made.stdout[-500:]}{made.stderr[-500:]}")
    for name in _PACKAGE_SETTINGS:
        if Path("/", name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-rL", "--remove-destination", "-T", f"/{name}", str(root / name)], check=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / _CERTIFICATES.lstrip("/"))
    for name in (".config/pip", ".config/uv"):
        settings = Path.home() / name
        if settings.is_dir():
            shutil.copytree(settings, root / "root" / name, dirs_exist_ok=True)
    subprocess.run(["chroot", str(root), "apt-get", "update", "-qq"], check=True, capture_output=True)


def _mirror() -> list[str]:
    """The mirror this machine's own package manager uses, so that nothing is named here."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)"], capture_output=True, text=True, check=False
    ).stdout
    sites = [line for line in listed.splitlines() if "debian" in line and "security" not in line]
    return sites[:1]
