"""Which sandbox work runs in. The bare host is never a default, and has no short name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.domain.values import Value
from guildhall.engine.agents import BARE_HOST
from guildhall.engine.bubblewrap_config import BubblewrapConfig
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
