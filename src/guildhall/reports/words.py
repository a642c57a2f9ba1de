"""Numbers in words: how a rate, an interval and its absence are written everywhere."""

from __future__ import annotations

from guildhall.domain.estimates import Estimate


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def interval_percent(estimate: Estimate) -> str:
    if estimate.interval is None:
        return f"no interval: {estimate.why_no_interval}"
    low, high = estimate.interval
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def points(estimate: Estimate) -> str:
    """A difference of shares, in percentage points with its sign."""
    return "unknown" if estimate.value is None else f"{100 * estimate.value:+.1f}"


def points_interval(estimate: Estimate) -> str:
    if estimate.interval is None:
        return f"no interval: {estimate.why_no_interval}"
    low, high = estimate.interval
    return f"{100 * low:+.1f} to {100 * high:+.1f}"


def rate_name(name: str) -> str:
    """`win_or_tie` as people say it."""
    return name.replace("_", " ")


def plain(estimate: Estimate) -> str:
    """A value that is not a share, with its interval or the reason why it has none."""
    if estimate.value is None:
        return f"unknown ({estimate.why_no_interval})"
    if estimate.interval is None:
        return f"{estimate.value:.2f} (no interval: {estimate.why_no_interval})"
    low, high = estimate.interval
    return f"{estimate.value:.2f} ({low:.2f} to {high:.2f})"


def times(estimate: Estimate) -> str:
    """A ratio, with its interval; a dash where it is unknown, which the text beneath a table explains."""
    if estimate.value is None:
        return "–"
    ends = f" ({estimate.interval[0]:.2f} to {estimate.interval[1]:.2f})" if estimate.interval else ""
    return f"{estimate.value:.2f}×{ends}"


def figure_words(estimate: Estimate, *, in_percent: bool) -> str:
    """A figure of a chapter: in per cent where the whole chapter is shares."""
    if not in_percent or estimate.value is None:
        return plain(estimate)
    return f"{percent(estimate.value)} ({interval_percent(estimate)})"


def basis(estimate: Estimate) -> str:
    """What an estimate rests on, for the small print."""
    sample = {"model": "model", "file": "file"}.get(estimate.unit, "sample")
    counts = [
        f"{count} {name if count == 1 else name + 's'}"
        for count, name in (
            (estimate.n_tasks, "task"),
            (estimate.n_samples, sample),
            (estimate.n_judgments, "judgment"),
        )
        if count is not None
    ]
    method = [] if estimate.method == "none" else [estimate.method]
    return "; ".join([", ".join(counts), *method]) if counts else estimate.method
