"""`guildhall reasons`: graders' justifications out to be coded, and coded by a model or by clusters of words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from guildhall.cli.show import as_json, done
from guildhall.cli.workspace import JsonOption, WorkspaceOption

app = typer.Typer(no_args_is_help=True, help="Why work lost and won: code graders' justifications into labels.")
StudyArgument = Annotated[str, typer.Argument(help="The study's id.")]
GradersOption = Annotated[
    Optional[str],  # noqa: UP045 - typer reads this at run time
    typer.Option(help="The kind of graders: expert, simulated, automatic, ...", show_default=False),
]
BaselineOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Whom models are compared with, if not the study's own baseline.", show_default=False),
]


@app.command()
def export(
    study: StudyArgument,
    out: Annotated[Path, typer.Option(help="The .csv file to write.")] = Path("reasons.csv"),
    graders: GradersOption = None,
    baseline: BaselineOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write justifications for people to code: without authors, with `coder` and `label` to be filled in."""
    from guildhall.domain.reasons import LABELS
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.reasons import export_reasons

    with Workspace.find(workspace) as opened:
        found = newest_study(opened.store, study)
        written = export_reasons(opened, found, out, baseline=baseline, graders=graders)
    if json:
        as_json({"rows": written, "out": str(out), "labels": list(LABELS)})
        return
    done(f"{written} justifications written to {out}; labels: {', '.join(LABELS)}, or empty when unclear")


@app.command()
def code(
    study: StudyArgument,
    out: Annotated[Path, typer.Option(help="The .csv file to write.")] = Path("codes.csv"),
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A model that codes, one call each; without it, clusters of words.", show_default=False),
    ] = None,
    clusters: Annotated[int, typer.Option(help="How many clusters at most, for each side.", min=2)] = 8,
    embeddings: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="A sentence-embedding model (name or folder) to cluster by meaning; needs sentence-transformers.",
            show_default=False,
        ),
    ] = None,
    graders: GradersOption = None,
    baseline: BaselineOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Code justifications by a model, or offline by clusters of their words."""
    from guildhall.engine.terms import Terms
    from guildhall.judging.reasons import sentence_encoder
    from guildhall.store.wordings import newest_study
    from guildhall.store.workspace import Workspace
    from guildhall.study.evidence import read_evidence
    from guildhall.study.reasons import code_by_clusters, code_by_model, justifications

    with Workspace.find(workspace) as opened:
        found = newest_study(opened.store, study)
        said = justifications(read_evidence(opened, found, baseline=baseline, graders=graders))
        if model is None:
            encode = sentence_encoder(embeddings) if embeddings else None
            made = code_by_clusters(said, out, seed=found.seed, k=clusters, encode=encode)
        else:
            terms = Terms(run=f"{found.id}:reasons")
            made = code_by_model(said, out, workspace=opened, model=model, terms=terms)
    if json:
        as_json({"rows": made.rows, "blank": made.blank, "unread": made.unread, "out": str(out)})
        return
    done(f"{made.rows} justifications coded in {out}, {made.blank} of them blank; {made.unread} replies unreadable")
