"""Passwords: hashed with argon2id, a few at a time, so that a burst of sign-ins never exhausts the machine."""

import base64
import ctypes
import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import Condition

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

MIN_PASSWORD_LENGTH = 8
MAX_PASSWORD_LENGTH = 128
MIN_DIFFERENT_CHARACTERS = 4
MAX_HASHES_AT_ONCE = 2
MAX_WAITING_FOR_A_HASH = 2
"""Threads of one process, as many of known people as of others; further ones are refused at once."""

M_MMAP_THRESHOLD = -3
"""The parameter of mallopt(3) for the size from which a block is mapped, and so returned to the system when freed."""

MMAP_THRESHOLD_BYTES = 1024 * 1024


class InvalidPasswordError(ValueError):
    """A password that is too short, too long or too easy to guess; the message gives the reason."""


class TooManySignInsError(Exception):
    """Too many people are signing in at this moment; trying again later works."""


def check_password(password: str, name: str = "") -> None:
    """Raise InvalidPasswordError when ``password`` is too short, too long, too uniform, too common, or the ``name``."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise InvalidPasswordError(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters")
    if len(set("".join(password.lower().split()))) < MIN_DIFFERENT_CHARACTERS:
        reason = f"a password has at least {MIN_DIFFERENT_CHARACTERS} different characters, spaces not counted"
        raise InvalidPasswordError(reason)
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


HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
"""The cost that OWASP recommends for argon2id: some 30 ms for each password."""


class Passwords:
    """Hashes and checks passwords by ``hasher``; limits hold for each instance."""

    def __init__(self, hasher: PasswordHasher) -> None:
        _return_freed_blocks()
        self._hasher = hasher
        self._changed = Condition()
        self._running = 0
        self._waiting = {True: 0, False: 0}
        self._unmatchable = _unmatchable(self._hasher)

    def hash(self, password: str, *, first: bool = False) -> str:
        """Return the encoded hash of ``password`` with a fresh salt. Raises TooManySignInsError."""
        with self._turn(first):
            return self._hasher.hash(password)

    def matches(self, hashed: str | None, password: str, *, first: bool = False) -> bool:
        """Tell whether ``password`` was hashed; None takes as long. Raises TooManySignInsError."""
        try:
            with self._turn(first):
                return self._hasher.verify(hashed or self._unmatchable, password) and hashed is not None
        except VerifyMismatchError:
            return False

    def is_outdated(self, hashed: str) -> bool:
        """Tell whether ``hashed`` has a cost other than the present one."""
        return self._hasher.check_needs_rehash(hashed)

    @contextmanager
    def _turn(self, first: bool) -> Iterator[None]:
        with self._changed:
            if self._waiting[first] >= MAX_WAITING_FOR_A_HASH:
                raise TooManySignInsError("too many people are signing in at this moment")
            self._waiting[first] += 1
            self._changed.wait_for(lambda: self._running < MAX_HASHES_AT_ONCE and (first or not self._waiting[True]))
            self._waiting[first] -= 1
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()


def device_mark(person: str, hashed: str) -> str:
    """Return the mark of a device on which ``person`` signed in; it becomes invalid when the password changes."""
    return hmac.new(hashed.encode(), f"rookery device {person}".encode(), hashlib.sha256).hexdigest()


@cache
def _return_freed_blocks() -> None:
    """Return large freed blocks to the system: glibc would keep one of 19 MiB for each thread."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)


def _unmatchable(hasher: PasswordHasher) -> str:
    """Return an encoded hash that no password matches and that takes as long to verify as any other."""
    salt, digest = (base64.b64encode(bytes(size)).decode().rstrip("=") for size in (16, hasher.hash_len))
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"
