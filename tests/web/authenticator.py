"""A software authenticator: one ES256 key that answers as a device would that has recognised its holder."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url, encode_cbor

from tests.web.live import Visitor

_PRESENT_AND_VERIFIED, _ATTESTED = 0x05, 0x40


@dataclass
class Authenticator:
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    count: int = 0

    def join(self, visitor: Visitor, *, name: str = "made here") -> None:
        """Become a passkey of whoever's session this is."""
        asked = visitor.http.post("/account/passkeys/options", data={"form_token": visitor.token}).json()
        numbers = self.key.public_key().public_numbers()
        point = {-2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        public = encode_cbor({1: 2, 3: -7, -1: 1, **point})
        about = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + public
        told = {"fmt": "none", "attStmt": {}, "authData": self._data(_ATTESTED) + about}
        answer = self._answer("create", asked, visitor, attestationObject=encode_cbor(told))
        assert visitor.post("/account/passkeys", {"credential": answer, "name": name}).status_code == 303

    def enter(self, visitor: Visitor) -> None:
        """Come in by the passkey, in whatever browser this is."""
        self.count += 1
        asked = visitor.http.post("/enter/passkey/options").json()
        data = self._data(0)
        signed = data + hashlib.sha256(self._client_data("get", asked, visitor)).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        answer = self._answer("get", asked, visitor, authenticatorData=data, signature=signature)
        opened = visitor.http.post("/enter/passkey", data={"credential": answer})
        assert opened.status_code == 303, opened.text

    def _data(self, flags: int) -> bytes:
        site = hashlib.sha256(b"localhost").digest()
        return site + bytes([_PRESENT_AND_VERIFIED | flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, asked: dict[str, Any], visitor: Visitor) -> bytes:
        told = {"type": f"webauthn.{kind}", "challenge": asked["challenge"], "origin": visitor.live.address}
        return json.dumps(told).encode()

    def _answer(self, kind: str, asked: dict[str, Any], visitor: Visitor, **parts: bytes) -> str:
        name = bytes_to_base64url(self.credential)
        said = {"clientDataJSON": self._client_data(kind, asked, visitor), **parts}
        response = {what: bytes_to_base64url(content) for what, content in said.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
