"""People are a sample: how far an estimate over their judgments may be off, whatever the estimator.

Graders and tasks are crossed, so an estimate errs by its tasks, by its graders, and by what is left where the two meet.
An estimator hands over its *errors*: what each judgment adds to the error of the estimate (its influence), and how much
it weighs. Squares summed by task say what tasks and the rest add. Squares summed by grader hold the graders' own part
and what tasks alone would have put there; the latter is found from each task by itself, as tasks are independent of
each other, and is taken off. What one grader more or less kind then adds follows from the weights, exactly (moments, as
in analysis of variance). All is done from the cells of tasks and graders, for many groups at once: a breakdown of 300
models has thousands.

`V` is the variance and `g` what graders add to it; an interval reaches the root of t(df of tasks)^2 (V - g) plus
t(df of graders)^2 g. Within strata errors are taken from the stratum's own mean; strata with one grader or one task are
merged. A figure in which every judgment stands with each other judgment of its sample (`order` 2, agreement) depends
twice on every grader, once as itself and once as whom others are held against.

Below 2.5 effective graders, or where more than 5 % of judgments have no name, nothing is said of graders like these:
the variance is then that of tasks alone, for these very graders; so it is where the plan asks of them. Judgments
without a name are one person's in each stratum.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from guildhall.analysis.outcomes import NOBODY, UNKNOWN
from guildhall.analysis.spreads import FEWEST_GRADERS, MOST_UNNAMED, Spread, Spreads, df_of_squares, df_of_weights
from guildhall.analysis.tables import Codes, Floats, dense, distinct, kinds_in

SHARE_OF_CELLS = 0.1
"""For rates: what of the noise between graders is read with their degrees of freedom. Chosen by simulation."""
BARELY_CROSSED = 0.1
"""Where less than this share of the graders' squares lies between tasks, graders cannot be told from tasks."""
SMALL, FEW = 10, 6
"""Groups of fewer tasks, or of fewer effective graders, may borrow the graders' component."""


def crossed(
    errors: Floats,
    task: Codes,
    grader: Codes | None = None,
    *,
    weight: Floats | None = None,
    stratum: Codes | None = None,
    order: int = 1,
    through_graders: Floats | None = None,
    share_of_cells: float = 0.0,
    share: float = 0.5,
) -> Spread:
    """The spread of one estimate. Without `grader` no person judged, and tasks are all that varies.

    `errors` are what each row adds to the estimate's error; equal weights are taken where none are given.
    `through_graders` are the same as far as they move with the row's grader: `order` times the errors if not given.
    `share` is that of the verdicts behind the figure, where it is no share itself.
    """
    rows = Crossing(
        np.ones(len(errors)) if weight is None else weight,
        group=np.zeros(len(errors), dtype=np.int64),
        task=task,
        grader=grader,
        stratum=stratum,
        order=order,
    )
    found = rows.spreads(errors, through_graders=through_graders, share_of_cells=share_of_cells)[0]
    return found._replace(skew=(1.0 - 2.0 * share) ** 2)


class _Level(NamedTuple):
    """Tasks, graders or cells of all groups: the group of each, and how much it weighs there."""

    group: Codes
    weight: Floats


class _Expected(NamedTuple):
    """What one unit of a component adds to a sum of squares, for each group: of tasks by task, and of graders by
    grader, by grader as far as tasks alone put it there, and by task.
    """

    tasks: Floats
    graders: Floats
    noise: Floats
    by_task: Floats


