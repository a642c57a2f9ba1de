"""`guildhall deploy`: files for running the hall for real."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption
from guildhall.errors import InputError

app = typer.Typer(no_args_is_help=True, help="Files for running the hall for real.")


@app.callback()
def _group() -> None:
    """Files for running the hall for real."""


@app.command("files")
def write(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to make.")],
    address: Annotated[str, typer.Option(help="How visitors reach the pages, e.g. https://hall.example.org.")],
    files_address: Annotated[str, typer.Option(help="How visitors reach the deliverables; another host name.")],
    processes: Annotated[int, typer.Option(help="How many web processes.", min=1, max=10)] = 2,
    keep: Annotated[int, typer.Option(help="How many nightly backups stay.", min=1)] = 14,
    json: JsonOption = False,
) -> None:
    """Write files for Docker Compose and for systemd: database, web processes, worker, proxy, backups, monitoring.

    Passwords in them are new. Read README.md in the folder first.
    """
    from guildhall import __version__
    from guildhall.deploy.plan import Deployment, write_files

    try:
        plan = Deployment(
            address=address,
            files_address=files_address,
            processes=processes,
            backups_kept=keep,
            version=__version__,
        )
    except ValidationError as error:
        raise InputError("; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())) from error
    written = write_files(plan, out, secret=lambda: secrets.token_urlsafe(24))
    if json:
        as_json({"files": [str(file) for file in written]})
    else:
        done(f"{len(written)} files in {out}")
        note(f"begin with {out / 'README.md'}; what holds passwords is for its owner only")
