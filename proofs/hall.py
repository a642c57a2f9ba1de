"""The hall's claims: overlap under a race, work that survives kills, a fair clock, balanced orders, a tight blind."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from guildhall.domain.halls import HallDesign
from guildhall.domain.judgments import Judgment
from guildhall.store.audit import broken_links
from guildhall.store.database import open_database, upgrade
from guildhall.store.records import Store
from proofs import ROOT, Figures, NotRun, proof


@contextmanager
def database_urls() -> Iterator[dict[str, Callable[[], str]]]:
    """A maker of empty databases for SQLite and for PostgreSQL with its durable settings."""
    from tests.postgres import NoPostgres, private_postgres

    try:
        with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder, private_postgres(fsync=True) as server:
            numbers = iter(range(10_000))
            yield {
                "sqlite": lambda: f"sqlite:///{folder}/{next(numbers)}.sqlite",
                "postgresql": server.new_database,
            }
    except NoPostgres as reason:
        raise NotRun(str(reason)) from reason


def opened(url: str) -> Store:
    engine = open_database(url)
    upgrade(engine)
    engine.dispose()
    return Store.open(url)


@proof(
    "hall-overlap-race",
    "50 graders at once on 40 items with k = 3, 20 rounds on each database: never more than 3 gradings, none starved",
    budget_s=1800,
)
def overlap_race() -> Figures:
    from tests.grading.test_queue import race

    seen: dict[str, Counter[int]] = {}
    with database_urls() as databases:
        for name, new in databases.items():
            counts: Counter[int] = Counter()
            for number in range(20):
                store = opened(new())
                gradings = race(store, graders=50, tasks=40, rounds=1, seed=number)
                counts.update(gradings.values())
                assert len(gradings) == 40, f"{40 - len(gradings)} items starved"
                assert broken_links(store) == []
                store.close()
            assert set(counts) == {3}, counts
            seen[name] = counts
    return {"graders": 50, "items": 40, "rounds": 20, "gradings_an_item": {k: dict(v) for k, v in seen.items()}}


@proof(
    "hall-killed-server",
    "kill -9 of the server 20 times during 5,000 submissions with double clicks: no acknowledged judgment is lost, "
    "none is kept twice, on both databases",
    budget_s=3000,
)
def killed_server() -> Figures:
    from proofs._hall_kills import kill_and_count

    with database_urls() as databases:
        return {name: kill_and_count(new(), submissions=5000, kills=20) for name, new in databases.items()}


@proof(
    "hall-order-balance",
    "in 10,000 plans each side stands at each place of its set equally often, to one; one secret gives one plan",
)
def order_balance() -> Figures:
    from tests.grading.halls import layout

    rng = random.Random(8)
    slots = pairs = first = 0
    for seed in range(10_000):
        size = rng.choice((2, 2, 2, 3, 4, 5))
        design = HallDesign(graders_per_set=rng.randint(1, 9), set_size=size)
        made = layout(2, design=design, models=size - 1, seed=seed)
        for comparison in made.comparisons:
            orders = [slot.order for slot in made.slots if slot.comparison == comparison.key]
            for place in range(size):
                stood = Counter(order[place] for order in orders)
                spread = max(stood.values()) - min(stood.get(key, 0) for key in comparison.submissions)
                assert spread <= 1, (seed, size, spread)
            slots += len(orders)
            pairs += len(orders) if size == 2 else 0
            first += sum(order[0] == comparison.submissions[0] for order in orders) if size == 2 else 0
        assert made == layout(2, design=design, models=size - 1, seed=seed)
    return {"plans": 10_000, "gradings": slots, "of_pairs": pairs, "expert_on_the_left_in_pairs": first}


@proof("hall-timer", "scripted sittings on a fake clock come within 2 s of the truth, whatever the beats' phase")
def timer() -> Figures:
    from proofs._hall_sittings import SITTINGS, counted

    worst: dict[str, float] = {}
    for name, (parts, truth) in SITTINGS.items():
        errors = [abs(counted(parts, random.Random(seed)) - truth) for seed in range(200)]
        worst[name] = round(max(errors), 3)
        assert worst[name] <= 2, (name, worst[name])
    return {"sittings": len(worst), "phases_each": 200, "worst_error_s": worst}


@proof(
    "hall-browser",
    "in Chromium: invitation to receipt by mouse, by keyboard, without scripts; drafts survive reload, a second tab, "
    "a lost connection and a restart; axe finds nothing; hostile files and requests get nowhere",
    budget_s=1800,
)
def browser() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        run = [sys.executable, "-m", "pytest", "tests/web", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
        suite = ET.parse(report).getroot().find("testsuite")
        assert suite is not None and done.returncode == 0, done.stdout[-3000:]
        names = [str(case.get("name")) for case in suite.iter("testcase")]
        skipped = int(suite.get("skipped", "0"))
    if skipped:
        raise NotRun(f"{skipped} tests were skipped: Chromium is not at /usr/bin/chromium")
    return {"tests": len(names), "browser_tests": [name for name in names if "path" in name or "survives" in name]}


@proof(
    "hall-leak-crawl",
    "canaries in the metadata, names, authors and times of every kind of file: a crawl of all a grader can reach "
    "finds none in any byte",
    budget_s=2400,
)
def leak_crawl() -> Figures:
    from tests.documents.canary_files import MADE, MEDIA
    from tests.web.live import Live
    from tests.web.test_leaks import WORDS, crawl_all, plant

    from guildhall.documents.looking import documents
    from guildhall.domain.judgments import SeverityRating

    kinds = (*MADE, *MEDIA)
    with tempfile.TemporaryDirectory(prefix="guildhall-proof-") as folder:
        home = Path(folder)
        with documents(home / "cache", workers=1) as looking:
            plant(home / "workspace", kinds, home, looking)
        live = Live(home / "workspace").start()
        try:
            crawls, graded = crawl_all(live)
            found = [place for crawl in crawls for place in crawl.found]
            assert found == [], found[:20]
            assert graded == 2
            store = live.workspace.store
            assert store.count(Judgment) == 1 and store.count(SeverityRating) == 1
            return {
                "kinds_of_file": len(kinds),
                "words_planted": list(WORDS),
                "digests_searched_for": len(crawls[0].needles) - len(WORDS),
                "responses": sum(crawl.responses for crawl in crawls),
                "megabytes": round(sum(crawl.size for crawl in crawls) / 1e6, 1),
                "found": 0,
            }
        finally:
            live.stop()
