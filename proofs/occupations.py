"""The occupation selection on the official files: counts, the paper's pay totals, sectors, the selection."""

from __future__ import annotations

import re
import time
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from proofs import ROOT, Figures, NotRun, proof, realdata

if TYPE_CHECKING:
    from guildhall.domain.occupations import OccupationVerdict, Selection


def _table_one() -> dict[str, list[tuple[str, float]]]:
    """Sector -> occupations with their pay in billions, as the paper's Table 1 prints them."""
    seeds = sorted((ROOT.parent / "shared" / "seeds").glob("001_*.txt"))
    if not seeds:
        raise NotRun("needs the paper's text beside the project")
    table: dict[str, list[tuple[str, float]]] = {}
    for line in seeds[0].read_text().splitlines():
        cells = line.split("\t")
        if len(cells) == 3 and cells[1].endswith("%"):
            pairs = re.findall(r"(.+?) — \\?\$([\d.]+)B\s*", cells[2])
            table[cells[0]] = [(name.strip(), float(pay)) for name, pay in pairs]
    return table


def _named(name: str, pay: float, found: Selection) -> OccupationVerdict | None:
    """The occupation with exactly this pay; two may share it, and then the title decides."""
    paid = [one for one in found.occupations if round((one.total_wages_usd or 0) / 1e9, 2) == pay]
    return max(paid, key=lambda one: SequenceMatcher(None, name, one.title).ratio(), default=None)


@proof(
    "occupations-select",
    "831 and 761 occupations, all 44 pay totals, at least 42 sectors, the selection explained",
    budget_s=300,
)
def select_occupations() -> Figures:
    from guildhall.domain.occupations import Thresholds
    from guildhall.occupations.labels import from_file
    from guildhall.occupations.selection import digital_shares, read_official, select

    data = realdata("onet_bls")
    started = time.perf_counter()
    labels = from_file(data / "gpts_are_gpts_full_labelset.tsv")
    official = read_official(data)
    shares = digital_shares(official, labels)
    found = select(official, shares, labelled_by="public exposure labels", thresholds=Thresholds())
    seconds = time.perf_counter() - started
    published = {(sector, pay): name for sector, entries in _table_one().items() for name, pay in entries}
    named = {pay: _named(name, pay, found) for (_, pay), name in published.items()}
    matched = {pay: one for pay, one in named.items() if one is not None}
    same_sector = [pay for sector, pay in published if pay in matched and matched[pay].sector == sector]
    moved = {
        matched[pay].title: [sector, matched[pay].sector]
        for sector, pay in published
        if pay in matched and pay not in same_sector
    }
    chosen = {title for titles in found.selected.values() for title in titles}
    missed = {
        matched[pay].title: matched[pay].verdict
        for _, pay in published
        if pay in matched and matched[pay].title not in chosen
    }
    figures: Figures = {
        "detailed": found.detailed,
        "kept": found.kept,
        "published_pay_totals": len(published),
        "pay_totals_reproduced": len(matched),
        "sectors_equal": len(same_sector),
        "sectors_moved": moved,
        "selected_of_the_44": len(published) - len(missed),
        "missed_and_why": missed,
        "shares_from_ratings": found.with_ratings,
        "shares_by_task_frequency": found.by_proxy,
        "without_share": found.without_share,
        "seconds": round(seconds, 1),
    }
    assert (found.detailed, found.kept) == (831, 761)
    assert len(published) == 44 and len(matched) == 44, figures
    assert len(same_sector) >= 42, figures
    assert seconds < 20, figures
    return figures
