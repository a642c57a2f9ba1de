"""The leak test: canaries in every place that knows who made the work, and a grader who looks at everything."""

from __future__ import annotations

from pathlib import Path

from guildhall.documents.kinds import Kind
from guildhall.documents.looking import Documents
from guildhall.domain.authors import ModelRun
from guildhall.domain.judgments import SeverityRating
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.grading.opening import open_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from tests.documents.canary_files import made
from tests.documents.leaks import CANARY
from tests.web.crawling import Crawl, grade_everything, needles_of
from tests.web.live import Live

WORDS = (CANARY, "2021-02-03T", "20210203", "2019-07-08", "1612325106", "scripted/canary")
SHORT = (Kind.DOCX, Kind.PDF, Kind.PNG, Kind.ZIP)


def plant(path: Path, kinds: tuple[Kind, ...], folder: Path, looking: Documents) -> None:
    """A study in which file names, metadata, authors, notes and times all carry canaries."""
    with Workspace.create(path) as workspace:
        files = []
        for kind in kinds:
            inner = folder / kind.value
            inner.mkdir()
            digest = workspace.blobs.put(made(kind, inner))
            files.append(FileRef(name=f"{CANARY} draft 2021-02-03.{kind.value}", digest=digest))
        task = Task(
            id="t-1",
            sector="Information",
            occupation="Editors",
            brief="Write a memo.",
            reference_files=(FileRef(name="ledger.csv", digest=workspace.blobs.put(b"item,amount\nrent,12\n")),),
            expert_files=tuple(files),
        )
        author = ModelRun(name=f"{CANARY}-model", model="scripted/canary", settings={"key": CANARY})
        model = Submission(
            task="t-1",
            author=author,
            text=f"I am {CANARY}; here are the files.",
            files=tuple(reversed(files)),
            log=f"{CANARY}.eval",
            origin=CANARY,
            made_at="2019-07-08T09:10:11Z",
        )
        # So many controls that the severity page is reached whoever wins.
        rules = {"minimum_reason_words": 3, "graders_per_set": 1, "control_share": 0.9}
        study = Study(id="leaky", title="Memos", seed=1, tasks=(task.key,), design={"people": rules})
        workspace.store.add_all([task, model, study])
        open_hall(workspace, study, Preparer(workspace, looking))


def crawl_all(live: Live) -> tuple[list[Crawl], int]:
    """Two graders do all there is to do: one compares, the other says how bad it is."""
    needles = needles_of(live, WORDS)
    crawls, graded = [], 0
    for _ in range(2):
        crawl = Crawl(live.client(live.invite()), needles)
        graded += grade_everything(live, crawl)
        crawls.append(crawl)
    return crawls, graded


def test_no_byte_a_grader_is_sent_tells_who_made_the_work(tmp_path: Path, look: Documents) -> None:
    plant(tmp_path / "workspace", SHORT, tmp_path, look)
    live = Live(tmp_path / "workspace").start()
    try:
        crawls, graded = crawl_all(live)
        assert [found for crawl in crawls for found in crawl.found] == []
        assert all(crawl.words_over_pages for crawl in crawls), "the words laid over pages were searched too"
        assert graded == 2 and sum(crawl.responses for crawl in crawls) > 80
        assert live.workspace.store.count(SeverityRating) == 1
    finally:
        live.stop()
