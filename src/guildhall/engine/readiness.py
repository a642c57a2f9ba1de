"""Whether a node is ready for work: asked of it before any goes there, by a look from the node itself."""

from __future__ import annotations

import secrets
import shutil
import socket
from dataclasses import dataclass, replace

import guildhall
from guildhall.confine.launch import why_no_bubblewrap
from guildhall.engine.executor import Needs
from guildhall.errors import GuildhallError
from guildhall.store.work import this_machine
from guildhall.store.workspace import SETTINGS, Address, Workspace

CLOCK_S = 5.0
"""A clock that is off by more is told. It harms nothing: leases are kept by the database's clock."""


@dataclass(frozen=True)
class NodeReport:
    """What a node said of itself; `faults` keep work away from it, `notes` are told."""

    host: str
    machine: str
    version: str
    mark: str | None = None
    """By which the workspace is known: two folders or databases of one name have two."""
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    node: str = ""
    cores: int = 0

    @property
    def line(self) -> str:
        return "\n".join(f"  {self.host:<21} {fault}" for fault in self.faults)

    def beside(self, driver: NodeReport) -> NodeReport:
        """With what differs from the machine that deals the work."""
        if self.version == driver.version or self.faults:
            return self
        return replace(self, faults=(f"has Guildhall {self.version}, and {driver.version} deals the work",))


def look_here(workspace: Address | None, needs: Needs, *, mark: str | None) -> NodeReport:
    """A look at the machine this runs on: the workspace, its files and database, the clock, the programs."""
    report = NodeReport(socket.gethostname(), this_machine(), guildhall.__version__)
    faults: list[str] = []
    notes: list[str] = []
    if workspace is not None:
        try:
            report = replace(report, mark=_workspace_is_there(workspace, mark, notes))
        except GuildhallError as error:
            faults.append(str(error))
        except OSError as error:
            faults.append(f"the workspace cannot be used here: {error}")
    if needs.offices and not shutil.which("soffice"):
        faults.append("LibreOffice is not installed")
    if needs.sandboxes and (why := why_no_bubblewrap()) is not None:
        notes.append(f"no bubblewrap here ({why}); studies in other sandboxes do not need it")
    return replace(report, faults=tuple(faults), notes=tuple(notes))


def _workspace_is_there(at: Address, mark: str | None, notes: list[str]) -> str:
    if at.needs_folder and not (at.path / SETTINGS).exists():
        raise GuildhallError(
            f"{at.path} is not there: share the folder under the same path, or use PostgreSQL and an object store"
        )
    with Workspace.at_address(at.elsewhere()) as workspace:
        here = workspace.store.agreed("identity", mark or secrets.token_hex(16))
        if mark is not None and here != mark:
            raise GuildhallError(f"another workspace lies at {at.path} here")
        workspace.blobs.read(workspace.blobs.put(b""))
        ahead = workspace.store.clock_ahead_s()
    if abs(ahead) > CLOCK_S:
        notes.append(f"its clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the database's")
    return here
