"""Figures of a report as files: SVG at once, PNG in a process beside where there is much to compute."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from guildhall.domain.report import Figure, Plot, Report, RunReport
from guildhall.reports.plots import svg_of
from guildhall.reports.svg import svg_to_png, write_png


def plots_of(report: Report | RunReport) -> dict[str, Plot]:
    """Every plot of a report by the name of its file."""
    return {figure.name: figure.plot for section in report.sections for figure in section.figures}


def drawn(report: Report | RunReport) -> dict[str, str]:
    """Every figure as SVG."""
    models = report.models if isinstance(report, Report) else ()
    return {name: svg_of(plot, models) for name, plot in plots_of(report).items()}


class Drawing:
    """Draws figures into a folder, as SVG and PNG; each file once. What a process beside does not do is done here."""

    def __init__(self, folder: Path, beside: subprocess.Popen[str] | None = None) -> None:
        self.svgs = dict[str, str]()
        self._folder, self._beside = folder, beside

    def draw(self, figures: Iterable[Figure], models: Sequence[str] = ()) -> None:
        for figure in figures:
            self.svgs[figure.name] = svg_of(figure.plot, models)
            self._png(figure.name).unlink(missing_ok=True)
            (self._folder / f"{figure.name}.svg").write_text(self.svgs[figure.name], encoding="utf-8")
            if self._beside is not None and self._beside.stdin is not None:
                with suppress(OSError):
                    self._beside.stdin.write(f"{figure.name}\n")
                    self._beside.stdin.flush()

    def finish(self) -> None:
        """Make the PNGs, the last first: a process beside begins with the first."""
        for name in reversed(self.svgs):
            write_png(self._folder, name)
        if self._beside is not None:
            with suppress(OSError):
                self._beside.communicate()
            for name, svg in self.svgs.items():
                if not self._png(name).stat().st_size:  # begun by a process that ended
                    self._png(name).write_bytes(svg_to_png(svg))

    def _png(self, name: str) -> Path:
        return self._folder / f"{name}.png"


@contextmanager
def drawing(folder: Path, *, beside: bool = False) -> Iterator[Drawing]:
    """Where figures are drawn; `beside` starts a process for it, which is worth it where there is much to compute."""
    folder.mkdir(parents=True, exist_ok=True)
    if not beside:
        yield Drawing(folder)
        return
    command = [sys.executable, "-m", "guildhall.reports.svg", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        try:
            yield Drawing(folder, child)
        except BaseException:
            child.kill()
            raise
