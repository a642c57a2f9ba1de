"""`guildhall serve`: the web app on this machine."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from guildhall.cli.operating import LogFormatOption, MetricsOption, StopWithinOption, metrics_at
from guildhall.cli.show import done, note
from guildhall.cli.workspace import WorkspaceOption
from guildhall.observe.logs import LogFormat, configure_logs


def serve(
    workspace: WorkspaceOption = None,
    port: Annotated[int, typer.Option(help="The port of the pages.")] = 8460,
    files_port: Annotated[int, typer.Option(help="The port of the deliverables.")] = 8461,
    bind: Annotated[
        str, typer.Option(help="The address to listen on; loopback unless you say otherwise.")
    ] = "127.0.0.1",
    address: Annotated[
        Optional[str],  # noqa: UP045 - typer reads this at run time
        typer.Option(help="How visitors reach the pages, e.g. https://hall.example.org.", show_default=False),
    ] = None,
    files_address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="How visitors reach the deliverables; another host name.", show_default=False),
    ] = None,
    worker: Annotated[
        bool, typer.Option(help="Run background work beside; leave it out where `guildhall worker` runs.")
    ] = True,
    log_format: LogFormatOption = LogFormat.TEXT,
    metrics: MetricsOption = None,
    stop_within: StopWithinOption = 25.0,
) -> None:
    """Serve the pages for graders and managers, and the deliverables from a host name of their own."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.serving import serve as run
    from guildhall.web.site import Addresses, Site

    addresses = Addresses(
        address or f"http://localhost:{port}", files_address or f"http://files.localhost:{files_port}"
    )

    def ready(site: Site) -> None:
        done(f"serving {site.addresses.app} (deliverables at {site.addresses.files}); stop with Ctrl-C")
        if not site.roster.everyone():
            note("nobody is on the roster yet: `guildhall people invite` makes the first link")

    configure_logs(log_format)
    with Workspace.find(workspace) as opened:
        run(
            opened,
            bind=bind,
            port=port,
            files_port=files_port,
            addresses=addresses,
            ready=ready,
            with_worker=worker,
            metrics_at=metrics_at(metrics),
            stop_within_s=stop_within,
        )
