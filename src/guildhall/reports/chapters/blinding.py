"""Could graders tell who made what? What still hints at a maker, and whether the order of the sides matters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guildhall.analysis.blinding import GuessRows, blinding_index
from guildhall.analysis.evidence import Evidence, Need
from guildhall.analysis.pairs import NOT_ASKED
from guildhall.analysis.shares import clustered_share
from guildhall.analysis.win_rates import win_rates
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import Named, figure_section


class Blinding:
    """The index on pairs of a person's and a model's work; with a model as baseline there is no such pair."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        if evidence.baseline != "expert":
            return None
        asked = evidence.pairs.keep(evidence.pairs.guess != NOT_ASKED)
        figures: list[Named] = []
        for model, mine in asked.by_model():
            index = blinding_index(GuessRows(mine.guess, mine.score > 0.5, mine.grader.codes), level=evidence.level)
            figures += [(f"{model}: {where}", found) for where, found in index.items() if found.value is not None]
        words = "Right minus wrong guesses of which side a person made: 0 when the blind held, 1 when it hid nothing."
        return figure_section("blinding", "Did the blind hold?", words, figures, traced=True)


class Order:
    """Does it matter which side stood first?"""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        pairs = evidence.pairs
        first, won = pairs.model_place == 0, pairs.score > 0.5
        figures = [
            (
                name,
                clustered_share(
                    won[which],
                    pairs.task.codes[which],
                    second=pairs.grader.codes[which],
                    what=f"share of wins when the model's work was {name}",
                    level=evidence.level,
                ),
            )
            for name, which in (("at A", first), ("elsewhere", ~first))
            if which.any()
        ]
        words = "Orders are balanced by design, so a difference here is a habit of the graders and not of the result."
        return figure_section("order", "Order of the sides", words, figures, form="percent", traced=True)


class Tells:
    """Results with and without the pairs whose files still hint at who made them."""

    needs = frozenset({Need.TELLS})

    def section(self, evidence: Evidence) -> Section | None:
        told = _carry_tells(evidence)
        if not told.any():
            return None
        clean = evidence.pairs.keep(~told)
        without = {rate.model: rate for rate in win_rates(clean.outcomes(), level=evidence.level)} if len(clean) else {}
        figures: list[Named] = []
        for rate in evidence.rates:
            figures.append((f"{rate.model}: all pairs", rate.win_or_tie))
            if rate.model in without:
                figures.append((f"{rate.model}: without tells", without[rate.model].win_or_tie))
        words = (
            f"Scrubbed files may still hint at their maker: {int(told.sum())} of {len(told)} judged pairs hold such a "
            "tell on one side or the other. Win or tie with and without them. Tells do not fall at random, so this "
            "describes and does not correct."
        )
        return figure_section("tells", "With and without tells", words, figures, form="percent", traced=True)


def _carry_tells(evidence: Evidence) -> NDArray[np.bool_]:
    """For each pair whether its own work or the baseline's beside it carries a tell."""
    pairs, telling = evidence.pairs, set(evidence.facts[Need.TELLS]["submission"])
    if not telling:
        return np.zeros(len(pairs), dtype=np.bool_)
    carries = np.array([name in telling for name in pairs.submission.names], dtype=np.bool_)
    return np.asarray(carries[pairs.submission.codes] | carries[pairs.base])
