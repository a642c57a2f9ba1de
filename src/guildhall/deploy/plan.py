"""What a deployment is: two addresses, how many web processes, and where things lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Annotated, Self
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import Field, field_validator, model_validator

from guildhall.domain.values import Value
from guildhall.errors import InputError

MOST_PROCESSES = 10
"""Ports of services are numbered by one digit."""
STOP_WITHIN_S = 25
RAY_VERSION = "2.60.0"
"""The one that the image installs."""
GRACE_S = 45
"""How long a service manager waits: longer than the processes take, and what they spare."""


class Deployment(Value):
    """One hall on one machine. Ports of the services on the machine itself are on loopback only."""

    address: str
    files_address: str
    processes: Annotated[int, Field(ge=1, le=MOST_PROCESSES)] = 2
    backups_kept: Annotated[int, Field(ge=1)] = 14
    version: str
    program: PurePosixPath = PurePosixPath("/opt/guildhall/.venv/bin/guildhall")
    workspace: PurePosixPath = PurePosixPath("/srv/guildhall")
    backups: PurePosixPath = PurePosixPath("/srv/guildhall-backups")
    user: str = "guildhall"

    @field_validator("address", "files_address")
    @classmethod
    def _is_https(cls, given: str) -> str:
        parts = urlsplit(given)
        if parts.scheme != "https" or not parts.hostname or parts.path not in {"", "/"}:
            raise ValueError("give an address such as https://hall.example.org")
        return f"https://{parts.netloc}"

    @model_validator(mode="after")
    def _are_two_hosts(self) -> Self:
        if self.host == self.files_host:
            raise ValueError("the pages and the deliverables need different host names")
        return self

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def files_host(self) -> str:
        return urlsplit(self.files_address).netloc

    @property
    def numbers(self) -> range:
        """The web processes, by number."""
        return range(self.processes)


_PRIVATE = frozenset({"guildhall.env", "database.env", "secrets.env"})
"""Files with passwords, for their owner only."""


def write_files(plan: Deployment, out: Path, *, secret: Callable[[], str]) -> list[Path]:
    """Write every file; `secret` makes the passwords. Nothing that is there is overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} holds something already; give a new folder, and compare")
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = {
        "plan": plan,
        "stop_within_s": STOP_WITHIN_S,
        "grace_s": GRACE_S,
        "database_password": secret(),
        "metrics_token": secret(),
        "ray_version": RAY_VERSION,
    }
    # Configuration files, not pages: escaping for HTML would spoil them.
    templates = Environment(
        loader=PackageLoader("guildhall.deploy"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = templates.list_templates(extensions=["j2"])
    return [
        _write(out / name.removesuffix(".j2"), templates.get_template(name).render(known)) for name in sorted(names)
    ]


def _write(target: Path, text: str) -> Path:
    target.parent.mkdir(mode=0o700, exist_ok=True)
    target.touch(mode=0o600 if target.name in _PRIVATE else 0o644)
    target.write_text(text, encoding="utf-8")
    return target
