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
    """A ratio, with its interval, or why there is none."""
    if estimate.value is None:
        return f"unknown: {estimate.why_no_interval}"
    ends = f" ({estimate.interval[0]:.2f} to {estimate.interval[1]:.2f})" if estimate.interval else ""
    return f"{estimate.value:.2f}×{ends}"


def basis(estimate: Estimate) -> str:
    """What an estimate rests on, for the small print."""
    counts = [
        f"{count} {name}"
        for count, name in (
            (estimate.n_tasks, "tasks"),
            (estimate.n_samples, "models" if estimate.unit == "model" else "samples"),
            (estimate.n_judgments, "judgments"),
        )
        if count is not None
    ]
    return "; ".join([", ".join(counts), estimate.method]) if counts else estimate.method
