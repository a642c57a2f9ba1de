"""The door of the hall: malformed requests to every address, answered as what they are."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from proofs import Figures, proof

IN_PROCESS, OVER_A_SOCKET = 5000, 3000


@proof(
    "hall-door-malformed",
    "10,000 generated malformed requests (numbers, nesting, encodings, cookies, headers, addresses, packages) to every "
    "address, by people who may go there, in process on both databases and over a socket: none is a server error",
    budget_s=3600,
)
def malformed() -> Figures:
    from tests.web.malformed import EVERY, WIRE, answers_in_process, answers_over_a_socket, served_hall

    from proofs.hall import database_urls

    seen: dict[str, Counter[int]] = {}
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder, database_urls() as databases:
        for name, number in (("sqlite", IN_PROCESS), ("postgresql", 10_000 - IN_PROCESS - OVER_A_SOCKET)):
            live = served_hall(Path(folder) / name, database=databases[name]())
            try:
                seen[f"in process, {name}"] = answers_in_process(live, number, seed=number)
                if name == "sqlite":
                    seen["over a socket"] = answers_over_a_socket(live, OVER_A_SOCKET, seed=OVER_A_SOCKET)
            finally:
                live.stop()
    answered = {place: dict(sorted(statuses.items())) for place, statuses in seen.items()}
    asked = sum(statuses.total() for statuses in seen.values())
    return {"requests": asked, "addresses": len(EVERY), "that_are_no_http": len(WIRE), "answers": answered}
