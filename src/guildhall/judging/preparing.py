"""Make work ready to be judged: clean, render, read and copy every file once, keep what came of it, and show it blind.

Files are handed to the confined parsers under neutral names, so that no reason, warning or finding can repeat a name
that tells who made the work. People's pages and judges' requests are both built from what is kept here.

A final message is shown only when a submission has no files or every side has one: models write one and experts seldom
do, so that alone it would tell who is who. The asymmetry itself is recorded as a tell.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from guildhall.documents.confined import insisting
from guildhall.documents.kinds import Kind
from guildhall.documents.looking import Documents, documents
from guildhall.documents.render.media import MOVING
from guildhall.documents.scrub.names import BlindName, blind_names
from guildhall.documents.tells import files_stated, find_steering, find_tells, folded_name
from guildhall.documents.values import Copied, FileOutcome, Gravity, LookOutcome
from guildhall.domain.judgments import BlindedFile, BlindedSide, BlindedView, ShownPage
from guildhall.domain.prepared import NOTES, VERSION, Prepared, PreparedFile
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.values import Digest, sha256
from guildhall.engine.executor import Executor, Needs
from guildhall.engine.spreading import parts
from guildhall.errors import LookNotFinished
from guildhall.store.workspace import Address, Workspace

_IN_FLIGHT = 4
_TRIES = 3
"""How often a file is looked at when the clock ends the look: what a stopped machine did is no property of a file."""
_IN_PICTURES_ONLY = tuple(f"{what} not shown: " for what in MOVING)


class Preparer:
    """Prepares submissions and references of one workspace; what was prepared before is found, not made again."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._store, self._blobs, self._documents = workspace.store, workspace.blobs, documents

    def submission(self, submission: Submission, task: Task) -> Prepared:
        """A submission's files under their neutral form, and its final message."""
        asked = asked_names(task)
        names = blind_names([file.name for file in submission.files], asked=asked)
        # Sorted by the neutral number, which follows the original names: the order of making tells nothing.
        pairs = sorted(zip(submission.files, names, strict=True), key=lambda pair: pair[1].shown)
        return self._prepared(submission.key, [(file, name, None) for file, name in pairs], text=submission.text)

    def references(self, task: Task) -> Prepared:
        """A task's reference files: treated alike, but under their own names, which the brief uses."""
        names = blind_names([file.name for file in task.reference_files])
        files = zip(task.reference_files, names, (file.name for file in task.reference_files), strict=True)
        return self._prepared(task.content_digest(), list(files))

    def expert_files(self, task: Task) -> Prepared:
        """What the author delivered, as the task's reviewers see it: under its own names, which they talk about."""
        names = blind_names([file.name for file in task.expert_files])
        files = zip(task.expert_files, names, (file.name for file in task.expert_files), strict=True)
        return self._prepared(expert_subject(task), list(files))

    def _prepared(
        self, subject: Digest, files: Sequence[tuple[FileRef, BlindName, str | None]], *, text: str = ""
    ) -> Prepared:
        key = f"{subject}:{VERSION}"
        if self._store.has(Prepared, key):
            return self._store.get(Prepared, key)
        with ThreadPoolExecutor(_IN_FLIGHT) as pool:
            made = tuple(pool.map(lambda entry: self._file(*entry), files))
        tells, steering = _tells(text), find_steering(text) or None
        prepared = Prepared(subject=subject, version=VERSION, files=made, text=text, tells=tells, steering=steering)
        self._store.add(prepared)
        return prepared

    def _file(self, file: FileRef, name: BlindName, public_name: str | None) -> PreparedFile:
        ending = PurePosixPath(name.shown).suffix
        about = {"named_as_asked": name.named_as_asked, "public_name": public_name}
        if file.digest is None:
            gone = ("its bytes are not in this workspace",)
            return PreparedFile(kind="unknown", ending=ending, omitted=gone, **about)
        with insisting():
            for _ in range(_TRIES - 1):
                with suppress(LookNotFinished):
                    return self._looked_at(file.digest, ending).but(**about)
            return self._looked_at(file.digest, ending).but(**about)

    def _looked_at(self, digest: Digest, ending: str) -> PreparedFile:
        """One look at a file that was brought: one that is gone is `MissingBlob`, a fault of ours and not kept."""
        with tempfile.TemporaryDirectory(prefix="guildhall-prepare-") as inside:
            original = Path(inside) / f"file{ending}"
            self._blobs.copy_to(digest, original)
            return self.made_visible(original, Path(inside) / "out")

    def made_visible(self, original: Path, out: Path) -> PreparedFile:
        """Drawn, read and copied from the cleaned file where it can be cleaned, else from the file as it is."""
        out.mkdir()
        scrubbed = self._documents.scrub(original, out=out)
        clean = scrubbed.out[0] if scrubbed.outcome is LookOutcome.OK else None
        seen = clean or self._documents.freeze(original, out=out)
        copied = self._documents.copied(seen, out=out / "copy")
        read, text = self._documents.text(seen, copy=copied.out)
        checked = self._documents.check(seen)
        rendered = self._documents.renderer.render(seen)
        pages = tuple(
            ShownPage(image=self._blobs.put(page.image), width=page.width, height=page.height, label=page.label)
            for page in rendered.pages
        )
        layer = self._documents.layer(seen, rendered)
        return PreparedFile(
            kind=str(scrubbed.kind),
            ending=original.suffix,
            copied=self._blobs.put(copied.out) if copied.out else None,
            copied_as=copied.kind.value if copied.out else "",
            not_copied=copied.not_copied,
            scrubbed=self._blobs.put(clean) if clean else None,
            withheld=_left_out(scrubbed) if clean else f"the original, which cannot be cleaned: {scrubbed.reason}",
            pages=pages,
            text=self._blobs.put(text.encode()) if text else None,
            grid=self._grid(copied),
            layer=self._blobs.put(layer.canonical()) if layer.pages else None,
            words=len(text.split()),
            omitted=(*_unread(read), *(f"{gone.what} not shown: {gone.reason}" for gone in rendered.omitted)),
            findings=Counter(one.rule for one in checked.findings if one.rule not in NOTES) | find_steering(text),
            tells=_tells(text),
        )

    def _grid(self, copied: Copied) -> Digest | None:
        """A workbook's sheets as tables, read from our copy; None for other files, and where there is none."""
        grid = self._documents.grid(copied.out) if copied.kind is Kind.XLSX and copied.out else None
        return self._blobs.put(grid.canonical()) if grid is not None else None


