"""What a user handed over cannot be used as it is, or cannot give the number that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

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
        super().__init__("no mark states a grade; look at the replies, and mark some essays first")


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


class InputError(GuildhallError):
    """What a user handed over cannot be used as it is."""

    exit_code = 2


class UnreadableFile(InputError):
    """A file that is broken, truncated or not of the kind it should be."""

    def __init__(self, path: Path | str, why: str, *, fix: str = "check the file and try again") -> None:
        self.path, self.why, self.fix = path, why, fix
        super().__init__(f"{path}: {why}; {fix}")


class FaultsFound(InputError):
    """Several things are wrong with what was handed over: all of them in one list, and nothing was begun."""

    def __init__(self, what: str, faults: Sequence[str], *, fix: str) -> None:
        self.what, self.faults, self.fix = what, tuple(faults), fix
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{what}: {faults[0]}{more}; {fix}")


class LookInterrupted(UnreadableFile):
    """The room around a file's parser went away, or the clock ran out: nothing is known about the file itself."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(path, why, fix="try again")


class CannotScrub(InputError):
    """A file that holds something whose makers' traces cannot be removed without losing content."""

    def __init__(self, what: str, why: str, *, fix: str = "show its rendered pages instead of the file") -> None:
        self.what, self.why, self.fix = what, why, fix
        super().__init__(f"{what}: {why}; {fix}")


class UnsafePath(InputError):
    """A path that leaves its folder, follows a link out of it, or has a hostile name."""

    def __init__(self, path: Path | str, why: str, *, fix: str = "rename or move the file and try again") -> None:
        self.path, self.why, self.fix = path, why, fix
        super().__init__(f"{str(path)!r}: {why}; {fix}")


class RefusedPackage(InputError):
    """An uploaded archive that is broken, hostile or beyond the limits; nothing of it was kept."""

    def __init__(self, why: str, *, fix: str = "send a zip with one folder for each task id") -> None:
        self.why, self.fix = why, fix
        super().__init__(f"the package was refused: {why}; {fix}")


class ImpossibleValue(InputError):
    """A figure outside what it can be."""

    def __init__(self, name: str, value: object, *, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} is {value}, which cannot be; it must be {allowed}")


class MissingColumn(InputError):
    """A table without a column that is needed."""

    def __init__(self, table: Path | str, column: str, *, found: list[str]) -> None:
        self.table, self.column, self.found = table, column, found
        super().__init__(f"{table} has no column {column!r} (it has {', '.join(found) or 'none'}); add or rename it")


class CannotRelease(InputError):
    """Why one task stays out of a public release."""

    def __init__(self, task: str, why: str) -> None:
        self.task, self.why = task, why
        super().__init__(f"{task} cannot be released: {why}; mend the task or leave it out")


class ReviewRefused(InputError):
    """Somebody who may not do this to a task under review, and the rule that says so."""

    def __init__(self, who: str, task: str, why: str, *, fix: str) -> None:
        self.who, self.task, self.why, self.fix = who, task, why, fix
        super().__init__(f"{who} {why} ({task}); {fix}")


class UnknownName(InputError):
    """A name nobody has heard of."""

    def __init__(self, kind: str, name: str, *, known: list[str] | None = None, fix: str = "") -> None:
        self.kind, self.name, self.known = kind, name, known
        near = get_close_matches(name, known or (), n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        hint = fix or (f"{meant}known: {', '.join(known)}" if known else "check the spelling")
        super().__init__(f"no {kind} is called {name!r}; {hint}")


class BadCondition(InputError):
    """A condition of a gate that cannot be read; it is refused rather than guessed at."""

    def __init__(self, text: str, why: str) -> None:
        self.text, self.why = text, why
        super().__init__(
            f"{text!r} {why}; write `win_or_tie < -0.03`, `win(MODEL) drops by more than 0.05`, "
            "or either with `possibly` or `certainly` before it (estimates: win, win_or_tie, half_tie)"
        )
