"""Empty databases of the newest schema, copied from one that every migration has made.

That migrations make this schema, from nothing and from every kept one, is the claim of
`tests/store/test_migrations.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, inspect

from guildhall.store.database import open_database, upgrade
from tests.postgres import Server


@dataclass
class Migrated:
    """Stands where `upgrade` stands, in one process; a database that is not empty goes through its migrations."""

    folder: Path
    postgres: Callable[[], Server]
    template: str = ""

    def __call__(self, engine: Engine) -> None:
        if inspect(engine).get_table_names():
            upgrade(engine)
            return
        engine.dispose()
        if engine.dialect.name == "sqlite":
            shutil.copyfile(self._sqlite(), str(engine.url.database))
        else:
            self.postgres().copy(self._postgresql(), engine.url.render_as_string(hide_password=False))

    def _sqlite(self) -> Path:
        made = self.folder / "migrated.sqlite"
        if not made.exists():
            _migrate(f"sqlite:///{made}")
        return made

    def _postgresql(self) -> str:
        if not self.template:
            self.template = self.postgres().new_database()
            _migrate(self.template)
        return self.template


def _migrate(url: str) -> None:
    engine = open_database(url)
    upgrade(engine)
    engine.dispose()
