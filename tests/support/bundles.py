"""Bundles of matches that a test plays, signed by a key that it knows, with a checkpoint of a small log."""

from collections.abc import Sequence
from dataclasses import replace

from domain.match import commands
from domain.match.enums import Channel, Ground, OccasionKind, PauseReason, RulingKind
from domain.match.events import (
    ClockPaused,
    ClockResumed,
    Event,
    FlagFell,
    MatchAborted,
    MatchCreated,
    PlayerJoined,
    TimeCorrected,
)
from domain.match.opponents import move_of, takes_draw
from domain.match.state import CLOCK, CONSOLE, Occasion, Seat, opponent_id
from domain.match.terms import DAY, STANDARD
from domain.search import ENGINE_VERSION, LEVELS, seed_for
from events.proof import merkle
from events.proof.bundle import make_bundle
from events.proof.checkpoints import FORMAT, KIND, AdministrationHead, Checkpoint, Inclusion, statement
from events.proof.keys import SigningKey
from events.proof.leaves import MatchLeaf
from events.proof.public_keys import KeySet
from events.store.codec import draft_of
from events.store.contract import GENESIS
from events.store.converter import Digest
from events.store.envelope import Envelope, seal
from tests.support.cases import REASON, RULE
from tests.support.matches import T0, PlayedMatch, creation, started

KEY = SigningKey(bytes(range(32)), T0)
OTHER_KEY = SigningKey(bytes(range(1, 33)), T0)
SIGNED_AT = T0 + 3_600_000


def keys(*signing: SigningKey) -> KeySet:
    """Return the public keys of ``signing``, of KEY if there are none."""
    return {key.id: key.public for key in signing or (KEY,)}


def envelopes(events: Sequence[Event], match_id: str = "m") -> list[Envelope]:
    """Return ``events`` as a store gives them."""
    drafts = [draft_of(event, actor) for event, actor in zip(events, actors(events), strict=True)]
    return [sealed.envelope for sealed in seal(drafts, match_id, 0, GENESIS)]


def actors(events: Sequence[Event]) -> list[str]:
    """Return who acted in each of ``events``; what only follows from another event was done by who acted in that."""
    seated: dict[int, str | None] = {}
    found: list[str] = []
    last: Event | None = None
    for event in events:
        if isinstance(event, MatchCreated):
            seated = {number: seat.player for number, seat in enumerate(event.seats)}
        if isinstance(event, PlayerJoined):
            seated[event.seat] = event.player
        actor = None
        for field in ("creator", "player", "arbiter"):
            actor = actor or getattr(event, field, None)
        seat = event.claimed_by if isinstance(event, FlagFell) else getattr(event, "seat", None)
        by_clock = isinstance(event, ClockPaused) and (event.automatic or event.reason == PauseReason.OUTAGE)
        if isinstance(event, TimeCorrected) or (isinstance(event, ClockResumed) and event.reason == PauseReason.OUTAGE):
            actor = CONSOLE
        elif by_clock or (isinstance(event, FlagFell) and seat is None):
            actor = CLOCK
        elif isinstance(event, MatchAborted) and actor == CLOCK and isinstance(last, FlagFell):
            actor = found[-1]
        elif actor is None and seat is not None:
            actor = seated.get(seat) or f"nobody on seat {seat}"
        found.append(actor or (found[-1] if found else "nobody"))
        last = event
    return found


def resigned() -> PlayedMatch:
    """Return a Bashni match that Black has resigned after two plies."""
    match = after_two_plies()
    match.do(commands.Resign(player="bob"))
    return match


def after_two_plies() -> PlayedMatch:
    """Return a Bashni match of alice (White) and bob (Black) that goes on after two plies."""
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    return match


def flagged() -> PlayedMatch:
    match = after_two_plies()
    match.do(commands.CallTime(), match.now + 30 * DAY)
    return match


def forgiven() -> PlayedMatch:
    """Return a match that went on after a flag and was resigned then."""
    match = flagged()
    match.do(commands.ForgiveFlag(player="bob"))
    match.move("alice", "d4-c5")
    match.do(commands.Resign(player="bob"))
    return match


def taken_back() -> PlayedMatch:
    """Return a match in which Black has taken the first move back and played another one."""
    match = started(STANDARD._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(commands.RequestTakeback(player="bob"))
    match.do(commands.AcceptTakeback(player="alice"))
    match.move("bob", "b6-c5")
    return match


def ruled(match: PlayedMatch, *rulings: commands.Rule) -> PlayedMatch:
    """Return ``match`` after Black has raised a dispute for each ruling, and it was ruled so."""
    for ruling in rulings:
        match.do(commands.RaiseDispute(player="bob", ply=2, ground=Ground.REPETITION, statement="0" * 64))
        match.do(ruling)
    return match


def disputed() -> PlayedMatch:
    return ruled(
        after_two_plies(),
        commands.Rule(arbiter="ann", ruling=RulingKind.DECIDE, reason=REASON, rule=RULE, scores=(0.0, 1.0)),
    )


def annulled() -> PlayedMatch:
    """Return a match that an arbiter has annulled after Black resigned it."""
    return ruled(resigned(), commands.Rule(arbiter="ann", ruling=RulingKind.ANNUL, reason=REASON, rule=RULE))


def restored() -> PlayedMatch:
    """Return a match that was annulled and restored: Black has lost it after all."""
    return ruled(annulled(), commands.Rule(arbiter="ann", ruling=RulingKind.RESTORE, reason=REASON, rule=RULE))


def taken_back_by_ruling() -> PlayedMatch:
    """Return a match that an arbiter has taken back to before the last ply."""
    return ruled(resigned(), commands.Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=1))


