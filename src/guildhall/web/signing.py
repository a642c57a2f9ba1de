"""Signatures of webhooks, after the public Standard Webhooks convention, so that receivers find ready-made checks.

The signature covers the delivery's id, the time it was sent and the body. A receiver refuses what is older than the
window and, within it, an id it has seen: then nothing can be replayed.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping

WINDOW_S = 300.0
PREFIX = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signed_headers(secret: str, delivery: str, body: bytes, *, now: float) -> dict[str, str]:
    """The headers that show who sent a body, and when."""
    stamp = str(int(now))
    return {
        "webhook-id": delivery,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{_signature(secret, delivery, stamp, body)}",
    }


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, *, now: float, window_s: float = WINDOW_S) -> bool:
    """Whether a delivery was signed with the secret within the window. Header names are in lower case."""
    delivery, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not stamp.isascii() or not stamp.isdecimal() or len(stamp) > 12 or abs(now - int(stamp)) > window_s:
        return False
    wanted = _signature(secret, delivery, stamp, body)
    given = [
        part.removeprefix("v1,") for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")
    ]
    return any(hmac.compare_digest(one.encode(), wanted.encode()) for one in given)


def _signature(secret: str, delivery: str, stamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, f"{delivery}.{stamp}.".encode() + body, "sha256")).decode()
