"""Stores in which every judgment is planted, made once for all tests that only read them."""

from __future__ import annotations

import pytest

from tests.planted.ledger import Planted
from tests.planted.store import planted_store

SEEDS = 16


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Planted]:
    return [planted_store(seed, tmp_path_factory.mktemp("planted")) for seed in range(SEEDS)]
