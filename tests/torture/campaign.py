"""A campaign: one ground after another, faults of every kind in a seeded order, on one kind of database."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from tests.postgres import Server, private_postgres
from tests.torture.faults import EVERYWHERE, ON_POSTGRES, ON_SQLITE, Scene
from tests.torture.ground import Ground
from tests.torture.servers import SERVERS
from tests.torture.wire import running

ROUNDS = 12
"""How many faults one workspace suffers before the next is laid out: every look is at everything in it."""


FAULTS = {**EVERYWHERE, **ON_SQLITE, **ON_POSTGRES, **SERVERS}


def kinds_on(database: str) -> list[str]:
    return [*EVERYWHERE, *SERVERS, *(ON_SQLITE if database == "sqlite" else ON_POSTGRES)]


def campaign(database: str, *, kinds: list[str], seed: int, heard: Callable[[str], None]) -> Counter[str]:
    """Let the faults happen one after another; how many of each there were. Raises on the first broken promise."""
    _import_for_children()
    rng, struck = Random(seed), Counter[str]()
    order = rng.sample(kinds, len(kinds))
    with ExitStack() as stack:
        server = stack.enter_context(private_postgres()) if database == "postgresql" else None
        for start in range(0, len(order), ROUNDS):
            with scene_of(order[start : start + ROUNDS], server, rng) as scene:
                for number, kind in enumerate(order[start : start + ROUNDS]):
                    strike(scene, kind, number)
                    heard(kind)
                struck += scene.ground.faults
    return struck


def _import_for_children() -> None:
    """What every child needs is imported once, before the first is forked."""
    import guildhall.engine.hooks
    import guildhall.engine.registry
    import guildhall.web.app  # noqa: F401


def strike(scene: Scene, kind: str, number: int) -> None:
    """One fault, then the round is finished, then everything is looked at."""
    FAULTS[kind](scene, number)
    scene.ground.settle(number)
    # After days went by, leases have run out and graders may have taken each other's places: late work is surplus then.
    scene.ground.check(number, everyone=kind != "clock jumped")
    scene.ground.faults[kind] += 1


@contextmanager
def scene_of(kinds: list[str], server: Server | None, rng: Random) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="guildhall-torture-") as folder, ExitStack() as stack:
        echo = stack.enter_context(running("echo"))
        provider = stack.enter_context(running("proxy", str(echo.port)))
        wire, url = None, None
        if server is not None:
            wire = stack.enter_context(running("proxy", str(server.port)))
            url = server.new_database().replace(f":{server.port}/", f":{wire.port}/")
        ground = Ground.lay(Path(folder) / "w", database=url, provider=provider.port, rounds=len(kinds))
        yield Scene(ground, rng, provider, wire, server)
