"""Authoring, review and release, in full: the whole way in a real browser, and a public subset without its authors."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from guildhall.domain.halls import Member, Role
from guildhall.domain.reviews import DecisionKind
from guildhall.domain.tasks import FileRef, Task
from guildhall.store.workspace import Workspace
from proofs import Figures, NotRun, proof


@proof(
    "review-browser",
    "In a real browser a task goes from draft through screening, three reviews with a change request and a revision, "
    "to accepted; its author and a colleague cannot review it; a fourth reviewer's comment anchors to page 2 of a "
    "docx; the board and the history show it all; with and without JavaScript; no page breaks an accessibility rule",
    budget_s=900,
)
def in_a_browser() -> Figures:
    from playwright.sync_api import sync_playwright
    from tests.browser import CHROMIUM, CHROMIUM_ARGS
    from tests.web.live import Live
    from tests.web.review_path import EXPECTED, People, Walk, walk_to_acceptance

    if not Path(CHROMIUM).exists():
        raise NotRun("needs Chromium")
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name, sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        for javascript in (True, False):
            folder = Path(name) / str(javascript)
            Workspace.create(folder / "workspace").close()
            live = Live(folder / "workspace").start()
            try:
                walk = Walk(live, chrome, People.invited(live), folder, javascript=javascript)
                told = walk_to_acceptance(walk)
                assert told == EXPECTED, told
                assert walk.violations == [], walk.violations
                [task] = live.site.store.find(Task, id=walk.task)
                assert (task.review, task.version) == ("accepted", 2)
                refused = live.client(walk.people.author).post(f"/tasks/{walk.task}/review").status_code
                assert refused == 404, refused
            finally:
                live.stop()
            way = "with_javascript" if javascript else "without_javascript"
            figures[way] = {"history_lines": len(told), "pages_checked": len(walk.checked)}
        chrome.close()
    return figures | {"accessibility_violations": 0, "an_author_who_posts_a_review_gets": refused}


@proof(
    "review-release",
    "A released subset imports again with nothing lost, two releases of one bank are the same bytes, and a search for "
    "the author's canary name in every byte of it finds nothing",
    budget_s=900,
)
def release() -> Figures:
    from tests.documents.canary_files import MADE, made
    from tests.documents.leaks import CANARY, leaks

    planted = 0
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as name:
        folder = Path(name)
        with Workspace.create(folder / "bank") as bank:
            author = _invite_canary(bank, CANARY)
            for number, kind in enumerate(MADE):
                (folder / kind.value).mkdir()
                file = made(kind, folder / kind.value)
                planted += len(leaks(file.read_bytes()))
                reference = FileRef(name=f"notes.{kind.value}", digest=bank.blobs.put(file), size=file.stat().st_size)
                _accept(bank, author, f"task-{number:02}", reference, occupation=f"Occupation {number % 5}")
        first = _release(folder / "bank", folder / "one")
        assert _release(folder / "bank", folder / "two") | {"folder": ""} == first | {"folder": ""}
        digests = _digests(folder / "one")
        assert digests == _digests(folder / "two"), "two releases of one bank differ"
        leaked = {path: found for path in digests if (found := leaks((folder / "one" / path).read_bytes()))}
        assert not leaked, leaked
        tasks, files = _imported_again(folder)
    assert planted > 0 and tasks == first["tasks"] and files == first["reference_files"]
    return {
        "tasks_in_the_bank": len(MADE),
        "released": first["tasks"],
        "left_out": first["left_out"],
        "reference_files": files,
        "kinds_of_files": len(MADE),
        "canaries_planted": planted,
        "canaries_found": 0,
        "files_searched": len(digests),
        "imported_again": tasks,
    }


def _invite_canary(bank: Workspace, canary: str) -> Member:
    from tests.taskbank.reviewing import expert

    from guildhall.web.site import Addresses, Site

    site = Site(bank, Addresses("http://localhost:1", "http://files.localhost:2"))
    author = expert("quiet-heron-100", Role.AUTHOR)
    return site.roster.invite(author, personal={"name": canary, "email": f"{canary}@example.org"})


def _accept(bank: Workspace, author: Member, name: str, reference: FileRef, *, occupation: str) -> None:
    """A task with one reference file, through three reviews into the bank."""
    from tests.taskbank.reviewing import ANSWERS, draft_task, expert, yes_to_all

    from guildhall.taskbank.review.desk import ReviewDesk

    reviewers = [expert(f"reviewer-{number}", occupations=(occupation,)) for number in range(3)]
    manager = expert("manager", Role.MANAGER)
    desk = ReviewDesk(bank.store, {one.code_name: one for one in (author, manager, *reviewers)})
    desk.submit(draft_task(name, occupation=occupation, reference_files=(reference,)), author, now=1.0)
    for number, reviewer in enumerate(reviewers):
        desk.review(name, reviewer, now=2.0 + number, **ANSWERS, answers=yes_to_all(desk.store, name))
    desk.decide(name, DecisionKind.ACCEPTED, manager, now=9.0)


def _release(bank: Path, target: Path) -> Figures:
    command = [sys.executable, "-m", "guildhall", "tasks", "release", str(target), "-w", str(bank), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: Figures = json.loads(done.stdout)
    return found


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _imported_again(folder: Path) -> tuple[int, int]:
    """Import the release into a new workspace and compare every field and every byte; tasks and files that agree."""
    Workspace.create(folder / "again").close()
    command = [sys.executable, "-m", "guildhall", "tasks", "import", str(folder / "one"), "-w", str(folder / "again")]
    subprocess.run(command, capture_output=True, check=True)
    tasks = files = 0
    with Workspace.open(folder / "again") as again, Workspace.open(folder / "bank") as bank:
        for task in again.store.find(Task):
            original = bank.store.find(Task, id=task.id)[0]
            left = {"provenance": None, "expert_files": (), "expert_text": None, "rubric": None, "reference_files": ()}
            assert task.but(**left) == original.but(**left), task.id
            assert [file.name for file in task.reference_files] == [file.name for file in original.reference_files]
            for file in task.reference_files:
                assert again.blobs.read(file.digest or "") == (folder / "one" / str(file.source)).read_bytes()
                files += 1
            tasks += 1
    return tasks, files
