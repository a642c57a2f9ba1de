"""A run's folder: every essay and every mark in a file of its own, from which everything else can be rebuilt.

results/<time>-<domain>/
    run.json                      the plan and what the run is; `finished` once all is asked
    essays/<author>.json, .md     the essay; for people also with all feedback and references to the marks
    grades/<author>/<grader>.json one grading interaction each
    full_results.json             everything, consolidated
    logs/grade_extraction/...     replies no grade could be read from
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from guildhall.domain.boswell import Essay, Mark, RunRecord, essay_name, grade_of, label, mark_path, safe_name, value_of
from guildhall.domain.submissions import Usage
from guildhall.domain.values import canonical_json
from guildhall.engine.prices import Prices
from guildhall.errors import UnreadableFile
from guildhall.peer.plan import PeerPlan

FORMAT = 1


def start_folder(folder: Path, plan: PeerPlan, *, run: str, started_at: datetime) -> None:
    """Write the plan down before anything is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"format": FORMAT, "run": run, "started_at": started_at.isoformat(), "plan": plan.model_dump(mode="json")}
    write_json(folder / "run.json", facts | {"finished": False})


def planned(folder: Path) -> tuple[PeerPlan, str, datetime, bool] | None:
    """The plan, name, start and state of the run in a folder; None where there is none of ours."""
    path = folder / "run.json"
    if not path.is_file():
        return None
    facts = read_json(path)
    if not isinstance(facts, dict) or facts.get("plan") is None:
        return None
    try:
        plan = PeerPlan.model_validate(facts["plan"])
        return plan, str(facts["run"]), datetime.fromisoformat(facts["started_at"]), bool(facts["finished"])
    except (ValidationError, KeyError, ValueError) as error:
        raise UnreadableFile(path, f"it is no plan of a run ({error})") from error


def write_run(folder: Path, run: RunRecord) -> None:
    """The run's essays, marks and logs as files; what is there already is replaced by the same."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "run.json"
    plan = read_json(path).get("plan") if path.is_file() else None
    prices = PeerPlan.model_validate(plan).prices() if plan is not None else Prices()
    facts = run.model_dump(mode="json", exclude={"essays", "marks"})
    write_json(path, facts | {"format": FORMAT, "plan": plan, "finished": True})
    for essay in run.essays:
        write_json(folder / "essays" / f"{essay_name(essay)}.json", essay.model_dump(mode="json"))
    for mark in run.marks:
        essay = run.essay_by_key[mark.essay]
        write_json(folder / mark_path(essay, mark), interaction(essay, mark, prices))
    _write_failed_readings(folder / "logs" / "grade_extraction", run)


def interaction(essay: Essay, mark: Mark, prices: Prices) -> dict[str, Any]:
    """One grading interaction with all fields the seed lists, and the mark itself from which it can be rebuilt."""
    return {
        "author": label(essay.author),
        "grader": label(mark.grader),
        "feedback": mark.reply,
        "grade": grade_of(mark),
        "numeric_grade": value_of(mark),
        "cost_info": cost_info(mark, prices),
        "timestamp": mark.made_at.strftime("%Y-%m-%d %H:%M:%S") if mark.made_at else None,
        "mark": mark.model_dump(mode="json", exclude={"reply"}),
    }


def cost_info(done: Essay | Mark, prices: Prices) -> dict[str, Any]:
    """Tokens, dollars and seconds of a call; dollars are null where no price is known."""
    usage = done.usage or Usage()
    model = done.author.model if isinstance(done, Essay) else done.grader.model
    only_input = None
    if usage.cost_usd is not None and done.made_at is not None:
        spent = usage.but(output_tokens=0, reasoning_tokens=0, cost_usd=None, price_date=None)
        only_input = prices.price(model, spent, at=done.made_at).cost_usd
    only_output = usage.cost_usd - only_input if usage.cost_usd is not None and only_input is not None else None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "input_cost": only_input,
        "output_cost": only_output,
        "total_cost": usage.cost_usd,
        "duration": done.seconds,
    }


def _write_failed_readings(folder: Path, run: RunRecord) -> None:
    """Whole replies no grade could be read from, for whoever wants to improve the reader. Those of one grader in one

    second are numbered from the second on.
    """
    met = Counter[str]()
    for mark in run.marks:
        if value_of(mark) is not None:
            continue
        stamp = mark.made_at.strftime("%Y%m%d-%H%M%S") if mark.made_at else "undated"
        name = f"{stamp}_{safe_name(label(mark.grader))}_failed_extraction"
        met[name] += 1
        folder.mkdir(parents=True, exist_ok=True)
        reason = mark.reading.reason.value if mark.reading.reason else mark.reading.rule
        head = f"Model: {label(mark.grader)}\nTimestamp: {stamp}\nReason: {reason}\n"
        path = folder / (f"{name}.txt" if met[name] == 1 else f"{name}-{met[name]}.txt")
        path.write_text(f"{head}Feedback content:\n{mark.reply}", encoding="utf-8")


def read_run(folder: Path) -> RunRecord:
    """The run in a folder, from its single files alone."""
    facts = read_json(folder / "run.json")
    if not isinstance(facts, dict):
        raise UnreadableFile(folder / "run.json", "it is no run of ours")
    essays = [_parsed(path, Essay) for path in sorted((folder / "essays").glob("*.json"))]
    marks = [_parsed(path, Mark) for path in sorted((folder / "grades").glob("*/*.json"))]
    fields = {name: facts[name] for name in RunRecord.model_fields if name in facts}
    try:
        run = RunRecord.model_validate(fields | {"essays": essays, "marks": marks})
    except ValidationError as error:
        raise UnreadableFile(folder, f"its files do not make up a run ({error})") from error
    strangers = {mark.essay for mark in run.marks} - set(run.essay_by_key)
    if strangers:
        raise UnreadableFile(folder, f"{len(strangers)} marked essays are missing from `essays/`", fix="restore them")
    return run


def _parsed(path: Path, kind: type[Essay | Mark]) -> dict[str, Any]:
    data = read_json(path)
    try:
        body = data["mark"] | {"reply": data["feedback"]} if kind is Mark else data
        return kind.model_validate(body).model_dump()
    except (KeyError, TypeError, ValidationError) as error:
        raise UnreadableFile(path, f"it is no {kind.__name__.lower()} of a run ({error})") from error


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, f"it is no readable JSON ({error})") from error


def write_json(path: Path, data: Any) -> None:
    """Pretty, and whole or not at all: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    canonical_json(data)  # refuses what JSON cannot hold before anything is written
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)
