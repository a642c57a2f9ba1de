"""The peers' side of each row, run by the interpreter of their own environment.

FastChat's bootstrap is written anew from its approach (unique rows, multinomial counts, L-BFGS, two processes), since
the package itself needs a chat server's dependencies. Everything else calls the library as its documentation shows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]
Work = Callable[[], Result]
WINNER = np.array(["model_a", "tie", "model_b"])


def _frame(folder: Path, n: int, m: int, *, categorical: bool) -> Any:
    pd = import_module("pandas")
    data = np.load(folder / f"votes-{n}-{m}.npz")
    names = [f"model-number-{i:03d}" for i in range(m)]
    columns = {"model_a": (data["left"], names), "model_b": (data["right"], names), "winner": (data["outcome"], WINNER)}
    frame = pd.DataFrame({name: pd.Categorical.from_codes(codes, words) for name, (codes, words) in columns.items()})
    return frame if categorical else frame.astype("str")


def _arena(frame: Any) -> Work:
    models = import_module("arena_rank.models.bradley_terry")
    data = import_module("arena_rank.utils.data_utils")

    def work() -> Result:
        dataset = data.PairDataset.from_pandas(frame)
        found = models.BradleyTerry(n_competitors=len(dataset.competitors)).compute_ratings_and_cis(dataset)
        return {"ratings": np.asarray(found["ratings"]), "competitors": np.array(dataset.competitors)}

    return work


def strings(folder: Path) -> Work:
    return _arena(_frame(folder, 10_000_000, 300, categorical=False))


def categoricals(folder: Path) -> Work:
    return _arena(_frame(folder, 10_000_000, 300, categorical=True))


def counts(folder: Path) -> Work:
    jnp = import_module("jax.numpy")
    models = import_module("arena_rank.models.bradley_terry")
    data = import_module("arena_rank.utils.data_utils")
    left, right, outcome, times = _unique_rows(folder, 10_000_000, 300)
    dataset = data.PairDataset(
        competitors=[f"model-number-{i:03d}" for i in range(300)],
        pairs=jnp.column_stack([left, right]),
        outcomes=jnp.array(outcome),
        counts=jnp.array(times),
        weights=jnp.ones(len(times)),
        opt_weights=jnp.array(times),
    )

    def work() -> Result:
        found = models.BradleyTerry(n_competitors=300).compute_ratings_and_cis(dataset)
        return {"ratings": np.asarray(found["ratings"])}

    return work


def choix_ratings(folder: Path) -> Work:
    choix = import_module("choix")
    left, right, outcome, times = _unique_rows(folder, 10_000_000, 300)
    wins = np.zeros((300, 300))
    np.add.at(wins, (left, right), outcome * times)
    np.add.at(wins, (right, left), (1 - outcome) * times)
    return lambda: {"ratings": choix.ilsr_pairwise_dense(wins, max_iter=10_000, tol=1e-12)}


def _unique_rows(folder: Path, n: int, m: int) -> tuple[Any, Any, Any, Any]:
    data = np.load(folder / f"votes-{n}-{m}.npz")
    key = (data["outcome"].astype(np.int64) * m + data["left"]) * m + data["right"]
    distinct, times = np.unique(key, return_counts=True)
    outcome, pair = np.divmod(distinct, m * m)
    left, right = np.divmod(pair, m)
    return left, right, 1.0 - outcome / 2.0, times.astype(np.float64)


def _fit_rows(pairs: Any, outcome: Any, weights: Any, m: int) -> Any:
    """As FastChat fits: shares of all votes as weights, base 10, gradients gathered entry by entry, L-BFGS to 1e-6."""
    optimize, expit = import_module("scipy.optimize"), import_module("scipy.special").expit
    alpha, sides = np.log(10.0), np.array([1.0, -1.0])

    def loss(ratings: Any) -> tuple[float, Any]:
        both = ratings[pairs]
        share = expit(alpha * (both[:, 0] - both[:, 1]))
        value = -((np.log(share) * outcome + np.log(1.0 - share) * (1.0 - outcome)) * weights).sum()
        slope = np.zeros_like(ratings)
        np.add.at(slope, pairs, (alpha * (share - outcome) * weights)[:, None] * sides)
        return value, slope

    options = {"maxiter": 100, "gtol": 1e-6}
    return optimize.minimize(loss, np.zeros(m), jac=True, method="L-BFGS-B", options=options).x * alpha


def bootstrap_100(folder: Path) -> Work:
    multiprocessing, functools = import_module("multiprocessing"), import_module("functools")
    pd = import_module("pandas")
    frame = _frame(folder, 1_000_000, 100, categorical=True)

    def work() -> Result:
        models = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]))[0].reshape(2, -1)
        votes = np.column_stack([*models, frame["winner"].cat.codes]).astype(np.int32)
        rows, times = np.unique(votes, axis=0, return_counts=True)
        fit = functools.partial(_fit_rows, rows[:, :2], 1.0 - rows[:, 2] / 2.0, m=100)
        drawn = np.random.default_rng(0).multinomial(len(frame), times / times.sum(), size=100) / len(frame)
        with multiprocessing.Pool() as pool:
            found = list(pool.imap_unordered(fit, drawn))
        return {"ratings": np.array(found).std(axis=0)}

    return work


def bootstrap_20(folder: Path) -> Work:
    models = import_module("arena_rank.models.bradley_terry")
    data = import_module("arena_rank.utils.data_utils")
    multiprocessing = import_module("multiprocessing")
    # Its default, fork after JAX has started threads, was seen to hang; spawn ends.
    models.mp.Pool = multiprocessing.get_context("spawn").Pool
    frame = _frame(folder, 1_000_000, 100, categorical=False)

    def work() -> Result:
        dataset = data.PairDataset.from_pandas(frame)
        found = models.BradleyTerry(n_competitors=100).compute_ratings_and_cis(
            dataset, ci_method="bootstrap", num_bootstrap=20, n_jobs=2
        )
        return {"ratings": np.asarray(found["ratings"])}

    return work


def bootstrap_gold(folder: Path) -> Work:
    evalica = import_module("evalica")
    data = np.load(folder / "votes-13860-8.npz")
    winners = [[evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y][o] for o in data["outcome"]]
    names = [f"model-number-{i:03d}" for i in range(8)]
    xs, ys = ([names[i] for i in data[side]] for side in ("left", "right"))

    def work() -> Result:
        found = evalica.bootstrap(
            evalica.bradley_terry, xs, ys, winners, n_resamples=1000, bootstrap_method="percentile", random_state=0
        )
        return {"done": np.array([len(str(found))])}

    return work


def _numpy_rounds(matrix: Any, rounds: int) -> Work:
    def work() -> Result:
        rng = np.random.default_rng(0)
        n, found = len(matrix), []
        for _ in range(rounds):
            drawn = np.take_along_axis(matrix, rng.integers(0, 3, (n, 3)), axis=1)
            apart = (
                np.abs(drawn[:, 0] - drawn[:, 1])
                + np.abs(drawn[:, 0] - drawn[:, 2])
                + np.abs(drawn[:, 1] - drawn[:, 2])
            )
            found.append(1 - apart.mean() / 6)
        return {"interval": np.quantile(found, [0.025, 0.975])}

    return work


def human_human(folder: Path) -> Work:
    return _numpy_rounds(np.load(folder / "gold.npz")["human"].reshape(-1, 3), 1000)


def human_human_large(folder: Path) -> Work:
    return _numpy_rounds(np.load(folder / "ratings-1000000.npy"), 100)


def human_human_scipy(folder: Path) -> Work:
    stats = import_module("scipy.stats")
    samples = [row.astype(np.float64) for row in np.load(folder / "gold.npz")["human"].reshape(-1, 3)]

    def agreement(*drawn: Any, axis: int = -1) -> Any:
        total = 0.0
        for one in drawn:
            x, y, z = (np.take(one, i, axis=axis) for i in range(3))
            total = total + np.abs(x - y) + np.abs(x - z) + np.abs(y - z)
        return 1 - total / (6 * len(drawn))

    def work() -> Result:
        found = stats.bootstrap(
            samples, agreement, n_resamples=1000, vectorized=True, method="percentile", random_state=0
        ).confidence_interval
        return {"interval": np.array([found.low, found.high])}

    return work


def human_auto(folder: Path) -> Work:
    data = np.load(folder / "gold.npz")
    human, auto = data["human"].reshape(-1, 3), data["auto"].reshape(-1, 2)

    def work() -> Result:
        rng = np.random.default_rng(0)
        n, found = len(human), []
        for _ in range(1000):
            h = np.take_along_axis(human, rng.integers(0, 3, (n, 3)), axis=1)
            a = np.take_along_axis(auto, rng.integers(0, 2, (n, 2)), axis=1)
            found.append(1 - np.abs(h[:, :, None] - a[:, None, :]).mean() / 2)
        return {"interval": np.quantile(found, [0.025, 0.975])}

    return work


def alpha(folder: Path) -> Work:
    krippendorff = import_module("krippendorff")
    matrix = np.load(folder / "ratings-1000000.npy").T.astype(np.float64)
    return lambda: {"alpha": krippendorff.alpha(reliability_data=matrix, level_of_measurement="interval")}


def ppi(folder: Path) -> Work:
    ppi_py = import_module("ppi_py")
    data = np.load(folder / "predictions-10000000.npz")
    human, auto, alone = (data[name] / 2.0 for name in ("human", "auto", "alone"))

    def work() -> Result:
        low, high = ppi_py.ppi_mean_ci(human, auto, alone, alpha=0.05)
        return {"interval": np.array([np.ravel(low)[0], np.ravel(high)[0]])}

    return work


def medians(folder: Path) -> Work:
    pd = import_module("pandas")
    data = np.load(folder / "marks-10000000.npz")
    values = np.round(np.linspace(0.0, 4.3, 13), 2)
    frame = pd.DataFrame({"grader": data["grader"], "author": data["author"], "mark": values[data["mark"]]})

    def work() -> Result:
        table = frame.groupby(["grader", "author"])["mark"].median().unstack()
        bias = frame.groupby("grader")["mark"].median() - frame["mark"].median()
        return {"medians": table.to_numpy(), "bias": bias.to_numpy()}

    return work


def breakdown(folder: Path) -> Work:
    pl = import_module("polars")
    keys = ["model", "sector", "occupation"]
    frame = pl.read_parquet(folder / "grades-10000000.parquet").with_columns(pl.col(keys).cast(pl.Categorical))

    def work() -> Result:
        # Lazily and streaming: the fastest of its ways here.
        by = (
            frame.lazy()
            .group_by(keys)
            .agg(
                (pl.col("score") == 0).sum().alias("losses"),
                (pl.col("score") == 0.5).sum().alias("ties"),
                (pl.col("score") == 1).sum().alias("wins"),
            )
            .collect(engine="streaming")
        )
        return {"counts": _sorted_counts(by)}

    return work


def _sorted_counts(by: Any) -> Any:
    pl = import_module("polars")
    ordered = by.with_columns(pl.col(["model", "occupation"]).cast(pl.String)).sort("model", "occupation")
    return ordered.select("losses", "ties", "wins").to_numpy().reshape(300, 44, 3)


def breakdown_file(folder: Path) -> Work:
    duckdb = import_module("duckdb")
    path = folder / "grades-10000000.parquet"

    def work() -> Result:
        rows = duckdb.sql(
            "select model, sector, occupation, count_if(score = 0) losses, count_if(score = 0.5) ties,"
            f" count_if(score = 1) wins from '{path}' group by all order by model, occupation"
        ).fetchnumpy()
        table = np.stack([np.asarray(rows[name]) for name in ("losses", "ties", "wins")], axis=1)
        return {"counts": table.reshape(300, 44, 3)}

    return work


def elo(folder: Path) -> Work:
    evalica = import_module("evalica")
    data = np.load(folder / "votes-10000000-300.npz")
    kinds = [evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y]
    winners = [kinds[o] for o in data["outcome"].tolist()]
    names = [f"model-number-{i:03d}" for i in range(300)]
    xs, ys = ([names[i] for i in data[side].tolist()] for side in ("left", "right"))

    def work() -> Result:
        scores = evalica.elo(xs, ys, winners).scores
        return {"ratings": scores.sort_index().to_numpy()}

    return work
