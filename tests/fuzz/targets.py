"""Every parser of outside data, with sound inputs to begin from and the errors it may refuse with."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from guildhall.errors import GuildhallError
from tests.fuzz.asgi import call
from tests.fuzz.hammering import Target

Read = Callable[[bytes], object]
SAMPLE = files("guildhall.taskbank") / "sample"
REFUSES = (GuildhallError,)
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}")
_CONTROL = re.compile(rb"[\x00-\x20\x7f]")


def target_named(name: str) -> Target:
    return TARGETS[name]


def _of_text(read: Callable[[str], object]) -> Callable[[Path], Read]:
    return lambda _folder: lambda data: read(data.decode("utf-8", "replace"))


def _of_file(name: str, read: Callable[[Path], object]) -> Callable[[Path], Read]:
    """A reader of files: each case is written over the last, under a name of the kind."""

    def opened(folder: Path) -> Read:
        place = folder / name

        def read_bytes(data: bytes) -> object:
            place.write_bytes(data)
            return read(place)

        return read_bytes

    return opened


def _samples(*suffixes: str) -> list[bytes]:
    """Files of the shipped bank, the small ones: large seeds make slow rounds."""
    with _sample_folder() as folder:
        found = [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes and path.is_file()]
        return [path.read_bytes() for path in found if path.stat().st_size < 200_000][:8]


@contextmanager
def _sample_folder() -> Iterator[Path]:
    from importlib.resources import as_file

    with as_file(SAMPLE) as folder:
        yield folder


def _replies() -> list[bytes]:
    return [
        b"The work is careful.\n\nVERDICT[A]",
        b"Both are poor.\nVERDICT[TIE]",
        b"RANKING[C>A=B>D]",
        b'{"reason": "clear", "criteria": {}, "verdict": "B"}',
        b'1. MET "the total is 4,210"\n2. NOT MET\n3. MET "as asked"',
        b"## Grade: B+\nA fine essay overall.",
        b"**Overall grade: A-/B+**\n| Clarity | A |\n| Depth | B |",
        b"I would not give a grade to this; N/A.",
        b"Done.\nCONFIDENCE[92]",
    ]


def _read_reply(text: str) -> None:
    from guildhall.domain.submissions import Usage
    from guildhall.domain.tasks import RubricItem
    from guildhall.engine.calls import Reply
    from guildhall.errors import UnreadableVerdict
    from guildhall.judging.rubrics import read_items, read_pick
    from guildhall.judging.verdicts import read_verdict

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    try:
        reply = Reply.model_validate(
            {"call": "0" * 64, "text": text, "data": data, "usage": Usage(), "made_at": "2026-01-01T00:00:00Z"}
        )
    except ValueError:  # not a text a provider's client would hand on
        return
    items = [(number, RubricItem(points=2, text="Names the total")) for number in (1, 2, 3)]
    for verdict in read_items(reply, items, shown_text="the total is 4,210"):
        assert verdict.failure or verdict.outcome is not None
    for places, by_schema in ((2, False), (2, True), (4, False)):
        try:
            assert len(read_verdict(reply, places=places, by_schema=by_schema).ranks) == places
        except UnreadableVerdict:
            continue
    try:
        assert 0 <= read_pick(text, 4) < 4
    except UnreadableVerdict:
        return


def _read_grade(text: str) -> None:
    from guildhall.peer.reader import read_grade
    from guildhall.sampling.elicitation import read_confidence

    found = read_grade(text)
    assert (found.grade is None) == (found.span is None), "a grade is read from a place, or there is none"
    stated = read_confidence(text).confidence
    assert stated is None or 0 <= stated <= 100


def _read_rubric(text: str) -> None:
    from guildhall.taskbank.rubrics import RubricFault, rubric_from_json, rubric_from_paragraphs

    for read in (rubric_from_paragraphs, rubric_from_json):
        try:
            assert read(text).items
        except RubricFault:
            continue


def _rubric_seeds() -> list[bytes]:
    items = [
        {"score": 2, "criterion": "Names the total", "tags": ["x"]},
        {"score": -10, "criterion": "Invents a figure"},
    ]
    return [b"[+2] Names the total\n\n[+-10] Invents a figure\nat length\n", json.dumps(items).encode()]


def _rows_as_jsonl() -> list[bytes]:
    row = {
        "task_id": "t-1",
        "sector": "Government",
        "occupation": "Compliance Officers",
        "prompt": "Write a memo.",
        "reference_files": ["reference_files/0a/ledger.xlsx"],
        "reference_file_urls": ["https://example.invalid/ledger%20one.xlsx"],
        "reference_file_hf_uris": [],
        "deliverable_files": [],
        "rubric_pretty": "[+2] Names the total\n\n[+-10] Invents a figure",
        "rubric_json": _rubric_seeds()[1].decode(),
    }
    bare = {name: row[name] for name in ("task_id", "sector", "occupation", "prompt", "reference_files")}
    return [json.dumps(one).encode() + b"\n" for one in (row, bare)]


def _rows_as_parquet() -> list[bytes]:
    import polars as pl

    rows = [json.loads(line) for line in _rows_as_jsonl()[:1]]
    out = io.BytesIO()
    pl.DataFrame(rows, strict=False).write_parquet(out, compression="uncompressed")
    return [out.getvalue()]


def _import(path: Path) -> None:
    from guildhall.taskbank.importing import read_source

    assert read_source(path).tasks


def _task_folder(folder: Path) -> Read:
    from guildhall.taskbank.importing import read_source

    with _sample_folder() as bank:
        one = min(path for path in bank.iterdir() if (path / "task.toml").exists())
        shutil.copytree(one, folder / "task")

    def read(data: bytes) -> None:
        (folder / "task" / "task.toml").write_bytes(data)
        assert read_source(folder / "task").tasks

    return read


def _study(path: Path) -> None:
    from guildhall.study.file import read_study

    read_study(path)


def _study_seeds() -> list[bytes]:
    return [files("guildhall.study").joinpath("demo.toml").read_bytes()]


def _bundle(path: Path) -> None:
    from guildhall.store.bundles import check_bundle

    check_bundle(path)


def _bundle_seeds() -> list[bytes]:
    import tempfile

    from guildhall.store.bundles import export_bundle
    from guildhall.store.workspace import Workspace
    from guildhall.taskbank.importing import import_tasks, read_source

    with tempfile.TemporaryDirectory() as scratch, _sample_folder() as bank:
        small = min(path for path in bank.iterdir() if (path / "task.toml").exists())
        with Workspace.create(Path(scratch) / "w") as workspace:
            import_tasks(workspace, read_source(small))
            export_bundle(workspace.store, workspace.blobs, Path(scratch) / "bundle")
        return [(Path(scratch) / "bundle").read_bytes()[:300_000]]


def _votes(path: Path) -> None:
    from guildhall.analysis.files import read_table

    read_table(path, required=("task", "model", "score"), optional=("grader",))


def _vote_lines() -> list[bytes]:
    rows = [("t1", "m1", "1", "g1"), ("t2", "m1", "0.5", "g2"), ("t3", "m2", "0", "g1")]
    csv = "task,model,score,grader\n" + "".join(",".join(row) + "\n" for row in rows)
    return [csv.encode(), csv.replace(",", '","').replace("\n", '"\n').encode()]


def _public_run(path: Path) -> None:
    from guildhall.peer.loading import read_public_run

    read_public_run(path)


def _public_runs() -> list[bytes]:
    cell = {"feedback": "Grade: B+", "grade": "B+", "numeric_grade": 3.3, "cost_info": {"input_tokens": 5}}
    run = {
        "run_timestamp": "2025-03-01 12:00:00",
        "domain": {"name": "Ethics"},
        "essays": {"one": "An essay.", "two": "Another essay."},
        "grades": {"one": {"two": cell}, "two": {"one": cell}},
        "boswell_quotient": {},
        "cost": {"essay_costs": {"one": {"total_cost": 0.1}}},
        "timing": {"model_timing": {"essay": {"one": 3.5}, "grading": {"one": {"two": 1.5}}}},
    }
    return [json.dumps(run).encode()]


def _document(name: str) -> Callable[[Path], Read]:
    """Detection, extraction and scrubbing as the confined worker does them: it turns any exception into a refusal."""

    def opened(folder: Path) -> Read:
        from guildhall.documents.detection import detect
        from guildhall.documents.inside import read, scrub

        place, out = folder / name, folder / "out"
        out.mkdir(exist_ok=True)

        def look(data: bytes) -> None:
            place.write_bytes(data)
            kind = str(detect(place).kind)
            for work in (lambda: read(place, out, kind=kind), lambda: scrub(place, out, kind=kind, shown=name)):
                try:
                    work()
                except Exception:  # noqa: BLE001 - any exception is a refusal there; crashes and hangs are not
                    continue

        return look

    return opened


def _upload(folder: Path) -> Read:
    from guildhall.documents.unpacking import UploadLimits, unpack

    numbers = itertools.count()

    def send(data: bytes) -> None:
        target = folder / f"in-{next(numbers)}" / "room"
        target.mkdir(parents=True)
        try:
            unpack(io.BytesIO(data), target, UploadLimits(most_files=50, most_bytes=1 << 20))
            assert sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) <= 1 << 20
        finally:
            assert [path.name for path in target.parent.iterdir()] == ["room"], "something was written beside its room"
            assert not any(path.is_symlink() for path in target.rglob("*"))
            shutil.rmtree(target.parent)

    return send


def _packages() -> list[bytes]:
    from tests.web.packages import GOOD, linked, package, understated

    return [package(GOOD), linked("task-0/link", "/etc/passwd"), understated("task-0/a", 5000), package({"../up": "x"})]


def _links(folder: Path) -> Read:
    """Signed links: whatever is done to one, only what was signed comes out of it."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.site import Addresses, Site

    workspace = Workspace.create(folder / "workspace")
    site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
    signed = [("seat-1", "A.0.original"), ("seat-2", "R.1.page.3")]
    tokens = [site.signer.dumps(list(one)).encode() for one in signed]

    def follow(data: bytes) -> None:
        # The seeds cannot be known before the key is: a case picks one of today's tokens and damages it alike.
        token = tokens[len(data) % 2]
        damaged = bytes(byte ^ mask for byte, mask in itertools.zip_longest(token, data[: len(token)], fillvalue=0))
        for candidate in (damaged, data, token + data, token[: len(data)]):
            found = site.read_link(candidate.decode("latin-1"))
            assert found is None or (found in signed and candidate.startswith(token[:-2])), "a forged link was followed"

    return follow


