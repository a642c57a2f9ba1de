"""`guildhall worker`: background work of the web app."""

from __future__ import annotations

import contextlib
import signal
from typing import Annotated

import typer

from guildhall.cli.show import as_json, done
from guildhall.cli.workspace import JsonOption, WorkspaceOption


def worker(
    workspace: WorkspaceOption = None,
    address: Annotated[
        str, typer.Option(help="How visitors reach the pages: links in e-mails begin with it.")
    ] = "http://localhost:8460",
    once: Annotated[bool, typer.Option("--once", help="Do what waits now, then end.")] = False,
    closing: Annotated[bool, typer.Option("--until-closed", hidden=True)] = False,
    json: JsonOption = False,
) -> None:
    """Carry out gradings that programs asked for, and send what is to be sent. `serve` starts one by itself."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.site import Addresses, Site
    from guildhall.web.worker import end_with_input, work_off, work_on

    with Workspace.find(workspace) as opened:
        site = Site(opened, Addresses(address, "http://files.localhost:8461"))
        if once:
            count = work_off(site)
            as_json({"done": count}) if json else done(f"{count} things done")
            return
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if closing:
            end_with_input()
        with contextlib.suppress(KeyboardInterrupt):  # what was begun is taken up by the next worker
            work_on(site)
