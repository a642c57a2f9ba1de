"""What graders are served does not tell which program wrote a file: documents, workbooks, slides, PDFs and pictures.

Two views of the same files are told apart. What is *visible* are the pages, small, and the words. *Structure* is all
else that is served: the copy with its keys, parts and coding, the kinds of chunk of each page's picture, the shape of
the words, the list of what is missing. A classifier learns on some documents and names the writers of others.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tests.documents import document_writers as writers
from tests.documents.workbook_writers import WRITERS as XLSX
from tests.documents.workbook_writers import by_exceljs, by_xlsxwriter, described

from guildhall.documents.looking import documents
from guildhall.domain.prepared import PreparedFile, TextLayer
from guildhall.judging.preparing import Preparer
from guildhall.store.workspace import Workspace
from proofs import Figures, proof

DOCUMENTS = int(os.environ.get("GUILDHALL_PROOF_DOCUMENTS", "16"))
"""Contents of each kind; every one is written by each program."""
KINDS = os.environ.get("GUILDHALL_PROOF_KINDS", "docx xlsx pptx pdf png").split()
"""Which kinds are looked at."""
_FOLDS = 5
_BUCKETS = 1 << 13
_PACKAGES = ("docx", "exceljs", "pptxgenjs", "pngjs")
_OVERRIDES = {"typedarray.prototype.slice": "^1.0.5"}
"""Of a dependency of exceljs, any version that is to be had."""
Files = dict[str, list[Path]]


@dataclass(frozen=True)
class Tools:
    """Programs from outside, put into a folder that is thrown away; `absent` says which are not here, and why."""

    modules: Path
    python: Path | None
    absent: dict[str, str]

    def node(self, package: str) -> bool:
        return package not in self.absent


@proof(
    "documents-provenance",
    "At least 60 documents of each kind (docx, xlsx, pptx, pdf, png), each content by at least four programs: from the "
    "structure of what graders are served by default a classifier, grouped by document, names the writer at most at "
    "chance + .10, and adds at most .03 to what it makes of what is visible; with originals on, the accuracy is told.",
    budget_s=7200,
)
def provenance() -> Figures:
    with tempfile.TemporaryDirectory(prefix="guildhall-provenance-") as name:
        folder = Path(name)
        tools = _tools(folder / "tools")
        figures: Figures = {"kinds": KINDS, "contents_a_kind": DOCUMENTS, "not_run_here": tools.absent}
        makers = {"docx": _docx, "xlsx": _xlsx, "pptx": _pptx, "pdf": _pdf, "png": _png}
        for kind in KINDS:
            make, place = makers[kind], folder / kind
            place.mkdir()
            files = make(place, tools)
            assert len(files) >= 4 and all(len(made) == DOCUMENTS for made in files.values()), (kind, list(files))
            figures[kind] = _told_apart(files, folder)
        wrong = {
            kind: found
            for kind, found in figures.items()
            if isinstance(found, dict) and "chance" in found and not _holds(kind, found)
        }
        assert not wrong, figures
    return figures


def _holds(kind: str, found: Figures) -> bool:
    # Two of the programs for pictures write the very same chunks: no classifier tells them apart.
    return bool(
        found["structure"] <= found["chance"] + 0.10
        and found["visible_and_structure"] - found["visible"] <= 0.03
        and found["bytes_as_made"] >= (0.75 if kind == "png" else 0.9)
    )


def _told_apart(files: Files, folder: Path) -> Figures:
    """Accuracies from each view of the same files."""
    views: dict[str, list[NDArray[np.float64]]] = {"structure": [], "visible": [], "originals": [], "bytes_as_made": []}
    entries = [(seed, label, path) for label, made in enumerate(files.values()) for seed, path in enumerate(made)]
    with (
        tempfile.TemporaryDirectory(dir=folder) as name,
        Workspace.create(Path(name) / "ws") as workspace,
        documents(Path(name) / "cache", workers=4) as look,
        ThreadPoolExecutor(8) as pool,
    ):
        preparer = Preparer(workspace, look)
        outs = [Path(name) / str(number) for number in range(len(entries))]
        prepared = list(pool.map(lambda entry, out: preparer.made_visible(entry[2], out), entries, outs))
        for (_, _, path), one in zip(entries, prepared, strict=True):
            views["structure"].append(_hashed(structure(one, workspace)))
            views["visible"].append(_visible(one, workspace))
            views["originals"].append(_hashed(_as_handed(one.scrubbed, workspace)))
            views["bytes_as_made"].append(_hashed(_parts(path.read_bytes())))
        copies = len({one.copied for one in prepared})
        withheld = sum(one.scrubbed is None for one in prepared)
    seeds, labels = (np.array(column) for column in list(zip(*entries, strict=True))[:2])
    both = [np.hstack(pair) for pair in zip(views["visible"], views["structure"], strict=True)]
    found = {name: _accuracy(np.stack(rows), seeds, labels) for name, rows in (views | {"both": both}).items()}
    return {
        "documents": len(entries),
        "programs": list(files),
        "chance": round(1 / len(files), 3),
        "structure": found["structure"],
        "visible": found["visible"],
        "visible_and_structure": found["both"],
        "structure_with_originals_on": found["originals"],
        "bytes_as_made": found["bytes_as_made"],
        "copies_that_differ": copies,
        "originals_withheld": withheld,
    }


def structure(file: PreparedFile, workspace: Workspace) -> dict[str, bytes]:
    """Everything served but what is seen: numbers, names of pages and letters are masked."""
    served = file.but(pages=(), copied=None, scrubbed=None, text=None, grid=None, layer=None, findings={}, words=0)
    listed = served.model_dump_json(exclude={"withheld", "tells"})
    made = {"listed": re.sub(r"\d+", "0", listed).encode()}
    if file.text:
        words = workspace.blobs.read(file.text).decode()
        made["words"] = _masked_words(words)
    if file.layer and file.kind == "pdf":  # of other kinds it is read off pages that our renderer laid out
        layer = TextLayer.model_validate_json(workspace.blobs.read(file.layer))
        made["layer"] = _masked_words(" ".join(piece.text for page in layer.pages.values() for piece in page))
    if file.grid:
        grid = json.loads(workspace.blobs.read(file.grid))
        made["grid"] = re.sub(r"\d+", "0", json.dumps(grid, sort_keys=True)).encode()
    for page in file.pages:
        made["page.png"] = made.get("page.png", b"") + _chunks(workspace.blobs.read(page.image))
    if file.copied:
        made |= _parts(workspace.blobs.read(file.copied), seen=False)
    return made


def _masked_words(words: str) -> bytes:
    return re.sub(r"\s+", " ", re.sub(r"\w+", "w", words)).encode()


def _as_handed(digest: str | None, workspace: Workspace) -> dict[str, bytes]:
    return _parts(workspace.blobs.read(digest)) if digest else {"withheld": b"withheld"}


def _parts(data: bytes, *, seen: bool = True) -> dict[str, bytes]:
    """A file as named pieces; what is drawn and said is left out where it is counted as seen."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listing = [f"{one.filename}:{one.compress_type}:{one.date_time}" for one in archive.infolist()]
            return {name: archive.read(name) for name in archive.namelist()} | {"parts": " ".join(listing).encode()}
    if data.startswith(b"%PDF"):
        hollow = re.sub(rb"stream\r?\n.*?endstream", b"stream", data, flags=re.DOTALL)
        return {"pdf": hollow if seen else _masked(hollow)}
    if data.startswith(b"\x89PNG"):
        return {"png": _chunks(data)}
    return {"bytes": data}


