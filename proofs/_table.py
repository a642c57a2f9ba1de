"""The table of claims: what each proof says, what it last saw, when, and on what machine."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from proofs import EVIDENCE, ROOT, Proof

TABLE = ROOT / "docs" / "claims.md"
HEAD = """# What this project claims, and when each claim was last shown

Written by `make prove` and `make bench` from `docs/evidence/`, where each figure stands in full with its commit. A
claim fails when its figure falls below the bar in its sentence; ratios are taken within one run, other figures as the
median of five.
"""
_FIGURES = 4


def machine_facts() -> dict[str, Any]:
    """What a figure's reader should know of the machine, and nothing that names it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "processor": _processor(),
        "python": platform.python_version(),
    }


def write_table(proofs: Iterable[Proof]) -> None:
    TABLE.write_text(table_of(proofs), encoding="utf-8")


def table_of(proofs: Iterable[Proof]) -> str:
    """One line a claim, by area; a claim without evidence is in it too."""
    lines = [HEAD]
    for tier, title in (("prove", "Shown by `make prove`"), ("bench", "Shown by `make bench`")):
        lines += [f"## {title}", "", "| claim | outcome | figures | date | load |", "| --- | --- | --- | --- | ---: |"]
        mine = sorted((one for one in proofs if one.tier == tier), key=lambda one: one.name)
        lines += [_line(one, _evidence(one)) for one in mine]
        lines.append("")
    return "\n".join(lines)


def _line(one: Proof, seen: Mapping[str, Any] | None) -> str:
    claim = f"**{one.name}** {_cell(one.claim)}"
    if seen is None:
        return f"| {claim} | not run | | | |"
    figures = "; ".join(_short(name, value) for name, value in _scalars(seen.get("figures", {}))[:_FIGURES])
    load = seen.get("load_average", [""])[0]
    return f"| {claim} | {seen['outcome']} | {_cell(figures)} | {seen['date']} | {load} |"


def _evidence(one: Proof) -> dict[str, Any] | None:
    path = EVIDENCE / f"{one.name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def _scalars(figures: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in figures.items() if isinstance(value, int | float) or _is_word(value)]


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 40


def _short(name: str, value: Any) -> str:
    return f"{name.replace('_', ' ')} {f'{value:.4g}' if isinstance(value, float) else value}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else "unknown"
