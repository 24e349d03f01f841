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
"""Threads of one process; further ones are refused at once, so that they can go on serving."""


class InvalidPasswordError(ValueError):
    """A password that is too short, too long or too easy to guess; the message gives the reason."""


class TooManySignInsError(Exception):
    """Too many people are signing in at this moment; trying again later works."""


def check_password(password: str, name: str = "") -> None:
    """Raise InvalidPasswordError when ``password`` is too short, too long, in common use, or the ``name``."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise InvalidPasswordError(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters")
    if password.lower() in common_passwords():
        raise InvalidPasswordError("this password is too common: choose another")
    if name and password.lower() == name.lower():
        raise InvalidPasswordError("the password must differ from the name: choose another")


@cache
def common_passwords() -> frozenset[str]:
    """Return the 30,000 most common passwords in lower case, from the list of zxcvbn."""
    # Some 15 MB, loaded only by processes in which passwords are chosen.
    lists = import_module("zxcvbn.frequency_lists").FREQUENCY_LISTS
    return frozenset(lists["passwords"])


class Passwords:
    """Hashes and checks passwords. Safe to share between threads; the limits hold for each instance.

    The default cost is the OWASP recommendation for argon2id (19 MiB, two passes, one lane): some 30 ms of processor
    time per password.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
        self._running = BoundedSemaphore(MAX_HASHES_AT_ONCE)
        self._admitted = BoundedSemaphore(MAX_HASHES_AT_ONCE + MAX_WAITING_FOR_A_HASH)
        self._unmatchable = _unmatchable(self._hasher)

    def hash(self, password: str) -> str:
        """Return the encoded hash of ``password`` with a fresh salt. Raises TooManySignInsError."""
        with self._turn():
            return self._hasher.hash(password)

    def matches(self, hashed: str | None, password: str) -> bool:
        """Tell whether ``password`` is the one that was hashed; None, for an unknown name, takes as long.

        Raises TooManySignInsError.
        """
        try:
            with self._turn():
                return self._hasher.verify(hashed or self._unmatchable, password) and hashed is not None
        except VerifyMismatchError:
            return False

    def is_outdated(self, hashed: str) -> bool:
        """Tell whether ``hashed`` has a cost other than the present one."""
        return self._hasher.check_needs_rehash(hashed)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._admitted.acquire(blocking=False):
            raise TooManySignInsError("too many people are signing in at this moment")
        try:
            with self._running:
                yield
        finally:
            self._admitted.release()


def device_mark(person: str, hashed: str) -> str:
    """Return the mark of a device on which ``person`` signed in; it becomes invalid when the password changes."""
    return hmac.new(hashed.encode(), f"rookery device {person}".encode(), hashlib.sha256).hexdigest()


def _unmatchable(hasher: PasswordHasher) -> str:
    """Return an encoded hash that no password matches and that takes as long to verify as any other."""
    salt, digest = (base64.b64encode(bytes(size)).decode().rstrip("=") for size in (16, hasher.hash_len))
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"
