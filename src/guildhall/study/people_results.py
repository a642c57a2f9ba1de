"""What people made of a study's deliverables, for whoever shows it beside something else."""

from __future__ import annotations

from guildhall.analysis.counting import count
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.boswell import HumanResult
from guildhall.domain.studies import Study
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import verdicts_of
from guildhall.study.policy import PROGRAMS, groups_of, policy_of, who_judged


def people_results(workspace: Workspace, study: Study) -> list[HumanResult]:
    """Wins, ties and losses against the baseline by each group of people, as the report counts them."""
    verdicts = verdicts_of(workspace, study)
    found = []
    judged = who_judged(verdicts)
    for group in groups_of(study, judged):
        counted = count(verdicts, policy_of(workspace, study, verdicts, judged, group))
        if group.kind not in PROGRAMS and counted.n_counted:
            found += [
                HumanResult(model=one.model, kind=str(group), wins=one.wins, ties=one.ties, losses=one.losses)
                for one in win_rates(counted.outcomes)
            ]
    return sorted(found, key=lambda one: (one.model, one.kind))
