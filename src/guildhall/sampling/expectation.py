"""What a plan will take, said before anything is spent: from earlier runs, else from a guess that is stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from guildhall.domain.submissions import Submission, Usage
from guildhall.domain.values import Value
from guildhall.domain.variants import count_tokens
from guildhall.engine.models import require_known
from guildhall.engine.scripted import expected_by_script, seconds_by_script
from guildhall.engine.terms import Terms
from guildhall.sampling.authors import COMMAND
from guildhall.sampling.elicitation import Tools
from guildhall.sampling.plan import SampleItem
from guildhall.sampling.status import sampling_status
from guildhall.store.work import Work, WorkState
from guildhall.store.workspace import Workspace

_GUESS = Usage(calls=25, input_tokens=400_000, output_tokens=20_000)
_GUESS_SECONDS = 600.0
_ANSWER_SECONDS = 60.0
_ANSWER_TOKENS = 3_000


class Expectation(Value):
    """For one author: how many items are to do, and what one of them took on average, or is taken to take."""

    author: str
    model: str
    items: int
    done: int
    calls: float
    seconds: float
    usd: float | None
    basis: str


class Forecast(Value):
    """The whole plan. `usd` is unknown as soon as one author's price is; `hours` counts parallel work.

    `unanswered_calls` of earlier runs were sent, answer unknown: what they cost is in no figure here.
    """

    items: int
    to_do: int
    calls: float
    hours: float
    usd: float | None
    unanswered_calls: int
    authors: tuple[Expectation, ...]


def forecast(items: Sequence[SampleItem], *, workspace: Workspace, terms: Terms, in_parallel: int) -> Forecast:
    """What running the items to their end will take from here on; a model nobody knows is refused by name."""
    require_known(sorted({item.author.model for item in items if not item.author.model.startswith(COMMAND)}))
    states = Work(workspace.store).items([item.key for item in items])
    finished = {WorkState.DONE, WorkState.FAILED}
    grouped: dict[str, list[SampleItem]] = defaultdict(list)
    for item in items:
        grouped[item.author.name].append(item)
    rows = []
    for name, group in grouped.items():
        done = sum(item.key in states and states[item.key].state in finished for item in group)
        rows.append(_expectation(name, group, done, workspace, terms))
    costs = [row.usd for row in rows if row.items > row.done]
    spent = sampling_status(items, workspace=workspace, run=terms.run)
    return Forecast(
        items=len(items),
        to_do=sum(row.items - row.done for row in rows),
        calls=sum(row.calls for row in rows),
        hours=sum(row.seconds for row in rows) / 3600 / in_parallel,
        usd=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        unanswered_calls=spent.unanswered_calls,
        authors=tuple(rows),
    )


def _expectation(name: str, group: Sequence[SampleItem], done: int, workspace: Workspace, terms: Terms) -> Expectation:
    model, left = group[0].author.model, len(group) - done
    usage, seconds, basis = _one_item(group, workspace)
    priced = terms.priced(model, usage, elsewhere="base_url" in group[0].author.settings)
    free = model.startswith(COMMAND)
    return Expectation(
        author=name,
        model=model,
        items=len(group),
        done=done,
        calls=0 if free else usage.calls * left,
        seconds=seconds * left,
        usd=None if free or priced.cost_usd is None else priced.cost_usd * left,
        basis=basis,
    )


def _one_item(group: Sequence[SampleItem], workspace: Workspace) -> tuple[Usage, float, str]:
    """Usage and seconds of one item, and where the figure comes from."""
    wanted = group[0].author.settings_digest
    earlier = [
        submission
        for author in {item.author.key for item in group}
        for submission in workspace.store.find(Submission, author=author)
        if submission.usage is not None and submission.seconds is not None
    ]
    if earlier:
        usages = [submission.usage for submission in earlier if submission.usage is not None]
        mean = Usage(
            calls=round(fmean(usage.calls for usage in usages)),
            input_tokens=round(fmean(usage.input_tokens for usage in usages)),
            output_tokens=round(fmean(usage.output_tokens for usage in usages)),
        )
        seconds = fmean(submission.seconds or 0.0 for submission in earlier)
        return mean, seconds, f"{len(earlier)} earlier submissions of settings {wanted[:8]}"
    script = expected_by_script(group[0].author.model)
    if script is not None:
        return script, seconds_by_script(group[0].author.model, script) or 0.0, "its script: what it does for a task"
    if group[0].author.tools == Tools.NONE.value:
        tokens = round(fmean(count_tokens(item.job.whole_prompt) for item in group) * 1.3)
        one_answer = Usage(calls=1, input_tokens=tokens, output_tokens=_ANSWER_TOKENS)
        return one_answer, _ANSWER_SECONDS, "assumed: one answer of 3,000 tokens"
    return _GUESS, _GUESS_SECONDS, "assumed: 25 calls, 400,000 tokens read, 20,000 written, 10 minutes"
