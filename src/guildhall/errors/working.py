"""Work could not be done: the workspace refused, a tool is missing, a sandbox or a model failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guildhall.errors.root import GuildhallError


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


class FileLacking(StoreError):
    """A file that records name is not kept, so that what is made of the workspace would not be whole."""

    def __init__(self, digest: str, named_by: str, *, more: int = 0) -> None:
        self.digest, self.named_by, self.more = digest, named_by, more
        others = f", and {more} more are missing" if more else ""
        super().__init__(
            f"file {digest} of {named_by} is not in the workspace{others}; no backup was made: bring the file back "
            "(`guildhall doctor --deep` names them all), or pass --lacking to keep what there is"
        )


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


class DatabaseFault(StoreError):
    """The database could not do its part; each reason has a sentence, an exit code and an advice of its own."""

    def __init__(self, url: str, why: str = "") -> None:
        self.url, self.why = url, why
        super().__init__(self.says.format(url=url, why=f" ({why})" if why else ""))

    says = "the database {url} cannot be used{why}; bring it back from a backup if it is damaged"


class DatabaseAway(DatabaseFault):
    """The database does not answer: not started, restarting, or cut off from here. Another try may succeed."""

    exit_code = 31
    says = "the database {url} does not answer{why}; see that it runs and can be reached from here, then try again"


class DatabaseFull(DatabaseFault):
    """The disk under the database is full."""

    exit_code = 32
    says = "the disk under the database {url} is full{why}; make room there, then run the same command again"


class NoConnectionLeft(DatabaseFault):
    """Every connection that the database server gives is in use. Another try may succeed."""

    exit_code = 33
    says = (
        "the database {url} has no connection left{why}; end what needs none, raise `max_connections`, or put a pooler "
        "before it (docs/design/scale.md says how many are needed)"
    )


class DatabaseRefused(DatabaseFault):
    """The database lets nobody in so: a wrong password, role or name, or a role that may not do this."""

    exit_code = 34
    says = (
        "the database {url} lets nobody in so{why}; correct the user, password or name in guildhall.toml, or PGPASSWORD"
    )


class NoSchema(DatabaseFault):
    """A database in which nothing of ours was ever made, or of which all is gone."""

    exit_code = 35
    says = (
        "the database {url} holds no tables of Guildhall{why}; if it is new, `guildhall init --upgrade` makes them; if "
        "it was in use, the address is wrong or it must be brought back from a backup"
    )


class OtherSecret(StoreError):
    """A folder whose secret is not the one that its database was used with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"the secret of {folder} is not the one its database is used with: marks of employers, links and orders "
            "would differ; put guildhall.key of the first folder in its place, or let GUILDHALL_KEY_FILE name it"
        )


class HoldLost(StoreError):
    """What a worker was at is another's by now: it was silent for too long, and nothing it made is kept."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"{what}: this worker was silent for too long and another has taken over; nothing made here is kept"
        )


class SchemaMismatch(StoreError):
    """The database was written by another version."""

    exit_code = 36

    def __init__(self, found: str, wanted: str) -> None:
        self.found, self.wanted = found, wanted
        advice = "install the newer version" if found > wanted else "make a backup and run `guildhall init --upgrade`"
        super().__init__(f"the database is at schema {found}, this version needs {wanted}; {advice}")


class MachineRefused(GuildhallError):
    """The machine itself would not: no room on the disk, no permission, a port that is in use."""

    exit_code = 3

    def __init__(self, what: str, why: str, *, fix: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}; {fix}")


class MissingTool(GuildhallError):
    """A program or extra this machine lacks."""

    exit_code = 4

    def __init__(self, tool: str, *, needed_for: str, fix: str) -> None:
        self.tool, self.needed_for, self.fix = tool, needed_for, fix
        super().__init__(f"{tool} is needed for {needed_for} and is not here; {fix}")


class NodesNotReady(GuildhallError):
    """No node of a cluster can do the work; what is wrong where."""

    exit_code = 4

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        told = "\n".join(lines) or "  it has none"
        super().__init__(f"no node of the cluster is ready for this work:\n{told}\nmend one and run the command again")


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


class InterpreterNotShown(SandboxError):
    """The Python that Guildhall runs on lies where no room may see it."""

    def __init__(self, executable: Path, place: Path) -> None:
        self.executable, self.place = executable, place
        super().__init__(
            f"{executable} needs {place}, which holds a home folder and is not shown to agents; "
            "make an environment with `guildhall sandbox build` and name it in [sampling], or install Python elsewhere"
        )


class LookNotFinished(SandboxError):
    """Time ran out, or a room went away, while a file was made ready to be judged: it says nothing about the file."""

    def __init__(self, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(
            f"{what} was not made ready ({why}), which is no fault of the work; run the same "
            "command again, on a machine with less to do if it happens again"
        )


class FaultsOfOurs(GuildhallError):
    """Part of a run could not be done by a fault of ours or of a provider's; it is kept as failed, and can be retried.

    `exit_code` is that of what failed: storage 3, a sandbox 5, a provider 6.
    """

    def __init__(self, what: str, why: str, *, fix: str, exit_code: int = 3) -> None:
        self.what, self.why, self.exit_code = what, why, exit_code
        super().__init__(f"{what} by no fault of the work: {why}; {fix}")


class NotReady(GuildhallError):
    """Several things stand in the way of a run; nothing was begun. `exit_code` is that of the first."""

    def __init__(self, why: Sequence[GuildhallError]) -> None:
        self.why, self.faults, self.exit_code = tuple(why), tuple(map(str, why)), why[0].exit_code
        super().__init__(f"{len(why)} things stand in the way, and nothing was begun")


class ToldButAbsent(SandboxError):
    """Authors would be told of something that their room does not have."""

    def __init__(self, what: Sequence[str], *, told_by: str, fix: str) -> None:
        self.what, self.told_by = tuple(what), told_by
        super().__init__(f"{told_by} tells of {', '.join(what)}, and the room has none of it; {fix}")


class RoomChanged(SandboxError):
    """The room here is another than the one a study began in."""

    def __init__(self, study: str, what: Sequence[str]) -> None:
        self.study, self.what = study, tuple(what)
        super().__init__(
            f"study {study!r} began in a room with other {', '.join(what)}; run it where that room is, "
            "or pass --changed to go on in this one as a new form"
        )


class NothingDelivered(SandboxError):
    """Every author of a run came to an end and none delivered anything."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(
            f"{count} pieces of work ended and none of them delivered anything; `guildhall sandbox check` says whether "
            "the room works, and `guildhall sample status` what went wrong"
        )


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
