"""Money: dated list prices, one's own prices, and prices nobody knows, which are not 0."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from guildhall.domain.prices import Price
from guildhall.domain.submissions import Usage
from guildhall.engine.prices import Prices
from guildhall.observe.redact import redact

AT = datetime(2026, 6, 1, tzinfo=UTC)
USED = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_input_tokens=400_000, calls=3)


def test_ones_own_price_comes_first_and_carries_its_date():
    prices = Prices({"x/y": Price(input_usd=2, output_usd=10, cached_input_usd=0.5, as_of=date(2026, 5, 1))})
    priced = prices.price("x/y", USED, at=AT, elsewhere=True)
    assert priced.cost_usd == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10)
    assert priced.price_date == "2026-05-01" and priced.calls == 3


def test_a_public_list_price_names_the_release_it_comes_from():
    priced = Prices().price("openai/gpt-4o", USED, at=AT)
    assert priced.cost_usd is not None and priced.cost_usd > 1
    assert (priced.price_date or "").startswith("genai-prices ")


@pytest.mark.parametrize("model", ["openai/no-such-model", "ollama/llama3", "vllm/x", "mystery/model"])
def test_an_unknown_price_is_unknown_and_not_zero(model):
    assert Prices().price(model, USED, at=AT).cost_usd is None
    assert not Prices().knows(model, at=AT)


def test_a_model_behind_an_address_of_ones_own_has_no_list_price():
    assert Prices().price("openai/gpt-4o", USED, at=AT, elsewhere=True).cost_usd is None


def test_one_unknown_part_makes_the_sum_unknown():
    known = Prices().price("openai/gpt-4o", USED, at=AT)
    assert (known + Usage(calls=1)).cost_usd is None
    assert (known + Usage(cost_usd=0.0)).cost_usd == known.cost_usd


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcdefgh12345678", "Bearer abcdefghij.klmnop", "https://user:hunter22@host/x", "AIzaSyA1234567890abcdef"],
)
def test_whatever_is_shaped_like_a_key_is_hidden(secret):
    assert secret.split()[-1] not in redact(f"failed with {secret} in it", environ={})


def test_values_of_secret_environment_variables_are_hidden_whatever_their_shape():
    environ = {"MY_API_KEY": "plain words here", "HOME": "/home/someone", "SHORT_TOKEN": "abc"}
    text = redact("plain words here, /home/someone, abc", environ=environ)
    assert text == "[hidden], /home/someone, abc"
