"""A study's judged pairs as examples for judges of other tasks, with the card that goes with them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from guildhall.domain.examples import ExampleCollection
from guildhall.grading.judges.example_making import collect_examples
from guildhall.study.judging import desk_of, queued
from guildhall.study.studies import OpenStudy


def examples_of(study: OpenStudy, *, name: str, now: datetime) -> ExampleCollection:
    """Everything people judged so far; later judgments make another collection."""
    seed = study.file.study.seed
    with desk_of(study) as desk:
        return collect_examples(queued(study).comparisons, desk, name=name, study=study.id, seed=seed, now=now)


def examples_card(made: ExampleCollection) -> str:
    """What the collection holds and how it is used."""
    said = Counter(one.verdict for one in made.examples)
    tasks = len({one.task for one in made.examples})
    with_reason = sum(bool(one.reason) for one in made.examples)
    return f"""# {made.name}, version {made.version}

Judged examples for the prompts of automatic judges, collected {made.made_at:%Y-%m-%d} from study {made.study}.

- {len(made.examples)} pairs of {tasks} tasks, judged by people of the kind: {", ".join(made.grader_kinds)}.
- They said A {said["A"]} times, B {said["B"]} times, tie {said["TIE"]} times; {with_reason} pairs come with a
  person's reason.
- Tasks are dealt to {made.folds} folds by seed {made.seed}. A judge at work on a task is shown no example of the same
  task, of a task in the same fold, or with a submission, file or message in common.

Whether examples help a judge is a question of its own: let it judge with and without them, and ask
`guildhall grade account --judge WITH --against WITHOUT`.
"""
