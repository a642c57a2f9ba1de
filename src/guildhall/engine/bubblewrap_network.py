"""Granting a sandbox its GET-only network: the proxy outside, the bridge inside, and the trust between."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guildhall.confine.bubblewrap import Mount
from guildhall.confine.launch import system_python
from guildhall.confine.room import Room
from guildhall.engine import bubblewrap_bridge
from guildhall.engine.bubblewrap_authority import Authority
from guildhall.engine.bubblewrap_proxy import Asked, Proxy
from guildhall.errors import RoomNotStarted

_INSIDE = "/run/network"
_PORT = 3128
_TRUST_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT")
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class Network:
    """The way out of one sandbox, to the allowed hosts and no further."""

    def __init__(self, folder: Path, proxy: Proxy) -> None:
        self._folder, self._proxy = folder, proxy
        self.mounts = (Mount(folder, _INSIDE),)
        self.env = dict.fromkeys(_TRUST_VARIABLES, f"{_INSIDE}/authority.pem") | dict.fromkeys(
            _PROXY_VARIABLES, f"http://127.0.0.1:{_PORT}"
        )

    @classmethod
    def open(cls, allow: Collection[str], **outward: Any) -> Network:
        """`outward` may replace how the proxy resolves, dials and trusts; see `Proxy`."""
        folder = Path(tempfile.mkdtemp(prefix="guildhall-network-"))
        folder.chmod(0o755)
        authority = Authority(now=datetime.now(UTC))
        (folder / "authority.pem").write_bytes(authority.certificate_pem)
        (folder / "authority.pem").chmod(0o644)
        shutil.copyfile(bubblewrap_bridge.__file__, folder / "bridge.py")
        (folder / "bridge.py").chmod(0o644)
        return cls(folder, Proxy(folder / "proxy.sock", allow=allow, authority=authority, **outward))

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every request so far, allowed or refused."""
        return tuple(self._proxy.asked)

    def connect(self, room: Room) -> None:
        """Start the bridge inside; it listens when this returns."""
        bridge = [system_python(), "-I", "-S", f"{_INSIDE}/bridge.py", str(_PORT), f"{_INSIDE}/proxy.sock"]
        begun = room.run(bridge)
        if not begun.ok:
            raise RoomNotStarted(f"the bridge to the network did not start: {begun.stderr.decode(errors='replace')}")

    def close(self) -> None:
        self._proxy.close()
        shutil.rmtree(self._folder, ignore_errors=True)
