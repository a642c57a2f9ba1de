"""`guildhall occupations`: which work matters, selected from the official files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.show import as_json, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from guildhall.domain.occupations import Selection, Validation
    from guildhall.occupations.labels import Labeller

app = typer.Typer(no_args_is_help=True, help="Which work matters: occupations selected from the official files.")

DataOption = Annotated[Path, typer.Option(help="The folder with the OEWS and O*NET files.")]
LabelsOption = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads this at run time
    typer.Option(help="Digital labels by O*NET code and task; the shipped rule when absent.", show_default=False),
]
DigitalOption = Annotated[float, typer.Option(help="The least digital share.")]
RULE = "shipped rule"
PAPERS = 44


@app.command("select")
def select(
    data: DataOption,
    labels: LabelsOption = None,
    also: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option(help="Labels of others, to say how far labellers agree.", show_default=False),
    ] = None,
    gdp: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="GDP shares of sectors (TOML); the shipped nine when absent.", show_default=False),
    ] = None,
    gdp_share: Annotated[float, typer.Option(help="The least share of GDP, in percent.")] = 5.0,
    digital_share: DigitalOption = 0.60,
    per_sector: Annotated[int, typer.Option(help="How many occupations a sector.")] = 5,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write a page with reasons, sensitivity and validation here.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Select occupations: large sectors, detailed occupations, digital work, highest pay."""
    from guildhall.domain.occupations import Thresholds
    from guildhall.occupations.labels import agreement
    from guildhall.occupations.selection import digital_shares, missed_of_the_paper, read_official, sensitivity
    from guildhall.occupations.selection import select as choose

    thresholds = Thresholds(gdp_share=gdp_share, digital_share=digital_share, per_sector=per_sector)
    labeller, named = _labeller(labels)
    official = read_official(data, gdp=gdp)
    digital = digital_shares(official, labeller)
    found = choose(official, digital, labelled_by=named, thresholds=thresholds)
    others = [_labeller(path) for path in also or ()] + ([_labeller(None)] if labels else [])
    agreements = tuple(agreement(labeller, other, official.statements, named=(named, by)) for other, by in others)
    shifts = sensitivity(official, digital, found)
    if out is not None:
        from guildhall.errors import UnreadableFile
        from guildhall.occupations.validation import validate
        from guildhall.reports.other_pages import occupations_html

        validation, why = None, ""
        try:
            validation = validate(data, official, digital, labelled_by=named, threshold=digital_share)
        except UnreadableFile as error:
            why = str(error)
        page = occupations_html(found, shifts, agreements=agreements, validation=validation, not_validated=why)
        out.write_text(page, encoding="utf-8")
    missed = missed_of_the_paper(found)
    if json:
        more = {"total_pay_usd": found.total_pay_usd, "missed_of_the_paper": missed}
        as_json({**found.model_dump(mode="json"), "sensitivity": shifts, "labellers": agreements, **more})
        return
    _show_selection(found)
    note(f"{PAPERS - len(missed)} of the {PAPERS} occupations of the GDPval paper are chosen")
    for title, why in missed.items():
        note(f"of the paper's, {title} is not: {why}")
    for one in agreements:
        share = "no task in common" if one.share is None else f"{one.share:.1%} of {one.tasks} tasks"
        note(f"{one.first} and {one.second} agree on {share}")
    if out is not None:
        done(f"page written to {out}")


@app.command("validate")
def validate_shares(
    data: DataOption, labels: LabelsOption = None, digital_share: DigitalOption = 0.60, json: JsonOption = False
) -> None:
    """Hold the digital share against the five task-content scores of Acemoglu and Autor."""
    from guildhall.occupations.selection import digital_shares, read_official
    from guildhall.occupations.validation import validate

    labeller, named = _labeller(labels)
    official = read_official(data)
    digital = digital_shares(official, labeller)
    found = validate(data, official, digital, labelled_by=named, threshold=digital_share)
    if json:
        as_json(found)
    else:
        _show_validation(found)


@app.command("label")
def label(
    data: DataOption,
    model: Annotated[str, typer.Option(help="The model that labels, named as Inspect names it.")],
    out: Annotated[Path, typer.Option(help="The file of labels to write.")] = Path("labels.csv"),
    max_usd: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Stop before this many dollars are spent.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Let a model label every task as digital or not; the same command again goes on where it stopped."""
    from guildhall.engine.oneshot import run_calls
    from guildhall.engine.terms import Limits, Terms
    from guildhall.occupations.labels import label_by_model, write_labels
    from guildhall.occupations.selection import read_official
    from guildhall.store.workspace import Workspace

    statements = read_official(data).statements
    terms = Terms(run=f"labels by {model}", limits=Limits(run_usd=max_usd))
    with Workspace.find(workspace) as opened:
        found = label_by_model(
            statements, model=model, ask=lambda calls: run_calls(calls, workspace=opened, terms=terms)
        )
    write_labels(out, found)
    digital = sum(found.labels.values())
    if json:
        as_json({"labelled": len(found.labels), "digital": digital, "unread": len(found.unread), "file": str(out)})
        return
    done(f"{len(found.labels)} tasks labelled, {digital} digital, written to {out}")
    if found.unread:
        note(
            f"{len(found.unread)} tasks have no label; the file says why of each. They are left out, not counted as no"
        )


def _labeller(path: Path | None) -> tuple[Labeller, str]:
    from guildhall.occupations.labels import by_rule, from_file

    return (from_file(path), path.name) if path else (by_rule, RULE)


def _show_selection(found: Selection) -> None:
    rows = [
        (one.sector, one.title, f"{(one.total_wages_usd or 0) / 1e9:,.2f}", f"{one.digital.share:.2f}")
        for one in found.chosen
    ]
    paid = f"paid {found.total_pay_usd / 1e12:.2f} trillion dollars a year in all"
    table(
        f"{len(rows)} occupations selected, {paid}",
        ["sector", "occupation", "pay, $bn", "digital"],
        rows,
        numeric=[2, 3],
    )
    for title in found.sectors_on_the_edge:
        note(f"{title} has exactly {found.thresholds.gdp_share:g} % of GDP, which is not above it")
    if found.edge_cases:
        note(f"on the edge of the digital threshold: {', '.join(found.edge_cases)}")
    note(
        f"{found.detailed} detailed occupations, {found.kept} without catch-alls; digital shares from ratings for "
        f"{found.with_ratings}, by task frequency for {found.by_proxy}, none for {found.without_share}; "
        f"labels: {found.labeller}"
    )


def _show_validation(found: Validation) -> None:
    rows = [
        (
            one.score,
            "–" if one.pearson is None else f"{one.pearson:+.2f}",
            "–" if one.interval is None else f"{one.interval[0]:+.2f} to {one.interval[1]:+.2f}",
            str(one.occupations),
        )
        for one in found.correlations
    ]
    header = ["task-content score", "correlation", "95 %", "occupations"]
    table(f"Digital share against task contents, labels: {found.labeller}", header, rows, numeric=[1, 3])
    note(f"{found.without_scores} occupations have no score or no digital share")
