"""Laws of cases: whatever players, strangers and arbiters do in whatever order, these hold after every step."""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from random import Random

import pytest
from hypothesis import given, strategies as st

from domain.games import find_ruleset
from domain.match import commands as c, events as e
from domain.match.audit import Examination
from domain.match.clock import left
from domain.match.due import deadline_of
from domain.match.enums import Control, FlagRule, Ground, RulingKind, Status
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR, STANDARD, Terms, days_per_move
from events.matches.readmodels import summarise
from events.matches.readmodels.lists import lists_of
from events.proof.bundle import make_bundle
from events.proof.verification import verify
from events.store.contract import EMPTY
from events.store.snapshots import restore_snapshot, snapshot_of
from tests.support.bundles import KEY, SIGNED_AT, envelopes, keys
from tests.support.draws import draws
from tests.support.matches import SHORT_GAME, PlayedMatch, started, started_by_four

WORDS = sha256(b"So it was.").hexdigest()
ARBITERS = ("ann", "ben", "cleo")
TERMS = (
    STANDARD._replace(takebacks=True),
    days_per_move(3)._replace(takebacks=True),
    Terms(
        control=Control.BANK, bank=2 * DAY, increment=HOUR, cap=3 * DAY, ceiling=DAY, first_move=7 * DAY,
        flag=FlagRule.CLAIM, vacations=True, weekends=True, takebacks=True, lines=True,
    ),
)  # fmt: skip


def made(chance: Random, match: PlayedMatch, players: tuple[str, ...]) -> c.Command:
    """Return some command that fits the match more often than not."""
    state = match.state
    player = chance.choice(players if chance.randint(0, 9) else (*players, "eve", *ARBITERS))
    arbiter = chance.choice(ARBITERS if chance.randint(0, 9) else (*players, *ARBITERS))
    ply = chance.randint(0, max(0, state.play.plies))
    kind = chance.randint(0, 24)
    if kind < 9:
        if state.play.broken is None and state.status == Status.PLAYING:
            game = find_ruleset(state.game, state.ruleset)
            moves = list(islice(game.legal_moves(state.play.position), 8))
            mover = state.seats[game.to_move(state.play.position)].player or ""
            return c.SubmitMove(player=mover, move=game.format_move(state.play.position, chance.choice(moves)))
        kind = chance.randint(9, 24)
    seats = len(state.seats)
    one = tuple(float(seat == ply % seats) for seat in range(seats))
    ruling = chance.choice(list(RulingKind))
    match kind:
        case 9 | 10:
            return c.RaiseDispute(player=player, ply=ply, ground=chance.choice(list(Ground)), statement=WORDS)
        case 11:
            return c.OpenCase(arbiter=arbiter, ply=ply, ground=Ground.CLOCK, statement=WORDS)
        case 12 | 13 | 14 | 15:
            return c.Rule(
                arbiter=arbiter, ruling=ruling, reason=WORDS, rule=WORDS, ply=ply if ruling == "take-back" else None,
                scores=one if ruling == "decide" else None,
                remaining=(DAY,) * seats if ruling == "adjust-clocks" else None,
            )  # fmt: skip
        case 16:
            return chance.choice(
                (
                    c.Appeal(player=player, statement=WORDS),
                    c.ReopenCase(person=arbiter, dispute=1, statement=WORDS, operator=chance.random() < 0.5),
                )
            )
        case 17:
            return c.Freeze(arbiter=arbiter, frozen=chance.random() < 0.5)
        case 18:
            return chance.choice((c.FileStatement(player=player, statement=WORDS), c.AbortMatch(player=player)))
        case 19:
            return c.Resign(player=player)
        case 20:
            return chance.choice((c.CallTime(), c.CallTime(player=player)))
        case 21:
            return chance.choice(
                (c.OfferDraw(player=player), c.AcceptDraw(player=player), c.ForgiveFlag(player=player))
            )
        case 22:
            return chance.choice((c.RequestTakeback(player=player), c.AcceptTakeback(player=player)))
        case 23:
            return c.ProposeRuleset(arbiter=arbiter, ruleset=chance.choice((1, 2, 99)), reason=WORDS)
        case _:
            return chance.choice(
                (c.AcceptRuleset(player=player), c.GiveTime(player=player, seat=ply % seats, time=DAY))
            )


