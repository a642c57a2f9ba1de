"""Background work of one workspace: gradings are carried out and what is to be sent is sent, until told to stop.

Any number of workers may run beside one another, on one machine or many: each item is taken by one of them, and what a
killed worker held is taken up by the next.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from guildhall.observe.spans import Doing, span
from guildhall.store.verdicts import full_spans
from guildhall.store.work import this_worker
from guildhall.web.site import Site
from guildhall.web.stopping import STOP_WITHIN_S, end_at_last, stop_signals

IDLE_S = 1.0
logger = logging.getLogger(__name__)


Stopping = Callable[[], bool]
"""Whether this process was told to stop; a long errand asks now and then."""


def grade_next(site: Site, stopping: Stopping) -> bool:
    """Carry out the next grading; False when none waits."""
    from guildhall.study.gradings import work_once

    return work_once(site.workspace, worker=this_worker(), clock=site.clock, stopping=stopping)


def tell_next(site: Site, _stopping: Stopping) -> bool:
    """Make the next delivery to a webhook; False when none is due."""
    from guildhall.web.webhooks import Webhooks

    return Webhooks(site).deliver_next()


def mail_next(site: Site, _stopping: Stopping) -> bool:
    """Send the next letter; False when none is due."""
    from guildhall.web.mail import Mail

    return Mail(site).send_next()


def screen_next_draft(site: Site, _stopping: Stopping) -> bool:
    """Make the next draft visible for its reviewers and screen it; False when none waits."""
    from guildhall.study.reviewing import screen_next

    return screen_next(site.workspace, clock=site.clock)


def open_next_study(site: Site, _stopping: Stopping) -> bool:
    """Make everything of the next study ready and open it to graders; False when none waits."""
    from guildhall.study.openings import open_next

    return open_next(site.workspace, worker=this_worker(), clock=site.clock)


class KeepingParts:
    """Keeps what was judged for quick reading, span by span as they fill; False when nothing is to be kept."""

    def __init__(self) -> None:
        self._seen: dict[Path, int] = {}

    def __call__(self, site: Site, _stopping: Stopping) -> bool:
        full = full_spans(site.workspace.store)
        parts = site.workspace.verdict_parts
        if full <= self._seen.get(parts, 0):
            return False
        from guildhall.store.verdict_parts import close_parts

        self._seen[parts] = full
        return close_parts(site.workspace.store, parts, full_only=True) > 0


Errand = Callable[[Site, Stopping], bool]
ERRANDS: dict[str, Errand] = {
    "grading": grade_next,
    "webhook": tell_next,
    "mail": mail_next,
    "screening": screen_next_draft,
    "opening": open_next_study,
    "parts": KeepingParts(),
}
"""Each does one thing and says whether there was one. They run side by side: a long grading delays no e-mail."""


def work_off(site: Site) -> int:
    """Do everything that waits now; how many things that were."""
    done = 0
    for errand in ERRANDS.values():
        while errand(site, lambda: False):
            done += 1
    return done


def work_on(site: Site, *, stop_within_s: float = STOP_WITHIN_S) -> None:
    """Work until told to stop; what fails unexpectedly is logged, and the rest goes on.

    Told to stop, it begins nothing new. What is under way has `stop_within_s` to end; a grading stops between two
    batches of verdicts, all of which are kept, and is free for the next worker.
    """
    stopped = threading.Event()
    grading, *others = ERRANDS
    # Beside the main thread, which is the one that an interruption reaches: only a grading can last.
    beside = [threading.Thread(target=_repeat, args=(name, site, stopped), daemon=True) for name in others]

    def stop() -> None:
        logger.info("stopping: what is under way is finished, nothing new is begun")
        stopped.set()
        signal.setitimer(signal.ITIMER_REAL, stop_within_s)
        end_at_last(stop_within_s)

    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with stop_signals(stop, on_hurry=partial(signal.raise_signal, signal.SIGALRM)):
        for thread in beside:
            thread.start()
        with suppress(KeyboardInterrupt):  # what was begun is given back, and taken up by the next worker
            _repeat(grading, site, stopped)
            for thread in beside:
                thread.join()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    if left := [thread.name for thread in beside if thread.is_alive()]:
        logger.warning("cut short: %s; it is tried again later", ", ".join(left))


def _repeat(name: str, site: Site, stopped: threading.Event) -> None:
    threading.current_thread().name = name
    while not stopped.is_set():
        started, busy = time.monotonic(), False
        try:
            with span(Doing.ERRAND, errand=name):
                busy = ERRANDS[name](site, stopped.is_set)
        except Exception:
            logger.exception("background work failed and is tried again", extra={"errand": name})
        if busy:
            logger.info("errand", extra={"errand": name, "duration_ms": round(1000 * (time.monotonic() - started), 1)})
        else:
            stopped.wait(IDLE_S)


def end_with_input() -> None:
    """End this process when standard input ends: whoever started it is gone, however it went.

    By the signal a worker listens to; SIGINT is ignored by whatever a script starts in the background.
    """

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


LONGEST_PAUSE_S = 60.0


class WorkerBeside:
    """A worker in a process of its own. One that ends without being told to is told of, and started again."""

    def __init__(self, command: Sequence[str], *, on_restart: Callable[[], None]) -> None:
        self._command, self._on_restart = command, on_restart
        self._stopped = threading.Event()
        self.process = self._started()
        self._watch = threading.Thread(target=self._keep_going, name="worker beside", daemon=True)
        self._watch.start()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE)

    def _keep_going(self) -> None:
        pause_s = 1.0
        while not self._stopped.is_set():
            begun = time.monotonic()
            code = self.process.wait()
            if time.monotonic() - begun > LONGEST_PAUSE_S:
                pause_s = 1.0
            if self._stopped.is_set():
                return
            logger.error("the worker ended by itself (exit code %d); started again in %.0f s", code, pause_s)
            self._on_restart()
            if not self._stopped.wait(pause_s):
                dead, self.process = self.process, self._started()
                if dead.stdin:
                    dead.stdin.close()
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def terminate(self) -> None:
        self._stopped.set()
        self.process.terminate()

    def ended(self, *, within_s: float) -> None:
        """Told to stop, and killed when that takes too long."""
        self.terminate()
        self._watch.join(timeout=within_s)
        self.process.terminate()  # one that was being started when the rest was told
        try:
            self.process.wait(timeout=within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


@contextmanager
def worker_beside(
    site: Site, *, stop_within_s: float = STOP_WITHIN_S, on_restart: Callable[[], None] = lambda: None
) -> Iterator[WorkerBeside]:
    """A worker beside for as long as this process serves."""
    command = [sys.executable, "-m", "guildhall", "worker", "--until-closed", "--stop-within", f"{stop_within_s:g}"]
    where = ["--workspace", str(site.workspace.path), "--address", site.addresses.app]
    beside = WorkerBeside([*command, *where], on_restart=on_restart)
    try:
        yield beside
    finally:
        beside.ended(within_s=stop_within_s + 10)
