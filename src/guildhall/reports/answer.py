"""The first screen of a report: the answer in plain words, how far the study is, what it rests on, the main caveat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

import numpy as np

from guildhall.analysis.evidence import Evidence
from guildhall.analysis.intervals import FEWEST_CLUSTERS
from guildhall.analysis.spreads import THESE
from guildhall.domain.estimates import Estimate
from guildhall.domain.policy import GraderGroup, GroupKind
from guildhall.domain.report import WARNING, Answer, Section
from guildhall.reports.number_format import at_level, shown

DEPARTED = "Departed from the plan: "
"""How a sentence begins that tells of one departure."""
MADE_PER_S = 1_000_000
MUCH_MISSING = 0.05
MOST_OTHERS = 3
"""So many groups beside the leading one are named on the first screen."""


def conclusions(sections: Sequence[Section], *, baseline: str, group: GraderGroup) -> tuple[str, ...]:
    """What a hurried reader should take away, in numbers that stand further down with all their counts."""
    found = {section.name: section for section in sections}
    rows = found["headline"].table("headline").rows if "headline" in found else ()
    if not rows:
        return ()
    model, *_, half = rows[0]
    assert isinstance(half, Estimate)  # noqa: S101 - as the headline lays them out
    places = {row[0]: str(row[3]) for row in found["ranks"].table("ranks").rows} if "ranks" in found else {}
    return (
        *_who_judged(group),
        *(found["ranks"].words[: len(rows) > 1] if "ranks" in found else ()),
        _leader(str(model), half, places.get(model, ""), baseline, n=len(rows)),
        *_agreement(found.get("agreement")),
    )


def _who_judged(group: GraderGroup) -> tuple[str, ...]:
    """Where nobody looked at the work, that comes first."""
    if group.kind is GroupKind.CONSTANT:
        return (f"Nobody judged this work: the figures are those of the constant rule {group.name}.",)
    if group.kind is GroupKind.SIMULATED:
        return ("Only simulated graders judged: the figures say nothing about any model.",)
    return ()


def _leader(model: str, half: Estimate, told: str, baseline: str, *, n: int) -> str:
    rate = shown(half, "percent")
    scores = f"Against the {baseline}, {model} scores {rate.value} with ties counted half"
    if half.interval is None:
        return f"{scores}, without an interval: {half.why_no_interval}."
    against = {
        "better": f"it is better than the {baseline}",
        "worse": f"it is worse than the {baseline}",
        "not told apart": f"it is not told apart from the {baseline}",
        "": f"a mean over {half.n_tasks} tasks",
    }.get(told, f"it is {told}")
    together = f", all {n} models looked at together" if told and n > 1 else ""
    return f"{scores} ({rate.interval} at {at_level(half.level)}): {against}{together}."


def _agreement(section: Section | None) -> tuple[str, ...]:
    if section is None or not section.tables or not section.tables[0].rows:
        return ()
    one = next((cell for cell in section.tables[0].rows[0] if isinstance(cell, Estimate)), None)
    if one is None or one.interval is None:
        return ()
    words = shown(one, "percent")
    return (f"Two graders of the same work agree {words.value} of the time ({words.interval}).",)


def answer_of(
    evidence: Evidence, sections: Sequence[Section], *, words: tuple[str, ...], planned_and_done: Sequence[str]
) -> Answer:
    """What the evidence allows to say first; `words` are the conclusions."""
    done = evidence.done
    rehearsal = evidence.study.design.rehearsal or evidence.group.kind is GroupKind.SIMULATED
    departures = sum(one.startswith(DEPARTED) for one in planned_and_done)
    return Answer(
        words=words,
        state="rehearsal" if rehearsal else "running" if done is not None and done < 1.0 else "final",
        done=done,
        departures=departures,
        dated=_dated(evidence),
        rests_on=tuple(_rests_on(evidence)),
        caveat=next(_caveats(evidence, sections, departures)),
    )


def _dated(evidence: Evidence) -> date | None:
    """The day of the last counted judgment: the same judgments give the same page on any day."""
    last = evidence.counted.answers["made_at"].max()
    return datetime.fromtimestamp(float(last) / MADE_PER_S, tz=UTC).date() if isinstance(last, int | float) else None


def _rests_on(evidence: Evidence) -> Iterator[str]:
    pairs, own = evidence.pairs, evidence.tasks.filter("pinned")
    fields = own["occupation"].n_unique()
    tasks = f"{len(np.unique(pairs.task.codes)):,} of {len(evidence.study.tasks):,} tasks"
    yield f"{tasks} in {fields} occupations" if fields > 1 else tasks
    people = len(np.unique(pairs.grader.codes[pairs.grader.codes >= 0]))
    judged = f"{evidence.counted.n_counted:,} judgments"
    group = evidence.group
    yield f"{people} {group.kind} graders, {judged}" if group.name is None else f"{group}, {judged}"
    others = sorted(evidence.others.items(), key=lambda one: str(one[0]))
    yield from (f"beside them {other}, {its.n_counted:,} judgments" for other, its in others[:MOST_OTHERS])
    if evidence.lacking is not None:
        missing = int(evidence.lacking["lacking"].sum())
        yield f"missing: {missing:,} grades" if missing else "nothing missing"


def _caveats(evidence: Evidence, sections: Sequence[Section], departures: int) -> Iterator[str]:
    """What to keep in mind, the gravest first."""
    rate, done = evidence.rates[0].half_tie, evidence.done
    if evidence.study.design.rehearsal or evidence.group.kind is GroupKind.SIMULATED:
        yield "The graders are simulated: no figure here is about any model."
    if evidence.group.kind is GroupKind.CONSTANT:
        yield "Nobody looked at the work: a rule gave every verdict."
    if done is not None and done < 1.0:
        yield f"{done:.0%} of the planned gradings are done: every figure may still move."
    if (rate.n_tasks or 0) < FEWEST_CLUSTERS:
        yield f"{rate.n_tasks} of the tasks were judged: too few for any interval."
    warnings = (one for section in sections for one in section.words if one.startswith(WARNING))
    yield from (one.removeprefix(WARNING) for one in warnings)
    if done is not None and evidence.lacking is not None:
        asked = evidence.wanted * max(1, len(evidence.lacking))
        if int(evidence.lacking["lacking"].sum()) > MUCH_MISSING * asked:
            yield "More than one grade in twenty is missing: the chapter on missing work says how far that could reach."
    if rate.target == THESE:
        yield "So few people judged that intervals are about these very graders, not about graders like these."
    if departures:
        yield "The plan was departed from: see what was planned and what was done."
    ranks = next((section for section in sections if section.name == "ranks"), None)
    first = [] if ranks is None else [row[0] for row in ranks.table("ranks").rows if row[1] == 1]
    if len(first) > 1:
        yield f"{len(first)} models share the first place: it takes more tasks or graders to tell them apart."
    yield "Figures are about tasks and graders like these, and about no other work."
