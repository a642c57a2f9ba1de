"""Judgments made elsewhere, brought into a study: of work that is here, or with the work and the study themselves.

All of a file comes in or nothing. Every judgment keeps the file it came from: a file comes in once, and can be taken
back.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from guildhall.domain.authors import Grader, GraderKind, ModelGrader, ModelRun, Person
from guildhall.domain.design import EXPERT, FORMAT, Design, PlanChoices
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Provenance, Task
from guildhall.domain.values import Id, sha256
from guildhall.errors import FaultsFound, InputError
from guildhall.grading.opening import gather
from guildhall.judging.vote_files import StudyFromRows, Vote, VoteMapping, votes_of
from guildhall.store.records import Store
from guildhall.store.wordings import Wordings, newest_study
from guildhall.store.workspace import Workspace

TAKEN_BACK = "taken back"


@dataclass(frozen=True)
class ImportedVotes:
    study: Id
    rows: int
    new: int
    tasks: int
    works: int
    raters: int
    without_verdict: int
    taken_back: int
    origin: str


def import_votes(
    workspace: Workspace,
    path: Path,
    mapping: VoteMapping,
    *,
    by: Literal["human", "judge"],
    study: Id | None = None,
    replace: bool = False,
) -> ImportedVotes:
    """Bring a file's judgments into a study, all or none. The same file again adds nothing.

    A file of that name with other content is refused, unless it is to `replace` what came in before.
    """
    votes = votes_of(path, mapping)
    origin = f"{path.name}@{sha256(path.read_bytes())[:12]}"
    with workspace.store.transaction():
        form, works = _brought(workspace, votes, mapping, study)
        standing = _standing(workspace.store, form.id)
        others = sorted(name for name in standing if name != origin and name.rpartition("@")[0] == path.name)
        if others and not replace:
            raise InputError(
                f"another file called {path.name} is in study {form.id!r} already ({others[0]}); take it back with "
                "`guildhall grade take-back`, or pass --replace"
            )
        gone = sum(_take_back(workspace.store, form.id, name) for name in others)
        made = _judgments(workspace, votes, works, form, origin=origin, by=by, kind=mapping.kind)
        new = 0 if origin in standing else workspace.store.add_all(_again(workspace.store, made))
    return ImportedVotes(
        study=form.id,
        rows=len(votes),
        new=new,
        tasks=len({vote.task for vote in votes}),
        works=len({key for one in made for key in one.order}),
        raters=len({one.grader.key for one in made}),
        without_verdict=sum(one.ranks is None for one in made),
        taken_back=gone,
        origin=origin,
    )


Works = Mapping[tuple[Id, Id, int], Submission]


def _brought(
    workspace: Workspace, votes: Sequence[Vote], mapping: VoteMapping, study: Id | None
) -> tuple[Study, Works]:
    """The study the votes are about, with its works by task, author and try; made first where rows bring them."""
    if mapping.study is None:
        if study is None:
            raise InputError("say which study these judgments are about: --study ID, or [study] in the mapping")
        form = newest_study(workspace.store, study)
    else:
        form = _study_of(workspace, votes, mapping, mapping.study)
    made = gather(workspace, form)[1]
    return form, {(one.task, _name(one), _try(one)): one for one in made}


def _name(one: Submission) -> Id:
    return one.author.name if isinstance(one.author, ModelRun) else EXPERT


def _try(one: Submission) -> int:
    return one.author.sample if isinstance(one.author, ModelRun) else 1


@dataclass
class _Work:
    """What the rows bring: tasks, and each author's texts for each, the first try first."""

    tasks: dict[Id, Vote] = field(default_factory=dict)
    texts: dict[tuple[Id, Id], list[str]] = field(default_factory=dict)

    def add(self, vote: Vote) -> str | None:
        known = self.tasks.setdefault(vote.task, vote)
        if known.brief != vote.brief:
            return f"{vote.place}: task {vote.task} has another brief than in {known.place}"
        for name, text in zip(vote.authors, vote.texts or (), strict=True):
            tries = self.texts.setdefault((vote.task, name), [])
            if text not in tries:
                tries.append(text)
        return None


