"""Keep what this version writes, for the tests of all later ones: rows of every table, and a backup of each database.

python -m tests.store.keeping FOLDER   (run by scripts/new_migration.py on the committed code, before a schema changes)
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

from guildhall.store.backup import take_backup
from guildhall.store.database import HEAD
from guildhall.store.secret import KEY_FILE
from guildhall.store.tables import metadata
from guildhall.store.workspace import Workspace
from tests.postgres import private_postgres
from tests.store.filling import fill, rows_of

MADE_AT = 1_790_000_000.0


def keep(folder: Path) -> None:
    """`schema/NNNN.rows.json` and `backups/NNNN.DATABASE.tar.gz` below the folder."""
    with private_postgres() as server, tempfile.TemporaryDirectory() as place:
        for kind, url in (("sqlite", None), ("postgresql", server.new_database())):
            (Path(place) / kind).mkdir()
            (Path(place) / kind / KEY_FILE).write_bytes(b"k" * 32)
            with Workspace.create(Path(place) / kind, database=url) as workspace:
                fill(workspace.store)
                workspace.blobs.put(b"a deliverable")
                backup = Path(place) / f"{kind}.tar"
                take_backup(workspace, backup, now=MADE_AT, lacking=True)
                _written(folder / "backups" / f"{HEAD}.{kind}.tar.gz", gzip.compress(backup.read_bytes(), mtime=0))
                with workspace.store.reading() as connection:
                    rows = json.dumps(rows_of(connection, metadata.tables), indent=1, sort_keys=True)
        _written(folder / "schema" / f"{HEAD}.rows.json", f"{rows}\n".encode())


def _written(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