def _requests(folder: Path) -> Read:
    """Whole requests to the web app, its API included, as a server hands them on: none may end in a server error."""
    from guildhall.store.workspace import Workspace
    from guildhall.web.app import create_app
    from guildhall.web.site import Addresses, Site

    workspace = Workspace.create(folder / "workspace")
    app = create_app(Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2")))

    def send(data: bytes) -> None:
        head, _, body = data.partition(b"\n\n")
        first, *lines = head.split(b"\n")
        method, _, target = first.partition(b" ")
        named = [line.partition(b": ") for line in lines]
        # What is no header or no address never gets past a server.
        headers = [(name.lower(), value.strip()) for name, _, value in named if _TOKEN.fullmatch(name)]
        headers = [(name, value) for name, value in headers if not _CONTROL.search(value)]
        if not _TOKEN.fullmatch(method) or _CONTROL.search(target) or not target.isascii():
            return
        status = call(app, method.decode().upper(), b"/" + target.lstrip(b"/"), headers, body)
        assert status < 500, f"{status} for {first[:100]!r}"

    return send


def _request_seeds() -> list[bytes]:
    form = b"Content-Type: application/x-www-form-urlencoded\nOrigin: http://localhost:1\n\n"
    return [
        b"GET /\n\n",
        b"GET /sign-in?next=/work\n\n",
        b"POST /sign-in\n" + form + b"email=a%40b.example&next=%2F",
        b"GET /sets/s-1\nCookie: session=abc\n\n",
        b"POST /sets/s-1/draft\n" + form + b"answer=1",
        b"GET /api/v1/studies?limit=5\nAuthorization: Bearer abc\n\n",
        b'POST /api/v1/gradings?name=m\nAuthorization: Bearer abc\nContent-Type: application/json\n\n{"a": [1]}',
        b"GET /static/hall.css\nRange: bytes=0-4\nIf-None-Match: x\n\n",
        b"GET /results/none\nAccept-Language: de\n\n",
        b"GET /invitations/abc\n\n",
    ]


def _conditions() -> list[bytes]:
    return [b"win_or_tie(model-a) drops by more than 0.05", b"certainly half_tie < -0.03", b"possibly win >= 0.1"]


def _reply_rows(path: Path) -> None:
    from guildhall.peer.loading import readings

    for row in readings(path):
        assert row["grade"]


def _service_grades(path: Path) -> None:
    from guildhall.sampling.package import read_grades

    for grade in read_grades(path):
        assert set(grade.scores) <= {0, 0.5, 1}


def _service_rows() -> list[bytes]:
    rows = [{"task_id": "t-1", "scores": [1, 0.5], "num_grades": 2, "avg_score": 0.75, "error": None}]
    return [b"".join(json.dumps(row).encode() + b"\n" for row in rows)]


def _reply_lines() -> list[bytes]:
    return [b"".join(json.dumps({"id": 1, "text": text.decode()}).encode() + b"\n" for text in _replies())]


def _condition(text: str) -> None:
    from guildhall.study.comparing import parse_condition

    assert abs(parse_condition(text).limit) <= 1


def _target(
    name: str,
    opened: Callable[[Path], Read],
    seeds: Callable[[], Sequence[bytes]],
    *,
    words: Sequence[bytes] = (),
) -> Target:
    return Target(name, opened, seeds, REFUSES, words)


GRADE_WORDS = (b"A+", b"B-", b"N/A", b"Grade:", b"**", b"| ", b"/", b"overall", b"\n\n", b"CONFIDENCE[101]")
VERDICT_WORDS = (b"VERDICT[", b"RANKING[", b"A>B", b"=", b"]", b'"verdict"', b"MET", b"1.")
TARGETS = {
    one.name: one
    for one in (
        _target("grade readings", _of_text(_read_grade), _replies, words=GRADE_WORDS),
        _target("verdicts", _of_text(_read_reply), _replies, words=VERDICT_WORDS),
        _target("rubrics", _of_text(_read_rubric), _rubric_seeds, words=(b"[+", b"[+-", b"]", b'"score"', b"null")),
        _target("task rows", _of_file("rows.jsonl", _import), _rows_as_jsonl, words=(b'"', b"null", b"[]", b"{}")),
        _target("parquet rows", _of_file("rows.parquet", _import), _rows_as_parquet),
        _target("task folders", _task_folder, lambda: _samples(".toml"), words=(b"=", b'"', b"[", b"inf", b"nan")),
        _target("study files", _of_file("study.toml", _study), _study_seeds, words=(b"=", b'"', b"[[", b"inf", b"-1")),
        _target("bundles", _of_file("bundle", _bundle), _bundle_seeds),
        _target("vote tables", _of_file("votes.csv", _votes), _vote_lines, words=(b",", b'"', b"\n", b"0.5", b"nan")),
        _target("reply tables", _of_file("replies.jsonl", _reply_rows), _reply_lines, words=(b'"', b"{", b"\n")),
        _target("service grades", _of_file("grades.jsonl", _service_grades), _service_rows, words=(b"1e999", b"null")),
        _target("public runs", _of_file("full_results.json", _public_run), _public_runs, words=(b"{", b"null", b'"')),
        _target("word files", _document("a.docx"), lambda: _samples(".docx")),
        _target("workbooks", _document("a.xlsx"), lambda: _samples(".xlsx")),
        _target("slides", _document("a.pptx"), lambda: _samples(".pptx", ".docx")),
        _target("pdf files", _document("a.pdf"), lambda: _samples(".pdf"), words=(b"obj", b"endobj", b"stream", b"<<")),
        _target("uploads", _upload, _packages),
        _target("signed links", _links, lambda: [b"\x01", b"\x00" * 40 + b"\x01", b"a.b.c", b"=" * 8]),
        _target("requests", _requests, _request_seeds, words=(b"%00", b"..", b"//", b"POST ", b"Cookie: ", b"HEAD ")),
        _target("gate conditions", _of_text(_condition), _conditions, words=(b"(", b")", b"win", b"1e9", b" ")),
    )
}
