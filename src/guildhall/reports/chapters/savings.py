"""Speed and cost: the chapter of a report as Markdown and CSV, and a page of its own for outside tables."""

from __future__ import annotations

from collections.abc import Iterator

from guildhall.domain.estimates import Estimate
from guildhall.domain.speed_and_cost import ModelSpeedAndCost, Ratios, SpeedAndCost
from guildhall.reports.tables import csv_text, text_table
from guildhall.reports.words import percent, times

SHOWN_TRIES = (2, 3, 5)
"""Beside one try and the limit, what tables show; figures and files have every number of tries."""
CURRENCIES = {"speed": ("Speed", "faster", "minutes"), "cost": ("Cost", "cheaper", "dollars")}


def savings_markdown(found: SpeedAndCost) -> list[str]:
    lines = ["## Speed and cost", "", *(f"{sentence}\n" for sentence in savings_words(found))]
    for currency, (title, comparative, unit) in CURRENCIES.items():
        rows = [
            [one.model, percent(one.success_rate), *_cells(ratios), f"{ratios.break_even_review:.1f}"]
            for one, ratios in in_currency(found, currency)
        ]
        if rows:
            tries = [f"try {n}" for n in SHOWN_TRIES]
            header = ["model", f"w = {found.w}", "naive", "try once", *tries, "limit", f"break-even review ({unit})"]
            lines += [f"### {title}: times {comparative}", "", *text_table(header, rows)]
            lines += [f"{sentence}\n" for sentence in unknown_ratios(found, currency)]
    return lines


def savings_words(found: SpeedAndCost) -> tuple[str, ...]:
    """What every figure of the chapter means."""
    return (
        f"How many times faster or cheaper the work gets when an expert lets a model try first: the expert's own time "
        f"over the time with the model. Above 1 the model saves. w = {found.w}: {found.success_by}.",
        f"Human time: {found.hours_by}. Review: {found.review_by}.",
        "Naive: the model alone, with no review. Try once: the model tries, the expert reviews, and does the work "
        "alone if it will not do. Try n: up to n attempts before that. Break-even review: how much review of an "
        "attempt would leave trying once neither saving nor losing.",
        f"{found.left_out[:1].upper()}{found.left_out[1:]}.",
    )


def unknown_ratios(found: SpeedAndCost, currency: str) -> list[str]:
    """Why a table of ratios shows dashes, a sentence for each reason."""
    strategies = ["naive", "try once", *(f"try {n}" for n in SHOWN_TRIES), "limit"]
    reasons: dict[str, dict[str, None]] = {}
    for _, ratios in in_currency(found, currency):
        for strategy, one in zip(strategies, shown_ratios(ratios), strict=False):
            if one.value is None:
                reasons.setdefault(str(one.why_no_interval), {})[strategy] = None
    return [f"– {', '.join(which)}: {reason}." for reason, which in reasons.items()]


def in_currency(found: SpeedAndCost, currency: str) -> list[tuple[ModelSpeedAndCost, Ratios]]:
    """The models that have ratios in a currency."""
    both = [(one, one.speed if currency == "speed" else one.cost) for one in found.models]
    return [(one, ratios) for one, ratios in both if ratios is not None]


def shown_ratios(ratios: Ratios) -> list[Estimate]:
    """Naive, once, the shown numbers of tries, the limit."""
    return [ratios.naive, ratios.try_once, *(ratios.try_n[n] for n in SHOWN_TRIES if n in ratios.try_n), ratios.limit]


def _cells(ratios: Ratios) -> list[str]:
    return [times(one) for one in shown_ratios(ratios)]


def every_ratio(found: SpeedAndCost) -> Iterator[tuple[str, str, str, Estimate]]:
    """(Model, currency, strategy, ratio) of everything there is."""
    for currency in CURRENCIES:
        for one, ratios in in_currency(found, currency):
            named = {"naive": ratios.naive, **{f"try {n}": each for n, each in ratios.try_n.items()}}
            for strategy, each in (*named.items(), ("limit", ratios.limit)):
                yield one.model, currency, strategy, each


def savings_csv(found: SpeedAndCost) -> str:
    """One row a model, currency and strategy."""
    rows = [
        [
            model,
            currency,
            found.w,
            strategy,
            one.value,
            *(one.interval or ("", "")),
            one.method,
            one.why_no_interval or "",
        ]
        for model, currency, strategy, one in every_ratio(found)
    ]
    header = ["model", "currency", "w", "strategy", "ratio", "low", "high", "method", "why_no_interval"]
    return csv_text(header, rows)
