"""The study of the demo: an ordinary study file, written into the workspace for everyone to look at.

Where no sandbox can run, its authors' recorded work is replayed: nothing runs on the bare host.
"""

from __future__ import annotations

from importlib.resources import files

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.sampling.replaying import replay_samples
from guildhall.store.workspace import Workspace
from guildhall.study.studies import OpenStudy

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
