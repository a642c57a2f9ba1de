"""What is personal lies sealed, each person's under a key of its own, and that key under the workspace's secret.

So neither the database nor a copy of it opens anything, and erasing a person destroys the one key to their fields.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from guildhall.store.hall import member_secrets
from guildhall.store.records import Store
from guildhall.store.secret import derive

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_WRAPPED = b"1:"
"""Begins a wrapped key; those of earlier versions lay open and begin otherwise."""


def seal(secret: bytes, fields: Mapping[str, str]) -> tuple[bytes, bytes]:
    """A new key, wrapped, and the fields sealed under it."""
    from cryptography.fernet import Fernet

    key = Fernet.generate_key()
    return _wrap(secret, key), Fernet(key).encrypt(json.dumps(dict(fields)).encode())


def unseal(secret: bytes, wrapped: bytes, sealed: bytes) -> dict[str, str]:
    from cryptography.fernet import Fernet

    key = _wrapper(secret).decrypt(wrapped.removeprefix(_WRAPPED))
    opened: dict[str, str] = json.loads(Fernet(key).decrypt(sealed))
    return opened


def wrap_open_keys(store: Store, secret: bytes) -> int:
    """Wrap the keys that an earlier version kept as they were; how many there were."""
    with store.transaction() as connection:
        query = select(member_secrets.c.member, member_secrets.c.key).where(member_secrets.c.key.is_not(None))
        found = [row for row in connection.execute(query) if not row.key.startswith(_WRAPPED)]
        for row in found:
            mine = update(member_secrets).where(member_secrets.c.member == row.member)
            connection.execute(mine.values(key=_wrap(secret, row.key)))
    return len(found)


def forget_what_is_sealed(store: Store) -> None:
    """For a workspace whose secret is lost: nobody can open these fields again, and nobody is found by an address."""
    with store.transaction() as connection:
        connection.execute(update(member_secrets).values(key=None, sealed=b"", address_mark=None))


def _wrap(secret: bytes, key: bytes) -> bytes:
    return _WRAPPED + _wrapper(secret).encrypt(key)


def _wrapper(secret: bytes) -> Fernet:
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(derive(secret, "people's keys")))