def _study_of(workspace: Workspace, votes: Sequence[Vote], mapping: VoteMapping, about: StudyFromRows) -> Study:
    work = _Work()
    faults = [fault for vote in votes if (fault := work.add(vote))]
    doubles = [task for (task, name), tries in work.texts.items() if name == EXPERT and len(tries) > 1]
    twice = [f"task {task} has two works of the expert" for task in doubles]
    if faults or twice:
        raise FaultsFound("the rows contradict each other", [*faults, *twice], fix="nothing was brought in")
    source = Provenance(source=about.id, licence=mapping.licence)
    tasks = [
        Task(
            id=name,
            sector=vote.sector,
            occupation=vote.occupation,
            brief=str(vote.brief),
            expert_text=next(iter(work.texts.get((name, EXPERT), ())), None),
            provenance=source,
        )
        for name, vote in sorted(work.tasks.items())
    ]
    runs = {
        (name, number): ModelRun(name=name, model="unknown", condition="outside", sample=number)
        for (_, name), tries in sorted(work.texts.items())
        if name != EXPERT
        for number in range(1, len(tries) + 1)
    }
    works = [
        Submission(task=task, author=runs[name, number], text=text, origin=about.id)
        for (task, name), tries in sorted(work.texts.items())
        if name != EXPERT
        for number, text in enumerate(tries, 1)
    ]
    authors = [runs[key] for key in sorted(runs)]
    design = Design(format=FORMAT, baseline=about.baseline)
    names = [run.name for run in authors]
    if about.baseline not in {EXPERT, *names}:
        raise InputError(f"the baseline {about.baseline!r} stands on no side of any row; [authors] gives names")
    form = Study(
        id=about.id,
        title=about.title,
        seed=0,
        tasks=tuple(task.key for task in tasks),
        authors=tuple(authors),
        design=design.planned(PlanChoices(), authors=names),
    )
    kept = workspace.store.newest(Study, id=about.id)
    if kept is not None and not form.same_as(kept):
        raise InputError(f"study {about.id!r} is here already with other tasks or authors; give this one its own id")
    workspace.store.add_all([*tasks, *works, *([] if kept else [form])])
    return form if kept is None else kept


def _judgments(
    workspace: Workspace,
    votes: Sequence[Vote],
    works: Works,
    form: Study,
    *,
    origin: str,
    by: Literal["human", "judge"],
    kind: GraderKind,
) -> list[Judgment]:
    """The votes as judgments of kept comparisons; one that names work nobody made is refused with all others."""
    as_kept, secret = Wordings(workspace.store).as_kept, workspace.key_for("raters")
    made: list[Judgment] = []
    compared: dict[str, Comparison] = {}
    faults: list[str] = []
    said: Counter[tuple[str, str]] = Counter()
    for vote in votes:
        shown, missing = _shown(vote, works)
        if missing:
            faults.append(f"{vote.place}: {missing}")
            continue
        first, second = sorted(shown, key=lambda one: (_name(one) != form.baseline, one.key))
        version = form.pinned(vote.task).version
        about = Comparison(study=form.id, task=vote.task, task_version=version, submissions=(first.key, second.key))
        comparison = compared.setdefault(about.key, as_kept(about))
        grader = _grader(vote.rater, by, kind, secret)
        said[comparison.key, grader.key] += 1
        made.append(
            Judgment(
                comparison=comparison.key,
                grader=grader,
                order=(shown[0].key, shown[1].key),
                ranks=vote.ranks,
                failure=None if vote.ranks else f"no verdict: {vote.said[:80]}",
                reason=vote.reason,
                active_s=vote.seconds,
                sweep=said[comparison.key, grader.key] if by == "judge" else 1,
                made_at=vote.at,
                origin=origin,
            )
        )
    if by == "human":
        faults += [f"{who} judges one pair {n} times" for (_, who), n in said.items() if n > 1]
    if faults:
        raise FaultsFound(f"{len(faults)} rows cannot be used", faults, fix="correct them; nothing was brought in")
    workspace.store.add_all(compared.values())
    return made


