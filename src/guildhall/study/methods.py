"""The methods section of a report, made from the frozen design: what was done, in sentences, nothing left to memory."""

from __future__ import annotations

from collections.abc import Sequence

from guildhall.domain.halls import HallDesign
from guildhall.domain.studies import Study
from guildhall.study.rows import AUTOMATIC


def methods_of(study: Study, *, kind: str, baseline: str, models: Sequence[str]) -> tuple[str, ...]:
    """Sentences about tasks, authors, design, estimands and intervals."""
    design = HallDesign.model_validate(study.design.get("people", {}))
    return (
        f"The study holds {len(study.tasks)} tasks and {len(models)} models ({', '.join(sorted(models))}). "
        f"It was frozen under the digest {study.content_digest()[:16]} with seed {study.seed}.",
        f"Each set shows {design.set_size} deliverables side by side, without authors, under neutral file names and "
        "with file metadata removed.",
        _graders(design, kind),
        f"Graders are of the kind: {kind}. Models are compared with: {baseline}. "
        "A task without the baseline's work takes no part.",
        "Win rates are the mean over tasks of the mean over samples of the mean over grades. "
        "Ties count as the column says: not at all (win), fully (win or tie), or half (half tie).",
        "Intervals are t intervals over task means on the logit scale, exact where tasks or wins are few. "
        "Graders who judged several tasks are a second cluster.",
        "An interval that cannot be given is absent, with its reason.",
        "Judgments without a verdict are counted and left out, never turned into ties. "
        "Late and extra judgments are kept apart from primary estimates.",
        "Breakdowns show each cell's own rate with an interval, a band that holds for all cells at once, "
        "and a pooled rate that leans on the model's other cells.",
    )


def _graders(design: HallDesign, kind: str) -> str:
    if kind.startswith(AUTOMATIC):
        return "The judge is a program. It is asked about each set in every order of the sides, and each answer counts."
    return f"{design.graders_per_set} graders judge each set, in orders of the sides that differ by at most one."