def _masked(pdf: bytes) -> bytes:
    """A PDF's kinds of lines; how many pages and letters there are, and whether they have colours, is seen."""
    plain = re.sub(rb"\d+", b"0", re.sub(rb"<[0-9A-Fa-f\s]+>", b"<>", pdf))
    plain = re.sub(rb"((?:/g|0 0 R|0|/F0|/g0) ?)\1+", rb"\1", plain.replace(b"DeviceGray", b"DeviceRGB"))
    return b"\n".join(dict.fromkeys(plain.splitlines()))


def _chunks(data: bytes) -> bytes:
    """The chunks of a PNG by name, with what the first says of the coding; sizes, colours and pixels are seen."""
    names, at = [data[24:25], data[26:29]], 8
    while at + 8 <= len(data):
        name = data[at + 4 : at + 8]
        names += [name] if not names or names[-1] != name else []
        at += 12 + int.from_bytes(data[at : at + 4], "big")
    return b" ".join(names)


def _hashed(parts: dict[str, bytes]) -> NDArray[np.float64]:
    """Hashed shares of byte 5-grams, of tags with their attributes' names, and of the parts themselves."""
    made = np.zeros(_BUCKETS)
    for name, data in parts.items():
        family = re.sub(r"\d+", "", name).encode()
        octets = np.frombuffer(data[:60_000], dtype=np.uint8).astype(np.uint64)
        grams = sum(octets[at : max(len(octets) - 4 + at, at)] * np.uint64(257**at) for at in range(5))
        np.add.at(
            made, ((grams + zlib.crc32(family)) * np.uint64(2654435761) >> np.uint64(13)) % np.uint64(_BUCKETS), 1
        )
        for tag in re.findall(rb"<[^>]{1,300}>", data[:200_000]):
            made[zlib.crc32(b"tag" + re.sub(rb'"[^"]*"', b"", tag)) % _BUCKETS] += 1
        made[zlib.crc32(b"part" + family) % _BUCKETS] += 1
    root: NDArray[np.float64] = np.sqrt(made / max(made.sum(), 1))
    return root


