"""How tests start the browser of the system."""

from __future__ import annotations

PATIENCE_MS = 600_000
"""Against hanging: nothing depends on how soon a page answers."""
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
