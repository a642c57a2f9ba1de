"""Options that the servers share: how they log, where they tell their figures, how long they take to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.errors import MissingTool
from guildhall.observe.logs import LogFormat

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
