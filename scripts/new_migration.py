"""Make the next migration from the difference between the tables and the newest migration.

Before it does, it dumps the schema as it stands (both databases), rows that today's code writes into every table of it,
and backups, into tests/data/, so that upgrading from it stays tested for ever.  Use:  python scripts/new_migration.py "what changed"
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.postgres import private_postgres  # noqa: E402

from guildhall.store.database import HEAD, open_database, upgrade  # noqa: E402

DUMPS = ROOT / "tests" / "data" / "schema"
VERSIONS = ROOT / "src" / "guildhall" / "store" / "migrations" / "versions"


def main(words: str) -> None:
    newest = max((path.name[:4] for path in VERSIONS.glob("[0-9]*.py")), default="0000")
    following = f"{int(newest) + 1:04d}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "before.sqlite"
        engine = open_database(f"sqlite:///{file}")
        if newest != "0000":
            upgrade(engine)
            dump_sqlite(file, DUMPS / f"{newest}.sqlite.sql")
            dump_postgres(DUMPS / f"{newest}.postgresql.sql")
            keep_what_is_written(DUMPS.parent)
        config = Config()
        config.set_main_option("script_location", "guildhall.store:migrations")
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            config.attributes["connection"] = connection
            slug = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:40]
            command.revision(config, message=words, autogenerate=True, rev_id=following)
        made = next(VERSIONS.glob(f"{following}*.py"))
        made.rename(VERSIONS / f"{following}_{slug}.py")
        subprocess.run([ROOT / ".venv/bin/ruff", "check", "--fix", "-q", VERSIONS], check=False)
        subprocess.run([ROOT / ".venv/bin/ruff", "format", "-q", VERSIONS], check=True)
    database = ROOT / "src" / "guildhall" / "store" / "database.py"
    database.write_text(database.read_text().replace(f'HEAD = "{HEAD}"', f'HEAD = "{following}"'))
    print(f"made {following}_{slug}.py; read it, then commit it with the dumps")


def keep_what_is_written(target: Path) -> None:
    """Rows and backups by the code as it is committed: the tables that are to change are not in it yet."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", "HEAD", "src", "tests"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        environment = {**os.environ, "PYTHONPATH": f"{folder}/src:{folder}"}
        subprocess.run([sys.executable, "-m", "tests.store.keeping", target], cwd=folder, env=environment, check=True)


def _is_schema(line: str) -> bool:
    """Rows are kept apart; of what an upgrade writes itself only the number of the schema belongs to it."""
    return not line.startswith("INSERT INTO") or "alembic_version" in line


def dump_sqlite(file: Path, target: Path) -> None:
    with sqlite3.connect(file) as connection:
        target.write_text("\n".join(filter(_is_schema, connection.iterdump())) + "\n")


def dump_postgres(target: Path) -> None:
    with private_postgres() as server:
        url = server.new_database()
        engine = open_database(url)
        upgrade(engine)
        engine.dispose()
        dump = subprocess.run(
            ["pg_dump", "--no-owner", "--no-privileges", "--inserts", url], check=True, capture_output=True, text=True
        ).stdout
    kept = [
        line
        for line in dump.splitlines()
        if line and not line.startswith(("--", "\\", "SET ", "SELECT pg_catalog.set_config")) and _is_schema(line)
    ]
    target.write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
