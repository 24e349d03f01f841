"""Ed25519 keys and signatures on which libraries differ, made by plain arithmetic on the curve (RFC 8032, 5.1).

A point is a pair of coordinates. Nothing here is fast, or safe against who measures times.
"""

import hashlib

from tests.support.plain_bundles import Key, Signer

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
BASE = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)

Point = tuple[int, int]


def added(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % P
    return (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


def times(factor: int, point: Point) -> Point:
    """Return ``factor`` times ``point``."""
    result = (0, 1)
    while factor:
        if factor & 1:
            result = added(result, point)
        point, factor = added(point, point), factor >> 1
    return result


def encoded(point: Point) -> bytes:
    """Return the 32 bytes of ``point``."""
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def point_of_order_8() -> Point:
    """Return a point of which eight times are the neutral element, and four times are not."""
    y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    return (x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P), y


TORSION = point_of_order_8()

WEAK: dict[str, bytes] = {
    "of the neutral element": encoded((0, 1)), "of order 2": encoded((0, P - 1)), "of order 4": bytes(32),
    "of order 8": encoded(TORSION), "of order 8, negative": encoded(times(7, TORSION)),
    "of the neutral element with a sign": bytes([1, *bytes(30), 0x80]),
    "of the neutral element, not reduced": (P + 1).to_bytes(32, "little"),
    "that is not reduced": (P + 3).to_bytes(32, "little"),
}  # fmt: skip
"""What no public key may be."""


class OddSigner(Signer):
    """The key of the server, whose signatures, or whose public part if ``mixed``, are odd.

    ``mixed`` adds a point of order 8 to the public part: of its signatures some are valid by either equation, and some
    only by the one with the ``cofactor``. R is ``nonce`` times the base point, or ``commitment``. S is not ``reduced``
    when it is greater by the order of the base point.
    """

    def __init__(
        self,
        *,
        mixed: bool = False,
        cofactor: bool | None = None,
        nonce: int = 7,
        commitment: Point | None = None,
        reduced: bool = True,
    ) -> None:
        super().__init__(0)
        self._nonce, self._commitment, self._cofactor, self._reduced = nonce, commitment, cofactor, reduced
        if mixed:
            Key.__init__(self, encoded(added(times(_SCALAR, BASE), TORSION)))

    def sign(self, message: bytes) -> bytes:
        """Return R and S over ``message``."""
        for nonce in range(self._nonce, self._nonce + 1000):
            first = encoded(self._commitment or times(nonce, BASE))
            hashed = int.from_bytes(hashlib.sha512(first + self.raw + message).digest(), "little") % ORDER
            # A multiple of 8 makes the point of order 8 vanish, and both equations the same.
            if self._cofactor is None or (hashed % 8 != 0) == self._cofactor:
                second = (nonce + hashed * _SCALAR) % ORDER
                return first + (second if self._reduced else second + ORDER).to_bytes(32, "little")
        raise AssertionError("one in eight hashes is a multiple of 8")


def _scalar_of(seed: bytes) -> int:
    """Return the number by which the private key of ``seed`` multiplies."""
    digits = bytearray(hashlib.sha512(seed).digest()[:32])
    digits[0] &= 248
    digits[31] = digits[31] & 127 | 64
    return int.from_bytes(digits, "little")


_SCALAR = _scalar_of(bytes(range(32)))
