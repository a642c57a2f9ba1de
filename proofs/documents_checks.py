"""Format checks, in full: precision and recall on made files, and how often they speak on real ones."""

from __future__ import annotations

import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tests.documents.broken_and_sound import Case, all_cases
from tests.documents.broken_and_sound_office import office_cases
from tests.documents.held_out import page_cases
from tests.documents.held_out_files import file_cases
from tests.documents.held_out_office import office_cases as held_out_office_cases

from guildhall.documents.checks.checking import check_file
from guildhall.documents.detection import detect
from guildhall.documents.kinds import Family
from guildhall.documents.looking import documents
from guildhall.documents.render.rendering import Renderer
from guildhall.documents.render.web import browser
from proofs import Figures, NotRun, proof, realdata

_LEAST = 3
"""Broken and sound files that each rule must have."""
_FRESH_SEED = 2027
"""Drawn once the checks were done; what the draw of 2026 had shown is told in the docs."""


@proof(
    "documents-checks-precision-recall",
    "Over small made files, at least three broken and three sound for each check, recall and precision are at least "
    "0.95.",
    tier="bench",
    budget_s=900,
)
def precision_and_recall() -> Figures:
    figures = _measured([*all_cases(), *office_cases()])
    assert figures["overall"]["recall"] >= 0.95, figures["wrong"]
    assert figures["overall"]["precision"] >= 0.95, figures["wrong"]
    return figures


@proof(
    "documents-checks-held-out",
    "Over files drawn at random and made by other programs than those the checks were built on, precision is at least "
    "0.95; recall is told, rule by rule, with every file that was judged wrongly.",
    tier="bench",
    budget_s=1800,
)
def held_out() -> Figures:
    if browser() is None:
        raise NotRun("the pages of this set are made by a Chromium, and none is here")
    figures = _measured([*page_cases(_FRESH_SEED), *held_out_office_cases(_FRESH_SEED), *file_cases(_FRESH_SEED)])
    assert figures["overall"]["precision"] >= 0.95, figures["wrong"]
    return {"seed": _FRESH_SEED, **figures}


def _measured(cases: list[Case]) -> Figures:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    elsewhere: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name:
        folder = Path(name)
        with documents(folder / "cache", workers=2) as everything:
            for number, case in enumerate(cases):
                path = folder / f"{number:03}.{case.kind.value.split()[0]}"
                case.make(path)
                pdf = _shown(everything.renderer, path, case) if case.office else None
                rules = {found.rule for found in check_file(path, kind=case.kind, pdf=pdf, limits=case.limits)}
                hit = case.rule in rules
                table[case.rule][
                    ("hit" if hit else "missed") if case.broken else ("false alarm" if hit else "quiet")
                ] += 1
                wrong += [] if hit is case.broken else [f"{case.rule}: {case.name}"]
                elsewhere.update(rules - {case.rule} if not case.broken else set())
    for rule, counts in table.items():
        assert counts["hit"] + counts["missed"] >= _LEAST, f"{rule} has too few broken files"
        assert counts["quiet"] + counts["false alarm"] >= _LEAST, f"{rule} has too few sound files"
    return {
        "files": len(cases),
        "overall": _scores(sum(table.values(), Counter())),
        "by_rule": {rule: _scores(counts) for rule, counts in sorted(table.items())},
        "wrong": wrong,
        "other_rules_heard_on_sound_files": dict(elsewhere),
    }


def _shown(renderer: Renderer, path: Path, case: Case) -> Path | None:
    """The rendered PDF; only a file that was made unreadable may lack one, or the renderer is what was measured."""
    rendered = renderer.render(path)
    assert rendered.pdf or (case.rule == "unreadable" and case.broken), f"{case.name}: {rendered.omitted}"
    return rendered.pdf


def _scores(counts: Counter[str]) -> dict[str, Any]:
    hits, missed, alarms = counts["hit"], counts["missed"], counts["false alarm"]
    return {
        "recall": round(hits / (hits + missed), 3) if hits + missed else None,
        "precision": round(hits / (hits + alarms), 3) if hits + alarms else None,
        **{name: counts[name] for name in ("hit", "missed", "false alarm", "quiet")},
    }


@proof(
    "documents-checks-expert-files",
    "On files made by experts and published with the dataset no check crashes; how often each speaks is told.",
    tier="bench",
    budget_s=900,
)
def expert_files() -> Figures:
    heard: Counter[str] = Counter()
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name, documents(Path(name), workers=1) as everything:
        files = sorted(path for path in realdata("gdpval/authentic_files").rglob("*") if path.is_file())
        for file in files:
            kind = detect(file).kind
            shown = everything.renderer.render(file).pdf if kind.family is Family.OFFICE else None
            start = time.perf_counter()
            heard.update({found.rule for found in check_file(file, kind=kind, pdf=shown)})
            seconds.append(time.perf_counter() - start)
    return {"files": len(files), "files_with_rule": dict(sorted(heard.items())), "slowest_s": round(max(seconds), 2)}
