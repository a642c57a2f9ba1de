"""Looking at pages for what keeps people out, with axe."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def faults(page: Page) -> list[str]:
    """What axe finds, once everything of the page is there: before its stylesheet is, it has other colours."""
    page.wait_for_load_state()
    if page.evaluate("typeof axe") == "undefined":  # half a megabyte: once for each document
        page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]
