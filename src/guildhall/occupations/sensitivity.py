"""What other thresholds would have chosen: each moved alone, over steps around the one that was used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from guildhall.domain.occupations import DigitalShare, Selection, Shift, Thresholds
from guildhall.occupations.selection import Official, select

DIGITAL_STEPS = (0.40, 0.50, 0.55, 0.60, 0.65, 0.70, 0.80)
GDP_STEPS = (3.0, 4.0, 5.0, 6.0, 8.0)
"""Below the smallest share in the file a lower threshold changes nothing: sectors that are not listed cannot enter."""
SECTOR_STEPS = (3, 4, 5, 6, 8, 10)


def sensitivity(official: Official, digital: Mapping[str, DigitalShare], base: Selection) -> tuple[Shift, ...]:
    """The selection under each other threshold, as who comes in and who goes."""
    before = {one.title for one in base.chosen}
    shifts = []
    for thresholds in _around(base.thresholds):
        found = select(official, digital, labelled_by=base.labeller, thresholds=thresholds)
        after = {one.title for one in found.chosen}
        shifts.append(
            Shift(
                thresholds=thresholds,
                chosen=len(after),
                comes=tuple(sorted(after - before)),
                goes=tuple(sorted(before - after)),
            )
        )
    return tuple(shifts)


def _around(base: Thresholds) -> Iterator[Thresholds]:
    yield from (base.but(digital_share=step) for step in DIGITAL_STEPS if step != base.digital_share)
    yield from (base.but(gdp_share=step) for step in GDP_STEPS if step != base.gdp_share)
    yield from (base.but(per_sector=step) for step in SECTOR_STEPS if step != base.per_sector)
