"""One table of providers: what it says, who asks it, and what a user is told of a name, a key or a client."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from genai_prices.data import providers as priced

from guildhall.domain.judges import JudgePlan
from guildhall.domain.providers import IN_THE_EXTRA, PROVIDERS, holds_to_schema
from guildhall.engine import models
from guildhall.engine.models import open_model, require_known
from guildhall.engine.terms import Limits, Pace
from guildhall.errors import InputError, MissingTool, UnknownName
from guildhall.peer.plan import PeerModel

SOURCE = Path(__file__).parents[2] / "src" / "guildhall"


def test_judges_and_essay_graders_ask_the_same_table() -> None:
    for name in PROVIDERS:
        model = f"{name}/any"
        asked = JudgePlan(name="j", model=model).answers_by_schema, PeerModel(name="p", model=model).asks_structure
        assert asked == (holds_to_schema(model),) * 2, name


def test_what_a_judge_was_asked_by_is_what_it_is_asked_by_now() -> None:
    """The digests of kept judges rest on it."""
    by_schema = {name for name in PROVIDERS if JudgePlan(name="j", model=f"{name}/any").answers_by_schema}
    assert by_schema == {"anthropic", "google", "grok", "groq", "mistral", "openai", "sglang", "vllm"}


def test_every_price_name_is_one_under_which_prices_are_published() -> None:
    published = {one.id for one in priced}
    assert {one.prices for one in PROVIDERS.values() if one.prices} <= published


def test_every_provider_of_inspect_is_in_the_table() -> None:
    from inspect_ai._util.registry import registry_find, registry_info

    import guildhall.engine.registry  # noqa: F401 - with Inspect's own

    served = {registry_info(one).name.rpartition("/")[2] for one in registry_find(lambda info: info.type == "modelapi")}
    assert served <= set(PROVIDERS)


def test_the_extra_brings_the_clients_the_table_says_it_brings() -> None:
    import tomllib

    extras = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {one.partition(">")[0] for one in extras["providers"]} == IN_THE_EXTRA


def test_no_other_module_lists_providers() -> None:
    names = set(PROVIDERS) - {"none", "scripted", "google"}
    for path in SOURCE.rglob("*.py"):
        if path.name == "providers.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Set | ast.Dict):
                parts = node.elts if isinstance(node, ast.Set) else node.keys
                listed = {part.value for part in parts if isinstance(part, ast.Constant)}
                assert len(listed & names) < 3, f"{path}: {listed & names}"


@pytest.mark.parametrize(
    ("model", "meant"),
    [("openia/gpt-5", "openai"), ("antropic/claude-opus-4-1", "anthropic"), ("scripted/carefull", "careful")],
)
def test_a_mistyped_name_is_refused_with_the_one_that_was_meant(model, meant):
    with pytest.raises(UnknownName, match=f"did you mean '{meant}'"):
        require_known([model])


def test_known_models_are_let_through_without_a_key():
    require_known(["openai/gpt-5", "openai-api/own/any", "scripted/careful", "mockllm/model", "ollama/x"])


def test_a_missing_key_is_said_in_a_plain_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AZUREAI_OPENAI_API_KEY", "OWN_SERVER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for model, key in (("openai/gpt-5", "OPENAI_API_KEY"), ("openai-api/own-server/any", "OWN_SERVER_API_KEY")):
        with pytest.raises(InputError, match=f"needs a key and none is set; export {key}=") as told:
            open_model(model, {}, models.config_of({}, pace=Pace(), limits=Limits()))
        assert "[" not in str(told.value)


@pytest.mark.parametrize(
    ("model", "fix"), [("openai/gpt-5", r"guildhall\[providers\]"), ("groq/llama-3.3-70b", "pip install groq$")]
)
def test_a_missing_client_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch, model: str, fix: str) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(models, "_is_installed", lambda _module: False)
    with pytest.raises(MissingTool, match=fix) as told:
        open_model(model, {}, models.config_of({}, pace=Pace(), limits=Limits()))
    assert "[bold]" not in str(told.value)