def _visible(file: PreparedFile, workspace: Workspace) -> NDArray[np.float64]:
    """The first pages, small and grey, their sizes, and how many there are."""
    small = np.zeros((3, 44, 34))
    sizes = np.zeros(7)
    sizes[6] = len(file.pages)
    for at, page in enumerate(file.pages[:3]):
        with Image.open(workspace.blobs.path(page.image)) as picture:
            small[at] = np.asarray(picture.convert("L").resize((34, 44), Image.Resampling.BOX)) / 255
        sizes[2 * at : 2 * at + 2] = page.width / 1000, page.height / 1000
    return np.concatenate([small.ravel(), sizes])


def _accuracy(matrix: NDArray[np.float64], seeds: NDArray[np.int_], labels: NDArray[np.int_]) -> float:
    """Ridge regression, tested on documents it has not seen; a tie counts for each its share."""
    hits = 0.0
    classes = int(labels.max()) + 1
    for fold in range(_FOLDS):
        test = seeds % _FOLDS == fold
        known, unknown = matrix[~test], matrix[test]
        middle, spread = known.mean(axis=0), known.std(axis=0) + 1e-4
        known, unknown = (known - middle) / spread, (unknown - middle) / spread
        wanted = np.eye(classes)[labels[~test]] - 1 / classes
        kernel = known @ known.T
        weights = np.linalg.solve(kernel + (np.trace(kernel) / len(kernel) * 0.1 + 1e-9) * np.eye(len(kernel)), wanted)
        said = (unknown @ known.T @ weights).round(9)
        best = said == said.max(axis=1, keepdims=True)
        hits += float((best[np.arange(len(best)), labels[test]] / best.sum(axis=1)).sum())
    return round(hits / len(labels), 3)


def _tools(folder: Path) -> Tools:
    """npm's packages and a Python with reportlab and Cairo, each from its own registry."""
    absent: dict[str, str] = {}
    for package in _PACKAGES:
        if shutil.which("npm") is None or shutil.which("node") is None:
            absent[package] = "not run here: no npm"
            continue
        place = folder / package
        place.mkdir(parents=True)
        (place / "package.json").write_text(json.dumps({"name": "proof", "overrides": _OVERRIDES}))
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", package]
        if subprocess.run(command, cwd=place, capture_output=True, timeout=300).returncode:
            absent[package] = "not run here: npm does not give it out"
    python = folder / "python"
    uv = str(Path(sys.executable).with_name("uv"))
    made = subprocess.run([uv, "venv", "-q", str(python)], capture_output=True, timeout=300).returncode == 0
    wanted = [uv, "pip", "install", "-q", "--python", str(python), "reportlab", "cairocffi"]
    if not made or subprocess.run(wanted, capture_output=True, timeout=300).returncode:
        absent |= dict.fromkeys(("reportlab", "Cairo"), "not run here: not to be installed")
    return Tools(folder, None if "reportlab" in absent else python / "bin" / "python", absent)


def _many(folder: Path, program: str, ending: str) -> list[Path]:
    place = folder / program.replace(" ", "-")
    place.mkdir()
    return [place / f"{seed}.{ending}" for seed in range(DOCUMENTS)]


def _stories() -> Iterator[tuple[int, writers.Told]]:
    return ((seed, writers.told(seed)) for seed in range(DOCUMENTS))


def _by_libreoffice(folder: Path, sources: Sequence[Path], ending: str, *filters: str) -> list[Path]:
    place = folder / "LibreOffice"
    place.mkdir()
    writers.by_libreoffice(sources, place, ending, *filters)
    return [place / f"{path.stem}.{ending.partition(':')[0]}" for path in sources]


def _web_pages(folder: Path) -> list[Path]:
    sources = _many(folder, "pages", "html")
    for source, (_, story) in zip(sources, _stories(), strict=True):
        source.write_text(writers.page(story))
    return sources


