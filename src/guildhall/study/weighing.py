"""Fitting the votes of a panel to people's judgments: from verdicts to a versioned artefact with its model card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from guildhall.analysis.calibrator import SPLITS
from guildhall.analysis.evidence import Evidence
from guildhall.analysis.panel_weights import Ballots, fit_panel
from guildhall.analysis.tables import encode
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.trained import FittedWeights
from guildhall.domain.values import sha256
from guildhall.errors import NothingJudged
from guildhall.study.accounting import learnable_rows
from guildhall.study.artefacts import shown, shown_margin, split_margin
from guildhall.study.studies import OpenStudy


def weigh(ballots: Ballots, *, name: str, folds: int, seed: int, now: datetime, splits: int = SPLITS) -> FittedWeights:
    """Fit a panel's votes and measure them out of fold."""
    fit = fit_panel(ballots, folds=folds, seed=seed, splits=splits)
    learnt = [np.nan_to_num(ballots.votes, nan=-1.0), ballots.people, ballots.cluster.astype(np.float64)]
    return FittedWeights(
        name=name,
        weights=fit.weights,
        ridge=fit.ridge,
        learnt_from=sha256(b"".join(np.ascontiguousarray(one, dtype="<f8").tobytes() for one in learnt)),
        n_samples=len(ballots.people),
        folds=fit.folds,
        seed=fit.seed,
        looks=fit.looks,
        agreement=fit.agreement,
        equal_votes=fit.equal_votes,
        best_member=fit.best_member,
        best_member_agreement=fit.best_member_agreement,
        gain_over_equal=split_margin(fit.over_equal),
        gain_over_best=split_margin(fit.over_best),
        made_at=now,
    )


def study_ballots(study: OpenStudy) -> Ballots:
    """What the study's judges voted on each order of each sweep, beside what people said of the same work."""
    members = tuple(plan.name for plan in study.file.judges)
    rows = learnable_rows(study)
    people: dict[str, list[PairScore]] = defaultdict(list)
    votes: dict[tuple[str, bool, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.human:
            people[row.sample].append(row)
        elif row.grader in members and row.score is not None:
            votes[row.sample, row.shown_first, row.sweep][row.grader] = row.score
    places = [place for place in votes if place[0] in people]
    if not places:
        raise NothingJudged("a panel's votes, which are fitted to people's")
    samples = encode([place[0] for place in places])
    return Ballots(
        members=members,
        votes=np.array([[votes[place].get(member, np.nan) for member in members] for place in places]),
        sample=samples.codes,
        people=np.array([_counts(people[sample]) for sample in samples.names]),
        cluster=encode([people[sample][0].task for sample in samples.names]).codes,
    )


def ballots_from(evidence: Evidence) -> Ballots:
    """Ballots from a table of ratings, one a sample: the mean of what each judge said."""
    rated = evidence.only(evidence.rated)
    members = tuple(sorted(rated.verdicts))
    votes = np.column_stack([rated.verdicts[member] for member in members])
    spoke = (~np.isnan(votes)).sum(axis=1) > 0
    kept = rated.only(spoke)
    return Ballots(members, votes[spoke], np.arange(int(spoke.sum())), kept.people, kept.cluster, kept.unit)


def _counts(rows: Sequence[PairScore]) -> list[float]:
    scores = [row.score for row in rows]
    return [float(scores.count(0.0)), float(scores.count(0.5)), float(scores.count(1.0))]


def weights_card(fit: FittedWeights) -> str:
    """What the votes are, what they were fitted to, and every figure including those against them."""
    votes = "\n".join(f"| {member} | {weight:.3f} |" for member, weight in sorted(fit.weights.items()))
    n_splits = fit.gain_over_equal.n_splits
    return f"""# {fit.name}, version {fit.version}

Votes for the members of a panel, fitted to people's judgments, made {fit.made_at:%Y-%m-%d}. One is an even share.

| member | votes |
| --- | --- |
{votes}

- Fitted to {fit.n_samples} samples, digest `{fit.learnt_from[:16]}`.
- Figures are out of fold: {fit.folds} folds of whole {fit.agreement.unit}s, seed {fit.seed}, the pull towards equal
  votes chosen inside the training parts (all data: {fit.ridge:g}). Held-out parts were looked at {fit.looks} times.
- Agreement with people {shown(fit.agreement)}; with equal votes {shown(fit.equal_votes)}.
- Best single member: {fit.best_member}, {fit.best_member_agreement:.4f}.

Over {n_splits} deals to folds, mean with a paired interval, and the least and the most of single deals:

| agreement gained over | |
| --- | --- |
| equal votes | {shown_margin(fit.gain_over_equal)} |
| {fit.best_member} | {shown_margin(fit.gain_over_best)} |

{_verdict(fit)}
"""


def _verdict(fit: FittedWeights) -> str:
    ends = fit.gain_over_equal.mean.interval
    alone = fit.gain_over_best.mean.interval
    told = (
        "The fitted votes agree with people more often than equal votes."
        if ends is not None and ends[0] > 0
        else "The fitted votes are not shown to agree with people more often than equal votes: equal votes will do."
    )
    if alone is not None and alone[0] > 0:
        return f"{told} The panel agrees with people more often than {fit.best_member} alone."
    return (
        f"{told} The panel is not shown to agree with people more often than {fit.best_member} alone, which costs less."
    )
