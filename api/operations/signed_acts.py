"""Moves and acts that players sign with keys of their own: the schema, and the check before the act counts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from marshmallow import fields, validate

from api.access.auth import require_person
from api.access.matches import own_match
from api.http.conditions import expected_version
from api.http.problems import Problem
from api.http.schemas import StrictInteger, StrictSchema, StrictString, pattern
from api.services import services
from domain.match.enums import LineAction
from domain.match.guards import seat_of
from domain.match.lines import Line
from domain.match.player_signatures import PlayerPublicKey, PlayerSignature
from domain.match.positions import to_move
from domain.match.state import MatchState
from events.matches.matches import Loaded
from events.proof.documents import DocumentError
from events.proof.player_signatures import MOVE, SignedStatement, check_signed
from events.store.contract import VersionTag, tag_of

MAX_VERSION = 2**53 - 1

_ACTIONS = {LineAction.RESIGN: "player-resigned", LineAction.ACCEPT_DRAW: "draw-accepted"}


def signature_field(description: str, **options: Any) -> StrictString:
    """Return the field of a signature: ECDSA of P-256."""
    return StrictString(
        validate=pattern("[0-9a-f]{128}", "must be 64 bytes in lower-case hexadecimal"),
        **options,
        about=f"{description}: ECDSA of P-256 with SHA-256 as r and s, 32 bytes each",
    )


class SigningKey(StrictSchema):
    """A key of the caller, and the version of the match that is signed."""

    key = StrictString(
        required=True,
        validate=pattern("[A-Za-z0-9_-]{43}", "must be the id of a key"),
        about="The id of a key of the caller",
    )
    version = StrictInteger(
        required=True,
        validate=validate.Range(1, MAX_VERSION, error="must be a version of the match"),
        about="The version of the match that is signed: the last one there is",
    )


class ActSignature(SigningKey):
    """A signature of the caller's key under a move or an act: docs/proof/player-keys.md."""

    signature = signature_field("Under the act", required=True)


class ActRequest(StrictSchema):
    """The body of an act that can be signed."""

    signed = fields.Nested(ActSignature, metadata={"description": "A signature of the caller's own key, if wanted"})


class Signed(NamedTuple):
    """A signature that has been checked, and the version of the match that it is over; None without one."""

    signature: PlayerSignature | None = None
    version: VersionTag | None = None


class SignedLines(NamedTuple):
    """The key by which the caller signs conditional moves, over the match as it was ``loaded``."""

    key: PlayerPublicKey
    loaded: Loaded
    seat: int

    def check(self, first: Sequence[Line]) -> None:
        """Raise the problem invalid-signature unless every signature in ``first`` is that of the key."""
        head = self.loaded.head
        for place, act, moves, signature in _answers(first, (), "lines"):
            signed = PlayerSignature(key=self.key, signature=signature, version=head.version)
            statement = SignedStatement(
                act, head.digest.hex(), self.loaded.state.match_id, moves, self.seat, head.version
            )
            _check(signed, statement, f"{place}.")


def checked_signature(sent: Mapping[str, Any] | None, match_id: str, act: str, moves: Sequence[str] = ()) -> Signed:
    """Return the signature that was ``sent`` under ``act``, the type of an event; nothing when none was.

    Raises the problems no-such-match, no-such-player-key, invalid-signature and invalid-fields. A signature over an
    earlier version is not checked: the act is refused as stale, or was executed before.
    """
    if sent is None:
        return Signed()
    loaded, key, tag = _begin(sent, match_id)
    signed = PlayerSignature(key=key, signature=sent["signature"], version=sent["version"])
    if tag == loaded.head.tag:
        seat = _seat(loaded.state, require_person().id, act)
        digest = loaded.head.digest.hex()
        _check(signed, SignedStatement(act, digest, match_id, tuple(moves), seat, signed.version), "signed.")
    return Signed(signed, tag)


def begin_signed_lines(sent: Mapping[str, Any], match_id: str) -> tuple[SignedLines, VersionTag]:
    """Return how the caller signs conditional moves, and the version that they are for; raises as above."""
    loaded, key, tag = _begin(sent, match_id)
    return SignedLines(key, loaded, seat_of(loaded.state, require_person().id)), tag


def _begin(sent: Mapping[str, Any], match_id: str) -> tuple[Loaded, PlayerPublicKey, VersionTag]:
    """Return the match, the caller's key, and the tag of the version that was signed."""
    loaded, version = own_match(match_id), sent["version"]
    key = services().player_keys.find(require_person().id, sent["key"])
    if key is None:
        raise Problem("no-such-player-key", "You have no key with this id: add it in your settings.")
    tag = loaded.head.tag
    if version != tag.version:
        events = services().store.read(match_id, version - 1, 1)
        if not events:
            raise _wrong_version(f"must be a version of the match, which has {tag.version}")
        tag = tag_of(events[0])
    if expected_version() not in (None, tag):
        raise _wrong_version("is another version than that of If-Match")
    return loaded, key.key, tag


def _seat(state: MatchState, player: str, act: str) -> int:
    """Return the seat for which ``player`` acts: of several, the one that is to move."""
    seat = to_move(state) if act == MOVE else None
    return seat if seat is not None and state.seats[seat].player == player else seat_of(state, player)


def _answers(
    lines: Sequence[Line], before: tuple[str, ...], place: str
) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Yield the place, act, moves and signature of each signed answer in ``lines``, which follow the moves ``before``.

    An action follows the move of its line, which it is not part of.
    """
    for number, line in enumerate(lines):
        moves, here = (*before, line.move), f"{place}.{number}"
        if line.signature is not None:
            yield here, MOVE if line.then is None else _ACTIONS[line.then], moves, line.signature
        yield from _answers(line.next, moves, f"{here}.next")


def _check(signed: PlayerSignature, statement: SignedStatement, place: str) -> None:
    try:
        check_signed(signed, statement.message)
    except DocumentError as fault:
        errors = {f"{place}{fault.place}": [fault.reason]}
        raise Problem("invalid-signature", f"The signature cannot count: {fault.reason}.", errors) from None


def _wrong_version(reason: str) -> Problem:
    return Problem("invalid-fields", f"signed.version {reason}.", {"signed.version": [reason]})
