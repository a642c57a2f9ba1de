"""Run proofs, each in its own process and within its budget, and write down what was seen, with a table of all.

Resumable: a proof whose evidence holds for the present commit is not run again unless `--force` is given.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import time
import traceback
from typing import Any

import proofs
from proofs import EVIDENCE, PROOFS, ROOT, NotRun, Proof
from proofs._table import machine_facts, write_table


def main() -> int:
    arguments = _arguments()
    for module in pkgutil.iter_modules(proofs.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"proofs.{module.name}")
    if arguments.one:
        return _run_here(PROOFS[arguments.one])
    chosen = [one for one in PROOFS.values() if one.tier == arguments.tier and _wanted(one, arguments.only)]
    if arguments.only and not chosen:
        print(_none_chosen(arguments.tier, arguments.only), file=sys.stderr)
        return 2
    failed = _run_all(chosen, budget_s=arguments.budget, force=arguments.force)
    write_table(PROOFS.values())
    return failed


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("--tier", choices=["prove", "bench"], default="prove")
    parser.add_argument("--only", default="", help="names or prefixes, separated by blanks or commas")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for the whole run")
    parser.add_argument("--force", action="store_true", help="run again what already holds for this commit")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _wanted(one: Proof, only: str) -> bool:
    words = only.replace(",", " ").split()
    return not words or any(one.name.startswith(word) for word in words)


def _none_chosen(tier: str, only: str) -> str:
    """What is wrong with the words of --only: they name proofs of the other tier, or none."""
    elsewhere = [one for one in PROOFS.values() if _wanted(one, only)]
    if elsewhere:
        names = ", ".join(one.name for one in elsewhere)
        return f"no {tier} proof matches {only!r}; with `make {elsewhere[0].tier}` it names {names}"
    known = ", ".join(sorted(one.name for one in PROOFS.values() if one.tier == tier))
    return f"no {tier} proof matches {only!r}; known: {known}"


def _run_all(chosen: list[Proof], *, budget_s: float, force: bool) -> int:
    ends = time.monotonic() + budget_s
    failed, not_run = [], []
    for number, one in enumerate(chosen, 1):
        label = f"[{number}/{len(chosen)}] {one.name}"
        if not force and _holds_already(one):
            print(f"{label}: holds for this commit")
            continue
        if time.monotonic() + min(one.budget_s, 30) > ends:
            not_run.append((one.name, "the time budget was used up"))
            continue
        print(f"{label}: {one.claim}", flush=True)
        verdict = _run_apart(one, limit_s=min(one.budget_s, ends - time.monotonic()))
        shown = json.dumps(verdict.get("figures", {}), ensure_ascii=False)[:300]
        print(f"    {verdict['outcome']} in {verdict['seconds']:.1f} s  {shown}")
        if verdict["outcome"] == "failed":
            failed.append(one.name)
        elif verdict["outcome"] == "not run":
            not_run.append((one.name, verdict["why"]))
    for name, why in not_run:
        print(f"not run: {name}: {why}")
    print(f"{len(chosen) - len(failed) - len(not_run)} passed, {len(failed)} failed, {len(not_run)} skipped")
    return 1 if failed else 0


def _run_apart(one: Proof, *, limit_s: float) -> dict[str, Any]:
    started = time.monotonic()
    try:
        result = subprocess.run(
            [sys.executable, "-m", "proofs", "--one", one.name],
            cwd=ROOT,
            timeout=limit_s,
            capture_output=True,
            text=True,
        )
        seen: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        seen = {"outcome": "failed", "why": f"did not end within {limit_s:.0f} s"}
    except (json.JSONDecodeError, IndexError):
        seen = {"outcome": "failed", "why": (result.stderr or result.stdout)[-2000:].replace(f"{ROOT}/", "")}
    if seen["outcome"] == "failed":
        print(seen.get("why", ""), file=sys.stderr)
    record = {
        "name": one.name,
        "claim": one.claim,
        "tier": one.tier,
        **seen,
        "seconds": round(time.monotonic() - started, 1),
        "commit": _commit(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "machine": machine_facts(),
        "date": time.strftime("%Y-%m-%d"),
    }
    EVIDENCE.mkdir(parents=True, exist_ok=True)
    (EVIDENCE / f"{one.name}.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    return record


def _run_here(one: Proof) -> int:
    try:
        seen: dict[str, Any] = {"outcome": "held", "figures": one.run()}
    except NotRun as reason:
        seen = {"outcome": "not run", "why": str(reason)}
    except Exception:  # noqa: BLE001 - whatever went wrong is the finding
        seen = {"outcome": "failed", "why": traceback.format_exc()[-3000:].replace(f"{ROOT}/", "")}
    print("\n" + json.dumps(seen, ensure_ascii=False, default=str))
    return 0


def _holds_already(one: Proof) -> bool:
    path = EVIDENCE / f"{one.name}.json"
    if not path.exists():
        return False
    record = json.loads(path.read_text())
    return bool(record["outcome"] == "held" and record["commit"] == _commit())


def _commit() -> str:
    """The commit this tree stands on; evidence files themselves do not make it dirty."""
    head = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ".", ":!docs/evidence"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return head + ("+" if changed else "")


if __name__ == "__main__":
    sys.exit(main())
