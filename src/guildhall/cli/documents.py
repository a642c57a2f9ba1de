"""`guildhall documents`: look at any files, with no workspace; each file ends in one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json_line, note
from guildhall.cli.workspace import JsonOption
from guildhall.documents.values import FileOutcome, Gravity, LookOutcome

if TYPE_CHECKING:
    from guildhall.documents.looking import Documents

app = typer.Typer(no_args_is_help=True, help="See what was delivered, and hide who made it.")

PathsArgument = Annotated[list[Path], typer.Argument(help="Files, or folders to look through.", show_default=False)]
OutOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads this at run time
    typer.Option("--out", help="Keep what is made in this folder, one folder a file.", show_default=False),
]
_COLOURS = {Gravity.MAJOR: "red", Gravity.MINOR: "yellow", Gravity.NOTE: None}


@app.command()
def show(paths: PathsArgument, json: JsonOption = False) -> None:
    """Say what each file really is, by its content, and what is odd about it."""
    with _documents() as look:
        _tell(map(look.show, _files(paths)), json=json)


@app.command()
def text(paths: PathsArgument, out: OutOption = None, json: JsonOption = False) -> None:
    """Read the words of each file with their structure: headings, tables, notes, comments, formulas."""
    from guildhall.documents.looking import each, named_folders

    files = _files(paths)
    folders = named_folders(files, out) if out else {}
    with _documents() as look:
        if out:
            _tell(each(files, lambda file: look.text(file, out=folders[file])[0]), json=json)
            return
        for file in files:
            outcome, words = look.text(file)
            if json:
                as_json_line({**outcome.model_dump(mode="json"), "text": words})
            else:
                typer.echo(words)
                _tell([outcome], json=False, err=True)


@app.command()
def render(paths: PathsArgument, out: OutOption = None, json: JsonOption = False) -> None:
    """Draw every page of each file as a picture; what cannot be shown is counted, with the reason."""
    _in_folders(paths, out, json=json, wish="render")


@app.command()
def check(
    paths: PathsArgument,
    out: OutOption = None,
    page_limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, help="The most pages or slides the brief allows.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find what a careful reader would stumble over: cut text, blank pages, missing glyphs, pale print."""
    _in_folders(paths, out, json=json, wish="check", page_limit=page_limit)


@app.command()
def scrub(
    paths: PathsArgument,
    out: Annotated[Path, typer.Option("--out", help="The folder for the scrubbed copies.")] = Path("scrubbed"),
    side: Annotated[str, typer.Option(help="The letter the copies are named by: A-1.docx, A-2.xlsx, ...")] = "A",
    json: JsonOption = False,
) -> None:
    """Copy each file without its makers' traces, under a name that tells nothing."""
    from guildhall.documents.looking import each, neutral_names

    files = _files(paths)
    names = neutral_names(files, side=side)
    with _documents() as look:
        _tell(each(files, lambda file: look.cleaned(file, out=out, shown=names[file])), json=json)


@app.command()
def tells(
    paths: PathsArgument,
    name: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--name", help="A name to look for besides, such as an author's.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find what in the visible words may still say who made a file; nothing is altered."""
    from guildhall.documents.looking import each

    with _documents() as look:
        _tell(each(_files(paths), lambda file: look.tells(file, identities=name or ())), json=json)


def _in_folders(paths: list[Path], out: Path | None, *, json: bool, wish: str, **options: object) -> None:
    from guildhall.documents.looking import each, named_folders

    files = _files(paths)
    folders = named_folders(files, out) if out else {}
    with _documents() as look:
        method: Callable[..., FileOutcome] = getattr(look, wish)
        _tell(each(files, lambda file: method(file, out=folders.get(file), **options)), json=json)


def _documents() -> AbstractContextManager[Documents]:
    from guildhall.documents.looking import documents

    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return documents(Path(home, "guildhall", "rendered"))


def _files(paths: list[Path]) -> list[Path]:
    from guildhall.documents.looking import files_below

    return list(files_below(paths))


def _tell(outcomes: Iterable[FileOutcome], *, json: bool, err: bool = False) -> None:
    """One line a file; for people the findings below it, and how many files could not be served."""
    omitted = 0
    for outcome in outcomes:
        omitted += outcome.outcome is LookOutcome.OMITTED
        if json:
            as_json_line(outcome)
        else:
            for line, colour in _lines(outcome):
                typer.secho(line, fg=colour, err=err)
    if omitted:
        note(f"{omitted} not done; the reasons are above" if not json else f"{omitted} not done")


def _lines(outcome: FileOutcome) -> Iterator[tuple[str, str | None]]:
    pages = f", {outcome.pages} page{'s' if outcome.pages > 1 else ''}" if outcome.pages else ""
    if outcome.outcome is LookOutcome.OK:
        yield f"{outcome.file}: {outcome.kind.value}{pages}", "green"
    else:
        yield f"{outcome.file}: {outcome.kind.value}, omitted: {outcome.reason}", "red"
    for finding in outcome.findings:
        place = f"page {finding.page}: " if finding.page else ""
        yield f"  {finding.severity.value}: {place}{finding.words} [{finding.rule}]", _COLOURS[finding.severity]
    for path in outcome.out:
        yield f"  {path}", None
