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
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from guildhall.store.work import this_worker
from guildhall.web.site import Site

IDLE_S = 1.0
logger = logging.getLogger(__name__)


def grade_next(site: Site) -> bool:
    """Carry out the next grading; False when none waits."""
    from guildhall.study.gradings import work_once

    return work_once(site.workspace, worker=this_worker(), clock=site.clock)


def tell_next(site: Site) -> bool:
    """Make the next delivery to a webhook; False when none is due."""
    from guildhall.web.webhooks import Webhooks

    return Webhooks(site).deliver_next()


def mail_next(site: Site) -> bool:
    """Send the next letter; False when none is due."""
    from guildhall.web.mail import Mail

    return Mail(site).send_next()


def screen_next_draft(site: Site) -> bool:
    """Make the next draft visible for its reviewers and screen it; False when none waits."""
    from guildhall.study.screening import screen_next

    return screen_next(site.workspace, clock=site.clock)


ERRANDS: tuple[Callable[[Site], bool], ...] = (grade_next, tell_next, mail_next, screen_next_draft)
"""Each does one thing and says whether there was one. They run side by side: a long grading delays no e-mail."""


def work_off(site: Site) -> int:
    """Do everything that waits now; how many things that were."""
    done = 0
    for errand in ERRANDS:
        while errand(site):
            done += 1
    return done


def work_on(site: Site) -> None:
    """Work until interrupted; what fails unexpectedly is logged, and the rest goes on."""
    stopped = threading.Event()
    first, *others = ERRANDS
    for errand in others:
        threading.Thread(target=_repeat, args=(errand, site, stopped), daemon=True).start()
    try:
        _repeat(first, site, stopped)
    finally:
        stopped.set()


def _repeat(errand: Callable[[Site], bool], site: Site, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            busy = errand(site)
        except Exception:
            logger.exception("background work failed and is tried again")
            busy = False
        if not busy:
            stopped.wait(IDLE_S)


def end_with_input() -> None:
    """Interrupt this process when standard input ends: whoever started it is gone, however it went."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def worker_beside(site: Site) -> Iterator[None]:
    """A worker in a process of its own for as long as this one serves."""
    command = [sys.executable, "-m", "guildhall", "worker", "--until-closed"]
    where = ["--workspace", str(site.workspace.path), "--address", site.addresses.app]
    child = subprocess.Popen([*command, *where], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdin:
            child.stdin.close()
