"""Writing the files of a deployment into a new folder: those of containers, and those of services, side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from guildhall.deploy.plan import GRACE_S, STOP_WITHIN_S, Deployment
from guildhall.errors import InputError

_PRIVATE = frozenset({"guildhall.env"})
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
