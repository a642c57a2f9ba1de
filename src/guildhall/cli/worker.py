"""`guildhall worker`: background work of the web app."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from guildhall.cli.operating import LogFormatOption, MetricsOption, StopWithinOption, metrics_at
from guildhall.cli.show import as_json, done
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.observe.logs import LogFormat, configure_logs


def worker(
    workspace: WorkspaceOption = None,
    address: Annotated[
        str, typer.Option(help="How visitors reach the pages: links in e-mails begin with it.")
    ] = "http://localhost:8460",
    once: Annotated[bool, typer.Option("--once", help="Do what waits now, then end.")] = False,
    closing: Annotated[bool, typer.Option("--until-closed", hidden=True)] = False,
    log_format: LogFormatOption = LogFormat.TEXT,
    metrics: MetricsOption = None,
    stop_within: StopWithinOption = 25.0,
    json: JsonOption = False,
) -> None:
    """Carry out gradings that programs asked for, and send what is to be sent. `serve` starts one by itself."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.measuring import measuring
    from guildhall.web.site import Addresses, Site
    from guildhall.web.worker import end_with_input, work_off, work_on

    configure_logs(log_format)
    with Workspace.find(workspace) as opened:
        site = Site(opened, Addresses(address, "http://files.localhost:8461"))
        if once:
            count = work_off(site)
            as_json({"done": count}) if json else done(f"{count} things done")
            return
        if closing:
            end_with_input()
        where = metrics_at(metrics)
        with measuring(site, where) if where else nullcontext():
            work_on(site, stop_within_s=stop_within)