def expert_subject(task: Task) -> Digest:
    """What a task's own expert files are kept under; its references are kept under the task's digest."""
    return sha256(f"expert:{task.content_digest()}".encode())


def asked_names(task: Task) -> set[str]:
    """The file names a brief states; its reference files are named in it too, and are not meant.

    People are told whether a file is named so, and simulated and baseline judges count by the same answer.
    """
    given = {folded_name(file.name) for file in task.reference_files}
    return {name for name in files_stated(task.brief) if folded_name(name) not in given}


def _tells(text: str) -> tuple[str, ...]:
    """The kinds of tells in words that graders see; habits of style alone are none."""
    return tuple(one.rule for one in find_tells(text) if one.severity is not Gravity.NOTE)


def missing_when_played(omitted: Sequence[str]) -> tuple[str, ...]:
    """What of a recording is still missing for whoever plays it: neither its film nor its sound."""
    return tuple(gone for gone in omitted if not gone.startswith(_IN_PICTURES_ONLY))


def _left_out(scrubbed: FileOutcome) -> str:
    """What a cleaned original lacks."""
    return "; ".join(one.words for one in scrubbed.findings if one.rule == "omitted")


def _unread(read: FileOutcome) -> tuple[str, ...]:
    return () if read.outcome is LookOutcome.OK else (f"no text: {read.reason}",)


