"""`guildhall sandbox`: the working environment of agents and judges, and whether this machine holds them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption

app = typer.Typer(no_args_is_help=True, help="The confined place in which agents work.")

_A_CHECK_DID_NOT_HOLD = 8


class Profile(StrEnum):
    small = "small"
    full = "full"


class Engine(StrEnum):
    bubblewrap = "bubblewrap"
    docker = "docker"
    kubernetes = "kubernetes"


@app.command()
def build(
    profile: Annotated[
        Profile, typer.Option(help="`small` is office files; `full` the whole published list.")
    ] = Profile.small,
    engine: Annotated[Engine, typer.Option(help="What the environment is for.")] = Engine.bubblewrap,
    into: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="Where to put it; the user's cache, or ./sandbox for container files.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Prepare the working environment: packages for bubblewrap, or the files a container engine builds from."""
    from guildhall.engine import environments, sandboxes
    from guildhall.engine.bubblewrap_config import BubblewrapConfig

    if engine is not Engine.bubblewrap:
        wanted: sandboxes.Engine = "docker" if engine is Engine.docker else "kubernetes"
        folder = into or Path("sandbox")
        files = sandboxes.write_container_files(profile.value, wanted, folder, config=BubblewrapConfig())
        facts = {"engine": engine, "files": [str(file) for file in files], "note": sandboxes.NOT_RUN_HERE}
        if json:
            as_json(facts)
        else:
            done(f"wrote {', '.join(str(file) for file in files)}")
            note(f"{engine}: {sandboxes.NOT_RUN_HERE}")
        return
    prepared = environments.build(profile.value, into or environments.default_folder(profile.value))
    if json:
        as_json(prepared)
        return
    done(f"{len(prepared.installed)} packages for Python {prepared.python} in {prepared.folder}")
    if prepared.replaced:
        rows = [(package.name, package.install or "nothing", package.why) for package in prepared.replaced]
        table("Not installable today", ["package", "stands for it", "why"], rows)


@app.command()
def check(json: JsonOption = False) -> None:
    """Try to break out of a sandbox on this machine, and say what held."""
    from guildhall.engine.sandboxes import check_sandbox

    found = check_sandbox()
    words = {True: "holds", False: "DOES NOT HOLD", None: "not tried"}
    if json:
        as_json({"checks": found, "ok": all(check.holds is not False for check in found)})
    else:
        table("Sandbox", ["what", "", "detail"], [(check.name, words[check.holds], check.detail) for check in found])
    if any(check.holds is False for check in found):
        raise typer.Exit(_A_CHECK_DID_NOT_HOLD)
