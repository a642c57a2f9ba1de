"""What one sample's bubblewrap sandbox may do and use; the same names serve in Python and in a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from guildhall.confine.limits import GIB, MIB, Limits
from guildhall.errors import UnreadableFile


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

    def limits(self, *, output_bytes: int) -> Limits:
        return Limits(
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
