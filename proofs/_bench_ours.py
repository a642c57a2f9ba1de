"""Our side of each row: a function of the data folder that loads the input and returns what is timed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]
Work = Callable[[], Result]


def _rated(fit: Any) -> Result:
    ratings = fit.ratings - fit.ratings.mean()
    errors = np.sqrt(np.diag(fit.covariance))[: fit.n_models]
    return {"ratings": ratings, "errors": errors, "gradient": fit.largest_gradient}


def _fit(counts: Any) -> Result:
    from guildhall.analysis.bradley_terry import fit_bradley_terry, pair_rows

    order = np.argsort(counts.names)
    square = np.ix_(np.arange(3), order, order)
    return _rated(fit_bradley_terry(pair_rows(counts._replace(counts=counts.counts[square])), ties="half"))


def _coded_votes(folder: Path, n: int, m: int) -> Any:
    from guildhall.analysis.tables import Coded
    from guildhall.analysis.votes import WINNERS

    data = np.load(folder / f"votes-{n}-{m}.npz")
    names = tuple(f"model-number-{i:03d}" for i in range(m))
    return Coded(data["left"], names), Coded(data["right"], names), Coded(data["outcome"], WINNERS)


def strings(folder: Path) -> Work:
    from pyarrow import parquet

    from guildhall.analysis.votes import count_arrow

    table = parquet.read_table(folder / "votes-10000000-300.parquet")
    return lambda: _fit(count_arrow(table))


def categoricals(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    votes = _coded_votes(folder, 10_000_000, 300)
    return lambda: _fit(count_votes(*votes))


def counts(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    counted = count_votes(*_coded_votes(folder, 10_000_000, 300))
    return lambda: _fit(counted)


def _bootstrap(counted: Any, rounds: int) -> Work:
    from guildhall.analysis.bradley_terry import fit_bradley_terry, pair_rows
    from guildhall.analysis.rating_files import bootstrap_ratings

    def work() -> Result:
        rows = pair_rows(counted)
        fit = fit_bradley_terry(rows, ties="half")
        found = bootstrap_ratings(rows, fit, rounds=rounds, rng=np.random.default_rng(0))
        errors = np.sqrt(np.diag(fit.covariance))[: fit.n_models]
        return {"bootstrap": found.ratings.std(axis=0), "sandwich": errors, "lost": found.n_lost}

    return work


def bootstrap_100(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    return _bootstrap(count_votes(*_coded_votes(folder, 1_000_000, 100)), 100)


def bootstrap_20(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    return _bootstrap(count_votes(*_coded_votes(folder, 1_000_000, 100)), 20)


def bootstrap_10000(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    return _bootstrap(count_votes(*_coded_votes(folder, 1_000_000, 100)), 10_000)


def bootstrap_gold(folder: Path) -> Work:
    from guildhall.analysis.votes import count_votes

    return _bootstrap(count_votes(*_coded_votes(folder, 13_860, 8)), 1000)


def _pair_law(matrix: Any) -> Work:
    from guildhall.analysis.agreement import pair_disagreement_law
    from guildhall.analysis.ratings_table import types_from_matrix

    def work() -> Result:
        law = pair_disagreement_law(types_from_matrix(matrix), corrected=False)
        assert law is not None
        low, high = law.interval(0.95)
        return {"interval": np.array([1 - high, 1 - low]), "step": law.step}

    return work


def human_human(folder: Path) -> Work:
    return _pair_law(np.load(folder / "gold.npz")["human"].reshape(-1, 3))


def human_human_large(folder: Path) -> Work:
    return _pair_law(np.load(folder / "ratings-1000000.npy"))


def human_auto(folder: Path) -> Work:
    from guildhall.analysis.agreement import cross_disagreement_law
    from guildhall.analysis.ratings_table import types_from_counts

    data = np.load(folder / "gold.npz")
    human, auto = data["human"].reshape(-1, 3), data["auto"].reshape(-1, 2)

    def work() -> Result:
        counted = np.stack([(side == half).sum(axis=1) for side in (human, auto) for half in range(3)], axis=1)
        law = cross_disagreement_law(types_from_counts(counted))
        assert law is not None
        low, high = law.interval(0.95)
        return {"interval": np.array([1 - high, 1 - low]), "step": law.step}

    return work


def alpha(folder: Path) -> Work:
    from guildhall.analysis.chance_corrected import krippendorff_alpha
    from guildhall.analysis.ratings_table import types_from_matrix

    matrix = np.load(folder / "ratings-1000000.npy")

    def work() -> Result:
        types = types_from_matrix(matrix)
        return {"alpha": krippendorff_alpha(types.counts, metric="interval", times=types.times)}

    return work


def ppi(folder: Path) -> Work:
    from guildhall.analysis.ppi_counts import count_scores, ppi_from_counts

    data = np.load(folder / "predictions-10000000.npz")
    human, auto, alone = data["human"], data["auto"], data["alone"]

    def work() -> Result:
        found = ppi_from_counts(count_scores(human, auto, alone))
        return {"interval": np.array([found.low, found.high])}

    return work


def medians(folder: Path) -> Work:
    from guildhall.analysis.marks import cross_marks

    data = np.load(folder / "marks-10000000.npz")
    grader, author, mark = data["grader"], data["author"], data["mark"]
    values = np.round(np.linspace(0.0, 4.3, 13), 2)

    def work() -> Result:
        found = cross_marks(grader, author, mark, values, n_models=300)
        return {"medians": found.medians, "bias": found.bias}

    return work


def breakdown(folder: Path) -> Work:
    from pyarrow import parquet

    from guildhall.analysis.outcomes import count_cells
    from guildhall.analysis.tables import table_from_arrow

    table = parquet.read_table(folder / "grades-10000000.parquet", read_dictionary=["model", "occupation", "sector"])
    loaded = table_from_arrow(table, ["model", "occupation", "score"])
    # The sector follows from the occupation: counting by it too would count the same cells again.
    columns = [loaded.coded("model"), loaded.coded("occupation")]
    halves = (2 * loaded.numbers("score")).astype(np.int8)
    return lambda: _by_name(count_cells(columns, halves))


def breakdown_file(folder: Path) -> Work:
    from guildhall.analysis.outcomes import count_cell_file

    return lambda: _by_name(count_cell_file(folder / "grades-10000000.parquet", ("model", "occupation")))


def _by_name(found: Any) -> Result:
    order = [np.argsort(names) for names in found.names]
    return {"counts": found.counts[np.ix_(*order, np.arange(3))]}


def elo(folder: Path) -> Work:
    from guildhall.analysis.rating_files import elo_ratings

    data = np.load(folder / "votes-10000000-300.npz")
    left, right, outcome = data["left"], data["right"], data["outcome"]
    elo_ratings(left[:10], right[:10], outcome[:10], 300, compiled=True)
    return lambda: {"ratings": elo_ratings(left, right, outcome, 300, compiled=True)}
