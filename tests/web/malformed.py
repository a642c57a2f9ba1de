"""Requests that no page of ours would send, to every address, by people who may go there.

What is malformed is one thing at a time (a number, nesting, an encoding, a cookie, a header, an address); the rest of a
request is sound and about things that exist, so that it gets past the door.
"""

from __future__ import annotations

import base64
import io
import json
import random
import re
import socket
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.files import files_app
from guildhall.web.permissions import Permission, permissions
from guildhall.web.rendering import TEMPLATES
from guildhall.web.security import RateLimit
from tests.fuzz.asgi import call
from tests.web.entitled import FILE, Entitled, Headers
from tests.web.live import Live
from tests.web.studies import make_task, open_study

FORM = b"application/x-www-form-urlencoded"
BOUNDARY = b"b0undary"
EVERY = (*permissions(), FILE)
FIELDS = sorted(
    {
        name
        for page in TEMPLATES.glob("*.html")
        for name in re.findall(r'name="([\w-]+)"', page.read_text(encoding="utf-8"))
    }
    | {"visible", "idle_s", "words", "media", "draft_version", "page", "saved", "credential", "better.task-0", "gold"}
    | {"note-A.1.1", "rank-A", "usable-A", "edit-minutes-A", "criterion-accuracy"}
)
"""Every field any form has, and those that scripts send."""
QUERIES = ("page", "from", "to", "step", "occupation", "choice", "amend", "graders", "ending", "name", "judge", "first")

NUMBERS = (
    *("nan", "-nan", "inf", "-Infinity", "1e400", "1e-400", "1e999999999", "-1", "-0", "0x10", "1_0", "1e5"),
    *("9" * 5000, "0" * 5000, str(2**63), str(-(2**63) - 1), str(2**1000), "1.7976931348623159e308"),
    *("١٢", "²", "½", "１", "1,5", "--1", " ", "1" * 19, "0.1" * 9, "1e", "e1", ".", "+", "1;2"),
)
DEPTH = 100_000
NESTED = (
    *("[" * DEPTH, '{"a":' * DEPTH, "[" * 900 + "]" * 900, '{"response":' * 50_000 + "1" + "}" * 50_000),
    *(
        ">" * DEPTH,
        "- " * 5000 + "a",
        "(" * DEPTH,
        "*" * DEPTH,
        "<b>" * 30_000,
        "`" * DEPTH,
        "[a](" * 20_000,
        "|" * DEPTH,
    ),
)
ENCODED = (
    *(b"\xff\xfe\xfd", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x28\xa1", b"a\x00b", b"\x00"),
    *("\ufeff\u202e\ufffe".encode(), "\U0010ffff".encode(), b"\r\nSet-Cookie: a=b", b"\x1b[31m", b"\x7f\x80\x81"),
    *(b"'\"; DROP TABLE members; --", b"{{ 7 * 7 }}{% raw %}", b"\\ud800", b"&#xd800;", b"%", b"%%%zz", b"x" * 70_000),
)
CHARSETS = (
    *("idna", "punycode", "utf-7", "utf-16", "utf-32-be", "unicode_escape", "raw_unicode_escape", "undefined", "hex"),
    *("base64", "zlib", "rot13", "cp037", "mbcs", "", '"', "a" * 500, "utf-8; charset=idna", "\xff", "..", "big5hkscs"),
)
COOKIES = (
    *(
        b"guildhall",
        b"guildhall=",
        b'guildhall="\\777"',
        b"guildhall=%00",
        b";;=;,=",
        b"=" * 3000,
        b"guildhall=\xff\xfe",
    ),
    *(b'guildhall="' + b"\\" * 900, b"guildhall=" + b"a" * 30_000, b"a=b;" * 2000, b"guildhall=\xed\xa0\x80"),
    *(b"__Host-guildhall=x", b"guildhall=a; guildhall=b", b"guildhall={}", b"\x80=\x80", b"guildhall=a\tb"),
)
HEADERS: dict[bytes, tuple[bytes, ...]] = {
    b"range": (b"bytes=", b"bytes=9-1", b"bytes=a-b", b"bytes=" + b"0-1," * 3000, b"bytes=-" + b"9" * 400, b"lines=1"),
    b"if-range": (b"", b'"', b"\xff"),
    b"if-modified-since": (b"Mon, 99 Foo 99999 99:99:99", b"0", b"\xff", b"Mon, 01 Jan 0000 00:00:00 GMT", b"-" * 500),
    b"if-none-match": (b"*", b'"' * 500, b"\xff", b"W/"),
    b"accept": (b"", b"application/json" * 500, b"\xff;q=nan", b"application/json;q=" + b"9" * 400),
    b"authorization": (b"Bearer", b"Bearer ", b"Bearer \xff\xfe", b"bearer a b c", b"Basic \xff", b"\x80" * 300),
    b"host": (b"", b"evil.invalid", b"[::1", b"a:b:c", b"\xff", b"x" * 3000, b"localhost:99999999"),
    b"origin": (b"null", b"", b"http://[", b"\xff"),
    b"x-request-id": (b"", b"\xff" * 64, b"a" * 9000),
    b"x-form-token": (b"", b"\xff\xfe", b"a" * 9000),
    b"x-forwarded-for": (b"", b"::ffff:1.2.3.4%lo", b"\xff", b"1.2.3.4," * 900),
    b"idempotency-key": (b"", b"\xff", b"a" * 9000),
    b"content-length": (b"", b"-1", b"9" * 5000, b"\xb2", b"0x5", b"1e3", b"5, 5"),
    b"content-encoding": (b"gzip", b"\xff"),
    b"accept-language": (b"\xff", b"de;q=nan", b"*" * 3000),
}
"""Values that do not fit each header."""


@dataclass(frozen=True)
class Malformed:
    """One request and what is wrong with it."""

    label: str
    kind: str
    method: str
    target: bytes
    headers: Headers
    body: bytes = b""
    files_origin: bool = False

    def on_the_wire(self) -> bytes:
        """As bytes for a server; a client that was lied to about a length would wait, so lengths are true here."""
        told = [(name, value) for name, value in self.headers if name not in {b"content-length", b"host"}]
        host = next((value for name, value in self.headers if name == b"host"), b"localhost")
        told = [(b"host", host), *told, (b"content-length", str(len(self.body)).encode()), (b"connection", b"close")]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in told)
        return self.method.encode() + b" " + self.target + b" HTTP/1.1\r\n" + lines + b"\r\n" + self.body


