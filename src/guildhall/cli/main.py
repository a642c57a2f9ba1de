"""`guildhall`: finds the command, loads only its module, and turns our errors into one clear line.

Exit codes: 0 done; 1 unexpected fault; 2 wrong input or usage; 3 workspace; 4 missing tool; 5 sandbox;
6 model provider; 7 not enough data; 8 a check or gate did not hold; 31 to 36 database: away, full, no connection
left, refused, empty, of another version; 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from guildhall.errors import GuildhallError

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("guildhall.cli.workspace:init", "Make a workspace, or upgrade one."),
    "doctor": ("guildhall.cli.doctor:doctor", "Say what this machine can and cannot do, and how to fix it."),
    "demo": ("guildhall.cli.demo:demo", "Tour the whole pipeline offline, on the sample bank."),
    "study": ("guildhall.cli.study:app", "The whole job from one study file: planned, run, resumed."),
    "tasks": ("guildhall.cli.tasks:app", "Bring tasks in, look at them, check one's own, take them out again."),
    "review": ("guildhall.cli.review:app", "From an author's draft, through three stages of review, into the bank."),
    "peer": ("guildhall.cli.peer:app", "The Boswell Test: models write essays and mark each other's."),
    "documents": ("guildhall.cli.documents:app", "See what was delivered, and hide who made it: any files."),
    "sample": ("guildhall.cli.sample:app", "Models do tasks in a sandbox, and everything they made is kept."),
    "grade": ("guildhall.cli.grade:app", "Automatic graders: comparisons, rubrics, and how far to trust them."),
    "submit": ("guildhall.cli.submit:app", "The package the public grading service takes, and its grades."),
    "sandbox": ("guildhall.cli.sandbox:app", "The confined place in which agents work: build it, check it."),
    "people": ("guildhall.cli.people:app", "Who may come in, under which code name, and how to forget them."),
    "serve": ("guildhall.cli.serve:serve", "Serve the web app on this machine."),
    "worker": ("guildhall.cli.serve:worker", "Background work of the web app: gradings, e-mail, webhooks."),
    "report": ("guildhall.cli.report:report", "Write a study's report: a page, tables, a workbook, figures."),
    "reasons": ("guildhall.cli.reasons:app", "Why work lost and won: code graders' justifications into labels."),
    "occupations": ("guildhall.cli.occupations:app", "Which work matters: occupations from the official files."),
    "bundle": ("guildhall.cli.bundle:app", "Move a workspace's records and files as one archive."),
    "backup": ("guildhall.cli.backup:app", "Keep a workspace as it is now, while it is in use; bring it back."),
    "deploy": ("guildhall.cli.deploy:app", "Files for running the hall for real: containers or services."),
    "analyze": ("guildhall.cli.analyze:app", "Win rates, agreement, ratings and more, from plain files."),
}
"""Command -> where it lives, and the line `--help` shows. A module is imported only when its command runs."""


class LazyGroup(TyperGroup):
    """A group that lists its commands from `COMMANDS` and imports one only when it is called."""

    _listing = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._names_only():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        with self._names_only():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _names_only(self) -> Iterator[None]:
        self._listing = True
        try:
            yield
        finally:
            self._listing = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module_name, _, attribute = COMMANDS[cmd_name][0].partition(":")
        if self._listing:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1], short_help=COMMANDS[cmd_name][1])
        target: Any = getattr(importlib.import_module(module_name), attribute)
        if isinstance(target, typer.Typer):
            command: Any = typer.main.get_group(target)
        else:
            single = typer.Typer(add_completion=False)
            single.command(name=cmd_name)(target)
            command = typer.main.get_command(single)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LazyGroup,
    name="guildhall",
    help="Judge AI work the way experts judge it: real tasks, blinded comparison, honest uncertainty.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from guildhall import __version__

        typer.echo(f"guildhall {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Judge AI work the way experts judge it: real tasks, blinded comparison, honest uncertainty."""


def main() -> None:
    """Run the command line; our own errors become one line and an exit code, never a traceback.

    What it writes is for its owner only: workspaces, logs and exports hold people.
    """
    os.umask(0o077)
    try:
        app()
    except GuildhallError as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        for fault in error.faults if len(error.faults) > 1 else ():
            typer.echo(f"  {fault}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.secho("stopped; run the same command again to go on", fg="yellow", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except Exception as error:
        from guildhall.engine.faults import everyday

        if (known := everyday(error)) is None:
            raise
        typer.secho(f"error: {known}", fg="red", err=True)
        sys.exit(known.exit_code)
