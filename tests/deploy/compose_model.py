"""The part of a Compose file that ours may use, in full: a misspelt key or a dangling name is refused.

Written after the Compose specification; a key that is not here is either wrong or new, and then belongs here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Duration = Annotated[str, StringConstraints(pattern=r"^(\d+(h|m|s|ms))+$")]
Size = Annotated[str, StringConstraints(pattern=r"^\d+(b|k|kb|m|mb|g|gb)$")]
Image = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._/-]*:[A-Za-z0-9._-]+$")]
Port = Annotated[str, StringConstraints(pattern=r"^(127\.0\.0\.1:)?\d+:\d+(/udp)?$")]
Mount = Annotated[str, StringConstraints(pattern=r"^(\.{1,2}/|[a-z])[A-Za-z0-9._/-]*:/[A-Za-z0-9._/-]+(:ro)?$")]
Capability = Literal["ALL"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Dependency(Strict):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Healthcheck(Strict):
    test: Annotated[list[str], Field(min_length=2)]
    interval: Duration
    timeout: Duration
    start_period: Duration | None = None
    retries: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _names_its_kind(self) -> Self:
        assert self.test[0] in {"CMD", "CMD-SHELL"}
        assert self.test[0] == "CMD" or len(self.test) == 2
        return self


class Place(Strict):
    """Where a service stands in a network."""

    ipv4_address: str


class Service(Strict):
    image: Image
    restart: Literal["no", "always", "on-failure", "unless-stopped"]
    init: bool = False
    entrypoint: list[str] | None = None
    command: list[str] | None = None
    env_file: list[str] = []
    environment: dict[str, str] = {}
    volumes: list[Mount] = []
    tmpfs: list[str] = []
    read_only: bool = False
    cap_drop: list[Capability] = []
    security_opt: list[str] = []
    shm_size: Size | None = None
    mem_limit: Size
    pids_limit: Annotated[int, Field(ge=64)]
    ports: list[Port] = []
    networks: list[str] | dict[str, Place]
    stop_grace_period: Duration | None = None
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None


class Nothing(Strict):
    """A volume with no settings of its own."""


class Subnet(Strict):
    subnet: str


class Addressing(Strict):
    config: list[Subnet]


class Network(Strict):
    """A network; with addresses of its own where one of them is named elsewhere."""

    ipam: Addressing | None = None


class Compose(Strict):
    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    services: dict[str, Service]
    networks: dict[str, Network]
    volumes: dict[str, Nothing]

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for service in self.services.values():
            assert set(service.networks) <= set(self.networks)
            named = {mount.partition(":")[0] for mount in service.volumes if re.match("[a-z]", mount)}
            assert named <= set(self.volumes)
            for name, dependency in service.depends_on.items():
                other = self.services[name]
                assert dependency.condition != "service_healthy" or other.healthcheck is not None
                assert dependency.condition != "service_completed_successfully" or other.restart == "no"
        used = {mount.partition(":")[0] for service in self.services.values() for mount in service.volumes}
        assert set(self.volumes) <= used
        return self


def without_extensions(document: dict[str, Any]) -> dict[str, Any]:
    """The document without `x-` fields, which hold parts for others to take over."""
    return {name: value for name, value in document.items() if not name.startswith("x-")}
