"""Bundles of matches that a test plays, signed by a key that it knows, with a checkpoint of a small log."""

from collections.abc import Sequence

from domain.games import GAMES
from domain.match.commands import JoinMatch, Resign, SubmitMove
from domain.match.events import Event
from domain.match.state import Seat, opponent_id
from domain.search import ENGINE, choose, seed_for
from events import merkle
from events.bundle import make_bundle
from events.checkpoints import FORMAT, KIND, Checkpoint, Inclusion, leaf_of, statement
from events.codec import draft_of
from events.envelope import Envelope, seal
from events.keys import KeySet, SigningKey
from events.shapes import Digest
from events.store import GENESIS
from tests.support.matches import NOON, PlayedMatch, creation, started

KEY = SigningKey(bytes(range(32)), NOON)
OTHER_KEY = SigningKey(bytes(range(1, 33)), NOON)
SIGNED_AT = NOON + 3_600_000


def keys(*signing: SigningKey) -> KeySet:
    """Return the public keys of ``signing``, of KEY if there are none."""
    return {key.id: key.public for key in signing or (KEY,)}


def envelopes(events: Sequence[Event], match: str = "m") -> list[Envelope]:
    """Return ``events`` as a store gives them, by the player of their seat or by nobody in particular."""
    drafts = [
        draft_of(event, getattr(event, "player", None) or f"seat-{getattr(event, 'seat', 0)}") for event in events
    ]
    return [sealed.envelope for sealed in seal(drafts, match, 0, GENESIS)]


def resigned() -> PlayedMatch:
    """Return a Bashni match that Black has resigned after two plies."""
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(Resign("bob"))
    return match


def repeated() -> PlayedMatch:
    """Return a match of The Tower Game in which both knights have gone out and back twice: a draw by repetition."""
    match = PlayedMatch(creation(game="tower-game", setup="original"))
    match.do(JoinMatch("bob"))
    for _ in range(2):
        for player, move in (("alice", "da1-ca3"), ("bob", "da8-ca6"), ("alice", "ca3-da1"), ("bob", "ca6-da8")):
            match.move(player, move)
    return match


def against_an_opponent(level: int = 1) -> PlayedMatch:
    """Return a Bashni match of alice against an opponent that has answered her first move."""
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(level)))
    match.move("alice", "c3-d4")
    state, game = match.state, GAMES["bashni"]
    seed = seed_for(state.seed, 2)
    move = game.format_move(state.position, choose(game, state.position, state.history, level, seed).move)
    match.do(SubmitMove(opponent_id(level), move, level, seed, str(ENGINE)))
    return match


def bundle_of(
    match: PlayedMatch,
    key: SigningKey = KEY,
    logged: int | None = None,
    leaves: int = 5,
    checkpoint_key: SigningKey | None = None,
) -> bytes:
    """Return the bundle of ``match``; with ``logged``, that version is in a log of so many ``leaves``."""
    stored = envelopes(match.events, match.name)
    inclusion = None if logged is None else included(stored[logged - 1], leaves, checkpoint_key or key)
    return make_bundle(match.name, stored, key, SIGNED_AT, inclusion)


def included(event: Envelope, leaves: int, key: SigningKey = KEY) -> Inclusion:
    """Return the proof that the last but one of so many leaves is ``event``."""
    place = max(0, leaves - 2)
    logged = [leaf_of(f"other-{number}", 1, "0" * 64) for number in range(leaves)]
    logged[place] = leaf_of(event.stream, event.version, event.id)
    nodes = merkle.grown(0, map(merkle.leaf_hash, logged), unread)
    root = Digest(merkle.root(leaves, lambda level, index: nodes[level, index]).hex())
    signed = statement("0123456789abcdef", "2023-11-15", leaves, root, SIGNED_AT)
    checkpoint = Checkpoint(
        FORMAT, "0123456789abcdef", "2023-11-15", leaves, root, SIGNED_AT, key.id, key.sign(KIND, signed)
    )
    path = merkle.inclusion_path(place, leaves, lambda level, index: nodes[level, index])
    return Inclusion(checkpoint, place, event.version, tuple(Digest(node.hex()) for node in path))


def unread(level: int, index: int) -> bytes:
    """Fail: a tree that begins empty reads no node."""
    raise AssertionError(f"node {index} of level {level} was read")
