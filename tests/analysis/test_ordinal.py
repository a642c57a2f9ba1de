"""The ordinal link."""

from __future__ import annotations

import numpy as np
import pytest

from guildhall.analysis.leniency import fit_leniency
from guildhall.analysis.leniency_fits import PRIOR_SD, _Scoring, fit_ordinal
from guildhall.analysis.marks import MarkRow, MarkTable, mark_table
from guildhall.errors import TooFewMarks

CUTS = (1.0, 2.0, 3.0, 4.0)


def lettered(*, n: int = 10, essays: int = 8, seed: int = 0) -> tuple[MarkTable, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality, severity = np.linspace(1.5, 3.5, n), rng.normal(0, 0.5, n)
    severity -= severity.mean()
    rows = [
        MarkRow(f"m{a:02}", f"m{g:02}", str(e), float(np.searchsorted(CUTS, quality[a] + severity[g] + rng.logistic())))
        for a in range(n)
        for g in range(n)
        for e in range(essays)
    ]
    return mark_table(rows), quality, severity


def test_planted_log_odds_come_back_in_order_and_size():
    table, quality, severity = lettered(essays=30)
    fit = fit_ordinal(table)
    found = np.array([one.value for one in fit.quality.values()])
    assert found == pytest.approx(quality - quality.mean(), abs=0.35)
    assert list(fit.severity.values()) == pytest.approx(severity, abs=0.35)
    assert np.diff(fit.cuts) == pytest.approx(1.0, abs=0.25)


def test_no_small_change_of_severities_or_cuts_makes_the_marks_likelier():
    """The obvious likelihood, mark by mark, is flat at the fit in the directions the prior leaves alone."""
    table, *_ = lettered(n=5, essays=2)
    others = table.keep(~table.own)
    classes, mark = np.unique(others.mark, return_inverse=True)
    scoring = _Scoring(mark, others.essay, others.grader, (len(classes), 10, 5))
    cuts, essays, graders = scoring.run()

    def log_likelihood(cuts: np.ndarray, essays: np.ndarray, graders: np.ndarray) -> float:
        total = -0.5 * (essays @ essays + graders @ graders) / PRIOR_SD**2
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        for k, e, g in zip(mark, others.essay, others.grader, strict=True):
            low, high = (1 / (1 + np.exp(-(end - essays[e] - graders[g]))) for end in ends[k : k + 2])
            total += np.log(high - low)
        return float(total)

    best = log_likelihood(cuts, essays, graders)
    rng = np.random.default_rng(0)
    for _ in range(20):
        nudge = [1e-3 * rng.normal(size=len(part)) for part in (cuts, essays, graders)]
        moved = log_likelihood(cuts + nudge[0], essays + nudge[1], graders + nudge[2])
        assert moved < best + 1e-5


def test_stretching_the_letters_changes_the_linear_model_and_not_the_ordinal_one():
    table, *_ = lettered()
    stretched = MarkTable(**{**vars(table), "mark": table.mark**2})
    plain = [one.value for one in fit_ordinal(table).quality.values()]
    assert [one.value for one in fit_ordinal(stretched).quality.values()] == pytest.approx(plain)
    assert fit_leniency(stretched).quality_value != pytest.approx(fit_leniency(table).quality_value)


def test_ordinal_scores_carry_no_interval_and_equal_marks_are_refused():
    table, *_ = lettered(n=4, essays=1)
    assert all(one.interval is None for one in fit_ordinal(table).quality.values())
    with pytest.raises(TooFewMarks):
        fit_ordinal(mark_table(MarkRow(a, g, "x", 3.0) for a in "abc" for g in "abc"))


def test_overlapping_ranks_are_ties_and_clear_gaps_are_not():
    table, *_ = lettered(n=6, essays=12)
    ranks = fit_leniency(table).ranks
    assert ranks["m05"][1] < ranks["m00"][0]
    assert all(low <= high for low, high in ranks.values())