WIRE = (
    *(
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
    ),
    *(b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", b"G\x00T / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"),
    *(
        b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ),
    *(
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\n\r\n",
    ),
    *(b"get / http/1.1\r\n\r\n", b"GET\r\n\r\n", b"\r\n\r\n\r\n", b"GET /%f HTTP/1.1\r\nHost: a\r\n\r\n", b"\x00" * 99),
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \xff\r\n\r\n",
    b"POST /enter/mail HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"GET /sets HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \xff\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: \xff\r\n\r\n",
)
"""What is no request at all, or one that two servers would read differently."""


def multipart(fields: dict[str, bytes], files: dict[str, bytes] | None = None) -> bytes:
    """A form in parts; `files` are the names of files, field by field."""
    named = b'Content-Disposition: form-data; name="'
    parts = [named + name.encode() + b'"\r\n\r\n' + value for name, value in fields.items()]
    parts += [
        named + name.encode() + b'"; filename="' + file + b'"\r\nContent-Type: text/plain\r\n\r\nx'
        for name, file in (files or {}).items()
    ]
    line = b"--" + BOUNDARY
    return b"".join(line + b"\r\n" + part + b"\r\n" for part in parts) + line + b"--\r\n"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def served_hall(path: Path, *, database: str | None = None) -> Live:
    """A small study whose people may do all there is to do."""
    with Workspace.create(path, database=database) as workspace:
        tasks = [make_task(number) for number in range(4)]
        open_study(workspace, tasks, people={"graders_per_set": 50})
    return Live(path).start()


class Sender:
    """Makes malformed requests to a hall, each about things that exist there."""

    def __init__(self, live: Live, *, seed: int) -> None:
        self.live, self.rng = live, random.Random(seed)
        self.kinds: dict[str, Callable[[Permission, Entitled], Malformed]] = {
            "number": self._number,
            "nesting": self._nesting,
            "encoding": self._encoding,
            "charset": self._charset,
            "multipart": self._multipart,
            "cookie": self._cookie,
            "header": self._header,
            "path": self._path,
            "query": self._query,
            "passkey": self._passkey,
            "package": self._package,
        }

    def requests(self, number: int) -> Iterator[Malformed]:
        """So many requests: every address in turn, every kind in turn."""
        for index, (address, kind) in enumerate(self.turns(number)):
            if index % 100 == 0:
                sound = Entitled(self.live, self.rng)
            yield self.kinds[kind](address, sound)

    def turns(self, number: int) -> Iterator[tuple[Permission, str]]:
        """Which address is asked in which way."""
        names = list(self.kinds)
        for index in range(number):
            turn, place = divmod(index, len(EVERY))
            yield EVERY[place], names[(turn + place) % len(names)]

    def _made(
        self,
        kind: str,
        address: Permission,
        sound: Entitled,
        *,
        target: bytes | None = None,
        headers: Headers | None = None,
        body: bytes = b"",
    ) -> Malformed:
        sent = sound.headers(address) if headers is None else list(headers)
        named = {name for name, _ in sent}
        if body and b"content-type" not in named:
            sent.append((b"content-type", FORM))
        if address.method == "POST" and b"content-length" not in named:
            sent.append((b"content-length", str(len(body)).encode()))
        return Malformed(
            f"{address.method} {address.path}",
            kind,
            address.method,
            sound.target(address) if target is None else target,
            sent,
            body,
            address is FILE,
        )

    def _form(self, values: list[bytes]) -> bytes:
        """A form with every field, or with one of them, holding one of the values."""
        chosen = FIELDS if self.rng.random() < 0.6 else self.rng.sample(FIELDS, 3)
        one = self.rng.choice(values)
        most = (1 << 20) // len(chosen)
        fields = {name: quote_from_bytes(one[:most]).encode()[: 3 * most] for name in chosen}
        fields |= self._usual()
        return b"&".join(name.encode() + b"=" + value for name, value in fields.items())

    def _usual(self) -> dict[str, bytes]:
        """Now and then the fields that lead further are sound."""
        usual = {"role": b"grader", "act": b"submit", "scope": b"results:read", "outcome": b"pass", "kind": b"accepted"}
        return usual if self.rng.random() < 0.5 else {}

    def _number(self, address: Permission, sound: Entitled) -> Malformed:
        values = [one.encode() for one in NUMBERS]
        one = quote(self.rng.choice(NUMBERS)).encode()
        if address.method == "GET":
            return self._made("number", address, sound, target=self._asking(address, sound, one))
        return self._made("number", address, sound, body=self._form(values))

    def _nesting(self, address: Permission, sound: Entitled) -> Malformed:
        values = [one.encode() for one in NESTED]
        if address.method == "GET":
            one = quote(self.rng.choice(NESTED)[:6000]).encode()
            return self._made("nesting", address, sound, target=self._asking(address, sound, one))
        return self._made("nesting", address, sound, body=self._form(values))

    def _encoding(self, address: Permission, sound: Entitled) -> Malformed:
        if address.method == "GET":
            one = quote_from_bytes(self.rng.choice(ENCODED)[:6000]).encode()
            return self._made("encoding", address, sound, target=self._asking(address, sound, one))
        return self._made("encoding", address, sound, body=self._form(list(ENCODED)))

    def _charset(self, address: Permission, sound: Entitled) -> Malformed:
        name = self.rng.choice(CHARSETS).encode("latin-1")
        kind = b"multipart/form-data; boundary=" + BOUNDARY if self.rng.random() < 0.7 else FORM
        headers = [*sound.headers(address), (b"content-type", kind + b"; charset=" + name)]
        values = (*ENCODED, rb"\ud800", rb"\x00\N{x}", b"+AGE-+2AA-", b"xn--\xff", b"=\xff" * 40)
        text = self.rng.choice(values)
        body = multipart(dict.fromkeys(FIELDS, text[:9000]))
        if kind == FORM:
            body = self._form([text])
        return self._made("charset", address, sound, headers=headers, body=body)

    def _multipart(self, address: Permission, sound: Entitled) -> Malformed:
        whole = multipart(dict.fromkeys(self.rng.sample(FIELDS, 4), b"1"), files=self._file_names())
        boundary = self.rng.choice([BOUNDARY] * 6 + [b"", b'"', b"\xff", b"x" * 5000, b"other"])
        headers = [*sound.headers(address), (b"content-type", b"multipart/form-data; boundary=" + boundary)]
        return self._made("multipart", address, sound, headers=headers, body=self._damaged(whole))

    def _file_names(self) -> dict[str, bytes]:
        names = (
            b"../../x",
            b"\xff\xfe",
            b"a\x00b",
            b"x" * 5000,
            b"\\\\a\\b",
            b"",
            b".",
            b"..",
            b"con",
            b"a\r\nb",
            b'"',
        )
        return {name: self.rng.choice(names) for name in ("add_reference", "add_expert")}

    def _damaged(self, data: bytes) -> bytes:
        """The bytes with a few changes, or as they are."""
        changed = bytearray(data)
        for _ in range(self.rng.choice([0, 1, 3, 9])):
            at = self.rng.randrange(len(changed) + 1)
            action = self.rng.randrange(4)
            if action == 0:
                changed[at : at + 1] = self.rng.randbytes(1)
            elif action == 1:
                del changed[at : at + self.rng.randrange(1, 40)]
            elif action == 2:
                changed[at:at] = self.rng.choice(
                    [b"\r\n", b"--" + BOUNDARY, b"\r\n\r\n", b":", b'"', b"\x00", b";" * 99]
                )
            else:
                del changed[at + 1 :]
        return bytes(changed) or b"-"

    def _cookie(self, address: Permission, sound: Entitled) -> Malformed:
        mine = dict(sound.headers(address)).get(b"cookie", b"")
        cookie = self.rng.choice([*COOKIES, mine + b"\xff", b"\x80;" + mine, mine + b"; " + mine + b"x"])
        return self._made("cookie", address, sound, headers=[(b"cookie", cookie)])

    def _header(self, address: Permission, sound: Entitled) -> Malformed:
        name = self.rng.choice(list(HEADERS))
        held = [(key, value) for key, value in sound.headers(address) if key != name]
        headers = [*held, (name, self.rng.choice(HEADERS[name]))]
        return self._made("header", address, sound, headers=headers)

    def _path(self, address: Permission, sound: Entitled) -> Malformed:
        values = [*ENCODED, *(one.encode() for one in NUMBERS), b"../../guildhall.key", b"//evil.invalid", b"a/b", b"."]
        target = sound.target(address, self.rng.choice(values)[:8000])
        if "{" not in address.path:
            ends = (
                b"/",
                b"//",
                b"/.",
                b"%2f",
                b"/%00",
                b";x",
                b"/..%2f..",
                b"%",
                b"%zz",
                b"?" * 50,
                b"#a",
                b"/" + b"a" * 9000,
            )
            target += self.rng.choice(ends)
        return self._made("path", address, sound, target=target)

    def _query(self, address: Permission, sound: Entitled) -> Malformed:
        value = quote_from_bytes(self.rng.choice(ENCODED)[:4000]).encode()
        odd = (b"&&&==", b"=", b"a=1;b=2", b"&" * 5000, b"%", b"%ff=%ff", b"a[b]=c", b"?" * 99, b"page=" + value)
        target = sound.target(address) + b"?" + self.rng.choice(odd)
        return self._made("query", address, sound, target=target)

    def _asking(self, address: Permission, sound: Entitled, value: bytes) -> bytes:
        """The address with the value behind its question mark, or in a part of it that is open."""
        if "{" in address.path and self.rng.random() < 0.5:
            return sound.target(address, value)
        asked = b"&".join(name.encode() + b"=" + value for name in self.rng.sample(QUERIES, 4))
        return sound.target(address) + b"?" + asked

    def _passkey(self, address: Permission, sound: Entitled) -> Malformed:
        """An answer to a question that was really asked, with odd parts; elsewhere it is but one odd field."""
        headers = sound.headers(address)
        body = b"" if address.method == "GET" else b"credential=" + quote(self._answer(address, sound)).encode()
        return self._made("passkey", address, sound, headers=headers, body=body)

    def _answer(self, address: Permission, sound: Entitled) -> str:
        adding = address.path.startswith("/account")
        asked = sound.question(adding=adding)
        kind = "webauthn.create" if adding else "webauthn.get"
        told: dict[str, object] = {"type": kind, "challenge": asked, "origin": self.live.site.addresses.app}
        if self.rng.random() < 0.5:
            told[self.rng.choice(["type", "challenge", "origin", "tokenBinding", "crossOrigin"])] = self._odd()
        parts = {
            "clientDataJSON": base64url(json.dumps(told).encode()),
            "attestationObject": base64url(self._cbor()),
            "authenticatorData": base64url(self.rng.randbytes(self.rng.choice([0, 5, 37, 200]))),
            "signature": base64url(b"s"),
            "userHandle": base64url(b"u"),
        }
        answer: dict[str, object] = {"id": sound.credential, "rawId": sound.credential, "type": "public-key"}
        if self.rng.random() < 0.4:
            parts[self.rng.choice(list(parts))] = self._odd()  # type: ignore[assignment]
        if self.rng.random() < 0.3:
            answer[self.rng.choice(list(answer))] = self._odd()
        text = json.dumps(answer | {"response": parts})
        return text if self.rng.random() < 0.8 else text[:-1] + ',"x":' + "[" * DEPTH

    def _odd(self) -> object:
        return self.rng.choice([None, 1, [], {}, "\ud800", "\x00", "ä", "a" * 2001, 1e308, [[[]]], True, "=", "A"])

    def _cbor(self) -> bytes:
        """An attestation that is none: noise, endless nesting, lengths that are lies."""
        odd = (
            b"\x81" * 5000,
            b"\xa1" * 5000,
            b"\x9f" * 9000,
            b"\xbb" + b"\xff" * 8,
            b"\x5b" + b"\x7f" * 8,
            b"\xd8\x1c\x00",
        )
        known = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58\x25" + b"\x00" * 37
        return self.rng.choice([*odd, known, self._damaged(known), self.rng.randbytes(60)])

    def _package(self, address: Permission, sound: Entitled) -> Malformed:
        if address.method == "GET" or address.scope is None:
            return self._encoding(address, sound)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name in ("task-0/final_message.md", "task-0/" + "a" * 300, "task-1/\ufffe", "task-2/x/y/z"):
                archive.writestr(name, "x")
        headers = [*sound.headers(address), (b"content-type", b"application/zip")]
        target = sound.target(address) + b"?name=m&judge=rubric-and-format"
        return self._made(
            "package", address, sound, target=target, headers=headers, body=self._damaged(made.getvalue())
        )


def answers_in_process(live: Live, number: int, *, seed: int) -> Counter[int]:
    """How often each status was answered to so many requests, handed to the apps as a server would."""
    app, files = create_app(live.site), files_app(live.site)
    app.state.entries = RateLimit(per_minute=1e9, burst=10**9)
    seen: Counter[int] = Counter()
    for one in Sender(live, seed=seed).requests(number):
        status = call(files if one.files_origin else app, one.method, one.target, one.headers, one.body)
        assert status < 500, one
        seen[status] += 1
    return seen


def answers_over_a_socket(live: Live, number: int, *, seed: int) -> Counter[int]:
    """The same by a server; 0 where it hung up without a word."""
    seen: Counter[int] = Counter()
    for one in Sender(live, seed=seed).requests(number):
        status = status_of(live.files_port if one.files_origin else live.port, one.on_the_wire())
        assert status < 500, one
        seen[status] += 1
    for sent in WIRE:
        for port in (live.port, live.files_port):
            status = status_of(port, sent, silent=True)
            assert status < 500, sent
            seen[status] += 1
    return seen


def status_of(port: int, sent: bytes, *, silent: bool = False) -> int:
    """What a server answers to these bytes, and to the end of them if told so; 0 where it hangs up without a word."""
    told = b""
    with socket.create_connection(("127.0.0.1", port)) as stream, suppress(OSError):
        stream.sendall(sent)
        if silent:
            stream.shutdown(socket.SHUT_WR)
        while len(told) < 12 and (more := stream.recv(4096)):
            told += more
    found = re.match(rb"HTTP/1\.[01] (\d{3})", told)
    return int(found[1]) if found else 0
