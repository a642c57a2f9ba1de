"""`guildhall people`: who may come in, under which code name, and how to forget them."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.store.workspace import Workspace
    from guildhall.web.site import Site

app = typer.Typer(no_args_is_help=True, help="Who may come in, under which code name, and how to forget them.")
CodeName = Annotated[str, typer.Argument(help="The person's code name.")]


def _site(opened: Workspace, address: str = "http://localhost:8460") -> Site:
    from guildhall.web.site import Addresses, Site

    return Site(opened, Addresses(address, "http://files.localhost:8461"))


@app.command("invite")
def invite(
    file: Annotated[
        Path | None,
        typer.Argument(help="A table of people, each with an email.", show_default=False),
    ] = None,
    links: Annotated[
        Path | None, typer.Option(help="With a table: where to write each address with its entry link.")
    ] = None,
    kind: Annotated[str, typer.Option(help="expert, practitioner, student or crowd.")] = "expert",
    role: Annotated[str, typer.Option(help="grader, reviewer, author, manager or auditor.")] = "grader",
    occupation: Annotated[Optional[list[str]], typer.Option(help="An occupation they may judge; repeat it.")] = None,  # noqa: UP045
    name: Annotated[Optional[str], typer.Option(help="Kept sealed.")] = None,  # noqa: UP045
    email: Annotated[Optional[str], typer.Option(help="Kept sealed.")] = None,  # noqa: UP045
    employer: Annotated[Optional[str], typer.Option(help="Kept sealed; only equality is used.")] = None,  # noqa: UP045
    author_name: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A code name under which their own work is in the bank; repeat it."),
    ] = None,
    conflict: Annotated[Optional[list[str]], typer.Option(help="A task they must not judge; repeat it.")] = None,  # noqa: UP045
    years: Annotated[Optional[float], typer.Option(help="Years of experience.")] = None,  # noqa: UP045
    hours: Annotated[float, typer.Option(help="How long the entry link is good.")] = 72.0,
    address: Annotated[str, typer.Option(help="Where the pages are served.")] = "http://localhost:8460",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Put a person, or everybody in a table, on the roster and make their single-use entry links."""
    from guildhall.domain.authors import GraderKind
    from guildhall.domain.halls import Role
    from guildhall.errors import UnknownName
    from guildhall.store.workspace import Workspace

    if file is not None:
        _invite_all(file, links, hours=hours, address=address, workspace=workspace, json=json)
        return
    for what, said, known in (("role", role, [*Role]), ("kind", kind, [*GraderKind][:-1])):
        if said not in known:
            raise UnknownName(what, said, known=[str(one) for one in known])
    with Workspace.find(workspace) as opened:
        site = _site(opened, address)
        personal = {key: value for key, value in (("name", name), ("email", email), ("employer", employer)) if value}
        member = site.roster.invite_person(
            Role(role),
            kind=GraderKind(kind),
            occupations=tuple(occupation or ()),
            years=years,
            author_names=tuple(author_name or ()),
            conflicts=tuple(conflict or ()),
            personal=personal,
        )
        link = f"{address}/enter/{site.door.new_link(member.id, now=time.time(), lasts_s=hours * 3600)}"
    if json:
        as_json({"code_name": member.code_name, "role": role, "link": link})
        return
    done(f"{member.code_name} ({role}) is on the roster")
    typer.echo(link)
    note(f"hand this link over yourself; it lets them in once, within {hours:g} hours")


def _invite_all(
    file: Path, links: Path | None, *, hours: float, address: str, workspace: Path | None, json: bool
) -> None:
    from guildhall.errors import InputError
    from guildhall.grading.people import read_invitations
    from guildhall.store.workspace import Workspace

    invitations = read_invitations(file)
    if links is not None and (links.exists() or not links.parent.is_dir()):
        raise InputError(f"{links} cannot be made: it is there already, or its folder is not; nobody was invited")
    with Workspace.find(workspace) as opened:
        site = _site(opened, address)
        entries = [
            (one, member, f"{address}/enter/{site.door.new_link(member.id, now=time.time(), lasts_s=hours * 3600)}")
            for one, member in site.roster.invite_all(invitations)
        ]
    if links is not None:
        with links.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([("email", "link"), *((one.email, link) for one, _, link in entries)])
    known = len(invitations) - len(entries)
    rows = [(member.code_name, member.role, member.grader_kind, link) for _, member, link in entries]
    if json:
        names = ("code_name", "role", "kind", "link")
        as_json({"invited": [dict(zip(names, row, strict=True)) for row in rows], "known": known})
        return
    done(f"{len(entries)} people are on the roster now, {known} were there already")
    if links is None:
        table("Entry links", ["code name", "role", "kind", "link"], rows)
    else:
        note(f"{links} holds an address and a link each: hand them over, then delete it")