def blinded_view(
    task: Task, references: Prepared, sides: Sequence[Prepared], *, originals: bool = False
) -> BlindedView:
    """What is shown for a comparison, `sides` in their stored order: A first; `originals` as the design says."""
    with_text = all(side.text.strip() for side in sides)
    return BlindedView(
        brief=task.brief,
        reference_files=tuple(
            shown_file(file, file.public_name or f"reference{file.ending}", originals=originals)
            for file in references.files
        ),
        sides=tuple(
            _side(chr(ord("A") + index), side, with_text=with_text, originals=originals)
            for index, side in enumerate(sides)
        ),
    )


def _side(place: str, prepared: Prepared, *, with_text: bool, originals: bool) -> BlindedSide:
    files = tuple(
        shown_file(file, f"{place}-{number}{file.ending}", originals=originals)
        for number, file in enumerate(prepared.files, 1)
    )
    shows_text = with_text or not files
    return BlindedSide(place=place, files=files, text=prepared.text if shows_text and prepared.text.strip() else None)


def shown_file(file: PreparedFile, name: str, *, originals: bool = False) -> BlindedFile:
    """A prepared file under the name it is shown by, with our copy of it.

    Where the study says so it goes with the original as it was cleaned; one that cannot be is withheld for our copy.
    """
    original = file.scrubbed if originals else None
    withheld = (file.withheld,) if originals and file.withheld else ()
    return BlindedFile(
        name=name,
        kind=file.kind,
        digest=original or file.copied,
        copied_as=file.kind if original else file.copied_as,
        not_copied=withheld if original else (*withheld, *file.not_copied),
        pages=file.pages,
        text=file.text,
        grid=file.grid,
        layer=file.layer,
        words=file.words,
        omitted=file.omitted,
        named_as_asked=file.named_as_asked,
    )


BATCH = 16
"""Submissions in one batch: they share one LibreOffice, which is slow to start, and a lost node costs little."""

Work = tuple[Submission, Task]


@dataclass(frozen=True)
class PreparingBatch:
    """References and submissions for one process: everything it needs to know, ready to be pickled."""

    workspace: Address
    tasks: tuple[Task, ...] = ()
    works: tuple[Work, ...] = ()


def prepare_all(
    works: Sequence[Work], *, workspace: Workspace, executor: Executor, heard: Callable[[int], None] | None = None
) -> int:
    """Prepare every submission and its task's references; how many parts of them cannot be shown.

    What was prepared before is found, not made again. `heard` is told how many are ready, batch by batch.
    """
    at, needs = workspace.at, Needs(offices=1)
    # References first and by themselves: submissions to one task would otherwise have several workers make them.
    references = [
        PreparingBatch(at, tasks=tuple(part)) for part in parts({task.key: task for _, task in works}.values(), BATCH)
    ]
    for prepared in executor.map(prepare_batch, references, needs=needs):
        prepared.result()
    ready = omissions = 0
    submissions = [PreparingBatch(at, works=tuple(part)) for part in parts(works, BATCH)]
    for ended in executor.map(prepare_batch, submissions, needs=needs):
        omissions += ended.result()
        ready += len(ended.argument.works)
        if heard is not None:
            heard(ready)
    return omissions


def prepare_batch(batch: PreparingBatch) -> int:
    """One batch, wherever it was dealt to; how many parts of its submissions cannot be shown."""
    omissions = 0
    with (
        Workspace.from_afar(batch.workspace) as workspace,
        documents(workspace.path / "cache", workers=1) as looking,
    ):
        preparer = Preparer(workspace, looking)
        for task in batch.tasks:
            preparer.references(task)
        for submission, task in batch.works:
            omissions += sum(len(file.omitted) for file in preparer.submission(submission, task).files)
    return omissions
