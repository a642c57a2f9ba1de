"""Every exception Guildhall raises on purpose.

GuildhallError
├── InputError            what a user handed over cannot be used as it is          (exit code 2)
│   ├── UnreadableFile    a file that is broken, truncated or of another kind
│   │   └── LookInterrupted  the room around a file's parser went away; another try may succeed
│   ├── CannotScrub       a file whose makers' traces cannot all be removed
│   ├── UnsafePath        a path that leaves its folder, a link, or a hostile name
│   ├── RefusedPackage    an uploaded archive that is broken, hostile or beyond the limits
│   ├── MissingColumn     a table without a column that is needed
│   ├── ImpossibleValue   a figure outside what it can be: a NaN mark, a probability of 2
│   ├── BadCondition      a gate's condition that is not in its language
│   ├── CannotRelease     a task that cannot be freed of its author, or lacks its files
│   ├── ReviewRefused     somebody who may not do this to a task under review
│   └── UnknownName       an id, column, model or option nobody has heard of
├── StoreError            the workspace refused                                    (exit code 3)
│   ├── NoWorkspace
│   ├── CorruptBlob       bytes that no longer match their digest
│   ├── MissingBlob       a file that is named but not kept here
│   ├── StoreOutOfReach   an object store that does not answer, or refuses
│   ├── CorruptBundle
│   ├── CorruptBackup
│   ├── Conflict          the same key with another content
│   └── SchemaMismatch
├── MissingTool           a program or extra this machine lacks                    (exit code 4)
├── SandboxError          confined work could not be run                           (exit code 5)
│   ├── RoomNotStarted    the confined place could not be set up
│   ├── RoomClosed        work was handed to a room that has been closed
│   ├── NoEnvironment     no prepared working environment where one was named
│   └── EnvironmentNotBuilt
├── ModelError            a provider refused, failed or ran into a limit           (exit code 6)
│   ├── UnreadableVerdict a judge's reply that holds no verdict where one must stand
│   └── PriceUnknown      a limit in dollars for a model nobody knows the price of
└── NotEnoughData         a number was asked for that the data cannot give         (exit code 7)
    ├── NothingJudged     no judgment left to estimate from
    ├── TooFew            fewer models, raters or tasks than the figure needs
    ├── OnlyTies          nobody ever won, so nobody can be rated
    ├── DisconnectedGraph models that fall into groups never compared with each other
    ├── SeparatedModels   models that won or lost everything: their rating has no finite value
    ├── NothingMarked
    ├── NothingToCompare  no row at all for what was asked
    ├── NothingPaired     no task on which both sides of a difference were seen
    ├── TooFewMarks       a model of marks with more parts than the marks can tell apart
    └── UnlinkedMarks     graders and essays that fall into groups with no mark between them

A message says what happened, to what, and what to do next; facts are attributes. Packages add their own
leaves below these branches, here and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class GuildhallError(Exception):
    """Root of the tree; `exit_code` is what the command line returns."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers hand errors over by pickling, which would call the class with the message in place of its facts.
        return _same_again, (type(self), self.args, dict(self.__dict__))


def _same_again(kind: type[GuildhallError], said: tuple[Any, ...], facts: dict[str, Any]) -> GuildhallError:
    error = kind.__new__(kind, *said)
    error.__dict__.update(facts)
    return error


class InputError(GuildhallError):
    """What a user handed over cannot be used as it is."""

    exit_code = 2


class UnreadableFile(InputError):
    """A file that is broken, truncated or not of the kind it should be."""

    def __init__(self, path: Path | str, why: str, *, fix: str = "check the file and try again") -> None:
        self.path, self.why, self.fix = path, why, fix
        super().__init__(f"{path}: {why}; {fix}")


class LookInterrupted(UnreadableFile):
    """The room around a file's parser went away: nothing is known about the file itself."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(path, f"lost the room it was looked at in ({why})", fix="try again")


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
        hint = fix or (f"known: {', '.join(known)}" if known else "check the spelling")
        super().__init__(f"no {kind} is called {name!r}; {hint}")


class BadCondition(InputError):
    """A condition of a gate that cannot be read; it is refused rather than guessed at."""

    def __init__(self, text: str, why: str) -> None:
        self.text, self.why = text, why
        super().__init__(
            f"{text!r} {why}; write `win_or_tie < -0.03`, `win(MODEL) drops by more than 0.05`, "
            "or either with `possibly` or `certainly` before it (estimates: win, win_or_tie, half_tie)"
        )


class StoreError(GuildhallError):
    """The workspace refused."""

    exit_code = 3


class NoWorkspace(StoreError):
    """There is no workspace where one was looked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} holds no workspace; make one with `guildhall init {path}` or pass --workspace")


