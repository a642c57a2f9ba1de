"""What all tests share: workspaces on both databases, the real data where it lies, a quiet Hypothesis."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright

from guildhall.documents.looking import Documents, documents
from guildhall.store import workspace as workspaces
from guildhall.store.database import open_database
from guildhall.store.records import Store
from guildhall.store.workspace import Workspace
from tests.browser import CHROMIUM, CHROMIUM_ARGS
from tests.migrated import Migrated
from tests.postgres import NoPostgres, Server, private_postgres, quickest

ROOT = Path(__file__).parent.parent
REALDATA = Path(os.environ.get("GUILDHALL_REALDATA", ROOT.parent / "shared" / "realdata"))

LONGEST = {"test_torture.py", "test_wheel.py", "test_docs.py"}

_UMASK = os.umask(0o022)
os.umask(_UMASK)

_QUIET = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
settings.register_profile("guildhall", _QUIET, max_examples=40)
settings.register_profile("thorough", _QUIET, max_examples=1000)
settings.load_profile(os.environ.get("GUILDHALL_EXAMPLES", "guildhall"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files anew, to be read before committing")


def pytest_configure() -> None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", quickest())  # where pytest makes its folders for tests


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what their module made, or LibreOffice, go to one test process: it is made once.

    The longest of those that stand alone come first, so that no process waits for one at the end.
    """
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
        if item.get_closest_marker("xdist_group") is None:
            if "look" in fixtures:
                item.add_marker(pytest.mark.xdist_group("office"))
            elif any(one.scope == "module" for made in fixtures.values() for one in made):
                item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # what importing everything made stays to the end: nothing need look through it again and again


@pytest.fixture(scope="session")
def realdata() -> Path:
    if not REALDATA.is_dir():
        pytest.skip("the public data is not beside the project (../shared/realdata)")
    return REALDATA


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    try:
        with private_postgres() as server:
            yield server
    except NoPostgres as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database on each of the two engines."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.sqlite'}"
        return
    server: Server = request.getfixturevalue("postgres")
    url = server.new_database()
    yield url
    server.drop(url)


@pytest.fixture(scope="session", autouse=True)
def migrated(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Migrated]:
    """New workspaces of this process get a copied database; `guildhall` as a command of its own migrates as ever."""
    made = Migrated(tmp_path_factory.mktemp("migrated"), lambda: request.getfixturevalue("postgres"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspaces, "upgrade", made)
        yield made


@pytest.fixture
def store(database_url: str, migrated: Migrated) -> Iterator[Store]:
    engine = open_database(database_url)
    migrated(engine)
    engine.dispose()
    opened = Store.open(database_url)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _rights_of_new_files() -> Iterator[None]:
    """Commands run inside this process let nobody else read what they write; the next test begins as a shell would."""
    os.umask(_UMASK)
    yield
    os.umask(_UMASK)


@pytest.fixture
def asks_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect waits seconds before it asks again, each time longer; how often it asks is what counts in tests."""
    monkeypatch.setattr("inspect_ai.model._retry.wait_exponential_jitter", lambda **_: lambda _state: 0.01)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "workspace") as made:
        yield made


@pytest.fixture(scope="session")
def look(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    """One cache and one pool of LibreOffices for all tests of a process: starting them is what takes the time."""
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not here")
    with documents(tmp_path_factory.mktemp("rendered"), workers=1) as everything:
        yield everything


@pytest.fixture(scope="session")
def demo_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `guildhall demo` leaves behind, on one task of the bank; made once for all test processes of a run."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"alone-{os.getpid()}")
    root = tmp_path_factory.getbasetemp() if "alone" in run else tmp_path_factory.getbasetemp().parent
    place = root / "demo-workspace"
    with (root / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "report" / "report.html").exists():
            command = [sys.executable, "-m", "guildhall", "demo", str(place), "--tasks", "1"]
            subprocess.run(command, check=True, capture_output=True)
    return place


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """A browser for one module: while it is open, its event loop keeps others of the process from running."""
    if not Path(CHROMIUM).exists():
        pytest.skip("needs Chromium at /usr/bin/chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield opened
        opened.close()
