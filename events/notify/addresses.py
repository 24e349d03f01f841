"""Mail addresses: stored in clear, logged nowhere; unconfirmed ones get the request to confirm, nothing else."""

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from events.notify.mail_links import USED, LinkError
from events.notify.notice import PauseCause, WhoMayWrite, from_json, to_json
from events.notify.player_store import PlayerStore
from events.runtime.connections import StorePipeline
from events.runtime.transactions import transact

MAX_ADDRESS_OCTETS = 254
"""RFC 5321, 4.5.3.1.3, without the angle brackets."""

MAX_LOCAL_OCTETS = 64
_FORM = "anna@example.org"
_LOCAL = re.compile(r"[^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class InvalidAddressError(ValueError):
    """A text that is no mail address to which anything can be sent; the message gives the reason."""


def parse_address(text: str, own_domain: str = "") -> str:
    """Return a mail address, its domain in lower-case ASCII (RFC 5890), the local part as written (NFC).

    Raises InvalidAddressError, also for addresses at ``own_domain``, quoted local parts and machines by number.
    """
    local, at, domain = unicodedata.normalize("NFC", text.strip()).rpartition("@")
    if not at or not local or not domain:
        raise InvalidAddressError(f"a mail address is like {_FORM}")
    if not _LOCAL.fullmatch(local) or local.startswith(".") or local.endswith(".") or ".." in local:
        raise InvalidAddressError(
            f"before @, a character or the place of a dot is not supported: write it like {_FORM}"
        )
    if any(unicodedata.category(character).startswith("C") for character in local):
        raise InvalidAddressError("the part before @ has invisible characters")
    ascii_domain = _ascii_domain(domain)
    address = f"{local}@{ascii_domain}"
    if len(local.encode()) > MAX_LOCAL_OCTETS or len(address.encode()) > MAX_ADDRESS_OCTETS:
        raise InvalidAddressError("the address is too long")
    if ascii_domain == own_domain:
        raise InvalidAddressError(f"addresses at {own_domain} are those of this server: it cannot write to itself")
    return address


def address_digest(address: str) -> str:
    """Return the SHA-256 of ``address`` in hexadecimal digits, the same in capitals and in lower case."""
    return hashlib.sha256(address.strip().casefold().encode(errors="replace")).hexdigest()


def _ascii_domain(domain: str) -> str:
    try:
        text = domain.encode("idna").decode().lower()
    except UnicodeError:
        raise InvalidAddressError(f"the part after @ is no domain name: write the address like {_FORM}") from None
    labels = text.split(".")
    if len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdigit():
        raise InvalidAddressError(f"the part after @ is no domain name: write the address like {_FORM}")
    return text


SECRET_BYTES = 20
MAX_COUNTED = 20
"""Bounces whose ids are remembered, so that none counts twice."""

MAX_BOUNCE_SCORE = 3.0
"""At this score, after two hard or four soft bounces in a few days, nothing more is sent until the person says so."""

HARD_SCORE = 2.0
SOFT_SCORE = 1.0
SCORE_HALF_LIFE_MS = 14 * 86_400_000
MAX_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class MailPause:
    """Why notices by mail are paused, in a sentence for the person, and since when."""

    cause: PauseCause
    reason: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounces:
    """How often mail came back: a score that fades, its value at an instant, and the last ones that are counted."""

    score: float = 0.0
    at: int = 0
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAddress:
    """The mail address of a person, and the one that waits to be confirmed since ``wanted_at``.

    ``problem`` says why the mail that asks to confirm has not arrived. ``secret`` (hexadecimal) makes the tokens in
    mail to the person; None until the first one.
    """

    address: str | None = None
    confirmed_at: int | None = None
    wanted: str | None = None
    wanted_at: int | None = None
    problem: str | None = None
    who_may_write: WhoMayWrite = WhoMayWrite.TOKEN_AND_FROM
    pause: MailPause | None = None
    bounces: Bounces = Bounces()
    secret: str | None = None

    def require_secret(self) -> bytes:
        """Return the secret; raises LinkError, in the words for a link of another secret, when there is none."""
        if self.secret is None:
            raise LinkError(USED)
        return bytes.fromhex(self.secret)

    @property
    def reachable(self) -> bool:
        """Whether notices are sent to it."""
        return self.address is not None and self.pause is None

    @property
    def why_not(self) -> str:
        """Why no notices are sent to it, as the end of a sentence: "you have ..."; empty when they are."""
        if self.address is None:
            return "you have confirmed no mail address"
        return "" if self.pause is None else "mail to you is paused"


NO_ADDRESS = MailAddress()


class AddressStore(PlayerStore):
    """The mail addresses of an installation."""

    def read(self, player: str) -> MailAddress:
        """Return the stored mail address of ``player``."""
        return _unpack(self._client.get(self._key(player)))

    def change(self, player: str, change: Callable[[MailAddress], MailAddress]) -> MailAddress:
        """Replace the stored address by the result of ``change``, again after a concurrent write; return it."""
        key = self._key(player)

        def attempt(pipeline: StorePipeline) -> tuple[MailAddress, MailAddress]:
            before = _unpack(pipeline.get(key))
            after = change(before)
            if after != before:
                pipeline.multi()
                pipeline.set(key, to_json(after))
            return before, after

        before, after = transact(self._client, [key], attempt)
        if before.address and before.address != after.address:
            self._client.srem(self._holders(before.address), player)
        return after

    def confirm(self, player: str, address: str, now: int) -> MailAddress | None:
        """Make the wanted ``address`` the confirmed one; return None when it is not wanted any more.

        Crash-safe: the player joins the holders first; holders without the address are left out where they are read.
        """
        if self.read(player).wanted != address:
            return None
        self._client.sadd(self._holders(address), player)
        after = self.change(player, lambda stored: confirmed(stored, address, now))
        return after if after.address == address and after.wanted is None else None

    def holders(self, address: str) -> list[str]:
        """Return the players who have confirmed ``address``, in the order of their ids."""
        digest = address_digest(address)
        named = sorted(player.decode() for player in self._client.smembers(self._holders(address)))
        stored = {player: self.read(player).address for player in named}
        return [player for player, own in stored.items() if own and address_digest(own) == digest]

    def secret(self, player: str) -> bytes:
        """Return the secret that tokens in mail to ``player`` are made with; the first call makes one."""
        stored = self.read(player).secret
        if stored is None:
            fresh = secrets.token_hex(SECRET_BYTES)
            stored = self.change(player, lambda before: replace(before, secret=before.secret or fresh)).secret
        return bytes.fromhex(stored or "")

    def make_old_mail_worthless(self, player: str) -> None:
        """Give ``player`` another secret: no token in mail that was sent before is valid any more."""
        fresh = secrets.token_hex(SECRET_BYTES)
        self.change(player, lambda before: replace(before, secret=fresh))

    def erase(self, player: str) -> None:
        """Erase everything about the mail address of ``player``."""
        stored = self.read(player)
        # One that is wanted too: a process may have been killed while it was confirmed.
        for address in filter(None, (stored.address, stored.wanted)):
            self._client.srem(self._holders(address), player)
        self._client.delete(self._key(player))

    def _key(self, player: str) -> str:
        return self._keys(player).address(player)

    def _holders(self, address: str) -> str:
        digest = address_digest(address)
        return self._keys(digest).holders(digest)


def wants(stored: MailAddress, address: str, now: int) -> MailAddress:
    """Return ``stored`` with ``address`` waiting to be confirmed; the confirmed address stays until then."""
    if stored.address == address:
        return replace(stored, wanted=None, wanted_at=None, problem=None)
    return replace(stored, wanted=address, wanted_at=now, problem=None)


def asked_again(stored: MailAddress, now: int) -> MailAddress:
    """Return ``stored`` with another mail sent that asks to confirm the wanted address; as it is without one."""
    return stored if stored.wanted is None else replace(stored, wanted_at=now, problem=None)


def with_problem(stored: MailAddress, address: str, problem: str | None) -> MailAddress:
    """Return ``stored`` with the ``problem`` of the mail that asks to confirm ``address``, None for none."""
    return replace(stored, problem=problem) if stored.wanted == address else stored


def confirmed(stored: MailAddress, address: str, now: int) -> MailAddress:
    """Return ``stored`` with the wanted ``address`` confirmed, without pause or bounces; as it is if not wanted."""
    if stored.wanted != address:
        return stored
    return replace(
        MailAddress(address=address, confirmed_at=now), who_may_write=stored.who_may_write, secret=stored.secret
    )


def without_address(stored: MailAddress) -> MailAddress:
    """Return ``stored`` without any address; the secret and the writers admitted stay."""
    return MailAddress(who_may_write=stored.who_may_write, secret=stored.secret)


def stopped(stored: MailAddress, now: int) -> MailAddress:
    """Return ``stored`` with notices by mail stopped by the person."""
    if stored.pause is not None and stored.pause.cause == PauseCause.STOPPED:
        return stored
    reason = "You stopped notices by mail, by the link or the command in a mail."
    return replace(stored, pause=MailPause(cause=PauseCause.STOPPED, reason=reason, at=now))


def resumed(stored: MailAddress) -> MailAddress:
    """Return ``stored`` with notices by mail going out again, and past bounces forgotten."""
    return replace(stored, pause=None, bounces=replace(stored.bounces, score=0.0))


def with_bounce(stored: MailAddress, bounce: str, score: float, reason: str, now: int) -> MailAddress:
    """Return ``stored`` after a ``bounce`` (an id) that counts ``score``, once. MAX_BOUNCE_SCORE pauses notices."""
    if stored.address is None or bounce in stored.bounces.counted:
        return stored
    faded = stored.bounces.score * 0.5 ** (max(0, now - stored.bounces.at) / SCORE_HALF_LIFE_MS)
    counted = (*stored.bounces.counted, bounce)[-MAX_COUNTED:]
    after = replace(stored, bounces=Bounces(score=faded + score, at=now, counted=counted))
    if after.pause is not None or after.bounces.score < MAX_BOUNCE_SCORE:
        return after
    said = f" The last answer was: {plain(reason)}" if reason else ""
    sentence = f"Mail to {stored.address} came back several times, so no more is sent.{said}"
    return replace(after, pause=MailPause(cause=PauseCause.BOUNCES, reason=sentence, at=now))


def plain(text: str) -> str:
    """Return the reply of a server on one line, without control characters, cut to MAX_REASON_CHARACTERS."""
    shown = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return shown if len(shown) <= MAX_REASON_CHARACTERS else f"{shown[: MAX_REASON_CHARACTERS - 1]}…"


def _unpack(stored: bytes | None) -> MailAddress:
    return NO_ADDRESS if stored is None else from_json(MailAddress, stored)
