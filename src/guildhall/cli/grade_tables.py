"""How `guildhall grade` shows standings, grades, marks and accounts to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from guildhall.cli.show import done, note, sent_answer_unknown, share, table, warn, with_ends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from guildhall.analysis.accountability import Account
    from guildhall.analysis.win_rates import WinRate
    from guildhall.domain.estimates import Estimate
    from guildhall.study.deriving import RubricScore
    from guildhall.study.pairs import Expected, PairAnswer


def show_standings(report: Any) -> None:
    counted = ("grader", "asked", "verdicts", "failures", "to_do")
    rows = [
        (*(row[name] for name in counted), _dollars(row["cost_usd"]), _dollars(row["expected_usd"]))
        for row in report["graders"]
    ]
    columns = ("grader", "asked", "verdicts", "failures", "to do", "cost so far", "the rest may cost")
    table("Automatic graders", columns, rows, numeric=(1, 2, 3, 4, 5, 6))
    done(f"{report['comparisons']} comparisons")
    if report["tasks_without_expert"]:
        note(f"{report['tasks_without_expert']} tasks have no expert's work and take no part")
    if report["unanswered_calls"]:
        note(sent_answer_unknown(report["unanswered_calls"]))


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:,.4f}"


def show_grades(name: str, rates: list[WinRate]) -> None:
    rows = [
        (
            rate.model,
            rate.wins,
            rate.ties,
            rate.losses,
            with_ends(rate.win.value, rate.win.interval),
            with_ends(rate.half_tie.value, rate.half_tie.interval),
        )
        for rate in rates
    ]
    columns = ("model", "wins", "ties", "losses", "win rate against the expert", "ties as half")
    table(f"Judged by {name} (automatic)", columns, rows, numeric=(1, 2, 3))


def grades_json(rates: list[WinRate]) -> list[dict[str, Any]]:
    """Grades in the shape of `analyze win-rate --json`."""
    return [
        {
            "model": rate.model,
            "wins": rate.wins,
            "ties": rate.ties,
            "losses": rate.losses,
            **{name: getattr(rate, name) for name in ("win", "win_or_tie", "half_tie")},
        }
        for rate in rates
    ]


def show_marks(scores: list[RubricScore]) -> None:
    rows = [
        (
            row.judge,
            row.author,
            with_ends(row.score.value, row.score.interval),
            share(row.repeat_noise),
            share(row.quotations_found),
            row.without_score,
        )
        for row in scores
    ]
    columns = ("judge", "author", "share of points", "repeat noise", "quotations found", "no score")
    table("Rubric marks; the expert's own work is the ceiling", columns, rows, numeric=(5,))


def show_account(found: Account, gains: Mapping[str, Estimate] | None = None) -> None:
    """One judge's account, its agreement beside the constant verdicts' and paired with other judges'."""
    lines = _lines(found) + [(f"agrees more than {other}", gain) for other, gain in (gains or {}).items()]
    rows = [(words, _cell(measured), measured.why_no_interval or "") for words, measured in lines]
    people = " and ".join(found.people) or "nobody yet"
    table(f"{found.grader}, held to account by people: {people}", ("figure", "estimate", "why no interval"), rows)
    covered = found.coverage
    failures = ", ".join(f"{count} {kind}" for kind, count in sorted(covered.failures.items())) or "none"
    done(
        f"{covered.verdicts} verdicts of {covered.asked} asked (failures: {failures}; {covered.left_out_with_them} "
        f"verdicts left out with them); cost a verdict {_dollars(found.cost_per_verdict_usd)}"
    )
    constant = found.agreement.constant if found.agreement else None
    if constant is not None and not constant.beaten:
        note(f"{found.grader} is not shown to agree with people more often than {constant.verdict} does")


def _lines(found: Account) -> list[tuple[str, Estimate]]:
    lines = []
    if found.agreement is not None:
        lines += [
            ("agreement with people", found.agreement.overall.human_auto),
            ("people with people", found.agreement.overall.human_human),
        ]
        if found.agreement.constant is not None:
            lines.append((f"{found.agreement.constant.verdict} with people", found.agreement.constant.agreement))
        lines += [(f"agreement on {model}", one.human_auto) for model, one in sorted(found.agreement.by_model.items())]
        lines.append(("telling better from worse (AUC)", found.agreement.discrimination))
    return [
        *lines,
        ("prefers the side shown first", found.first_place),
        ("score shown first minus second", found.position),
        ("verdict flips with the order", found.flips),
        ("ties", found.ties),
        ("ties of people", found.ties_of_people),
        ("prefers the longer side", found.longer),
        ("people prefer the longer side", found.longer_of_people),
        ("score per doubling of length", found.length),
        ("adds for its own family", found.kin),
        ("agrees with itself over sweeps", found.reliability),
        *((f"agreement on {name}", one) for name, one in found.criteria.items()),
    ]


def _cell(measured: Estimate) -> str:
    return with_ends(measured.value, measured.interval)


def expected_words(expected: Expected) -> str:
    """What a pair would take, in one line, before anything is sent."""
    price = "price unknown" if expected.usd is None else f"about ${expected.usd:,.4f}"
    return f"{expected.calls} calls, about {expected.input_tokens:,} tokens to read; {price}"


def pair_json(answer: PairAnswer) -> dict[str, Any]:
    """`first` is 1 where the first work is better in both orders, 0 where the second is; reasons speak of A and B."""
    return {
        "first": answer.score,
        "flips": answer.flips,
        "cost_usd": answer.cost_usd,
        "verdicts": [
            {
                "shown_first": "first" if one.order[0] == answer.first else "second",
                "sweep": one.sweep,
                "first": answer.outcome(one),
                "reason": one.reason,
                "failure": one.failure,
            }
            for one in answer.judgments
        ],
    }


def show_pair(answer: PairAnswer, *, first: str, second: str) -> None:
    """The answer in one line, then every verdict with its reason and who stood where."""
    said = {1.0: f"{first} is better", 0.0: f"{second} is better", 0.5: "a tie", None: "no verdict"}
    for one in answer.judgments:
        shown = (first, second) if one.order[0] == answer.first else (second, first)
        note(f"A was {shown[0]}, B was {shown[1]}: {said[answer.outcome(one)]}")
        typer.echo(one.reason or f"({one.failure})")
    if answer.flips:
        warn("the verdict turned when the works changed places: this judge went by the place, not by the work")
    if answer.score is None:
        warn("one of the orders has no verdict, so nothing is said of which work is better")
    else:
        done(_which(answer.score, first, second))
    note(f"cost: {_dollars(answer.cost_usd)}. One judge's word on one pair: `guildhall study` holds judges to account.")


def _which(score: float, first: str, second: str) -> str:
    if score == 0.5:
        return f"neither of {first} and {second} is better"
    share_of_verdicts = max(score, 1 - score)
    how = "in every verdict" if share_of_verdicts == 1 else f"in {share_of_verdicts:.0%} of verdicts, ties as half"
    return f"{first if score > 0.5 else second} is better, {how}"