class Crossing:
    """Who judged what in many groups, and with what weight: all that variances need besides the errors themselves.

    Groups are numbered from 0 without gaps. Weights are normed in each; rows without weight take no part.
    """

    def __init__(
        self,
        weight: Floats,
        *,
        group: Codes,
        task: Codes,
        grader: Codes | None,
        stratum: Codes | None = None,
        order: int = 1,
        these_graders: bool = False,
    ) -> None:
        self.order, self.nobody, self.these_graders = order, grader is None, these_graders
        self.n = n = int(group.max()) + 1 if len(group) else 0
        given = np.bincount(group, minlength=n)
        named = np.zeros(len(task), dtype=np.int64) if grader is None else grader.astype(np.int64)
        blank, ruled = named == UNKNOWN, named == NOBODY
        self.unnamed = np.bincount(group[blank], minlength=n) / np.maximum(given, 1)
        tasks, n_tasks, _ = dense(task)
        strata, n_strata, _ = dense(np.zeros(len(task), dtype=np.int64) if stratum is None else stratum)
        most = int(named.max(initial=0)) + 1
        named = np.where(blank, most + strata, named)
        # Where a rule decided nobody is shared: each task has somebody of its own there, who is not counted.
        named = np.where(ruled, most + n_strata + tasks, named)
        people, n_people, names = dense(named)
        keys, self.cell = distinct(
            (group.astype(np.int64) * n_tasks + tasks) * n_people + people, n * n_tasks * n_people
        )
        of_task, of_person = np.divmod(keys, n_people)
        self.cells = _Level(of_task // n_tasks, _added(self.cell, weight, len(keys)))
        judged = np.where(self.cells.weight > 0, np.bincount(self.cell, ~ruled, minlength=len(keys)), 0.0)
        of_stratum = np.zeros(len(keys), dtype=np.int64)
        of_stratum[self.cell] = strata
        task_keys, self.task = distinct(of_task, n * n_tasks)
        grader_keys, self.grader = distinct(self.cells.group * n_people + of_person, n * n_people)
        self.person = names[grader_keys % n_people]
        self._people, self._places = grader_keys % n_people, keys % (n_tasks * n_people)
        self._gave = _added(self.grader, judged, len(grader_keys))
        total = np.bincount(self.cells.group, self.cells.weight, n)
        self.cells = self.cells._replace(weight=self.cells.weight / np.where(total > 0, total, 1.0)[self.cells.group])
        self.tasks = _Level(task_keys // n_tasks, _added(self.task, self.cells.weight, len(task_keys)))
        self.graders = _Level(grader_keys // n_people, _added(self.grader, self.cells.weight, len(grader_keys)))
        self.block = self._blocks(of_stratum, n_strata)

    def _blocks(self, stratum: Codes, n_strata: int) -> Codes:
        """The stratum of each cell within its group; those with one grader or one task are merged, with one another."""
        if n_strata == 1:
            return self.cells.group
        blocks, of = distinct(self.cells.group * n_strata + stratum, self.n * n_strata)
        group = blocks // n_strata
        tasks, graders = (kinds_in(of, kind, len(blocks)) for kind in (self.task, self.grader))
        alone = (tasks < 2) | ((graders < 2) & ~self.nobody)
        merged = np.where(alone, len(blocks) + group, np.arange(len(blocks)))
        # What is left of the merged ones may still be one: it joins the largest of its group.
        tasks, graders = (kinds_in(merged[of], kind, len(blocks) + self.n) for kind in (self.task, self.grader))
        still = (tasks[merged] < 2) | ((graders[merged] < 2) & ~self.nobody)
        order = np.argsort(tasks[merged], kind="stable")
        largest = np.zeros(self.n, dtype=np.int64)
        largest[group[order]] = merged[order]
        merged = np.where(still, largest[group], merged)
        return distinct(merged[of], len(blocks) + self.n)[1]

    @cached_property
    def _of_block(self) -> tuple[Codes, Floats]:
        """The group of each block, and its weight."""
        group = np.zeros(int(self.block.max()) + 1, dtype=np.int64)
        group[self.block] = self.cells.group
        return group, _added(self.block, self.cells.weight, len(group))

    @cached_property
    def n_tasks(self) -> Codes:
        return np.bincount(self.tasks.group[self.tasks.weight > 0], minlength=self.n)

    @cached_property
    def n_graders(self) -> Codes:
        return np.bincount(self.graders.group[self._gave > 0], minlength=self.n)

    @cached_property
    def effective_graders(self) -> Floats:
        """Kish's number, by how many judgments each gave."""
        return _kish(
            _added(self.graders.group, self._gave, self.n), _added(self.graders.group, np.square(self._gave), self.n)
        )

    @cached_property
    def spent(self) -> tuple[Floats, Floats]:
        """The sums of squared weights by task and by grader, of each group."""
        tasks, graders = (_added(one.group, np.square(one.weight), self.n) for one in (self.tasks, self.graders))
        return tasks, graders

    @cached_property
    def _shares(self) -> tuple[Codes, Floats, Floats, Codes]:
        """Of each block and grader that meet: their key and weight; the weight of the pair each cell is in; and the
        block of each task."""
        size = len(self.graders.weight)
        pairs, pair = distinct(self.block * size + self.grader, len(self._of_block[0]) * size)
        in_block = _added(pair, self.cells.weight, len(pairs))
        of_task = np.zeros(len(self.tasks.weight), dtype=np.int64)
        of_task[self.task] = self.block
        return pairs, in_block, in_block[pair], of_task

    @cached_property
    def expected(self) -> _Expected:
        group, of_block = self._of_block
        pairs, in_block, share, of_task = self._shares
        block_of_pair, grader_of_pair = np.divmod(pairs, len(self.graders.weight))
        task, cell, within = self.tasks.weight[self.task], self.cells.weight, of_block[self.block]
        by_task = _added(of_task, np.square(self.tasks.weight), len(group)) / of_block
        by_cell = _added(self.block, np.square(cell), len(group)) / of_block
        by_grader = _added(block_of_pair, np.square(in_block), len(group)) / of_block

        def of_cells(product: Floats, one: Floats, other: Floats) -> Floats:
            """Sums over cells less twice those with the means, and the product of the means."""
            cells = _added(self.cells.group, np.square(cell) - 2.0 * cell * product / within, self.n)
            return cells + _added(group, one * other, self.n)

        heavy = np.square(self.tasks.weight) - 2.0 * self.tasks.weight**3 / of_block[of_task]
        mixed = self.graders.weight[grader_of_pair] * np.square(in_block) / of_block[block_of_pair]
        own = _added(self.graders.group, np.square(self.graders.weight), self.n)
        own = own - 2.0 * _added(group[block_of_pair], mixed, self.n)
        return _Expected(
            tasks=_added(self.tasks.group, heavy, self.n) + _added(group, np.square(by_task), self.n),
            graders=own + self._met(pairs, in_block, group, of_block),
            noise=of_cells(share * cell, by_grader, by_cell),
            by_task=of_cells(task * share, by_task, by_grader),
        )

    def _met(self, pairs: Codes, in_block: Floats, group: Codes, of_block: Floats) -> Floats:
        """The sum over pairs of a group's blocks of what they share of graders, squared and normed."""
        block, grader = np.divmod(pairs, len(self.graders.weight))
        if len(group) == self.n or len(pairs) == len(self.graders.weight):  # no grader in two blocks
            return _added(group, np.square(_added(block, np.square(in_block), len(group)) / of_block), self.n)
        order = np.argsort(grader, kind="stable")
        block, grader, weights = block[order], grader[order], in_block[order]
        size = np.bincount(grader, minlength=len(self.graders.weight))
        start = np.cumsum(size) - size
        times = size[grader]
        left = np.repeat(np.arange(len(block)), times)
        right = np.arange(len(left)) - np.repeat(np.cumsum(times) - times, times) + start[grader[left]]
        keys, at = np.unique(block[left] * np.int64(len(group)) + block[right], return_inverse=True)
        shared = np.bincount(at, weights[left] * weights[right])
        one, other = np.divmod(keys, len(group))
        return _added(group[one], np.square(shared) / (of_block[one] * of_block[other]), self.n)

    @cached_property
    def df_graders(self) -> Floats:
        """From what graders weigh, over the whole group where any judged in several of its blocks."""
        group, of_block = self._of_block
        spanning = len(group) == self.n or int(kinds_in(self.grader, self.block, len(self.graders.weight)).max()) > 1
        if spanning:
            block, sums = self.graders.group, np.ones(self.n)
            group = np.arange(self.n)
        else:
            block = np.zeros(len(self.graders.weight), dtype=np.int64)
            block[self.grader] = self.block
            sums = of_block
        return df_of_weights(self.graders.weight / sums[block], block, group, sums, self.n)

    def _by_cell(self, errors: Floats) -> Floats:
        """The errors of each cell, from the mean of its block."""
        cell = _added(self.cell, errors, len(self.cells.weight))
        of_block = self._of_block[1]
        apart = _added(self.block, cell, len(of_block)) / np.where(of_block > 0, of_block, 1.0)
        found: Floats = cell - self.cells.weight * apart[self.block]
        return found

    def _squares(self, errors: Floats, through_graders: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
        """Sums of squared errors by task and by grader, what tasks alone put into these, and the errors by task."""
        own = self._by_cell(errors)
        cell = self.order * own if through_graders is None else self._by_cell(through_graders)
        task = _added(self.task, own, len(self.tasks.weight))
        group, of_block = self._of_block
        pairs, in_block, share, of_task = self._shares
        whole = _added(self.task, cell, len(self.tasks.weight))
        spent = _added(pairs // len(self.graders.weight), np.square(in_block), len(group)) / np.square(of_block)
        n = np.bincount(of_task, minlength=len(group))
        noise = _added(self.block, cell * (cell - 2.0 * whole[self.task] * share / of_block[self.block]), len(group))
        noise = (noise + _added(of_task, np.square(whole), len(group)) * spent) * n / np.maximum(n - 1, 1)
        by_grader = _added(self.grader, cell, len(self.graders.weight))
        by_task, graders = (
            _added(level.group, np.square(sums), self.n)
            for level, sums in ((self.tasks, task), (self.graders, by_grader))
        )
        return by_task, graders, _added(group, noise, self.n), task

    def by_person(self, errors: Floats) -> Floats:
        """What each grader of each group (`graders.group`, `person`) adds to its error."""
        return _added(self.grader, self.order * self._by_cell(errors), len(self.graders.weight))

    def noise(self, errors: Floats) -> tuple[Floats, Floats]:
        """What of the graders' sums of squares is not theirs, and by what the rest is scaled to what they add."""
        scale = np.divide(self.spent[1], self._theirs, out=np.zeros(self.n), where=self.asked)
        return self._squares(errors, None)[2], scale

    def by_people(self, errors: Floats) -> Floats:
        """What each grader (a column) adds to the error of each group (a row); 0 where graders go with tasks."""
        found = np.zeros((self.n, int(self._people.max(initial=-1)) + 1))
        found[self.graders.group, self._people] = self.by_person(errors)
        return found * self.asked[:, None]

    def of_differences(self, errors: Floats) -> Floats:
        """What graders add to the variance of the difference of each two groups: of both, only what differs there."""
        noise, scale = self.noise(errors)
        people = self.by_people(errors)
        places = sparse.csr_matrix((self._by_cell(errors), (self.cells.group, self._places)))
        squares, shared = people @ people.T, np.asarray((places @ places.T).todense(), dtype=np.float64)
        own, both = np.diag(squares), self.asked[:, None] & self.asked
        more = own[:, None] + own - 2.0 * squares - (noise[:, None] + noise - 2.0 * shared)
        found: Floats = np.where(both, np.maximum(more, 0.0) * (scale[:, None] + scale) / 2.0, 0.0)
        return found

    @cached_property
    def like_these(self) -> NDArray[np.bool_]:
        """Where something may be said of graders like these."""
        if self.nobody or self.these_graders:
            return np.zeros(self.n, dtype=np.bool_)
        return (self.effective_graders >= FEWEST_GRADERS) & (self.unnamed <= MOST_UNNAMED) & (self.n_tasks > 1)

    @cached_property
    def _theirs(self) -> Floats:
        """What one unit of the graders' component adds to their squares beyond noise."""
        theirs: Floats = self.expected.graders - self.expected.noise
        if self.order > 1:
            # Whom a grader is held against is somebody else, so a deviation from the mean shows less of it.
            left = self.effective_graders
            theirs = theirs * np.square(np.maximum(left - 2.0, 0.5) / np.maximum(left - 1.0, 1.0))
        return theirs

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Where graders are a sample of their own: where each met one task only, they go with the tasks."""
        apart = self.expected.graders - self.expected.noise > BARELY_CROSSED * self.expected.graders
        return self.like_these & apart

    def spreads(
        self,
        errors: Floats,
        *,
        through_graders: Floats | None = None,
        share_of_cells: float = 0.0,
        borrow: Codes | None = None,
    ) -> Spreads:
        """The spread of every group. With `borrow` (a family for each) small groups take the graders' component that
        all groups of their family have together.
        """
        squares, by_graders, noise, by_task = self._squares(errors, through_graders)
        asked, expected, (of_tasks, of_people) = self.asked, self.expected, self.spent
        alone, unit = np.full(self.n, np.nan), np.zeros(self.n)
        np.divide(squares * of_tasks, expected.tasks, out=alone, where=expected.tasks > 0)
        np.divide(by_graders - noise, self._theirs, out=unit, where=asked)
        df_graders, borrowed = self.df_graders, np.zeros(self.n, dtype=np.int64)
        if borrow is not None:
            unit, df_graders, borrowed = self._borrowed(by_graders - noise, unit, borrow)
        unit = np.maximum(unit, 0.0)
        # Some of what graders add shows between tasks, where not all judged the same ones.
        shown = np.divide(expected.by_task * of_tasks, expected.tasks, out=np.zeros(self.n), where=expected.tasks > 0)
        variance = alone + unit * np.maximum(of_people - shown, 0.0)
        of_graders = np.where(asked, unit * of_people + share_of_cells * noise, 0.0)
        return Spreads(
            variance=variance,
            of_graders=np.fmin(of_graders, variance),
            df=self._df_tasks(by_task),
            df_graders=df_graders,
            by_tasks=alone,
            n_tasks=self.n_tasks,
            n_graders=np.zeros(self.n, dtype=np.int64) if self.nobody else self.n_graders,
            effective_tasks=_kish(np.ones(self.n), of_tasks),
            effective_graders=self.effective_graders,
            like_these=self.like_these,
            unnamed=self.unnamed,
            borrowed=borrowed,
            skew=np.zeros(self.n),
            planned=np.full(self.n, self.these_graders),
        )

    def _borrowed(self, found: Floats, own: Floats, family: Codes) -> tuple[Floats, Floats, Codes]:
        """The graders' component of each group; small ones have that of all groups of their family."""
        size, asked = int(family.max()) + 1, self.asked
        columns = (found, self._theirs, self.df_graders)
        total, theirs, df = (_added(family, np.where(asked, one, 0.0), size) for one in columns)
        cells = np.bincount(family[asked], minlength=size)
        # Graders who judged in several groups are no more people for that.
        people = kinds_in(family[self.graders.group], self.person, size)
        df = np.maximum(np.minimum(df, people - 1.0), 1.0)
        small = asked & ((self.n_tasks < SMALL) | (self.effective_graders < FEW)) & (cells[family] > 1)
        pooled = np.divide(total, theirs, out=np.zeros(size), where=theirs > 0)[family]
        return (
            np.where(small, pooled, own),
            np.where(small, df[family], self.df_graders),
            np.where(small, cells[family], 0),
        )

    def _df_tasks(self, by_task: Floats) -> Floats:
        """Tasks less strata, or fewer where a few tasks make up most of the variance."""
        most = self.n_tasks - np.bincount(self._of_block[0], minlength=self.n)
        return df_of_squares(np.square(by_task), self.tasks.group, self.n_tasks, np.maximum(most, 1.0))


def _added(by: Codes, values: Floats | NDArray[np.bool_], size: int) -> Floats:
    return np.bincount(by, values, size).astype(np.float64, copy=False)


def _kish(total: Floats, squares: Floats) -> Floats:
    return np.divide(np.square(total), squares, out=np.zeros_like(squares), where=squares > 0)
