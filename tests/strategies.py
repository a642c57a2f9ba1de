"""Hypothesis strategies for the domain's values: any value the domain allows, the odd ones included."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from guildhall.domain.authors import Author, Expert, Grader, GraderKind, ModelGrader, ModelRun, Person
from guildhall.domain.boswell import Essay, Mark, NoGrade, Reading
from guildhall.domain.design import FORMAT, Design, PlanChoices
from guildhall.domain.halls import HallDesign
from guildhall.domain.judges import Gradability, ItemOutcome, ItemVerdict, JudgePlan, PlannedJudge, RubricMark
from guildhall.domain.judgments import BlindGuess, Comparison, Judgment, Severity, SeverityRating
from guildhall.domain.picks import Pick
from guildhall.domain.policy import MissingRule
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.reviews import (
    Advice,
    Anchor,
    Box,
    Comment,
    Criterion,
    Decision,
    DecisionKind,
    Draft,
    Opinion,
    Review,
    ReviewOutcome,
    Screening,
    Stage,
)
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Problem, StopReason, Submission, Usage
from guildhall.domain.tasks import (
    FileRef,
    OnetTags,
    Provenance,
    Ratings,
    ReviewState,
    Rubric,
    RubricItem,
    Specification,
    Task,
)
from guildhall.domain.values import Value
from guildhall.domain.variants import LEFT_OUT, BriefVariant

texts = st.text(max_size=80)
ids = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cc", "Zs", "Cs"]), min_size=1, max_size=30
)
lines = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x3FF, exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60
).filter(str.strip)
digests = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
seconds = st.floats(0, 1e6)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
_parts = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x17F, exclude_characters="/\\", exclude_categories=["Cc"]),
    min_size=1,
    max_size=20,
).filter(lambda part: part not in {".", ".."})
names = st.lists(_parts, min_size=1, max_size=3).map("/".join)

files = st.builds(FileRef, name=names, digest=st.none() | digests, size=st.none() | st.integers(0, 2**40))
file_lists = st.lists(files, max_size=3, unique_by=lambda file: file.name).map(tuple)
rubrics = st.builds(
    Rubric, items=st.lists(st.builds(RubricItem, text=texts, points=st.integers(-90, 90)), max_size=4).map(tuple)
)
ratings = st.builds(
    Ratings,
    difficulty=st.none() | st.floats(1, 5),
    quality=st.none() | st.floats(1, 5),
    specification=st.none() | st.sampled_from(Specification),
)
tasks = st.builds(
    Task,
    id=ids,
    version=st.integers(1, 9),
    title=st.none() | lines,
    sector=lines,
    occupation=lines,
    brief=texts,
    reference_files=file_lists,
    expert_files=file_lists,
    rubric=st.none() | rubrics,
    expert_hours=st.none() | st.floats(0.01, 500),
    hourly_wage_usd=st.none() | st.floats(1, 500),
    ratings=ratings,
    onet=st.builds(OnetTags, tasks=st.lists(texts, max_size=2).map(tuple)),
    provenance=st.none() | st.builds(Provenance, source=texts, revision=st.none() | texts),
)
settings = st.dictionaries(texts, st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | texts, max_size=3)
model_runs = st.builds(ModelRun, name=ids, model=texts, settings=settings, sample=st.integers(1, 5))
authors: st.SearchStrategy[Author] = st.builds(Expert, code_name=ids) | model_runs
usages = st.builds(
    Usage,
    input_tokens=st.integers(0, 10**9),
    output_tokens=st.integers(0, 10**9),
    calls=st.integers(0, 1000),
    cost_usd=st.none() | st.floats(0, 1e4),
)
submissions = st.builds(
    Submission,
    task=ids,
    author=authors,
    text=texts,
    files=file_lists,
    stop=st.sampled_from(StopReason),
    seconds=st.none() | seconds,
    usage=st.none() | usages,
    confidence=st.none() | st.floats(0, 100),
    problems=st.lists(st.builds(Problem, rule=texts, words=texts), max_size=2).map(tuple),
    made_at=st.none() | moments,
)
comparisons = st.builds(
    Comparison, study=ids, task=ids, submissions=st.lists(digests, min_size=2, max_size=4, unique=True).map(tuple)
)
graders: st.SearchStrategy[Grader] = st.builds(
    Person, code_name=ids, grader_kind=st.sampled_from(GraderKind)
) | st.builds(ModelGrader, name=ids, model=st.none() | texts, settings=settings)


@st.composite
def judgments(draw: st.DrawFn) -> Judgment:
    order = tuple(draw(st.lists(digests, min_size=2, max_size=4, unique=True)))
    ranked = draw(st.booleans())
    return Judgment(
        comparison=draw(digests),
        grader=draw(graders),
        order=order,
        ranks=tuple(draw(st.lists(st.integers(1, 4), min_size=len(order), max_size=len(order)))) if ranked else None,
        failure=None if ranked else draw(texts),
        reason=draw(texts),
        guess=draw(st.none() | st.sampled_from(BlindGuess)),
        active_s=draw(st.none() | seconds),
        made_at=draw(moments),
    )


severity_ratings = st.builds(
    SeverityRating,
    study=ids,
    submission=digests,
    grader=graders,
    severity=st.sampled_from(Severity),
    reason=texts,
    made_at=moments,
)
readings = st.builds(
    Reading, grade=st.sampled_from(["A+", "B-/C+", "F"]), rule=texts, confidence=st.floats(0, 1)
) | st.builds(Reading, reason=st.sampled_from(NoGrade), rule=texts, confidence=st.floats(0, 1))
essays = st.builds(Essay, run=ids, domain=ids, author=model_runs, text=texts, usage=st.none() | usages)
marks = st.builds(Mark, run=ids, domain=ids, essay=digests, grader=model_runs, reply=texts, reading=readings)


@st.composite
def picks(draw: st.DrawFn) -> Pick:
    order = tuple(draw(st.lists(digests, min_size=2, max_size=4, unique=True)))
    chosen = draw(st.none() | st.sampled_from(order))
    return Pick(
        task=draw(ids),
        author=draw(ids),
        judge=ModelGrader(name=draw(ids)),
        order=order,
        chosen=chosen,
        failure=draw(texts) if chosen is None else None,
        seed=draw(st.integers(0, 99)),
        made_at=draw(moments),
    )


variants = st.builds(
    BriefVariant,
    task=ids,
    brief=texts.filter(bool),
    left_out=st.lists(st.sampled_from(LEFT_OUT), min_size=1, unique=True).map(tuple),
    made_by=texts,
    token_ratio=st.floats(0.01, 0.99),
)
plan_choices = st.builds(
    PlanChoices,
    convention=st.sampled_from(["win", "win_or_tie", "half_tie"]),
    level=st.floats(0.6, 0.99),
    margin=st.floats(0.01, 0.5),
    missing=st.builds(MissingRule, refused=st.sampled_from(["loss", "missing"])),
)
designs = st.builds(
    lambda choices, people, judges: Design.model_validate(
        {"format": FORMAT, "judges": judges, **({} if people is None else {"people": people})}
    ).planned(choices, authors=()),
    plan_choices,
    st.none() | st.builds(HallDesign, graders_per_set=st.integers(1, 5)),
    st.lists(
        st.builds(
            PlannedJudge,
            plan=st.builds(JudgePlan, name=ids, model=texts, settings=settings),
            prompt_digests=st.tuples(digests),
        ),
        max_size=2,
    ),
)
"""Designs as they are kept now; as they were kept before, they may hold anything."""
studies = st.builds(
    Study,
    id=ids,
    title=lines,
    seed=st.integers(0, 99),
    tasks=st.lists(ids, min_size=1, max_size=3).map(tuple),
    authors=st.lists(model_runs, max_size=2).map(tuple),
    design=settings | designs,
)

prepared = st.builds(
    Prepared,
    subject=digests,
    version=ids,
    files=st.lists(st.builds(PreparedFile, kind=lines, ending=lines, scrubbed=st.none() | digests), max_size=2).map(
        tuple
    ),
    text=texts,
)

item_verdicts = st.builds(
    ItemVerdict,
    item=st.integers(1, 50),
    points=st.integers(-90, 90),
    outcome=st.sampled_from(ItemOutcome),
    quotation=texts,
) | st.builds(ItemVerdict, item=st.integers(1, 50), points=st.integers(-90, 90), failure=texts)
rubric_marks = st.builds(
    RubricMark,
    study=ids,
    task=ids,
    submission=digests,
    grader=st.builds(ModelGrader, name=ids, model=st.none() | texts, settings=settings),
    items=st.lists(item_verdicts, min_size=1, max_size=3).map(tuple),
    whole=st.booleans(),
    usage=st.none() | usages,
    made_at=moments,
)
gradabilities = st.builds(
    Gradability, task=ids, gradable=st.booleans(), reason=texts.filter(bool), by=ids, made_at=moments
)

words = st.text(min_size=1, max_size=60).filter(str.strip)
scores = st.integers(1, 5)
drafts = st.builds(
    Draft,
    task=tasks.map(lambda task: task.but(review=ReviewState.DRAFT)),
    author=ids,
    note=texts,
    third_party=st.lists(lines, max_size=2).map(tuple),
    made_at=moments,
)
screenings = st.builds(
    Screening,
    task=ids,
    draft=ids,
    screener=ids,
    advice=st.tuples(
        *(st.builds(Advice, criterion=st.just(one), opinion=st.sampled_from(Opinion)) for one in Criterion)
    ),
    made_at=moments,
)
reviews = st.builds(
    Review,
    task=ids,
    draft=ids,
    stage=st.sampled_from(Stage),
    reviewer=ids,
    outcome=st.sampled_from(ReviewOutcome),
    difficulty=scores,
    representativeness=scores,
    quality=scores,
    time=scores,
    hours=st.none() | st.floats(0.1, 500),
    words=words,
    made_at=moments,
)
anchors = st.builds(
    Anchor,
    file=names.map("expert/{}".format),
    page=st.integers(1, 99),
    box=st.none() | st.just(Box(left=0, top=0.25, right=0.5, bottom=1)),
)
comments = st.builds(
    Comment,
    task=ids,
    draft=ids,
    by=ids,
    words=words,
    anchor=st.none() | anchors,
    answers=digests,
    resolves=st.booleans(),
    made_at=moments,
)
decisions = st.builds(
    Decision, task=ids, draft=ids, kind=st.sampled_from(DecisionKind), by=ids, words=texts, made_at=moments
)

STRATEGIES: dict[type[Value], st.SearchStrategy[Value]] = {
    Task: tasks,
    Submission: submissions,
    Comparison: comparisons,
    Judgment: judgments(),
    SeverityRating: severity_ratings,
    Essay: essays,
    Mark: marks,
    Prepared: prepared,
    RubricMark: rubric_marks,
    Gradability: gradabilities,
    Pick: picks(),
    BriefVariant: variants,
    Study: studies,
    Draft: drafts,
    Screening: screenings,
    Review: reviews,
    Comment: comments,
    Decision: decisions,
}
"""Each kind of kept value and how to draw one; a kind that joins the shelves joins here."""

kept_values: st.SearchStrategy[Value] = st.one_of(list(STRATEGIES.values()))
