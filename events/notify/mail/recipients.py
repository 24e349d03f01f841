"""The person for whom an address of Rookery stands: the one place where tokens of incoming mail are judged."""

from dataclasses import dataclass

from domain.match.state import is_person
from events.matches.matches import Matches, UnknownMatchError
from events.notify.addresses import AddressStore
from events.notify.mail import tokens


class NoSuchAddressError(Exception):
    """Nobody has ever been given this address."""


class WorthlessAddressError(Exception):
    """The address is forged, expired, of an erased player, or was made worthless by its player."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """The person that ``local_part`` stands for, and its token."""

    player: str
    token: tokens.Token
    local_part: str


class Recipients:
    """The addresses of an installation."""

    def __init__(self, matches: Matches, addresses: AddressStore) -> None:
        self._matches = matches
        self._addresses = addresses

    def find(self, local_part: str, now: int) -> Recipient:
        """Return whom ``local_part`` stands for; raises NoSuchAddressError and WorthlessAddressError."""
        prefix, text = local_part[:2].lower(), local_part[2:].lower()
        if prefix not in (tokens.REPLY_PREFIX, tokens.BOUNCE_PREFIX):
            raise NoSuchAddressError
        try:
            token = tokens.read_token(text)
        except tokens.TokenError:
            raise NoSuchAddressError from None
        if (token.kind is tokens.TokenKind.BOUNCE) is not (prefix == tokens.BOUNCE_PREFIX):
            raise NoSuchAddressError
        player = self._player_of(token, now)
        secret = self._addresses.read(player).secret
        if secret is None:
            raise WorthlessAddressError
        try:
            tokens.verify_token(text, bytes.fromhex(secret))
        except tokens.TokenError:
            raise WorthlessAddressError from None
        return Recipient(player, token, prefix + text)

    def _player_of(self, token: tokens.Token, now: int) -> str:
        if not isinstance(token, tokens.MatchToken):
            return token.player
        try:
            state = self._matches.load(token.match_id).state
        except UnknownMatchError:
            raise WorthlessAddressError from None
        player = state.seats[token.seat].player if token.seat < len(state.seats) else None
        if player is None or not is_person(player) or tokens.is_expired(state, now):
            raise WorthlessAddressError
        return player
