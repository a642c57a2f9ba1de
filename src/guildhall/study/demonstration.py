"""The study of the demo: an ordinary study file, written into the workspace for everyone to look at.

Where no sandbox can run, its authors' recorded work is replayed: nothing runs on the bare host.

Recorded work, for machines where no sandbox can run: what the scripted authors made of the sample bank. A record
holds for one item only, by its key: the same task, brief, files, model and settings, in whatever room. What is
replayed says so, in its origin and among its problems; it used no time and no money here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.domain.submissions import Problem, Submission
from guildhall.engine.terms import Terms
from guildhall.sampling.plan import SampleItem
from guildhall.store.blobs import Blobs
from guildhall.store.work import ItemEnd, Work, WorkState, this_worker
from guildhall.store.workspace import Workspace
from guildhall.study.studies import OpenStudy

REPLAYED = "replayed"
_WORDS = "recorded when Guildhall was built; nothing ran on this machine"
_RECORD = "submission.json"


def replay_samples(items: Sequence[SampleItem], *, workspace: Workspace, terms: Terms) -> int:
    """End every open item that has a record with its recorded submission; how many were replayed."""
    work, recorded = Work(workspace.store), _records()
    known = {item.key: item for item in items if item.known_as in recorded}
    work.plan(known, kind="agent", run=terms.run)
    ended = {WorkState.DONE, WorkState.FAILED}
    still_open = [key for key, state in work.items(known).items() if state.state not in ended]
    mine = work.claim(still_open, worker=this_worker())
    for key in mine:
        submission = _replayed(known[key], recorded[known[key].known_as], workspace.blobs)
        with workspace.store.transaction():
            workspace.store.add(submission)
            work.finish([ItemEnd(key, at=terms.now(), result=submission.key)])
    return len(mine)


def record(item: SampleItem, submission: Submission, blobs: Blobs, folder: Path) -> Path:
    """Write a submission and its files below `folder`, to be replayed for the same item."""
    place = folder / f"{item.author.name}-{item.task.id}"
    place.mkdir(parents=True, exist_ok=True)
    for file in submission.files:
        if file.digest is not None:
            target = place / "files" / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            blobs.copy_to(file.digest, target)
    # What this machine took and where its log lies is no part of the work.
    kept = submission.model_copy(update={"usage": None, "seconds": None, "log": None, "made_at": None})
    (place / _RECORD).write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    (place / "item").write_text(item.known_as + "\n", encoding="utf-8")
    return place


@cache
def _records() -> dict[str, Traversable]:
    places = [place for place in files("guildhall.sampling").joinpath("recorded").iterdir() if place.is_dir()]
    return {place.joinpath("item").read_text(encoding="utf-8").strip(): place for place in places}


def _replayed(item: SampleItem, place: Traversable, blobs: Blobs) -> Submission:
    recorded = Submission.model_validate_json(place.joinpath(_RECORD).read_text(encoding="utf-8"))
    for file in recorded.files:
        blobs.put(place.joinpath("files", file.name).read_bytes())
    told = (*recorded.problems, Problem(rule=REPLAYED, words=_WORDS))
    return recorded.model_copy(update={"author": item.author, "origin": REPLAYED, "problems": told})


STUDY = "study.toml"


def demo_study(workspace: Workspace, *, first: int | None = None) -> OpenStudy:
    """The demo's study, opened from the workspace; an edited copy there is left as it is.

    `first` narrows a newly written study to so many tasks of the bank.
    """
    path = workspace.path / STUDY
    if not path.exists():
        text = files("guildhall.study").joinpath("demo.toml").read_text(encoding="utf-8")
        narrowed = f"\n[tasks]\nfirst = {first}\n" if first is not None else ""
        path.write_text(text + narrowed, encoding="utf-8")
    return OpenStudy.open(path, workspace, changed=True)


def replayed_because(study: OpenStudy) -> str | None:
    """Why the authors' recorded work was replayed; None, with nothing done, where a sandbox can run."""
    if study.file.sampling.sandbox != "bubblewrap" or (reason := why_no_bubblewrap()) is None:
        return None
    replay_samples(study.items, workspace=study.workspace, terms=study.terms)
    return reason
