"""A number was asked for that the data cannot give."""

from __future__ import annotations

from guildhall.errors.root import GuildhallError


class NotEnoughData(GuildhallError):
    """A number was asked for that the data cannot give."""

    exit_code = 7


class NothingJudged(NotEnoughData):
    """No judgment is left to estimate from."""

    def __init__(self, what: str, *, n_excluded: int = 0) -> None:
        self.what, self.n_excluded = what, n_excluded
        left_out = f" ({n_excluded} were left out as unknown)" if n_excluded else ""
        super().__init__(f"no judgment to estimate {what} from{left_out}; add judgments that state a verdict")


class TooFew(NotEnoughData):
    """Fewer models, raters or tasks than the figure needs."""

    def __init__(self, kind: str, n: int, *, needed: int, what: str) -> None:
        self.kind, self.n, self.needed, self.what = kind, n, needed, what
        super().__init__(f"{what} needs at least {needed} {kind}, and here {'is' if n == 1 else 'are'} {n}; add more")


class OnlyTies(NotEnoughData):
    """Nobody ever won, so nobody can be rated."""

    def __init__(self, n_judgments: float) -> None:
        self.n_judgments = n_judgments
        super().__init__(f"all {n_judgments:g} judgments are ties; a rating needs wins and losses")


class DisconnectedGraph(NotEnoughData):
    """Models fall into groups that were never compared with each other."""

    def __init__(self, groups: list[list[str]]) -> None:
        self.groups = groups
        shown = "; ".join(", ".join(group[:4]) for group in groups[:3])
        super().__init__(
            f"the models fall into {len(groups)} groups never compared with each other ({shown}); "
            "compare some across, or rate each group by itself"
        )


class SeparatedModels(NotEnoughData):
    """Whoever won or lost everything has no finite rating, and here no two models can be told apart finitely."""

    def __init__(self, models: list[str]) -> None:
        self.models = models
        super().__init__(
            f"{', '.join(models[:6])}: each won or lost everything against the others, so ratings are unbounded; "
            "add judgments, or report win rates instead"
        )


class NothingMarked(NotEnoughData):
    """Not one mark states a grade."""

    def __init__(self) -> None:
        super().__init__("no mark states a grade; mark some essays first")


class NothingToCompare(NotEnoughData):
    """Not one row to estimate from."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"there is no row to estimate {what} from; check the filters and the file")


class NothingPaired(NotEnoughData):
    """Two sides of a difference share no task."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        super().__init__(
            f"{first} and {second} share no task; a paired difference needs tasks on which both were judged"
        )


class TooFewMarks(NotEnoughData):
    """A model of marks with more parts than the marks can tell apart."""

    def __init__(self, why: str, *, fix: str) -> None:
        self.why, self.fix = why, fix
        super().__init__(f"{why}; {fix}")


class UnlinkedMarks(NotEnoughData):
    """Graders and essays fall into groups with no mark between them, so leniency cannot be told from quality."""

    def __init__(self, groups: list[list[str]]) -> None:
        self.groups = groups
        shown = "; ".join(", ".join(group[:4]) for group in groups[:3])
        super().__init__(
            f"the graders fall into {len(groups)} groups that share no essay ({shown}); let some mark across"
        )