@app.command("open")
def open_(
    study: Annotated[str, typer.Argument(help="The study's id.")],
    anyway: Annotated[bool, typer.Option("--anyway", help="Open it though graders are missing.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Open a study to graders: say what it asks of them, make every file ready, plan every grading."""
    from guildhall.documents.looking import documents
    from guildhall.grading.design import require_staff
    from guildhall.grading.opening import open_hall, staff_of
    from guildhall.judging.preparing import Preparer
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        site = _site(opened)
        frozen = site.study(study)
        staff = staff_of(opened, frozen, site.roster.everyone())
        if not json:
            cost = "cost unknown: no wage is given" if staff.cost_usd is None else f"{staff.cost_usd:,.0f} USD"
            note(f"{staff.gradings} gradings, about {staff.hours:,.0f} hours ({cost})")
            table("Graders needed", ["occupation", "graders"], sorted(staff.graders_needed.items()), numeric=[1])
        if anyway:
            for words in staff.words:
                note(words)
        else:
            require_staff(staff)
        with documents(opened.path / "cache") as looking:
            made = open_hall(opened, frozen, Preparer(opened, looking))
    if json:
        as_json({"gradings": staff.gradings, "new": made.new_slots, "not_shown": made.omissions})
        return
    done(f"{made.new_slots} new gradings are open; {made.omissions} things could not be shown")


@app.command("link")
def link(
    code_name: CodeName,
    hours: Annotated[float, typer.Option(help="How long the link is good.")] = 0.25,
    address: Annotated[str, typer.Option(help="Where the pages are served.")] = "http://localhost:8460",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make a new entry link for somebody on the roster."""
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        site = _site(opened, address)
        member = site.roster.by_code_name(code_name)
        made = f"{address}/enter/{site.door.new_link(member.id, now=time.time(), lasts_s=hours * 3600)}"
    if json:
        as_json({"code_name": code_name, "link": made})
    else:
        typer.echo(made)


@app.command("list")
def list_(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Show the roster, by code name; nothing personal is shown."""
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        members = _site(opened).roster.everyone()
    if json:
        as_json(
            [
                member.model_dump(mode="json", include={"code_name", "role", "occupations", "years", "quiz_passed"})
                for member in members
            ]
        )
        return
    rows = [(one.code_name, one.role, ", ".join(one.occupations), one.years) for one in members]
    table(f"{len(members)} people", ["code name", "role", "occupations", "years"], rows, numeric=[3])


@app.command("vouch")
def vouch(code_name: CodeName, workspace: WorkspaceOption = None) -> None:
    """Say that somebody is a person of their own, whoever invited them: they may then confirm an unblinding."""
    from guildhall.store.audit import record
    from guildhall.store.workspace import Workspace
    from guildhall.study.unblinding import VOUCHED

    with Workspace.find(workspace) as opened:
        member = _site(opened).roster.by_code_name(code_name)
        record(opened.store, at=time.time(), actor="operator", action=VOUCHED, subject=member.code_name, facts={})
    done(f"{code_name} stands for themselves, whoever invited them")


@app.command("revoke")
def revoke(code_name: CodeName, workspace: WorkspaceOption = None) -> None:
    """Close the door to somebody at once; what they judged stays."""
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        site = _site(opened)
        member = site.roster.by_code_name(code_name)
        site.door.leave_everywhere(member.id)
        site.roster.revoke(member.id)
    done(f"{code_name} can no longer come in")


@app.command("erase")
def erase(code_name: CodeName, workspace: WorkspaceOption = None) -> None:
    """Destroy the key to a person's fields: their judgments stay, pseudonymous. Old backups keep what they hold."""
    from guildhall.store.workspace import Workspace

    with Workspace.find(workspace) as opened:
        roster = _site(opened).roster
        roster.erase(roster.identity_of(code_name))
    done(f"{code_name} is erased: nothing leads back to a person")