def _shown(vote: Vote, works: Works) -> tuple[list[Submission], str | None]:
    """The works on A and B, or why they cannot be told."""
    found = []
    for place in (0, 1):
        name, number = vote.authors[place], vote.samples[place]
        known = [key for key in works if key[:2] == (vote.task, name) and number in {None, key[2]}]
        if vote.texts is not None:
            known = [key for key in known if works[key].text == vote.texts[place]]
        if len(known) != 1:
            why = "made nothing of" if not known else f"made {len(known)} works (say which by a column) of"
            return [], f"{name} {why} task {vote.task} in this study"
        found.append(works[known[0]])
    return found, None


def _grader(name: str, by: Literal["human", "judge"], kind: GraderKind, secret: bytes) -> Grader:
    """Who judged. What may be a person's name or address becomes a mark that only this workspace can make."""
    plain = len(name) <= 60 and name.isascii() and all(char.isalnum() or char in "-_." for char in name)
    if by == "judge":
        return ModelGrader(name=name if plain else f"judge-{sha256(name.encode())[:8]}", settings={"made": "elsewhere"})
    marked = name if plain else f"rater-{hmac.digest(secret, name.encode(), 'sha256').hex()[:10]}"
    return Person(code_name=marked, grader_kind=kind)


def _of_study(store: Store, study: Id) -> list[Judgment]:
    """The judgments of a study that came from files, the taken back among them, oldest first."""
    compared = [one.key for one in store.each(Comparison, study=study)]
    return [
        one
        for start in range(0, len(compared), 500)
        for one in store.find(Judgment, comparison=compared[start : start + 500])
        if one.origin is not None
    ]


def _standing(store: Store, study: Id) -> dict[str, list[Judgment]]:
    """What stands of each file."""
    found = _of_study(store, study)
    replaced = {one.replaces for one in found}
    standing: dict[str, list[Judgment]] = {}
    for one in found:
        if one.key not in replaced and one.failure != TAKEN_BACK:
            standing.setdefault(str(one.origin), []).append(one)
    return standing


def imports_of(store: Store, study: Id) -> dict[str, int]:
    """The files whose judgments stand in a study, and how many of each."""
    return {name: len(found) for name, found in sorted(_standing(store, study).items())}


def take_back(store: Store, study: Id, name: str) -> int:
    """Set aside everything that one file brought; it is kept, and no longer counts. How many judgments it was."""
    known = imports_of(store, study)
    wanted = [one for one in known if name in {one, one.rpartition("@")[0]}]
    if not wanted:
        there = ", ".join(known) or "none"
        raise InputError(f"no judgments of study {study!r} came from {name!r}; from files came: {there}")
    with store.transaction():
        return sum(_take_back(store, study, one) for one in wanted)


def _take_back(store: Store, study: Id, origin: str) -> int:
    """Each judgment is replaced by one that says nothing and was never planned, so that no figure counts it."""
    gone = _standing(store, study).get(origin, [])
    return store.add_all(
        one.but(ranks=None, failure=TAKEN_BACK, reason="", replaces=one.key, planned=False) for one in gone
    )


def _again(store: Store, made: Sequence[Judgment]) -> list[Judgment]:
    """Judgments that were taken back before replace what took them back."""
    found = []
    for one in made:
        while store.has(Judgment, one.key):
            gone = one.but(ranks=None, failure=TAKEN_BACK, reason="", replaces=one.key, planned=False)
            one = one.but(replaces=gone.key)
        found.append(one)
    return found
