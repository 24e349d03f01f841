"""Browsers with push subscriptions, and a push service of the test process that takes messages for them."""

import json
import secrets
from typing import Any, NamedTuple

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDH, ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from flask import Flask, Response, request

from events.notify.push.encryption import encoded_point, from_base64url, read_point, to_base64url


class PushRequest(NamedTuple):
    """A message on its way to the browser that has the endpoint ``path``."""

    path: str
    headers: dict[str, str]
    body: bytes


class PushService:
    """A push service: ``app`` takes messages for every path, and answers all of them with ``status``."""

    def __init__(self) -> None:
        self.received: list[PushRequest] = []
        self.status = 201
        self.headers: dict[str, str] = {}
        self.app = Flask("push service")
        self.app.add_url_rule("/<path:path>", "take", self._take, methods=["POST"])

    def _take(self, path: str) -> Response:
        self.received.append(PushRequest(path, dict(request.headers), request.get_data()))
        return Response(status=self.status, headers=self.headers)


class Browser:
    """The browser's side of a subscription at ``endpoint``: its keys, and the decryption that RFC 8291 describes."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._key = generate_private_key(SECP256R1())
        self.point = encoded_point(self._key.public_key())
        self.secret = secrets.token_bytes(16)

    @property
    def subscription(self) -> dict[str, object]:
        return {
            "endpoint": self.endpoint,
            "keys": {"p256dh": to_base64url(self.point), "auth": to_base64url(self.secret)},
        }

    def decrypt(self, message: bytes) -> bytes:
        salt, size, sender, sealed = message[:16], message[16:20], message[21:86], message[86:]
        assert (size, message[20]) == (b"\x00\x00\x10\x00", 65)
        shared = self._key.exchange(ECDH(), read_point(sender))
        keying = _hkdf(shared, self.secret, b"WebPush: info\x00" + self.point + sender, 32)
        key = _hkdf(keying, salt, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = _hkdf(keying, salt, b"Content-Encoding: nonce\x00", 12)
        padded = AESGCM(key).decrypt(nonce, sealed, None)
        text, delimiter, padding = padded.rpartition(b"\x02")
        assert delimiter
        assert not padding.strip(b"\x00")
        return text


def _hkdf(keying: bytes, salt: bytes, context: bytes, size: int) -> bytes:
    return HKDF(hashes.SHA256(), size, salt, context).derive(keying)


def verified_claims(header: str) -> tuple[dict[str, Any], bytes]:
    """Return the claims of an Authorization header (RFC 8292) whose signature is valid, and the key that has signed."""
    scheme, token, public = header.replace(",", "").split(" ")
    assert scheme == "vapid"
    point = from_base64url(public.removeprefix("k="))
    signed, _, signature = token.removeprefix("t=").rpartition(".")
    raw = from_base64url(signature)
    assert len(raw) == 64
    pair = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    read_point(point).verify(encode_dss_signature(*pair), signed.encode(), ECDSA(SHA256()))
    head, claims = (json.loads(from_base64url(part)) for part in signed.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    return claims, point