def under_another_ruleset() -> PlayedMatch:
    """Return a match that goes on under another ruleset than it was begun under."""
    match = after_two_plies()
    match.do(commands.ProposeRuleset(arbiter="ann", ruleset=2, reason=REASON))
    match.do(commands.AcceptRuleset(player="alice"))
    match.do(commands.AcceptRuleset(player="bob"))
    match.move("alice", "d4-c5")
    return match


def repeated() -> PlayedMatch:
    """Return a match of The Tower Game in which both knights have gone out and back twice: a draw by repetition."""
    match = PlayedMatch(creation(game="tower-game", setup="original"))
    match.do(commands.JoinMatch(player="bob"))
    for _ in range(2):
        for player, move in (("alice", "da1-ca3"), ("bob", "da8-ca6"), ("alice", "ca3-da1"), ("bob", "ca6-da8")):
            match.move(player, move)
    return match


def against_an_opponent(level: int = 1) -> PlayedMatch:
    """Return a Bashni match of alice against an opponent that has answered her first move."""
    match = PlayedMatch(creation(Seat.taken("alice"), Seat.opponent(level)))
    match.move("alice", "c3-d4")
    answered(match, level)
    return match


def answered(match: PlayedMatch, level: int = 1) -> None:
    """Let the opponent of ``level`` make its move."""
    seed, nodes = seed_for(match.state.seed, len(match.state.play.moves) + 1), LEVELS[level].nodes
    move = move_of(match.state, level, seed, nodes)
    match.do(
        commands.SubmitMove(
            player=opponent_id(level), move=move, level=level, seed=seed, engine=str(ENGINE_VERSION), nodes=nodes,
            channel=Channel.OPPONENT,
        )
    )  # fmt: skip


def draw_refused() -> PlayedMatch:
    """Return a match against an opponent that has turned a draw down."""
    match = against_an_opponent()
    match.do(commands.OfferDraw(player="alice"))
    assert not takes_draw(match.state, 1, None)
    match.do(commands.DeclineDraw(player=opponent_id(1), engine=str(ENGINE_VERSION)))
    return match


def taken_up_again() -> PlayedMatch:
    """Return a match that alice has resigned against an opponent, and that goes on since, with another seed."""
    match = against_an_opponent()
    match.do(commands.Resign(player="alice"))
    match.do(commands.RaiseDispute(player="alice", ply=2, ground=Ground.WRONG_RESULT, statement="0" * 64))
    match.do(commands.Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=1))
    answered(match)
    return match


def paired() -> PlayedMatch:
    occasion = Occasion(kind=OccasionKind.TOURNAMENT, id="t1", pairing="r2-b3")
    match = PlayedMatch(replace(creation(), occasion=occasion))
    match.do(commands.JoinMatch(player="bob"))
    return match


STORIES = {
    made.__name__.replace("_", "-"): made
    for made in (
        resigned, repeated, against_an_opponent, draw_refused, taken_up_again, flagged, forgiven, taken_back, disputed,
        annulled, restored, taken_back_by_ruling, under_another_ruleset, paired,
    )
}  # fmt: skip
"""Matches of every kind, by name."""


def bundle_of(
    match: PlayedMatch,
    key: SigningKey = KEY,
    logged: int | None = None,
    leaves: int = 5,
    checkpoint_key: SigningKey | None = None,
    *,
    positions: bool = False,
) -> bytes:
    """Return the bundle of ``match``; with ``logged``, that version is in a log of ``leaves`` leaves."""
    stored = envelopes(match.events, match.name)
    inclusion = None if logged is None else included(stored[logged - 1], leaves, checkpoint_key or key)
    return make_bundle(match.name, stored, key, max(SIGNED_AT, match.now), inclusion, positions=positions)


def included(event: Envelope, leaves: int, key: SigningKey = KEY) -> Inclusion:
    """Return the proof that the last but one of so many leaves is ``event``."""
    place = max(0, leaves - 2)
    logged = [MatchLeaf(f"other-{number}", 1, "0" * 64).entry for number in range(leaves)]
    logged[place] = MatchLeaf(event.stream, event.version, event.id).entry
    nodes = merkle.appended_nodes(0, map(merkle.leaf_hash, logged), unread)
    root = Digest(merkle.root(leaves, lambda level, index: nodes[level, index]).hex())
    last = AdministrationHead(1, Digest("0" * 64))
    signed = statement("0123456789abcdef", "2023-11-15", leaves, root, SIGNED_AT, last)
    checkpoint = Checkpoint(
        FORMAT, "0123456789abcdef", "2023-11-15", leaves, root, SIGNED_AT, key.id, key.sign(KIND, signed), last
    )
    path = merkle.inclusion_path(place, leaves, lambda level, index: nodes[level, index])
    return Inclusion(checkpoint, place, event.version, tuple(Digest(node.hex()) for node in path))


def unread(level: int, index: int) -> bytes:
    """Fail: a tree that begins empty reads no node."""
    raise AssertionError(f"node {index} of level {level} was read")
