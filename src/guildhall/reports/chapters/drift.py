"""Do graders of a later wave judge as those before them did?"""

from __future__ import annotations

from guildhall.analysis.evidence import Evidence, Need
from guildhall.domain.report import Section
from guildhall.reports.chapters.figures import figure_section


class WaveDrift:
    """The later half-tie rate less the earlier one on work that both waves judged."""

    needs: frozenset[Need] = frozenset()

    def section(self, evidence: Evidence) -> Section | None:
        drift = evidence.drift
        if drift is None:
            return None
        figures = [("all anchors", drift.estimate)]
        figures += drift.by_model if len(drift.by_model) > 1 else ()
        words = (
            "Anchors are pairs of the earlier wave that were judged again, unseen, by graders who had not met them. "
            f"Each figure is the later half-tie rate less the earlier one on the same work. {drift.words}"
        )
        return figure_section("drift", "Drift between waves", words, figures)
