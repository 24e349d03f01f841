"""Browsers with push subscriptions, and a push service of the test process that takes messages for them."""

import secrets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDH, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from events.push.encryption import encoded_point, read_point, to_base64url


class Browser:
    """The browser's side of a subscription at ``endpoint``: its keys, and the decryption that RFC 8291 describes."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._key = generate_private_key(SECP256R1())
        self.point = encoded_point(self._key.public_key())
        self.secret = secrets.token_bytes(16)

    @property
    def subscription(self) -> dict[str, object]:
        """The subscription as the script of a page sends it."""
        return {
            "endpoint": self.endpoint,
            "keys": {"p256dh": to_base64url(self.point), "auth": to_base64url(self.secret)},
        }

    def decrypt(self, message: bytes) -> bytes:
        """Return the text of a message with a single record."""
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
