"""The GET-only way out: what passes, what is refused, and that everything is recorded."""

from __future__ import annotations

import datetime as dt
import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from guildhall.confine.launch import why_no_bubblewrap
from guildhall.confine.room import start
from guildhall.engine.bubblewrap_authority import Authority
from guildhall.engine.bubblewrap_config import Network

pytestmark = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")

PUBLIC = "93.184.215.14"  # a public address; the test dials its own server instead
ADDRESSES = {"good.example": [PUBLIC], "inward.example": ["10.0.0.7"], "mixed.example": [PUBLIC, "127.0.0.1"]}
ALLOWED = tuple(ADDRESSES)
ASK = """
import json, sys, urllib.request, urllib.error
for line in sys.stdin:
    method, url, body = json.loads(line)
    request = urllib.request.Request(url, method=method, data=body.encode() if body else None)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            print(answer.status, answer.read(60).decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read(90).decode().strip())
    except Exception as error:
        print('failed', error)
"""


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"hello from {self.path}, cookie {self.headers.get('Cookie')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[tuple[int, int, ssl.SSLContext]]:
    """A plain and a TLS server on loopback, and the context that trusts the latter."""
    authority = Authority(now=dt.datetime.now(dt.UTC))
    plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    secure = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    secure.socket = authority.context_for("good.example").wrap_socket(secure.socket, server_side=True)
    threads = [threading.Thread(target=one.serve_forever, args=(0.02,), daemon=True) for one in (plain, secure)]
    for thread in threads:
        thread.start()
    trust = ssl.create_default_context(cadata=authority.certificate_pem.decode())
    yield plain.server_port, secure.server_port, trust
    for server in (plain, secure):
        server.shutdown()
        server.server_close()
    for thread in threads:
        thread.join()


def ask(
    site: tuple[int, int, ssl.SSLContext], questions: list[tuple[str, str, str]], work: Path
) -> tuple[list[str], Network]:
    """Put the questions from inside a sandbox; the answers, and the network with its record."""
    import json

    plain, secure, trust = site

    def dial(address: str, port: int) -> socket.socket:
        assert address == PUBLIC, f"the proxy dialled {address}"
        return socket.create_connection(("127.0.0.1", {80: plain, 443: secure}[port]), timeout=10)

    network = Network.open(ALLOWED, resolve=lambda host, _: ADDRESSES.get(host, []), dial=dial, trust=trust)
    try:
        with start(work=work, mounts=network.mounts, env=network.env, how="bubblewrap") as room:
            network.connect(room)
            lines = "\n".join(json.dumps(question) for question in questions).encode()
            finished = room.run(["python3", "-c", ASK], stdin=lines)
            assert finished.ok, finished.stderr
            return finished.stdout.decode().splitlines(), network
    finally:
        network.close()


def test_get_passes_by_http_and_by_https(site, tmp_path):
    answers, network = ask(
        site, [("GET", "http://good.example/a", ""), ("GET", "https://good.example/b?c=d", "")], tmp_path
    )
    assert answers == ["200 hello from /a, cookie None", "200 hello from /b?c=d, cookie None"]
    assert [asked.status for asked in network.asked] == [200, 200]


def test_everything_else_is_refused_and_recorded(site, tmp_path):
    questions = [
        ("POST", "http://good.example/", "data"),
        ("POST", "https://good.example/", "data"),
        ("PUT", "https://good.example/", "data"),
        ("DELETE", "http://good.example/", ""),
        ("GET", "http://good.example/", "a body"),
        ("GET", "http://other.example/", ""),
        ("GET", "http://inward.example/", ""),
        ("GET", "http://mixed.example/", ""),
        ("GET", "http://good.example:8080/", ""),
        ("GET", "http://127.0.0.1:1/", ""),
    ]
    answers, network = ask(site, questions, tmp_path)
    assert all(answer.startswith("403") for answer in answers), answers
    assert {asked.status for asked in network.asked} == {403}
    assert "only GET" in answers[0]
    assert "not an allowed host" in answers[5]
    assert "public addresses only" in answers[6]


def test_a_host_that_is_not_allowed_gets_no_tunnel(site, tmp_path):
    answers, network = ask(site, [("GET", "https://other.example/", "")], tmp_path)
    assert answers[0].startswith("failed")
    assert "403" in answers[0]
    assert network.asked[0].method == "CONNECT"


def test_a_certificate_of_the_sandbox_is_worth_nothing_outside(site):
    authority = Authority(now=dt.datetime.now(dt.UTC))
    near, far = socket.socketpair()
    server = threading.Thread(target=lambda: _serve_once(authority, far))
    server.start()
    with pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(near, server_hostname="good.example")
    near.close()
    server.join()


def _serve_once(authority: Authority, connection: socket.socket) -> None:
    try:
        authority.context_for("good.example").wrap_socket(connection, server_side=True)
    except (ssl.SSLError, OSError):
        pass
    finally:
        connection.close()
