"""Keep secrets out of everything that is written down: errors of providers quote keys and headers."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_SHAPE = re.compile(
    r"(?i)\b(?:sk|pk|rk|xai|gsk|hf)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|\bAIza[0-9A-Za-z_\-]{10,}"
    r"|(?<=bearer )[A-Za-z0-9_\-.=]{8,}"
    r"|(?<=api[-_]key[\"'=: ])\s*[\"']?[A-Za-z0-9_\-.]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_SHORTEST = 8
_HIDDEN = "[hidden]"


def redact(text: str, *, environ: Mapping[str, str] | None = None) -> str:
    """The text without keys: neither those of this environment nor anything shaped like one."""
    environ = os.environ if environ is None else environ
    for name, value in environ.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name) and not value.startswith("/"):
            text = text.replace(value, _HIDDEN)
    return _SECRET_SHAPE.sub(_HIDDEN, text)
