"""Pages of reports before an outside judge: the Nu HTML checker of the W3C, on every page that reports write."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.reports.made import RATES, REPORT, SAVINGS

from guildhall.domain.differences import GateFinding, GateOutcome, ModelDifference, ReportSide, StudyDifference
from guildhall.reports.other_pages import difference_html, savings_page
from guildhall.reports.page import html_page
from proofs import ROOT, Figures, NotRun, proof

PACKAGE = "vnu-jar@26.9.27"
FAULTY = "<!doctype html><html lang=en><title>t</title><p id=a><p id=a><table><tr><td></table><img src=x>"


@proof(
    "reports-html-validator",
    "every page a report is written as passes the Nu HTML checker without an error or a warning",
    tier="prove",
    budget_s=600,
)
def pages_are_valid() -> Figures:
    jar = _checker()
    alone = REPORT.but(sections=REPORT.sections[:1])
    pages = {
        "report.html": html_page(REPORT),
        "report-without-chapters.html": html_page(alone),
        "savings.html": savings_page(SAVINGS, title="Tables <from> elsewhere"),
        "compare.html": difference_html(_difference()),
    }
    with tempfile.TemporaryDirectory() as folder:
        said = {name: _check(jar, Path(folder) / name, text) for name, text in pages.items()}
        control = _check(jar, Path(folder) / "faulty.html", FAULTY)
    assert len(control) >= 2, "the checker must find the planted faults, or its silence means nothing"
    assert not any(said.values()), said
    return {
        "checker": PACKAGE,
        "pages": {name: len(text) for name, text in pages.items()},
        "messages": 0,
        "messages_on_a_faulty_page": len(control),
    }


def _difference() -> StudyDifference:
    """Two made-up reports side by side, with a gate that is shut."""
    record = RATES[0]
    shared = {"design_digest": "0" * 64, "grader_kind": "simulated", "simulated": True, "tasks": 40}
    sides = [
        ReportSide.model_validate(shared | {"study": name, "title": f"Study <{name}>"}) for name in ("spring", "autumn")
    ]
    rates = {"win": record.win, "win_or_tie": record.win_or_tie}
    shut = {"condition": "win < -0.03", "estimate": "win", "model": "alpha", "words": "it fell & <fell>"}
    return StudyDifference(
        first=sides[0],
        second=sides[1],
        baseline="expert",
        tasks_shared=40,
        models=(ModelDifference(model="alpha", against="alpha", first=rates, second=rates, difference=rates),),
        gate=(GateFinding(outcome=GateOutcome.FAILED, **shut),),
        version="0",
    )


def _checker() -> Path:
    """The checker's archive, fetched once into the folder of proofs."""
    if shutil.which("java") is None or shutil.which("npm") is None:
        raise NotRun("needs Java to run the Nu HTML checker and npm to fetch it")
    home = ROOT / ".prove" / "vnu"
    home.mkdir(parents=True, exist_ok=True)
    (home / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "--no-audit", "--no-fund", PACKAGE]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=200)
    found = next(home.rglob("vnu.jar"), None)
    if found is None:
        raise NotRun(f"the Nu HTML checker could not be fetched: {done.stderr[-300:]}")
    return found


def _check(jar: Path, path: Path, text: str) -> list[str]:
    """What the checker has to say about a page: errors and warnings, with their lines."""
    path.write_text(text, encoding="utf-8")
    command = ["java", "-Xss8m", "-jar", str(jar), "--format", "json", "--exit-zero-always", "--stdout", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [f"{one.get('lastLine')}: {one['message']}" for one in json.loads(done.stdout)["messages"]]
