"""`guildhall grade account`: judges held against people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guildhall.cli.grade_tables import show_account
from guildhall.cli.show import as_json, note
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.analysis.accountability import Account


def account(
    judge: Annotated[list[str] | None, typer.Option("--judge", "-j", help="A judge; all without.")] = None,
    against: Annotated[
        str | None, typer.Option(help="A judge to compare agreement with, beside the baselines.")
    ] = None,
    study: Annotated[Path, typer.Option("--study", "-s", help="The study file.")] = Path("study.toml"),
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Hold judges to account: agreement with people beside constant verdicts, biases, reliability, coverage, cost."""
    from guildhall.store.workspace import Workspace
    from guildhall.study.accounting import accounts_of
    from guildhall.study.studies import OpenStudy

    with Workspace.find(workspace) as opened:
        found = accounts_of(OpenStudy.open(study, opened), judge or [], against=against)
    if json:
        judges = [account_json(one) for one in found.accounts]
        as_json({"judges": judges, "ungradable": found.ungradable, "gains": found.gains})
        return
    for one in found.accounts:
        show_account(one, found.gains.get(one.grader, {}))
    if found.ungradable:
        note(f"{len(found.ungradable)} of {found.tasks} tasks are left out as ungradable")


def account_json(found: Account) -> dict[str, Any]:
    """An account in the shape `--json` promises: every figure an estimate."""
    from dataclasses import asdict

    from guildhall.domain.estimates import Estimate

    shape: dict[str, Any] = {"grader": found.grader, "people": found.people, "coverage": asdict(found.coverage)}
    if found.agreement is not None:
        constant = found.agreement.constant
        shape |= {
            "human_human": found.agreement.overall.human_human,
            "human_auto": found.agreement.overall.human_auto,
            "by_model": {name: one.human_auto for name, one in found.agreement.by_model.items()},
            "discrimination": found.agreement.discrimination,
            "best_constant": constant
            and {
                "verdict": constant.verdict,
                "agreement": constant.agreement,
                "margin": constant.margin,
                "beaten": constant.beaten,
            },
        }
    for name, value in vars(found).items():
        if isinstance(value, Estimate):
            shape[name] = value
    shape["criteria"] = found.criteria
    return {**shape, "cost_per_verdict_usd": found.cost_per_verdict_usd}
