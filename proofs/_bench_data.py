"""Seeded data that our code and its peers are timed on, made once and kept under `.prove/`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from proofs import ROOT

FOLDER = ROOT / ".prove" / "bench-data"
OUTCOMES = np.array(["left", "tie", "right"])


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A file of the data folder, made when it is not there yet, and never half made."""
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        draft = path.with_name("draft-" + name)
        make(draft)
        draft.rename(path)
    return path


def votes(n: int, m: int) -> Path:
    """Codes of `n` votes among `m` models: popularity like Zipf's, a quarter ties."""

    def make(path: Path) -> None:
        rng = np.random.default_rng(n + m)
        popularity = 1.0 / np.arange(1, m + 1) ** 0.7
        left = rng.choice(m, n, p=popularity / popularity.sum())
        right = (left + rng.integers(1, m, n)) % m
        skill = rng.normal(scale=0.7, size=m)
        won = rng.random(n) < 1.0 / (1.0 + np.exp(skill[right] - skill[left]))
        outcome = np.where(rng.random(n) < 0.25, 1, np.where(won, 0, 2))
        np.savez(path, left=left.astype(np.int16), right=right.astype(np.int16), outcome=outcome.astype(np.int8))

    return kept(f"votes-{n}-{m}.npz", make)


def votes_parquet(n: int, m: int) -> Path:
    """The same votes as strings in a Parquet file, a million rows a group."""
    codes = votes(n, m)

    def make(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        data = np.load(codes)
        names = pa.array([f"model-number-{i:03d}" for i in range(m)])
        sides = [
            pa.DictionaryArray.from_arrays(pa.array(data[s].astype(np.int32)), names).cast(pa.string())
            for s in ("left", "right")
        ]
        winner = pa.DictionaryArray.from_arrays(pa.array(data["outcome"].astype(np.int32)), pa.array(OUTCOMES.tolist()))
        table = pa.table({"left": sides[0], "right": sides[1], "winner": winner.cast(pa.string())})
        parquet.write_table(table, path, row_group_size=1_000_000)

    return kept(f"votes-{n}-{m}.parquet", make)


def gold() -> Path:
    """A GDPval-size study: 220 tasks x 7 models x 3 samples x 3 people, two automatic verdicts a sample, pair votes."""

    def make(path: Path) -> None:
        rng = np.random.default_rng(220)
        shape = (220, 7, 3)
        level = rng.normal(size=(220, 1, 1)) + np.linspace(-1.0, 0.4, 7)[None, :, None] + 0.7 * rng.normal(size=shape)

        def judged(k: int, noise: float) -> Any:
            heard = level[..., None] + noise * rng.logistic(size=(*shape, k))
            return ((heard > -0.3).astype(np.int8) + (heard > 0.3)).astype(np.int8)

        np.savez(path, human=judged(3, 1.0), auto=judged(2, 1.5), occupation=np.arange(220) % 44)

    return kept("gold.npz", make)


def rating_matrix(n: int) -> Path:
    """`n` samples x 3 ratings in halves."""

    def make(path: Path) -> None:
        rng = np.random.default_rng(n)
        heard = rng.normal(size=(n, 1)) + rng.logistic(size=(n, 3))
        np.save(path, ((heard > -0.3).astype(np.int8) + (heard > 0.3)).astype(np.int8))

    return kept(f"ratings-{n}.npy", make)


def grades(n: int) -> Path:
    """`n` grades of 300 models in 44 occupations of 9 sectors, as strings in a Parquet file."""

    def make(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        rng = np.random.default_rng(n)
        model, occupation = rng.integers(0, 300, n), rng.integers(0, 44, n)
        columns = {
            "model": (model, [f"model-number-{i:03d}" for i in range(300)]),
            "occupation": (occupation, [f"occupation of kind {i:02d}" for i in range(44)]),
            "sector": (occupation // 5, [f"sector {i}" for i in range(9)]),
        }
        table = {
            name: pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words)).cast(pa.string())
            for name, (codes, words) in columns.items()
        }
        table["score"] = pa.array(rng.integers(0, 3, n) / 2.0)
        parquet.write_table(pa.table(table), path, row_group_size=1_000_000)

    return kept(f"grades-{n}.parquet", make)


def marks(n: int) -> Path:
    """`n` marks that 300 graders gave 300 authors on 13 letters."""

    def make(path: Path) -> None:
        rng = np.random.default_rng(n + 1)
        np.savez(
            path,
            grader=rng.integers(0, 300, n).astype(np.int16),
            author=rng.integers(0, 300, n).astype(np.int16),
            mark=rng.integers(0, 13, n).astype(np.int8),
        )

    return kept(f"marks-{n}.npz", make)


def predictions(n: int) -> Path:
    """Ten thousand human scores with their automatic ones, and `n` automatic ones alone, in halves."""

    def make(path: Path) -> None:
        rng = np.random.default_rng(n + 2)
        human = rng.integers(0, 3, 10_000).astype(np.int8)
        auto = np.where(rng.random(10_000) < 0.7, human, rng.integers(0, 3, 10_000)).astype(np.int8)
        np.savez(path, human=human, auto=auto, alone=rng.integers(0, 3, n).astype(np.int8))

    return kept(f"predictions-{n}.npz", make)
