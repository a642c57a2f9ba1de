"""What a report says, section by section, before any format: words and tables of ready-made text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from guildhall.analysis.boswell.grade_tables import Cell, shown_grade, shown_number
from guildhall.analysis.boswell.run_figures import RunFigures
from guildhall.analysis.boswell.uncertainty import LeniencyResult
from guildhall.domain.boswell import Essay, Mark, label
from guildhall.domain.estimates import Estimate
from guildhall.domain.grades import NO_GRADE

Row = tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table of text; `numeric` names the columns that align right."""

    columns: Row
    rows: tuple[Row, ...]
    numeric: tuple[int, ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading, what is to be said, and perhaps a table; `chart` names the plot that belongs to it."""

    title: str
    words: tuple[str, ...] = ()
    grid: Grid | None = None
    chart: str | None = field(default=None)


def sections(found: RunFigures) -> Iterator[Section]:
    """The whole report in order."""
    yield _overview(found)
    yield quotient_section(found)
    if found.explanations:
        yield Section("Why the order differs from the published rules", tuple(found.explanations))
    yield received_section(found)
    yield given_section(found)
    yield bias_section(found)
    yield from _standing_sections(found)
    if found.run.human:
        yield human_section(found)
    yield unread_section(found)
    yield cost_section(found)
    yield timing_section(found)


def _overview(found: RunFigures) -> Section:
    run = found.run
    read = len(run.marks) - found.tables.unread
    refused = sum(essay.stop == "refused" for essay in run.essays)
    words = [
        f"Domain: {run.title} ({run.domain}). Begun {run.started_at:%Y-%m-%d %H:%M:%S} UTC. Origin: {run.origin}.",
        f"{len(run.essays)} essays ({refused} refused), {len(run.marks)} marks, {read} of them with a readable grade.",
        f"Formula: {found.quotients.mode}.",
    ]
    if (reference := found.quotients.reference) is not None:
        own = "with" if reference.own_marks else "without"
        words.append(
            f"Efficiency is measured on uncached calls against {reference.essay_s:g} s an essay and "
            f"{reference.mark_s:g} s a mark; performance is the median {own} the author's own mark."
        )
    return Section(f"Boswell Test {run.run}", tuple(words))


def quotient_section(found: RunFigures) -> Section:
    """The ranking: quotient, its interval, its components."""
    columns: Row = ("Model", "Rank", "Quotient", "Grade", "Perf.", "Eval.", "Effic.")
    sure = found.uncertainty
    rows: list[Row] = []
    for scores in found.quotients.scores:
        parts = (scores.performance, scores.evaluation, scores.efficiency)
        row: Row = (
            scores.model,
            str(scores.rank),
            shown_number(scores.quotient, published=found.published_mode),
            scores.grade,
            *(_component(part, found) for part in parts),
        )
        if sure is not None:
            row += (_interval(sure.interval[scores.model]), _ranks(sure.rank_interval[scores.model]))
        rows.append(row)
    words = ["Perf.: performance; Eval.: evaluation; Effic.: efficiency."]
    if sure is not None:
        columns += (f"{sure.level:.0%} interval", "Ranks")
        words += ["Ranks: those the marks cannot rule out.", f"Intervals: {sure.method}; seed {found.seed}."]
        words += [f"No interval for {', '.join(_having(sure.why_none, why))}: {why}." for why in _unique(sure.why_none)]
    return Section("Boswell Quotient", tuple(words), Grid(columns, tuple(rows), (1, 2, 4, 5, 6)), "quotient")


def received_section(found: RunFigures) -> Section:
    tables = found.tables
    short = short_names(tables.graders)
    names = tuple(short[grader] for grader in tables.graders)
    columns = ("Author", *names, "Median Grade", "Percentage", "Raw Numeric Average")
    rows: list[Row] = []
    for author in tables.authors:
        middle, average = tables.median_received(author), tables.average_received(author)
        cells = tuple(cell_text(tables.cell(author=author, grader=g), found) for g in tables.graders)
        shown = (
            shown_grade(middle, published=found.published_mode),
            shown_number(tables.percentage(middle), published=found.published_mode),
            shown_number(average, published=found.published_mode),
        )
        rows.append((author, *cells, *shown))
    if tables.unread:
        counts = (str(tables.unread_by_grader[grader]) for grader in tables.graders)
        rows.append(("N/A count", *counts, str(tables.unread), "", ""))
    words = ("A row is an author; each cell is the grade that column's grader gave it. A mark in brackets is its own.",)
    return Section("Grades received", (*words, _key(short)), Grid(columns, tuple(rows)), "received")


def given_section(found: RunFigures) -> Section:
    tables = found.tables
    short = short_names(tables.authors)
    columns = ("Grader", *(short[author] for author in tables.authors), "Median Given", "N/A")
    rows = tuple(
        (
            grader,
            *(cell_text(tables.cell(author=author, grader=grader), found) for author in tables.authors),
            shown_grade(tables.median_given(grader), published=found.published_mode),
            str(tables.unread_by_grader[grader]),
        )
        for grader in tables.graders
    )
    words = ("A row is a grader; each cell is the grade it gave that column's author. A mark in brackets is its own.",)
    return Section("Grades given", (*words, _key(short)), Grid(columns, rows))


def bias_section(found: RunFigures) -> Section:
    table = found.tables.bias
    columns = ("Grader", "Median given", "Median bias", "Mean bias", "Label", "Marks")
    rows = tuple(
        (
            row.grader,
            shown_grade(row.median_given, published=found.published_mode),
            _signed(row.median_bias),
            _signed(row.mean_bias),
            row.label,
            str(row.count),
        )
        for row in table.graders.values()
    )
    middle = shown_grade(table.overall_median, published=found.published_mode)
    words = (f"Against the median of all marks, {middle}. Positive is lenient.",)
    return Section("Grading bias", words, Grid(columns, rows, (2, 3, 5)), "bias")


def _standing_sections(found: RunFigures) -> Iterator[Section]:
    placed = found.leniency
    if placed is None:
        return
    if placed.fit is None:
        yield Section("Marks corrected for who marked", (f"Not available: {placed.why_none}",))
        return
    fit = placed.fit
    severity = {name: _measured(value) for name, value in fit.severity.items()}
    rows = tuple(
        (name, *_measured(quality), _ranks(fit.ranks.get(name)), *severity.get(name, ("", "")), _ordered(placed, name))
        for name, quality in placed.qualities
    )
    columns = ("Model", "Corrected quality", "95% interval", "Ranks", "Leniency", "95% interval ", "Ordinal score")
    words = [f"Leniency model: mark = quality + leniency of the grader; about {fit.about}."]
    for name, value in (("Self-preference", fit.self_preference), ("Family preference", fit.family_preference)):
        shown, interval = _measured(value)
        words.append(f"{name}: {shown or 'absent'} ({interval or value.why_no_interval}).")
    words.extend(_whether_order_holds(placed))
    yield Section("Marks corrected for who marked", tuple(words), Grid(columns, rows, (1, 4, 6)), "quality")
    pairs = tuple(
        (a, b, *_measured(gap), "" if needed is None else str(needed)) for a, b, gap, needed in placed.to_settle
    )
    unit = "essays an author" if placed.fit.essay_sd is not None else "rounds of all graders on these essays"
    settle = ("Better", "Next", "Difference", "95% interval", f"To settle: {unit}")
    yield Section("What it takes to settle neighbours", (), Grid(settle, pairs, (2, 4)))
    if placed.repeatability:
        repeats = tuple((r.grader, str(r.pairs), f"{r.same:.0%}", *_measured(r.gap)) for r in placed.repeatability)
        again = ("Grader", "Pairs of rounds", "Same grade", "Mean gap", "95% interval")
        yield Section("Repeatability", ("The same essay marked again.",), Grid(again, repeats, (1, 2, 3)))


def _ordered(placed: LeniencyResult, model: str) -> str:
    return _signed(placed.ordinal.quality[model].value) if placed.ordinal else ""


def _whether_order_holds(placed: LeniencyResult) -> Iterator[str]:
    """Whether the order of models hangs on how far apart one takes the letters to be."""
    if placed.ordinal is None:
        return
    scores = {name: one.value or 0.0 for name, one in placed.ordinal.quality.items()}
    order = sorted(scores, key=lambda name: -scores[name])
    same = order == [name for name, _ in placed.qualities]
    told = "models come in the same order" if same else f"the order is {', '.join(order)}"
    yield f"Ordinal score, in log-odds: letters taken as an order only, without distances between them; {told}."


def human_section(found: RunFigures) -> Section:
    """Human judgments of the same deliverables, beside the models' marks and never mixed with them."""
    rows = tuple((one.model, one.kind, str(one.wins), str(one.ties), str(one.losses)) for one in found.run.human)
    columns = ("Model", "Graders", "Wins", "Ties", "Losses")
    words = ("People judged the same deliverables in pairs with other work of the study.",)
    return Section("Human judgments", words, Grid(columns, rows, (2, 3, 4)))


def unread_section(found: RunFigures) -> Section:
    reasons: dict[str, int] = {}
    for mark in found.run.marks:
        if mark.reading.reason is not None:
            reasons[mark.reading.reason.value] = reasons.get(mark.reading.reason.value, 0) + 1
    rows = tuple((reason, str(count)) for reason, count in sorted(reasons.items(), key=lambda item: -item[1]))
    words = ("Replies from which no grade could be read are left out of every figure and never replaced by a guess.",)
    return Section("Marks without a grade", words, Grid(("Reason", "Marks"), rows, (1,)) if rows else None)


def cost_section(found: RunFigures) -> Section:
    rows = []
    for model in found.run.models:
        essays = [essay for essay in found.run.essays if label(essay.author) == model]
        marks = [mark for mark in found.run.marks if label(mark.grader) == model]
        done: list[Essay | Mark] = [*essays, *marks]
        tokens = sum(d.usage.input_tokens + d.usage.output_tokens for d in done if d.usage)
        costs = [d.usage.cost_usd if d.usage else None for d in done]
        total = None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)
        hits = sum(d.cached for d in done)
        price = "price unknown" if total is None else f"{total:.4f}"
        rows.append((model, str(len(essays)), str(len(marks)), str(hits), str(tokens), price))
    columns = ("Model", "Essays", "Marks", "From cache", "Tokens", "Cost (USD)")
    return Section("Cost", ("An answer from the cache costs nothing.",), Grid(columns, tuple(rows), (1, 2, 3, 4, 5)))


