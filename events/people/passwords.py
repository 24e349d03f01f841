"""Passwords: hashed with argon2id, a few at a time, so that a burst of sign-ins never exhausts the machine."""

import base64
import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

MIN_PASSWORD_LENGTH = 8
MAX_PASSWORD_LENGTH = 128

MAX_HASHES_AT_ONCE = 2
MAX_WAITING_FOR_A_HASH = 2
"""Threads of one process; all others are refused at once and go on serving."""


class UnfitPassword(ValueError):
    """A password that is too short, too long or too easily guessed; the message says so."""


class TooManySignIns(Exception):
    """More people are signing in at this moment than may wait for their turn; the same works a little later."""


def check_password(password: str, name: str = "") -> None:
    """Raise UnfitPassword unless ``password`` has a fit length and is not among the first that anybody would guess.

    These are the ones that are most often used, in whatever case, and the ``name`` of the person.
    """
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise UnfitPassword(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters")
    if password.lower() in common_passwords():
        raise UnfitPassword("this password is used by many people: choose another")
    if name and password.lower() == name.lower():
        raise UnfitPassword("a password is not the name: choose another")


@cache
def common_passwords() -> frozenset[str]:
    """Return the 30,000 passwords that are most often used, in lower case; the list is that of zxcvbn."""
    # Some 15 MB, which only processes in which a password is chosen need.
    lists = import_module("zxcvbn.frequency_lists").FREQUENCY_LISTS
    return frozenset(lists["passwords"])


class Passwords:
    """Hashes and checks passwords. Safe to share between threads; the limits hold for each instance.

    The default cost is the OWASP recommendation for argon2id (19 MiB, two passes, one lane): some 30 ms of processor
    time, whatever the address or the name of who asks.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
        self._running = BoundedSemaphore(MAX_HASHES_AT_ONCE)
        self._admitted = BoundedSemaphore(MAX_HASHES_AT_ONCE + MAX_WAITING_FOR_A_HASH)
        self._unmatchable = _unmatchable(self._hasher)

    def hash(self, password: str) -> str:
        """Return the encoded hash of ``password`` with a fresh salt. Raises TooManySignIns."""
        with self._turn():
            return self._hasher.hash(password)

    def matches(self, hashed: str | None, password: str) -> bool:
        """Tell whether ``password`` is the one that was hashed; None, for an unknown name, takes just as long.

        Raises TooManySignIns.
        """
        try:
            with self._turn():
                return self._hasher.verify(hashed or self._unmatchable, password) and hashed is not None
        except VerifyMismatchError:
            return False

    def is_outdated(self, hashed: str) -> bool:
        """Tell whether ``hashed`` was made at another cost than the present one."""
        return self._hasher.check_needs_rehash(hashed)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._admitted.acquire(blocking=False):
            raise TooManySignIns("too many people are signing in at this moment")
        try:
            with self._running:
                yield
        finally:
            self._admitted.release()


def device_mark(person: str, hashed: str) -> str:
    """Return what a device is given on which ``person`` signed in: it is worth nothing once the password changes."""
    return hmac.new(hashed.encode(), f"rookery device {person}".encode(), hashlib.sha256).hexdigest()


def _unmatchable(hasher: PasswordHasher) -> str:
    """Return an encoded hash that takes as long to verify as any other and that no password fits."""
    salt, digest = (base64.b64encode(bytes(size)).decode().rstrip("=") for size in (16, hasher.hash_len))
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"
