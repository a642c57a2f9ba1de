"""Sections of a workspace's `guildhall.toml`: read when they are needed, checked in full, each fault named."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

import tomlkit
from pydantic import ValidationError

from guildhall.domain.values import Value
from guildhall.errors import UnreadableFile

SETTINGS = "guildhall.toml"
V = TypeVar("V", bound=Value)


def read_section(folder: Path, name: str, kind: type[V]) -> V | None:
    """The section `[name]` of the settings in a workspace's folder; None where there is none."""
    path = folder / SETTINGS
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get(name)
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "cannot be read") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"is not valid TOML ({error})") from error
    if found is None:
        return None
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join([name, *map(str, fault['loc'])])}: {fault['msg']}" for fault in error.errors())
        raise UnreadableFile(path, faults, fix="correct the settings and start again") from error


ADDRESSES = ("format", "database", "blobs")
"""Settings that say where a workspace lives; a restored one lives elsewhere and says so itself."""


def settings_to_keep(settings: Path) -> str:
    """The settings of a workspace without its addresses."""
    found = tomlkit.parse(settings.read_text(encoding="utf-8"))
    for name in ADDRESSES:
        found.pop(name, None)
    return tomlkit.dumps(found)
