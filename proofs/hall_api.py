"""The API under generated calls."""

from __future__ import annotations

import tempfile
from pathlib import Path

from guildhall.domain.halls import Role
from guildhall.store.workspace import Workspace
from guildhall.web.access import SCOPES
from proofs import Figures, proof

EXAMPLES = 200


@proof(
    "hall-api-generated-calls",
    "At least 200 generated calls to each operation of the API: every answer fits its schema, none is a 500.",
    budget_s=1800,
)
def generated_calls() -> Figures:
    from tests.web.calling import Real, call_everything, new_grading
    from tests.web.judging import judge_one
    from tests.web.live import Live
    from tests.web.studies import make_task, open_study

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace"
        with Workspace.create(path) as workspace:
            open_study(workspace, [make_task(number) for number in range(3)], people={"graders_per_set": 1})
        with (path / "guildhall.toml").open("a") as settings:
            settings.write("\n[gradings]\ngradings_per_day = 100_000\nmost_bytes = 100_000\n")
        live = Live(path).start()
        try:
            assert judge_one(live.site, live.invite(), "study")
            manager = live.invite(Role.MANAGER)
            made = live.site.door.new_api_token(manager.id, name="proof", scopes=SCOPES, now=live.site.clock())
            headers = {"Authorization": f"Bearer {made}"}
            real = Real("study", new_grading(live.site, headers))
            called = call_everything(live.site, headers, real=real, examples=EXAMPLES)
        finally:
            live.stop()
    assert called and min(called.values()) >= EXAMPLES, called
    return {"calls": called, "wrong_answers": 0}
