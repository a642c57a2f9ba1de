"""Trained graders: calibrators and votes of a panel fitted to people's judgments, as versioned files with their
model cards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from guildhall.analysis.calibrator import SPLITS, Calibrated, Multinomial, TrainingRows, calibrate_judges, decided
from guildhall.analysis.panel_weights import Ballots, fit_panel
from guildhall.analysis.tables import Floats, encode
from guildhall.domain.pair_scores import PairScore
from guildhall.domain.trained import FittedWeights, TrainedGain, TrainedGrader
from guildhall.domain.values import Value, sha256
from guildhall.errors import InputError, NothingJudged
from guildhall.study.accounting import learnable_rows
from guildhall.study.artefacts import shown, shown_margin, split_margin
from guildhall.study.studies import OpenStudy


def train(
    evidence: TrainingRows, *, name: str, folds: int, seed: int, now: datetime, splits: int = SPLITS
) -> TrainedGrader:
    """Fit a calibrator on what people judged and measure it out of fold, over several splits."""
    fitted = calibrate_judges(evidence, folds=folds, seed=seed, splits=splits)
    judged = evidence.only(evidence.rated)
    _, features = judged.features()
    learnt = np.column_stack([features, judged.people, judged.cluster])
    return _artefact(fitted, name=name, learnt=learnt, now=now)


def _artefact(fitted: Calibrated, *, name: str, learnt: Floats, now: datetime) -> TrainedGrader:
    return TrainedGrader(
        name=name,
        features=fitted.features,
        coefficients=tuple(tuple(row) for row in fitted.model.coefficients.tolist()),
        centre=tuple(fitted.model.centre.tolist()),
        scale=tuple(fitted.model.scale.tolist()),
        ridge=fitted.ridge,
        learnt_from=sha256(np.ascontiguousarray(learnt, dtype="<f8").tobytes()),
        n_samples=len(learnt),
        folds=fitted.folds,
        seed=fitted.seed,
        looks=fitted.looks,
        agreement=fitted.agreement,
        log_loss=fitted.log_loss,
        unseen_models=fitted.unseen_models,
        unseen_families=fitted.unseen_families,
        gains=tuple(
            TrainedGain(
                judge=gain.judge,
                judge_agreement=gain.judge_agreement,
                agreement=gain.agreement,
                agreement_over_splits=split_margin(gain.agreement_over_splits),
                judge_log_loss=gain.judge_log_loss,
                log_loss=gain.log_loss,
                log_loss_over_splits=split_margin(gain.log_loss_over_splits),
            )
            for gain in fitted.gains
        ),
        made_at=now,
    )


class Chances(Value):
    """What a calibrator says of one submission; `seen` where people judged it, and it may have learnt from that."""

    sample: str
    loss: float
    tie: float
    win: float
    verdict: float
    seen: bool


def chances_of(trained: TrainedGrader, samples: Sequence[str], evidence: TrainingRows) -> list[Chances]:
    """A calibrator's chances for every row of evidence; each feature it learnt from must be there."""
    names, features = evidence.features()
    if missing := set(trained.features) - set(names):
        raise InputError(
            f"{trained.name} learnt from {', '.join(sorted(missing))}, which this study does not have; let the same "
            "judges judge, or train again with `guildhall grade calibrate`"
        )
    model = Multinomial(np.array(trained.coefficients), np.array(trained.centre), np.array(trained.scale))
    chances = model.probabilities(features[:, [names.index(name) for name in trained.features]])
    return [
        Chances(sample=sample, loss=loss, tie=tie, win=win, verdict=verdict, seen=seen)
        for sample, (loss, tie, win), verdict, seen in zip(
            samples, chances.tolist(), decided(chances).tolist(), evidence.rated.tolist(), strict=True
        )
    ]


def model_card(trained: TrainedGrader) -> str:
    """What the artefact is, what it learnt from, and every figure including those against it."""
    rows = "\n".join(
        f"| {gain.judge} | {gain.judge_agreement:.4f} | {shown(gain.agreement)} | {gain.judge_log_loss:.4f} "
        f"| {shown(gain.log_loss)} |"
        for gain in trained.gains
    )
    over = "\n".join(
        f"| {gain.judge} | {shown_margin(gain.agreement_over_splits)} | {shown_margin(gain.log_loss_over_splits)} |"
        for gain in trained.gains
    )
    n_splits = trained.gains[0].agreement_over_splits.n_splits
    return f"""# {trained.name}, version {trained.version}

A {trained.kind}, made {trained.made_at:%Y-%m-%d}. It turns what judges said about a pair into the probability that
people see a loss, a tie or a win.

- Learnt from {trained.n_samples} samples, digest `{trained.learnt_from[:16]}`.
- Figures are out of fold: {trained.folds} folds of whole {trained.agreement.unit}s, seed {trained.seed}, ridge chosen
  inside the training parts (all data: {trained.ridge:g}). Held-out parts were looked at {trained.looks} times.
- Agreement with people {shown(trained.agreement)}; log loss {shown(trained.log_loss)}.
- On models it learnt nothing from: agreement {shown(trained.unseen_models)}.
- On families of models it learnt nothing from: agreement {shown(trained.unseen_families)}.

| judge | its agreement | gained over it | its log loss | saved against it |
| --- | --- | --- | --- | --- |
{rows}

What is gained depends on the deal to folds. Over {n_splits} deals (seeds {trained.seed} to
{trained.seed + n_splits - 1}), mean with a paired interval, and the least and the most of single deals:

| judge | agreement gained | log loss saved |
| --- | --- | --- |
{over}

{_verdict(trained.gains)}

Features: {", ".join(trained.features)}.
"""


def _verdict(gains: Sequence[TrainedGain]) -> str:
    best = max(gains, key=lambda gain: gain.judge_agreement)
    ends = best.agreement_over_splits.mean.interval
    if ends is not None and ends[0] > 0:
        return f"It agrees with people more often than the best single judge, {best.judge}."
    return (
        f"It is not shown to agree with people more often than the best single judge, {best.judge}. What it adds, if "
        "anything, is probabilities."
    )


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


def ballots_from(evidence: TrainingRows) -> Ballots:
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

{_worth(fit)}
"""


def _worth(fit: FittedWeights) -> str:
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
