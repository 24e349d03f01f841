"""What seats may append is bounded, and so is the work that long matches are."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from domain.games import GAMES
from domain.history import History
from domain.match import commands, guards
from domain.match.audit import Examination
from domain.match.decide import decide
from domain.match.enums import Ground, RulingKind
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import HOUR, STANDARD
from domain.vector import Vector
from events.proof.bundle import MAX_BUNDLE_BYTES, make_bundle
from events.proof.documents import MAX_VALUES
from events.proof.verification import verify
from events.store.envelope import Envelope
from tests.support.bundles import KEY, SIGNED_AT, envelopes, keys
from tests.support.cases import REASON, RULE
from tests.support.matches import T0, started
from tests.support.rulesets import register, variant

MAX_PLIES = 40_000
"""More than any game can last: of The Tower Game, whose games are the longest, some hundred of 100 quiet plies each."""


def refused(
    state: MatchState, command: commands.GiveTime | commands.OfferDraw | commands.RequestTakeback | commands.SubmitMove
) -> str:
    """Return why ``command`` is too much."""
    with pytest.raises(CommandError) as caught:
        guards.refuse_excess(state, command)
    return f"{caught.value.code}: {caught.value}"


def test_a_seat_gives_time_three_times_between_two_moves_of_the_match() -> None:
    match = started()
    gift = commands.GiveTime(player="alice", seat=1, time=HOUR)
    for _ in range(guards.MAX_GIFTS_PER_TURN):
        guards.refuse_excess(match.state, gift)
        match.do(gift)
    assert refused(match.state, gift) == (
        "invalid-gift: you have given time 3 times since the last move: give more when one has been made"
    )
    guards.refuse_excess(match.state, commands.GiveTime(player="bob", seat=0, time=HOUR))
    match.move("alice", "c3-d4")
    guards.refuse_excess(match.state, gift)


@pytest.mark.parametrize(
    "wish",
    [
        commands.OfferDraw(player="alice"),
        commands.RequestTakeback(player="alice"),
        commands.GiveTime(player="alice", seat=1, time=HOUR),
    ],
)
def test_offers_requests_and_gifts_of_a_seat_are_bounded_together(
    wish: commands.OfferDraw | commands.RequestTakeback | commands.GiveTime,
) -> None:
    state = started().state
    spent = replace(state, offers=replace(state.offers, requests=(guards.MAX_REQUESTS, 0)))
    assert refused(spent, wish).startswith("too-many-offers: a seat offers draws, asks for moves back and gives time")
    guards.refuse_excess(spent, replace(wish, player="bob"))


def test_a_move_is_never_refused_but_a_draw_offer_with_it_may_be() -> None:
    state = started().state
    spent = replace(state, offers=replace(state.offers, requests=(guards.MAX_REQUESTS, 0)))
    guards.refuse_excess(spent, commands.SubmitMove(player="alice", move="c3-d4"))
    assert refused(spent, commands.SubmitMove(player="alice", move="c3-d4", offer_draw=True)).endswith(
        "play the move without the draw offer"
    )


def test_a_match_goes_back_to_a_ply_three_times() -> None:
    match = started(STANDARD._replace(takebacks=True))
    ask = commands.RequestTakeback(player="alice")
    for _ in range(guards.MAX_TAKEBACKS_PER_PLY):
        match.move("alice", "c3-d4")
        guards.refuse_excess(match.state, ask)
        match.do(ask)
        match.do(commands.AcceptTakeback(player="bob"))
    match.move("alice", "c3-d4")
    assert refused(match.state, ask) == (
        "too-many-offers: you have asked 3 times to go back to move 0: play on from here"
    )
    match.move("bob", "b6-a5")
    guards.refuse_excess(match.state, commands.RequestTakeback(player="bob"))


@pytest.mark.parametrize(
    "wish",
    [
        *(
            commands.OfferDraw(player="alice"),
            commands.GiveTime(player="alice", seat=1, time=HOUR),
            commands.RequestTakeback(player="alice"),
        ),
        commands.SubmitMove(player="alice", move="c3-d4", offer_draw=True),
    ],
)
def test_the_record_of_a_match_grows_with_its_plies(
    wish: commands.OfferDraw | commands.GiveTime | commands.SubmitMove,
) -> None:
    match = started()
    long = replace(match.state, version=guards.MAX_EVENTS_AT_START)
    assert refused(long, wish).startswith("too-many-offers: the record of this match is too long for its 0 moves")
    guards.refuse_excess(replace(long, version=guards.MAX_EVENTS_AT_START - 1), wish)
    guards.refuse_excess(long, commands.SubmitMove(player="alice", move="c3-d4"))
    guards.refuse_excess(long, commands.Resign(player="alice"))
    match.move("alice", "c3-d4")
    guards.refuse_excess(replace(match.state, version=guards.MAX_EVENTS_AT_START + guards.MAX_EVENTS_PER_PLY - 1), wish)


def test_every_wish_counts_once_for_who_wished_it() -> None:
    match = started(STANDARD._replace(takebacks=True))
    match.move("alice", "c3-d4")
    match.do(commands.OfferDraw(player="alice"))
    match.do(commands.DeclineDraw(player="bob"))
    match.do(commands.RequestTakeback(player="alice"))
    match.do(commands.DeclineTakeback(player="bob"))
    match.do(commands.GiveTime(player="bob", seat=0, time=HOUR))
    assert (match.state.offers.requests, match.state.offers.gifts) == ((2, 1), (0, 1))
    match.move("bob", "b6-a5")
    match.do(commands.RequestTakeback(player="bob"))
    match.do(commands.AcceptTakeback(player="alice"))
    assert (match.state.offers.requests, match.state.offers.gifts) == ((2, 2), (0, 0))


def test_what_was_recorded_beyond_the_bounds_replays_as_it_always_did() -> None:
    match = started()
    for _ in range(2 * guards.MAX_GIFTS_PER_TURN):
        match.do(commands.GiveTime(player="alice", seat=1, time=HOUR))
    examination = Examination("m")
    assert [examination.take(event).deviation for event in match.events] == [None] * len(match.events)
    assert examination.state == match.state


def test_a_bundle_of_the_longest_match_is_within_what_is_read_of_one() -> None:
    match = started()
    for _ in range(300):
        match.do(commands.GiveTime(player="alice", seat=1, time=HOUR))
    packed = make_bundle("m", envelopes(match.events), KEY, SIGNED_AT, None)
    values = sum(packed.count(sign) for sign in (b"[", b"{", b","))
    # No game lasts longer by its rules; every wish is answered by up to three other seats.
    longest = MAX_PLIES + 4 * guards.MAX_REQUESTS * 4
    assert len(packed) / len(match.events) * longest < MAX_BUNDLE_BYTES
    assert values / len(match.events) * longest < MAX_VALUES


GAME = GAMES["bashni"]
SHORT, LONG = 40, 160


class Counted:
    """A game whose calls are counted by name."""

    NAMES = ("key", "play", "parse_move", "format_move", "outcome", "outcome_by_history", "is_legal", "to_move")

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.game = variant(GAME, **{name: self._counting(name) for name in self.NAMES})

    def _counting(self, name: str) -> Any:
        asked = getattr(GAME, name)

        def count(*arguments: Any) -> Any:
            self.calls[name] += 1
            return asked(*arguments)

        return count


def match_of(plies: int) -> list[Envelope]:
    """Return the events of a match that an arbiter takes back to its beginning whenever 20 plies have been played."""
    begun = started()
    events, state, now = list(begun.events), begun.state, T0 + 10_000

    def do(command: Any) -> None:
        nonlocal state, now
        now += 1000
        decision = decide(state, command, now, fresh_seed="1")
        events.extend(decision.events)
        assert decision.state is not None
        state = decision.state

    for number in range(plies):
        if number and not number % 20:
            do(commands.OpenCase(arbiter="olga", ply=1, ground=Ground.WRONG_RESULT, statement="0" * 64))
            do(commands.Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=0))
        legal = list(GAME.legal_moves(state.play.position))
        move = GAME.format_move(state.play.position, legal[number % 20 * 7 % len(legal)])
        do(commands.SubmitMove(player=("alice", "bob")[GAME.to_move(state.play.position)], move=move))
    return envelopes(events)


def test_a_bundle_of_four_times_the_plies_takes_four_times_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = match_of(SHORT), match_of(LONG)
    counted = Counted()
    register(monkeypatch, counted.game)
    found = []
    for stream in streams:
        counted.calls.clear()
        packed = make_bundle("m", stream, KEY, stream[-1].at, None, positions=True)
        making = Counter(counted.calls)
        assert all(step.proved for step in verify(packed, keys()) if step.name in ("chain", "signature", "replay"))
        found.append({**{f"{name} in making": calls for name, calls in making.items()}, **counted.calls})
    short, long = found
    assert {name: calls / LONG <= 1.1 * short[name] / SHORT for name, calls in long.items()} == dict.fromkeys(
        long, True
    )


def test_moves_taken_back_are_counted_down_and_not_counted_again() -> None:
    counted = Counted()
    position = GAME.initial("start")
    history = History(counted.game, [position] * 1000)
    counted.calls.clear()
    shorter = history[:990]
    assert counted.calls["key"] == 10
    assert shorter.occurrences(position) == 990
    assert history.occurrences(position) == 1000
    assert history[:100].occurrences(position) == 100


def test_a_vector_copies_few_items_for_each_that_is_added() -> None:
    copied, vector = 0, Vector[int]()
    for item in range(10_000):
        before = {id(part) for part in vector._parts}
        vector = vector.with_item(item)
        copied += len(vector._last) + sum(len(part) for part in vector._parts if id(part) not in before)
    assert copied < 30 * 10_000
