"""A served study and a browser, shared by the page tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from guildhall.store.workspace import Workspace
from tests.browser import PATIENCE_MS
from tests.web.live import Live
from tests.web.studies import make_task, open_study


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A study of twelve pairs, served."""
    path = tmp_path_factory.mktemp("hall") / "workspace"
    with Workspace.create(path) as workspace:
        open_study(workspace, [make_task(number) for number in range(12)], people={"graders_per_set": 9})
    served = Live(path).start()
    yield served
    served.stop()


@pytest.fixture
def tab(chrome: Browser) -> Iterator[Page]:
    """A fresh browser profile with one tab of a laptop's size."""
    context = chrome.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    yield page
    context.close()
