"""A throw-away certificate authority: made for one sandbox, trusted only inside it, forgotten with it.

The authority's key never leaves this process's memory, so nothing outside the sandbox can be deceived with it.
"""

from __future__ import annotations

import datetime as dt
import ssl
import tempfile
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=7)
_CLOCKS_DIFFER_BY = dt.timedelta(hours=1)


class Authority:
    """Issues a certificate for each host that is asked for."""

    def __init__(self, *, now: dt.datetime) -> None:
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "guildhall sandbox (throw-away)")])
        self._certificate = (
            self._unsigned(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()

    @property
    def certificate_pem(self) -> bytes:
        """What the sandbox is told to trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def context_for(self, host: str) -> ssl.SSLContext:
        """A server context that presents a certificate for `host`."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._issue(host)
            return self._contexts[host]

    def _issue(self, host: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._unsigned(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])]), key.public_key())
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory(prefix="guildhall-leaf-") as folder:  # ssl reads certificates from files only
            leaf = Path(folder, "leaf.pem")
            leaf.touch(mode=0o600)
            leaf.write_bytes(pem)
            context.load_cert_chain(leaf)
        return context

    def _unsigned(self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCKS_DIFFER_BY)
            .not_valid_after(self._now + _LIFETIME)
        )


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
