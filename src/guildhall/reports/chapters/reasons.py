"""Why work lost and won, as Markdown."""

from __future__ import annotations

from guildhall.domain.reasons import Reasons
from guildhall.reports.tables import text_table
from guildhall.reports.words import basis, interval_percent, percent, plain


def reasons_words(found: Reasons) -> tuple[str, ...]:
    """Who coded what, and how far coders agree."""
    sentences = [
        f"Graders' justifications, each coded by {found.coder} into the one label that names its main reason. "
        f"{found.coded} were coded, {found.blank} of them left blank because no one reason stands out; "
        f"{found.uncoded} were not coded."
    ]
    if found.agreement:
        agreed = "; ".join(f"{name} {plain(estimate)}" for name, estimate in found.agreement)
        sentences.append(f"Agreement with {', '.join(found.others)}: {agreed}.")
    else:
        sentences.append("One coder only: nothing says how far another would agree.")
    return tuple(sentences)


def reasons_markdown(found: Reasons) -> list[str]:
    rows = [
        [
            one.model,
            one.side,
            one.label,
            f"{percent(one.share.value)} ({interval_percent(one.share)})",
            basis(one.share),
        ]
        for one in found.shares
    ]
    words = [f"{sentence}\n" for sentence in reasons_words(found)]
    return ["## Why work lost and won", "", *words, *text_table(["model", "side", "reason", "share", "rests on"], rows)]