class CorruptBlob(StoreError):
    """Stored bytes no longer match the digest they are kept under."""

    def __init__(self, digest: str, *, found: str) -> None:
        self.digest, self.found = digest, found
        super().__init__(
            f"blob {digest[:12]} is damaged (its bytes hash to {found[:12]}); restore it from a backup or a bundle"
        )


class MissingBlob(StoreError):
    """A digest that is named but not kept here."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        super().__init__(f"blob {digest[:12]} is not in this workspace; import the bundle or files that hold it")


class StoreOutOfReach(StoreError):
    """An object store that does not answer, has no such bucket, or refuses these credentials."""

    def __init__(self, url: str, why: str) -> None:
        self.url, self.why = url, why
        super().__init__(f"{url} cannot be used ({why}); check the address, the network and the credentials")


class CorruptBundle(StoreError):
    """A bundle whose contents are not what its manifest says."""

    def __init__(self, path: Path, member: str, why: str) -> None:
        self.path, self.member, self.why = path, member, why
        super().__init__(f"{path}: {member}: {why}; nothing was imported, ask for the bundle again")


class CorruptBackup(StoreError):
    """A backup that is cut off, or whose parts are not what its manifest says."""

    def __init__(self, path: Path, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"{path}: {why}; nothing was restored, use another backup")


class Conflict(StoreError):
    """The same key with another content: records are never edited in place."""

    def __init__(self, kind: str, key: str) -> None:
        self.kind, self.key = kind, key
        super().__init__(f"{kind} {key!r} is already kept with another content; give the new one its own version or id")


class SchemaMismatch(StoreError):
    """The database was written by another version."""

    def __init__(self, found: str | None, wanted: str) -> None:
        self.found, self.wanted = found, wanted
        super().__init__(
            f"the database is at schema {found}, this version needs {wanted}; run `guildhall init --upgrade`"
        )


class MissingTool(GuildhallError):
    """A program or extra this machine lacks."""

    exit_code = 4

    def __init__(self, tool: str, *, needed_for: str, fix: str) -> None:
        self.tool, self.needed_for, self.fix = tool, needed_for, fix
        super().__init__(f"{tool} is needed for {needed_for} and is not here; {fix}")


class SandboxError(GuildhallError):
    """Confined work could not be run."""

    exit_code = 5


class RoomNotStarted(SandboxError):
    """The confined place could not be set up; nothing ran."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"no confined room could be started ({why}); `guildhall sandbox check` says what is missing")


class RoomClosed(SandboxError):
    """Work was handed to a room that has been closed."""

    def __init__(self, work: str) -> None:
        self.work = work
        super().__init__(f"the room around {work} has been closed; start a new one")


class NoEnvironment(SandboxError):
    """No prepared working environment lies where one was named."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(f"{folder} holds no prepared environment; make one with `guildhall sandbox build`")


class EnvironmentNotBuilt(SandboxError):
    """The installer gave up; what it had begun is left for the next attempt to replace."""

    def __init__(self, step: str, why: str) -> None:
        self.step, self.why = step, why
        super().__init__(f"the environment could not be built: {step}: {why}; check the network and run it again")


class ModelError(GuildhallError):
    """A provider refused, failed or ran into a limit."""

    exit_code = 6


class UnreadableVerdict(ModelError):
    """A judge's reply that cannot be read; it is recorded as a failure and never becomes a verdict."""

    def __init__(self, why: str, *, reply: str) -> None:
        self.why, self.reply = why, reply
        super().__init__(f"no verdict could be read: {why}; the reply ends {reply.strip()[-80:]!r}")


class PriceUnknown(ModelError):
    """A limit in dollars was set for a model whose price is unknown."""

    def __init__(self, model: str) -> None:
        self.model = model
        super().__init__(
            f"the price of {model!r} is unknown, so a limit in dollars cannot be kept; "
            "give its price under [prices] or drop the limit"
        )


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
