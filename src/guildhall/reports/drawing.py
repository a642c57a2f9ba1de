"""Figures drawn in a process beside the one that computes: the drawing program holds Python's lock while it works."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from guildhall.domain.report import Figure, Plot, Report, RunReport
from guildhall.reports.plots import specification
from guildhall.reports.plots.frame import Specification
from guildhall.reports.svg import svg_to_png, to_svg, write_png, write_svg


def plots_of(report: Report | RunReport) -> dict[str, Plot]:
    """Every plot of a report by the name of its file."""
    return {figure.name: figure.plot for section in report.sections for figure in section.figures}


def drawn(report: Report | RunReport) -> dict[str, str]:
    """Every figure as SVG."""
    return {name: to_svg(specification(plot)) for name, plot in plots_of(report).items()}


def write_figure(plot: Plot, folder: Path, name: str) -> str:
    """Draw a figure as SVG and PNG into a folder; the SVG."""
    svg = to_svg(specification(plot))
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{name}.png").write_bytes(svg_to_png(svg))
    return svg


class Drawing:
    """Draws figures into a folder, as SVG and PNG; each file once."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, dict[str, Specification]()

    def begin(self, figures: Iterable[Figure]) -> None:
        """Figures that will be wanted."""
        for figure in figures:
            self.asked[figure.name] = specification(figure.plot)
            for ending in ("svg", "png"):
                self._file(figure.name, ending).unlink(missing_ok=True)

    def svgs(self) -> dict[str, str]:
        """All that were begun, drawn."""
        for name in self.asked:
            if not self._file(name, "svg").exists():
                write_svg(self.folder, name, self.asked[name])
        return {name: self._file(name, "svg").read_text(encoding="utf-8") for name in self.asked}

    def finish(self) -> None:
        """Make the PNGs, the last first: a process beside begins with the first."""
        for name in reversed(self.asked):
            write_png(self.folder, name)

    def _file(self, name: str, ending: str) -> Path:
        return self.folder / f"{name}.{ending}"


class _Beside(Drawing):
    """The same with a process beside. What it does not do, for whatever reason, is done here."""

    def __init__(self, folder: Path, child: subprocess.Popen[str], sender: ThreadPoolExecutor) -> None:
        super().__init__(folder)
        self._child, self._sender = child, sender

    def begin(self, figures: Iterable[Figure]) -> None:
        known = len(self.asked)
        super().begin(figures)
        for asked in list(self.asked.items())[known:]:
            self._sender.submit(self._send, json.dumps(asked) + "\n")  # a pipe is soon full

    def svgs(self) -> dict[str, str]:
        self._sender.submit(self._close)
        if self._child.stdout is not None:
            for _ in self.asked:
                self._child.stdout.readline()
        return super().svgs()

    def finish(self) -> None:
        super().finish()
        self._child.wait()
        for name in self.asked:
            if not self._file(name, "png").stat().st_size:  # begun by a process that ended
                self._file(name, "png").write_bytes(svg_to_png(self._file(name, "svg").read_text(encoding="utf-8")))

    def _send(self, line: str) -> None:
        if self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.write(line)
                self._child.stdin.flush()

    def _close(self) -> None:
        if self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.close()


@contextmanager
def drawing(folder: Path, *, beside: bool) -> Iterator[Drawing]:
    """Where figures are drawn; `beside` starts a process for it, which is worth it where there is much to compute."""
    folder.mkdir(parents=True, exist_ok=True)
    if not beside:
        yield Drawing(folder)
        return
    command = [sys.executable, "-m", "guildhall.reports.svg", str(folder)]
    with (
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as child,
        ThreadPoolExecutor(1) as sender,
    ):
        try:
            yield _Beside(folder, child, sender)
        except BaseException:
            child.kill()
            raise