def _docx(folder: Path, tools: Tools) -> Files:
    made = {program: _many(folder, program, "docx") for program in writers.DOCX}
    for program, write in writers.DOCX.items():
        for path, (_, story) in zip(made[program], _stories(), strict=True):
            path.write_bytes(write(story))
    as_document = "--infilter=HTML (StarWriter)"
    made["LibreOffice"] = _by_libreoffice(folder, _web_pages(folder), "docx:MS Word 2007 XML", as_document)
    if tools.node("docx"):
        made["docx of npm"] = _many(folder, "npm", "docx")
        jobs = [writers.job(story, path) for path, (_, story) in zip(made["docx of npm"], _stories(), strict=True)]
        writers.by_node("docx", jobs, tools.modules / "docx" / "node_modules")
    return made


def _xlsx(folder: Path, tools: Tools) -> Files:
    books = [described(seed) for seed in range(DOCUMENTS)]
    made = {program: _many(folder, program, "xlsx") for program in XLSX}
    for program, write in XLSX.items():
        for path, book in zip(made[program], books, strict=True):
            path.write_bytes(write(book))
    sources = _many(folder, "for-libreoffice", "xlsx")
    for path, book in zip(sources, books, strict=True):
        path.write_bytes(by_xlsxwriter(book))
    made["LibreOffice"] = _by_libreoffice(folder, sources, "xlsx")
    if tools.node("exceljs"):
        made["exceljs"] = _many(folder, "npm", "xlsx")
        by_exceljs(dict(zip(made["exceljs"], books, strict=True)), tools.modules / "exceljs" / "node_modules")
    return made


def _pptx(folder: Path, tools: Tools) -> Files:
    made = {program: _many(folder, program, "pptx") for program in writers.PPTX}
    for program, write in writers.PPTX.items():
        for path, (_, story) in zip(made[program], _stories(), strict=True):
            path.write_bytes(write(story))
    made["LibreOffice"] = _by_libreoffice(folder, made["python-pptx"], "pptx")
    if tools.node("pptxgenjs"):
        made["pptxgenjs"] = _many(folder, "npm", "pptx")
        jobs = [writers.job(story, path) for path, (_, story) in zip(made["pptxgenjs"], _stories(), strict=True)]
        writers.by_node("pptxgenjs", jobs, tools.modules / "pptxgenjs" / "node_modules")
    return made


def _pdf(folder: Path, tools: Tools) -> Files:
    pages = _web_pages(folder)
    made = {"Chromium": _many(folder, "Chromium", "pdf")}
    for source, path in zip(pages, made["Chromium"], strict=True):
        writers.by_chromium(source, path)
    made["LibreOffice"] = _by_libreoffice(folder, pages, "pdf:writer_pdf_Export", "--infilter=HTML (StarWriter)")
    made["pdftocairo"] = _many(folder, "pdftocairo", "pdf")
    for source, path in zip(made["LibreOffice"], made["pdftocairo"], strict=True):
        subprocess.run(["pdftocairo", "-pdf", source, path], check=True, capture_output=True, timeout=60)
    if tools.python:
        made |= {program: _many(folder, program, "pdf") for program in ("reportlab", "Cairo")}
        jobs = [
            writers.job(story, made[program][seed], program) for program in ("reportlab", "Cairo")
            for seed, story in _stories()
        ]  # fmt: skip
        writers.by_other_python(jobs, tools.python)
    return made


def _png(folder: Path, tools: Tools) -> Files:
    made = {program: _many(folder, program, "png") for program in writers.PNG}
    pictures = [writers.picture(seed) for seed in range(DOCUMENTS)]
    for program, write in writers.PNG.items():
        for path, image in zip(made[program], pictures, strict=True):
            path.write_bytes(write(image))
    jobs = []
    for raw, image in zip(_many(folder, "pixels", "raw"), pictures, strict=True):
        raw.write_bytes(image.tobytes())
        jobs.append({"raw": str(raw), "width": image.width, "height": image.height, "story": {}, "program": ""})
    others = {"pngjs": tools.node("pngjs"), "Cairo": tools.python is not None}
    for program in [program for program, here in others.items() if here]:
        made[program] = _many(folder, program, "png")
        asked = [job | {"out": str(path)} for job, path in zip(jobs, made[program], strict=True)]
        if program == "pngjs":
            writers.by_node("pngjs", asked, tools.modules / "pngjs" / "node_modules")
        elif tools.python:
            writers.by_other_python(asked, tools.python)
    return made
