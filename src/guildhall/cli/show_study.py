"""How the command line shows a study's stages: what they will take, how they stand, what an hour more would bring."""

from __future__ import annotations

from typing import Any

from guildhall.cli.progress import in_dollars
from guildhall.cli.show import done, note, sent_answer_unknown, table

MOST_REASONS = 5


def show_forecast(title: str, report: Any) -> None:
    """The plan of sampling as a table, with what each figure rests on."""
    rows = [
        (
            author["author"],
            author["model"],
            f"{author['items'] - author['done']} of {author['items']}",
            f"{author['calls']:,.0f}",
            f"{author['seconds'] / 60:,.0f}",
            "unknown" if author["usd"] is None else f"{author['usd']:,.2f}",
            author["basis"],
        )
        for author in report["authors"]
    ]
    columns = ("author", "model", "to do", "calls", "minutes", "dollars", "figures rest on")
    table(title, columns, rows, numeric=(3, 4, 5))
    for name, tries in report.get("handed_in", {}).items():
        note(f"{name}: made elsewhere, {tries} {'try' if tries == 1 else 'tries'} of each task at most")
    cost = "at an unknown price" if report["usd"] is None else f"for about ${report['usd']:,.2f}"
    if report["unanswered_calls"]:
        note(sent_answer_unknown(report["unanswered_calls"]))
    done(f"{report['to_do']} of {report['items']} items to do, {_hours(report['hours'])} at this pace, {cost}")


def _hours(hours: float) -> str:
    return f"{hours:.2g} h" if hours >= 1 else f"{60 * hours:.2g} min" if hours >= 1 / 60 else f"{3600 * hours:.0f} s"


def show_grading(people: Any, judging: Any) -> None:
    """What grading will take of people and of programs, and what stands in its way."""
    if people:
        cost = "at an unknown wage" if people["cost_usd"] is None else f"for about ${people['cost_usd']:,.2f}"
        needed = ", ".join(f"{count} {name}" for name, count in sorted(people["graders_needed"].items()))
        done(f"people: {people['gradings']} gradings, {people['hours']:,.1f} h, {cost}; graders needed: {needed}")
        for words in people["words"]:
            note(words)
    if judging:
        rows = [
            (one["grader"], one["to_do"], one["asked"], "unknown" if one["usd"] is None else f"{one['usd']:,.2f}")
            for one in judging["graders"]
        ]
        title = f"automatic graders: {judging['comparisons']} sets"
        table(title, ("grader", "calls to do", "of", "dollars"), rows, numeric=(1, 2, 3))
    without = (people or judging or {}).get("tasks_without_expert", 0)
    if without:
        note(f"{without} tasks have no work of the baseline and take no part in comparisons")


def show_offers(title: str, offers: Any, occupation: tuple[str, float] | None, assumed: Any) -> None:
    """The offers for one grader's hours more, the best first."""

    def points(width: float | None) -> str:
        return "none" if width is None else f"{100 * width:.1f}"

    rows = [
        (one.what, one.gradings, f"{one.hours:.1f}", points(one.before), points(one.after), _off(one.narrower_per_hour))
        for one in offers
    ]
    columns = ("what", "gradings a model", "hours", "width now", "width then", "points off an hour")
    table(f"{title}: the next hours", columns, rows, numeric=(1, 2, 3, 4, 5))
    note(f"half-tie widths in points by people alone, by drawing such studies ({assumed.source})")
    if occupation is not None:
        name, share = occupation
        note(
            f"within one occupation these hours take most off in {name}: {share:.0%} of what tasks add to the variance"
        )
    done(f"best: {offers[0].what}")


def _off(points: float | None) -> str:
    return "unknown" if points is None else f"{points:.2f}"


def show_stages(title: str, reports: dict[str, Any]) -> None:
    """Sampling as a table, every other stage that has something to say as a line."""
    show_status(title, reports["sampling"])
    for name, report in reports.items():
        if name != "sampling" and report:
            done(f"{name}: " + ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in report.items()))


def show_status(title: str, report: Any) -> None:
    """How sampling stands, with everything that went wrong named and counted."""
    ended = [(name, count) for name, count in sorted(report["ended"].items())]
    problems = [(f"problem: {name}", count) for name, count in sorted(report["problems"].items())]
    table(title, ("submissions", "count"), [*ended, *problems], numeric=(1,))
    cost = in_dollars(report["cost_usd"], report["known_usd"])
    done(
        f"{report['done']} done, {report['failed']} failed, {report['running']} running, {report['planned']} planned; "
        f"{report['calls']} calls, {report['input_tokens'] + report['output_tokens']:,} tokens, {cost}"
    )
    for words, count in sorted(report["why_failed"].items(), key=lambda item: -item[1])[:MOST_REASONS]:
        note(f"{count} failed: {words.splitlines()[0][:300]}")
    if report["failed"]:
        note("try them again with: guildhall sample retry --failed")
    if report["late_answers"]:
        note(f"{report['late_answers']} answers arrived when nobody waited for them any more; their cost is counted")
    if report["unanswered_calls"]:
        note(sent_answer_unknown(report["unanswered_calls"]))
    if report.get("why_left"):
        note(f"{report['left']} items were left: {report['why_left']}")
