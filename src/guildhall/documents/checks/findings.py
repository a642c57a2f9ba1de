"""Making a finding: the place as shares of the page, and a picture of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from guildhall.documents.checks.pages import PageView, Rect
from guildhall.documents.values import Box, Finding, Gravity

_MOST_PICTURES = 60
_FRAME = (214, 40, 40)


class FindingMaker:
    """Turns what a check saw into findings; draws at most a bounded number of pictures into `pictures`."""

    def __init__(self, pictures: Path | None) -> None:
        self._pictures = pictures
        self._made = 0

    def on_page(self, page: PageView, rule: str, severity: Gravity, words: str, box: Rect | None = None) -> Finding:
        return Finding(
            rule=rule,
            severity=severity,
            words=words,
            page=page.number,
            box=as_shares(box, page) if box is not None else None,
            picture=self._draw(page, box),
        )

    def on_file(self, rule: str, severity: Gravity, words: str) -> Finding:
        return Finding(rule=rule, severity=severity, words=words)

    def _draw(self, page: PageView, box: Rect | None) -> Path | None:
        """The surroundings of the place with a red frame around it; the whole page when there is no box."""
        if self._pictures is None or self._made >= _MOST_PICTURES:
            return None
        picture, frame = page.picture.copy(), box or (0.0, 0.0, page.width, page.height)
        height, width = picture.shape[:2]
        left, top, right, bottom = (int(edge * page.scale) for edge in frame)
        left, right = int(np.clip(left - 3, 0, width - 1)), int(np.clip(right + 3, 1, width))
        top, bottom = int(np.clip(top - 3, 0, height - 1)), int(np.clip(bottom + 3, 1, height))
        for rows, columns in (
            (slice(top, top + 3), slice(left, right)),
            (slice(max(0, bottom - 3), bottom), slice(left, right)),
            (slice(top, bottom), slice(left, left + 3)),
            (slice(top, bottom), slice(max(0, right - 3), right)),
        ):
            picture[rows, columns] = _FRAME
        around = int(0.12 * width)
        crop = picture[max(0, top - around) : bottom + around, max(0, left - around) : right + around]
        self._made += 1
        path = self._pictures / f"finding-{self._made:03}.png"
        Image.fromarray(crop).save(path, compress_level=6)
        return path


def as_shares(box: Rect, page: PageView) -> Box:
    """A box as shares of the page; what lies outside is pulled to the edge."""
    left, top, right, bottom = box
    return (
        float(np.clip(left / page.width, 0, 1)),
        float(np.clip(top / page.height, 0, 1)),
        float(np.clip(right / page.width, 0, 1)),
        float(np.clip(bottom / page.height, 0, 1)),
    )
