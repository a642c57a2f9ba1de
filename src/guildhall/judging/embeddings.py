"""Sentences as vectors, by a sentence-embedding model on this machine, for finer clusters of reasons.

Its package is no part of ours, nor of any extra: it would bring some gigabytes to everybody who installs all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from guildhall.errors import MissingTool

Encoder = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts to rows of numbers: texts of one meaning lie close together."""


def sentence_encoder(model: str) -> Encoder:
    """An encoder by the model of this name or in this folder; it is loaded once, when first used."""
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        fix = "install it with `pip install sentence-transformers`, or leave `--embeddings` out"
        raise MissingTool("sentence-transformers", needed_for="--embeddings", fix=fix) from error
    loaded = SentenceTransformer(model, device="cpu")
    return lambda texts: np.asarray(loaded.encode(list(texts), show_progress_bar=False), dtype=np.float64)
