"""The options that say where work runs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from guildhall.engine.executor import Executor


class Where(StrEnum):
    HERE = "here"
    RAY = "ray"


ExecutorOption = Annotated[Where, typer.Option("--executor", help="Where the work runs: here, or on a Ray cluster.")]
AddressOption = Annotated[
    Optional[str],  # noqa: UP045 - typer reads this at run time
    typer.Option(
        "--address",
        envvar="RAY_ADDRESS",
        help="The cluster's address, HOST:PORT; the one on this machine when absent.",
        show_default=False,
    ),
]


def chosen_executor(where: Where, address: str | None) -> Executor | None:
    """The cluster, or None for this machine as the study file says."""
    if where is Where.HERE:
        return None
    from guildhall.engine.cluster import RayCluster

    return RayCluster(address)