def timing_section(found: RunFigures) -> Section:
    rows = []
    for model in found.run.models:
        writing = [essay for essay in found.run.essays if label(essay.author) == model and not essay.cached]
        marking = [mark for mark in found.run.marks if label(mark.grader) == model and not mark.cached]
        essays = [essay.seconds for essay in writing if essay.seconds is not None]
        marks = [mark.seconds for mark in marking if mark.seconds is not None]
        rows.append((model, _mean_s(essays), str(len(marks)), _mean_s(marks), f"{sum(marks):.2f}"))
    columns = ("Model", "Essay s", "Marks timed", "Mean s a mark", "Total marking s")
    return Section("Timing", ("Uncached calls only.",), Grid(columns, tuple(rows), (1, 2, 3, 4)), "speed")


def cell_text(cell: Cell, found: RunFigures) -> str:
    """A cell as the seed shows it, `A- (3.75)`; an own mark in square brackets."""
    if cell.value is None:
        text = f"{NO_GRADE} (0.00)" if found.published_mode else NO_GRADE
    else:
        text = f"{cell.grade} ({cell.value:.2f})"
    return f"[{text}]" if cell.own else text


def short_names(models: tuple[str, ...]) -> dict[str, str]:
    """Short names that no two models share, in the order given: numbers would need a key, so letters come first."""
    short: dict[str, str] = {}
    for model in models:
        words = model.replace(":", " ").replace("/", " ").replace("-", " ").replace("_", " ").split()
        stem = "".join(word[:1].upper() if not word[:1].isdigit() else word for word in words)[:6] or "M"
        name, number = stem if len(model) > 8 else model, 2
        while name in short.values():
            name, number = f"{stem}{number}", number + 1
        short[model] = name
    return short


def _unique(reasons: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(reasons.values()))


def _having(reasons: dict[str, str], why: str) -> list[str]:
    return [model for model, reason in reasons.items() if reason == why]


def _key(short: dict[str, str]) -> str:
    changed = [f"{name} = {model}" for model, name in short.items() if name != model]
    return "Key: " + "; ".join(changed) + "." if changed else ""


def _component(value: float | None, found: RunFigures) -> str:
    if value is None:
        return f"{NO_GRADE} (0.00)" if found.published_mode else NO_GRADE
    return f"{value:.2f}"


def _measured(value: Estimate) -> tuple[str, str]:
    return ("" if value.value is None else f"{value.value:.2f}", _interval(value.interval))


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"


def _ranks(ranks: tuple[int, int] | None) -> str:
    if ranks is None:
        return ""
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]} to {ranks[1]}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _mean_s(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2f}" if values else ""
