"""`guildhall serve` and `guildhall worker`: the web app on this machine, and its background work."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.errors import MissingTool
from guildhall.observe.logs import LogFormat, configure_logs

if TYPE_CHECKING:
    from guildhall.web.metrics import MetricsAt


LogFormatOption = Annotated[
    LogFormat,
    typer.Option(
        envvar="GUILDHALL_LOG_FORMAT", help="`text` tells people what went wrong; `json` is a line for every request."
    ),
]
MetricsOption = Annotated[
    Optional[str],  # noqa: UP045 - typer reads this at run time
    typer.Option(
        "--metrics",
        metavar="[HOST:]PORT",
        help="Serve figures for Prometheus there; beyond loopback only with GUILDHALL_METRICS_TOKEN.",
        show_default=False,
    ),
]
StopWithinOption = Annotated[
    float, typer.Option(min=0.0, help="Seconds that what is under way gets to end, once told to stop.")
]


def metrics_at(address: str | None) -> MetricsAt | None:
    """Where figures are to be served; None when they were not asked for."""
    if address is None:
        return None
    try:
        from guildhall.web.metrics import MetricsAt
    except ModuleNotFoundError as error:
        raise MissingTool(
            "prometheus_client", needed_for="--metrics", fix="install it with `pip install 'guildhall[observe]'`"
        ) from error
    return MetricsAt.parse(address)


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
    trusted_proxy: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            envvar="GUILDHALL_TRUSTED_PROXIES",
            help="The address or network of a proxy in front, whose X-Forwarded-For is believed; may be repeated.",
            show_default=False,
        ),
    ] = None,
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
        if site.addresses.https and not trusted_proxy:
            note("no proxy is named: if one stands in front, all visitors count as one; see --trusted-proxy")

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
            trusted_proxies=trusted_proxy or (),
        )


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
    from guildhall.web.observing import measuring
    from guildhall.web.site import Addresses, Site
    from guildhall.web.worker import end_with_input, work_off, work_on

    configure_logs(log_format)
    with Workspace.find(workspace, patient=True) as opened:
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
