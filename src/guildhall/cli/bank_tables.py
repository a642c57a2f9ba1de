"""The bank's statistics as tables for people."""

from __future__ import annotations

from guildhall.cli.show import table
from guildhall.taskbank.review.figures import ReviewFigures
from guildhall.taskbank.statistics import BankStatistics, Summary


def show_review(found: ReviewFigures) -> None:
    """What became of drafts, for a bank that has any."""
    if not found.tasks:
        return
    rate = "none decided" if found.acceptance_rate is None else f"{found.acceptance_rate:.1%}"
    rows = [
        ("Drafts", f"{found.tasks}: {found.accepted} accepted, {found.rejected} rejected, {found.open} open"),
        ("Acceptance rate", rate),
        ("Reviews per task", "none" if found.reviews_per_task is None else f"{found.reviews_per_task:.2f}"),
        ("Versions per task", "none" if found.versions_per_task is None else f"{found.versions_per_task:.2f}"),
    ]
    table("Review", ["", ""], rows)


def show_statistics(found: BankStatistics) -> None:
    """The counts, then the paper's tables."""
    counts = [
        ("Tasks", found.tasks),
        ("Sectors", found.sectors),
        ("Occupations", found.occupations),
        ("Reference files", f"{found.reference_files} in {found.tasks_with_reference_files} tasks"),
        ("Expert files", f"{found.deliverable_files} in {found.tasks_with_expert_files} tasks"),
        ("Rubric items", f"{found.rubric_items}, of which {found.negative_rubric_items} negative"),
    ]
    table("The bank", ["", ""], counts)
    table("Tasks by sector", ["sector", "tasks"], found.tasks_by_sector.items(), numeric=[1])
    columns = ["", "mean", "std", "min", "25%", "50%", "75%", "max", "unknown"]
    numbers = range(1, 9)
    table("Quality, difficulty, length, value", columns, map(_cells, found.quality_and_length), numeric=list(numbers))
    table("Files per task", columns, map(_cells, found.files_per_task), numeric=list(numbers))
    table(
        "O*NET coverage",
        ["", "distinct", "of", "share", "tasks tagged"],
        [
            (
                row.name,
                "not recorded" if row.distinct is None else row.distinct,
                "unknown" if row.published is None else row.published,
                "" if row.share is None else f"{row.share:.1%}",
                row.tasks_tagged,
            )
            for row in found.onet
        ],
        numeric=[1, 2, 3, 4],
    )
    total = sum(found.specification.values())
    labels = [(label, count, f"{count / total:.1%}") for label, count in found.specification.items()]
    table("How well briefs are specified", ["label", "tasks", "share"], labels, numeric=[1, 2])


def _cells(row: Summary) -> list[str]:
    if row.recorded == 0:
        return [row.name, *[""] * 7, f"all {row.not_recorded}"]
    values = (row.mean, row.std, row.min, row.q25, row.median, row.q75, row.max)
    shown = ["" if value is None else f"{value:,.2f}" for value in values]
    return [row.name, *shown, str(row.not_recorded) if row.not_recorded else ""]
