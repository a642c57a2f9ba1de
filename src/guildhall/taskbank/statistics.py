"""What a bank holds, in the tables of the GDPval paper (A.4): a figure the data does not record is absent, not zero."""

from __future__ import annotations

import statistics
import tomllib
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from guildhall.domain.tasks import Specification, Task
from guildhall.domain.values import Value
from guildhall.taskbank.listing import count_types
from guildhall.taskbank.onet import title_of, vocabulary


class Summary(Value):
    """Mean, spread and quartiles of what was recorded, and for how many tasks nothing was."""

    name: str
    recorded: int
    not_recorded: int
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    q25: float | None = None
    median: float | None = None
    q75: float | None = None
    max: float | None = None


class BankCoverage(Value):
    """How many different O*NET entries the bank's tasks exercise, and of how many there are."""

    name: str
    distinct: int | None
    tasks_tagged: int
    published: int | None = None
    share: float | None = None
    strange: tuple[str, ...] = ()
    """Tags that O*NET does not list; they cover nothing."""


class BankStatistics(Value):
    tasks: int
    sectors: int
    occupations: int
    reference_files: int
    deliverable_files: int
    rubric_items: int
    negative_rubric_items: int
    tasks_with_reference_files: int
    tasks_with_expert_files: int
    tasks_with_rubric: int
    quality_and_length: tuple[Summary, ...]
    """Tables 3 and 4: ratings 1 to 5, hours, dollars."""
    files_per_task: tuple[Summary, ...]
    """Table 5."""
    onet: tuple[BankCoverage, ...]
    """Table 6; the share of tasks covered needs O*NET's own file."""
    specification: dict[str, int]
    """Table 7; tasks without a label are under `not recorded`."""
    tasks_by_sector: dict[str, int]
    tasks_by_occupation: dict[str, int]
    reference_types: dict[str, int]
    deliverable_types: dict[str, int]


def summarise(name: str, values: Sequence[float | None]) -> Summary:
    """Sample standard deviation and linearly interpolated quartiles, as the paper's tables have them."""
    known = sorted(value for value in values if value is not None)
    absent = len(values) - len(known)
    if not known:
        return Summary(name=name, recorded=0, not_recorded=absent)
    quarters = [_quantile(known, share) for share in (0.25, 0.5, 0.75)]
    return Summary(
        name=name,
        recorded=len(known),
        not_recorded=absent,
        mean=statistics.fmean(known),
        std=statistics.stdev(known) if len(known) > 1 else None,
        min=known[0],
        q25=quarters[0],
        median=quarters[1],
        q75=quarters[2],
        max=known[-1],
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def bank_statistics(tasks: Sequence[Task], *, published_tasks: int | None = None) -> BankStatistics:
    """All tables at once, over the given tasks.

    `published_tasks` is how many tasks O*NET lists for the bank's occupations, where its file is at hand.
    """
    rubrics = [task.rubric for task in tasks if task.rubric]
    labels = Counter(str(task.ratings.specification or "not recorded") for task in tasks)
    order = [*(str(label) for label in Specification), "not recorded"]
    return BankStatistics(
        tasks=len(tasks),
        sectors=len({task.sector for task in tasks}),
        occupations=len({task.occupation for task in tasks}),
        reference_files=sum(len(task.reference_files) for task in tasks),
        deliverable_files=sum(len(task.expert_files) for task in tasks),
        rubric_items=sum(len(rubric.items) for rubric in rubrics),
        negative_rubric_items=sum(rubric.negative_items for rubric in rubrics),
        tasks_with_reference_files=sum(bool(task.reference_files) for task in tasks),
        tasks_with_expert_files=sum(bool(task.expert_files) for task in tasks),
        tasks_with_rubric=len(rubrics),
        quality_and_length=_quality_and_length(tasks),
        files_per_task=(
            summarise("Reference files", [len(task.reference_files) for task in tasks]),
            summarise("Deliverable files", [len(task.expert_files) for task in tasks]),
        ),
        onet=_onet(tasks, published_tasks),
        specification={label: labels[label] for label in order if labels[label]},
        tasks_by_sector=dict(Counter(task.sector for task in tasks).most_common()),
        tasks_by_occupation=dict(Counter(task.occupation for task in tasks).most_common()),
        reference_types=count_types(file.name for task in tasks for file in task.reference_files),
        deliverable_types=count_types(file.name for task in tasks for file in task.expert_files),
    )


def _quality_and_length(tasks: Sequence[Task]) -> tuple[Summary, ...]:
    return (
        summarise("Overall quality (1-5)", [task.ratings.quality for task in tasks]),
        summarise("Difficulty (1-5)", [task.ratings.difficulty for task in tasks]),
        summarise("Representativeness (1-5)", [task.ratings.representativeness for task in tasks]),
        summarise("Time to complete (hours)", [task.expert_hours for task in tasks]),
        summarise("Value (USD)", [task.value_usd for task in tasks]),
    )


def _onet(tasks: Sequence[Task], published_tasks: int | None) -> tuple[BankCoverage, ...]:
    made = []
    for name, kind in (
        ("O*NET tasks", "tasks"),
        ("O*NET skills", "skills"),
        ("O*NET work activities", "work_activities"),
    ):
        said = {" ".join(one.split()) for task in tasks for one in getattr(task.onet, kind)}
        titles = {one: one.casefold() if kind == "tasks" else title_of(kind, one) for one in said}
        distinct = len({title for title in titles.values() if title is not None})
        total = published_tasks if kind == "tasks" else len(vocabulary()[kind])
        tagged = sum(bool(getattr(task.onet, kind)) for task in tasks)
        made.append(
            BankCoverage(
                name=name,
                distinct=distinct if tagged else None,
                tasks_tagged=tagged,
                published=total,
                share=distinct / total if tagged and total else None,
                strange=tuple(sorted(one for one, title in titles.items() if title is None)),
            )
        )
    return tuple(made)


class PaperFigures(Value):
    """What the GDPval paper's Tables 3 to 7 say, to stand beside a bank's own figures."""

    summaries: dict[str, dict[str, tuple[float, ...]]]
    coverage: dict[str, tuple[int, int]]
    specification: dict[str, dict[str, float]]


def paper_figures() -> PaperFigures:
    text = files("guildhall.taskbank").joinpath("published_tables.toml").read_text(encoding="utf-8")
    return PaperFigures.model_validate(tomllib.loads(text))