def check(match: PlayedMatch, before: MatchState) -> None:
    """Assert what holds after every step."""
    state = match.state
    assert replay("m", match.events) == state
    assert state.version == len(match.events)
    summary = summarise(state)
    assert lists_of(summary)
    players = {seat.player for seat in state.seats}
    for dispute in state.cases.disputes:
        arbiters = [ruling.arbiter for ruling in dispute.rulings]
        assert len(arbiters) <= 2 + dispute.reopened
        assert arbiters[:1] not in [[arbiter] for arbiter in arbiters[1:]]
        assert players.isdisjoint(arbiters)
    assert sum(dispute.open for dispute in state.cases.disputes) <= 1
    assert summary.case == any(dispute.open for dispute in state.cases.disputes)
    if state.cases.frozen and state.clock is not None:
        for seat in range(len(state.seats)):
            assert left(state.clock, seat, match.now + 300 * DAY) == left(state.clock, seat, match.now)
    if state.status != Status.PLAYING:
        assert deadline_of(state) is None
    if state.status == Status.PLAYING and state.play.broken is None:
        game = find_ruleset(state.game, state.ruleset)
        assert game.outcome(state.play.position, state.play.history) is None
        assert any(True for _ in game.legal_moves(state.play.position))
        if state.play.taken_back > before.play.taken_back and before.status != Status.PLAYING:
            deadline = deadline_of(state)
            assert deadline is not None
            assert deadline > match.now
    if state.play.broken is None:
        found = restore_snapshot(snapshot_of(state, EMPTY._replace(version=state.version)))
        assert found is not None
        assert found[0] == state


def late(terms: Terms) -> PlayedMatch:
    match = started(terms)
    for ply, move in enumerate(SHORT_GAME.split()[:-2]):
        match.move(("alice", "bob")[ply % 2], move)
    return match


MATCHES: dict[str, Callable[[Terms], PlayedMatch]] = {
    "of two": started,
    "of two, almost over": late,
    "of four": started_by_four,
    "of four that leave one by one": lambda terms: started_by_four(terms, "fourplay", "standard"),
}


def with_a_fault(match: PlayedMatch) -> PlayedMatch:
    """Return the match with a move on record that the rules cannot follow."""
    return PlayedMatch.recorded(
        [*match.events, e.MoveSubmitted(at=match.now, seat=0, ply=match.state.play.plies + 1, move="z9-z8")]
    )


@pytest.mark.parametrize("name", MATCHES)
@given(seed=st.integers(0, 10**9))
@draws(15)
def test_whatever_is_done_in_whatever_order_the_laws_of_cases_hold(name: str, seed: int) -> None:
    chance = Random(seed)
    match = MATCHES[name](chance.choice(TERMS))
    players = tuple(seat.player or "" for seat in match.state.seats)
    faulty = False
    for _ in range(chance.randint(8, 40)):
        before = match.state
        match.now += chance.choice((1000, 1000, 1000, HOUR, HOUR, DAY, 8 * DAY))
        if match.state.status == Status.PLAYING and not chance.randrange(40):
            match, faulty = with_a_fault(match), True
        with suppress(CommandError):
            match.do(made(chance, match, players), match.now)
        check(match, before)
    examination = Examination("m")
    deviations = [examination.take(event).deviation for event in match.events]
    assert faulty or (deviations, examination.end()) == ([None] * len(match.events), None)
    bundle = make_bundle("m", envelopes(match.events), KEY, match.now + SIGNED_AT, None)
    assert "signature" in {step.name for step in verify(bundle, keys())}
