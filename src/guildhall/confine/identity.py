"""Who confined work runs as: never root, and able to reach exactly what it is given.

The kernel does not enforce the process limit for root, so a caller who is root hands the work folder to an
unprivileged user and drops to it. Folders that this user cannot reach (under somebody's private home, say) are
first bound to a reachable place in a mount namespace of the launcher's own, which vanishes with it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

UNPRIVILEGED_ID = 64987
"""uid and gid on the host when the caller is root; nothing else should own files under it."""

_STAGE_THEN_DROP = f"""
echo 500 > /proc/self/oom_score_adj  # when memory runs out, the work goes first
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 97; shift 2; done
shift
exec setpriv --reuid={UNPRIVILEGED_ID} --regid={UNPRIVILEGED_ID} --clear-groups --no-new-privs -- "$@"
"""


def is_root() -> bool:
    return os.geteuid() == 0


def hand_over(folder: Path) -> None:
    """Make `folder` and everything in it the unprivileged user's, where the caller is root.

    Links are not followed. Files are given away as they are: hand over copies, never hard links.
    """
    if not is_root():
        return
    os.chown(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID, follow_symlinks=False)


@dataclass
class Stage:
    """Reachable stand-ins for unreachable paths; `prefix` is the command that sets them up and drops root."""

    binds: list[tuple[Path, Path]] = field(default_factory=list)
    folder: Path | None = None

    def reachable(self, path: Path) -> Path:
        """`path` itself, or the stand-in by which the unprivileged user reaches it."""
        if not is_root() or _others_may_reach(path):
            return path
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="guildhall-stage-"))
            self.folder.chmod(0o755)
        stand_in = self.folder / str(len(self.binds))
        if path.is_dir():
            stand_in.mkdir()
        else:
            stand_in.touch()
        self.binds.append((path, stand_in))
        return stand_in

    def prefix(self) -> list[str]:
        if not is_root():
            return []
        staged = [str(part) for bind in self.binds for part in bind]
        private = ["unshare", "--mount", "--propagation", "private"] if staged else []
        return [*private, "sh", "-c", _STAGE_THEN_DROP, "sh", *staged, "--"]

    def clear(self) -> None:
        """Remove the stand-ins; they are empty outside the launcher's own mount namespace."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def _others_may_reach(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents)
