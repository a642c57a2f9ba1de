"""What a deployment is: two addresses, how many web processes, and where things lie."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from guildhall.domain.values import Value

MOST_PROCESSES = 10
"""Ports of services are numbered by one digit."""
STOP_WITHIN_S = 25
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
