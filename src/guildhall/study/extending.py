"""A later wave of a study: new authors on the same tasks, with anchors drawn from the pairs already judged."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guildhall.analysis.counting import LOOKED_AT
from guildhall.analysis.pairs import words_in
from guildhall.domain.design import Extension
from guildhall.domain.studies import Study
from guildhall.domain.tasks import check_relative_name
from guildhall.domain.values import Digest, canonical_json, sha256
from guildhall.errors import InputError, NothingJudged, UnreadableFile
from guildhall.store.records import Store
from guildhall.store.verdict_parts import read_verdicts
from guildhall.store.workspace import Workspace
from guildhall.study.file import ExtendsSection, StudyFile, StudySection, read_study
from guildhall.study.policy import count_groups

_EXTENSION = """\
[study]
id = "{id}"
title = "{title}"
seed = {seed}

[extends]                   # tasks, graders and prices are those of this file
file = "{file}"
anchors = {anchors}         # share of its judged pairs that are judged again
drift_limit = {drift_limit}         # past this drift the two waves are not pooled

[[authors]]
name = "{author}"
model = "{model}"
condition = "elicited"
samples = {samples}
# settings = {{ reasoning_effort = "high" }}
"""


def judged_pairs(workspace: Workspace, study: Study) -> list[Digest]:
    """The models' submissions to the wordings of this form that the leading graders judged, as they are counted."""
    verdicts = read_verdicts(workspace.store, [study.id], parts=workspace.verdict_parts, columns=LOOKED_AT, tried=study)
    try:
        pairs = next(count_groups(workspace, study, verdicts)).pairs
    except NothingJudged:
        return []
    pinned = np.array([name in study.tasks for name in pairs.wording.names], dtype=np.bool_)
    return sorted(words_in(pairs.keep(pinned[pairs.wording.codes]).submission))


def wave_before(file: StudyFile, folder: Path, store: Store) -> Study | None:
    """The kept form of the study that this one is a later wave of: the one it began with, else the newest."""
    if file.extends is None:
        return None
    own = store.newest(Study, id=file.study.id)
    if own is not None and own.extends is not None:
        return store.get(Study, own.extends.key)
    return store.newest(Study, id=read_study(folder / file.extends.file).study.id)


def draw_anchors(pairs: Collection[Digest], *, share: float, seed: int) -> tuple[Digest, ...]:
    """A seeded share of the pairs, rounded up; pairs judged later change the draw of the others as little as can be."""
    ranked = sorted(pairs, key=lambda key: sha256(canonical_json([seed, "anchor", key])))
    return tuple(ranked[: math.ceil(share * len(ranked))])


def extension_of(file: StudyFile, folder: Path, workspace: Workspace) -> Extension | None:
    """The frozen section `extends`, or None. Anchors are drawn when the wave is first frozen, and then kept."""
    if file.extends is None:
        return None
    store = workspace.store
    kept = [study.extends for study in store.find(Study, id=file.study.id) if study.extends is not None]
    if kept:
        return kept[-1].but(drift_limit=file.extends.drift_limit)
    base = read_study(folder / file.extends.file)
    earlier = wave_before(file, folder, store)
    pairs = judged_pairs(workspace, earlier) if earlier is not None else []
    if earlier is None or not pairs:
        raise NothingJudged(f"anchors: study {base.study.id!r}, which {file.study.id!r} extends, has no judgment yet")
    if file.study.id == base.study.id:
        raise InputError("a later wave needs an id of its own")
    return Extension(
        study=base.study.id,
        key=earlier.key,
        anchors=draw_anchors(pairs, share=file.extends.anchors, seed=file.study.seed),
        drift_limit=file.extends.drift_limit,
    )


@dataclass(frozen=True)
class Extended:
    """Where the file of a later wave is, and how much of the earlier one is judged again."""

    path: Path
    anchors: int
    judged_pairs: int


def extend_study(
    workspace: Workspace, base: Path, extends: ExtendsSection, *, study_id: str | None, author: str, model: str
) -> Extended:
    """Write the file of a later wave beside the file it extends; an existing one is left alone."""
    earlier = read_study(base)
    section = StudySection(
        id=study_id or f"{earlier.study.id}-and-{author}",
        title=f"{earlier.study.title}, with {author}"[:300],
        seed=earlier.study.seed,
    )
    path = base.parent / f"{section.id}.toml"
    if path.exists():
        raise UnreadableFile(path, "is there already", fix="choose another --id, or edit it")
    if any('"' in text or "\\" in text for text in (section.id, section.title, author, model, str(extends.file))):
        raise InputError('names in a study file hold no `"` and no `\\`')
    if author in {one.name for one in earlier.authors}:
        raise InputError(f"{author!r} is an author of {base} already; a later wave adds another")
    check_relative_name(path.name)
    begun = workspace.store.newest(Study, id=earlier.study.id)
    pairs = judged_pairs(workspace, begun) if begun is not None else []
    if not pairs:
        raise NothingJudged(f"anchors: study {earlier.study.id!r} has no judgment yet")
    named = {"id": section.id, "title": section.title, "seed": section.seed, "author": author, "model": model}
    # As many tries as those before it had: more or fewer would be another condition.
    samples = max(one.samples for one in earlier.authors)
    path.write_text(_EXTENSION.format(**named, samples=samples, **extends.model_dump()), encoding="utf-8")
    return Extended(path, len(draw_anchors(pairs, share=extends.anchors, seed=section.seed)), len(pairs))
