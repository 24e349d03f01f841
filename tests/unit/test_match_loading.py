"""Matches in a store: loaded, decided and appended, with a cache and snapshots that are never wrong."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

import events.matches.matches
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.commands import Command, JoinMatch, OfferDraw, Resign, SubmitMove
from domain.match.events import MoveSubmitted
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Seat
from events.matches.matches import Executed, Matches, UnknownMatchError
from events.store.chain import verify
from events.store.codec import event_of
from events.store.contract import Appended, Head, Opened, Request, RequestMismatchError, StaleVersionError, VersionTag
from events.store.envelope import Draft
from events.store.snapshots import restore_snapshot, snapshot_of
from tests.support.matches import T0, PlayedMatch, creation
from tests.support.memory_store import MemoryStore
from tests.support.timeless import execute


class WatchedStore(MemoryStore):
    """A store in memory that notes every call that would be a round trip, and can be overtaken."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.before_append: Callable[[], object] | None = None

    def open(self, stream: str, after: int | None = 0, request: Request | None = None) -> Opened:
        self.calls.append("open")
        return super().open(stream, after, request)

    def append(
        self,
        stream: str,
        expected: Head,
        drafts: Sequence[Draft],
        request: Request,
        *,
        deadline: int | None = None,
        conditional_moves: int | None = None,
        decided_at: int | None = None,
    ) -> Appended:
        self.calls.append("append")
        if self.before_append is not None:
            overtake, self.before_append = self.before_append, None
            overtake()
        return super().append(
            stream, expected, drafts, request, deadline=deadline, conditional_moves=conditional_moves,
            decided_at=decided_at,
        )  # fmt: skip

    def save_conditional_moves(self, stream: str, seat: int, text: str | None, revision: int, head: Head) -> None:
        if self.before_append is not None:
            overtake, self.before_append = self.before_append, None
            overtake()
        super().save_conditional_moves(stream, seat, text, revision, head)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[Any]:
        self.calls.append("read")
        return super().read(stream, after, limit)

    def save_snapshot(self, stream: str, version: int, snapshot: Mapping[str, Any]) -> None:
        self.calls.append("save_snapshot")
        super().save_snapshot(stream, version, snapshot)

    def tag(self, version: int | None = None) -> VersionTag:
        """Return the tag of a version of the match m, unnoticed; of the present one if None."""
        return self._head("m", version).tag

    def forget(self, stream: str, version: int) -> None:
        """Lose the events after ``version``, as a store that was restored from a backup has."""
        del self._entries[stream][version:]
        self._requests.clear()


@pytest.fixture
def store() -> WatchedStore:
    return WatchedStore()


@pytest.fixture
def matches(store: WatchedStore) -> Matches:
    """Return the matches of the store, with alice and bob playing in m."""
    matches = Matches(store, lambda: T0)
    do(matches, creation())
    do(matches, JoinMatch(player="bob"))
    store.calls.clear()
    return matches


def do(matches: Matches, command: Command, key: str | None = None, expected: VersionTag | None = None) -> Executed:
    """Carry a command out in the match m, under a request key of its own when none is given."""
    return execute(matches, "m", command, "actor", Request(key or repr(command), repr(command)), expected)


def test_what_a_command_wrote_is_returned_and_loaded(matches: Matches) -> None:
    executed = do(matches, SubmitMove(player="alice", move="c3-d4"))
    assert (executed.version, executed.repeated) == (4, False)
    (event,) = executed.events
    assert event_of(event) == MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4")
    assert (event.stream, event.version, event.actor) == ("m", 4, "actor")
    loaded = matches.load("m")
    assert loaded.state.play.moves == ("c3-d4",)
    assert (loaded.state.version, loaded.head.digest) == (loaded.head.version, event.digest)


def test_a_match_that_does_not_exist_cannot_be_loaded(matches: Matches) -> None:
    with pytest.raises(UnknownMatchError):
        matches.load("nothing")
    with pytest.raises(UnknownMatchError):
        execute(matches, "nothing", Resign(player="alice"), "alice", Request("k", "f"))


def test_a_command_on_a_match_that_is_known_here_costs_one_round_trip(matches: Matches, store: WatchedStore) -> None:
    do(matches, SubmitMove(player="alice", move="c3-d4"))
    do(matches, SubmitMove(player="bob", move="b6-a5"))
    assert store.calls == ["append"] * 2


def test_what_another_process_did_meanwhile_is_taken_into_account(matches: Matches, store: WatchedStore) -> None:
    do(Matches(store, lambda: T0), SubmitMove(player="alice", move="c3-d4"))
    store.calls.clear()
    do(matches, SubmitMove(player="bob", move="b6-a5"))
    assert store.calls == ["open", "append"]
    do(Matches(store, lambda: T0), OfferDraw(player="bob"))
    store.calls.clear()
    do(matches, SubmitMove(player="alice", move="d4-c5"))
    assert store.calls == ["append", "open", "append"]


def test_a_command_costs_two_round_trips_where_the_match_is_unknown(matches: Matches, store: WatchedStore) -> None:
    do(Matches(store, lambda: T0), SubmitMove(player="alice", move="c3-d4"))
    assert store.calls == ["open", "append"]
    store.save_snapshot("m", 4, snapshot_of(*matches.load("m")[:2]))
    store.calls.clear()
    do(Matches(store, lambda: T0), SubmitMove(player="bob", move="b6-a5"))
    assert store.calls == ["open", "append"]


def test_a_refused_command_writes_nothing(matches: Matches, store: WatchedStore) -> None:
    with pytest.raises(CommandError):
        do(matches, SubmitMove(player="bob", move="b6-a5"))
    assert store.calls == ["open"]
    assert store.head("m").version == 3


def test_a_repeated_request_returns_its_first_answer(matches: Matches) -> None:
    first = do(matches, SubmitMove(player="alice", move="c3-d4"), "key")
    do(matches, SubmitMove(player="bob", move="b6-a5"))
    again = do(matches, SubmitMove(player="alice", move="c3-d4"), "key")
    assert again == (first.events, first.head, True, matches.load("m").state)


def test_a_repeated_request_is_recognized_even_with_an_expected_version(matches: Matches, store: WatchedStore) -> None:
    expected = store.tag()
    first = do(matches, SubmitMove(player="alice", move="c3-d4"), "key", expected)
    assert do(matches, SubmitMove(player="alice", move="c3-d4"), "key", expected) == first._replace(repeated=True)


def test_a_request_key_with_another_content_is_refused(matches: Matches) -> None:
    do(matches, SubmitMove(player="alice", move="c3-d4"), "key")
    with pytest.raises(RequestMismatchError):
        do(matches, OfferDraw(player="alice"), "key")


def test_a_command_for_another_version_is_stale(matches: Matches, store: WatchedStore) -> None:
    with pytest.raises(StaleVersionError) as stale:
        do(matches, SubmitMove(player="alice", move="c3-d4"), expected=store.tag(2))
    assert (stale.value.expected, stale.value.current) == (store.tag(2), store.tag(3))
    assert store.calls == ["open"]


def test_a_command_that_was_overtaken_is_decided_anew(matches: Matches, store: WatchedStore) -> None:
    rival = Matches(store, lambda: T0)
    store.before_append = lambda: do(rival, OfferDraw(player="bob"))
    executed = do(matches, SubmitMove(player="alice", move="c3-d4"))
    assert [event.version for event in executed.events] == [5]
    assert matches.load("m").state.play.moves == ("c3-d4",)


def test_an_overtaken_command_is_refused_when_the_rules_say_so_now(matches: Matches, store: WatchedStore) -> None:
    rival = Matches(store, lambda: T0)
    store.before_append = lambda: do(rival, Resign(player="bob"))
    with pytest.raises(CommandError, match="over"):
        do(matches, SubmitMove(player="alice", move="c3-d4"))


def test_a_command_for_a_version_is_stale_when_it_was_overtaken(matches: Matches, store: WatchedStore) -> None:
    rival = Matches(store, lambda: T0)
    store.before_append = lambda: do(rival, OfferDraw(player="bob"))
    with pytest.raises(StaleVersionError) as stale:
        do(matches, SubmitMove(player="alice", move="c3-d4"), expected=store.tag())
    assert stale.value.current == store.tag(4)


def test_lines_that_a_move_overtakes_are_for_the_match_as_it_stands(matches: Matches, store: WatchedStore) -> None:
    rival = Matches(store, lambda: T0)
    asked: list[int] = []

    def watching_moves(state: MatchState, orders: ConditionalMoves) -> ConditionalMoves:
        asked.append(len(state.play.moves))
        return replace(orders, forced=True)

    store.before_append = lambda: do(rival, SubmitMove(player="alice", move="c3-d4"))
    laid = matches.lay_down("m", "bob", watching_moves)
    assert asked == [0, 1]
    assert (laid.orders, laid.head.version) == ({1: ConditionalMoves(forced=True)}, 4)
    with pytest.raises(StaleVersionError):
        matches.lay_down("m", "bob", watching_moves, expected=store.tag(3))


def test_two_processes_see_what_the_other_did(matches: Matches, store: WatchedStore) -> None:
    other = Matches(store, lambda: T0)
    do(matches, SubmitMove(player="alice", move="c3-d4"))
    do(other, SubmitMove(player="bob", move="b6-a5"))
    assert matches.load("m") == other.load("m")
    assert matches.load("m").state.play.moves == ("c3-d4", "b6-a5")


def test_a_cached_match_follows_a_store_that_has_gone_back(matches: Matches, store: WatchedStore) -> None:
    do(matches, SubmitMove(player="alice", move="c3-d4"))
    matches.load("m")
    store.forget("m", 3)
    assert matches.load("m").state.play.moves == ()
    do(matches, SubmitMove(player="alice", move="c3-b4"))
    assert matches.load("m").state.play.moves == ("c3-b4",)
    assert verify(store, "m").head.version == 4


def test_a_cached_match_follows_a_store_that_has_gone_another_way(matches: Matches, store: WatchedStore) -> None:
    do(matches, SubmitMove(player="alice", move="c3-d4"))
    matches.load("m")
    store.forget("m", 3)
    other = Matches(store, lambda: T0)
    do(other, SubmitMove(player="alice", move="c3-b4"))
    assert matches.load("m") == other.load("m")
    matches.load("m")
    store.forget("m", 3)
    for player, move in (("alice", "e3-f4"), ("bob", "b6-a5")):
        do(Matches(store, lambda: T0), SubmitMove(player=player, move=move))
    assert matches.load("m").state.play.moves == ("e3-f4", "b6-a5")


def test_the_cache_is_bounded(matches: Matches, store: WatchedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events.matches.matches, "MAX_CACHED_MATCHES", 2)
    for name in ("a", "b", "c"):
        execute(matches, name, creation(match_id=name), "alice", Request("k", "f"))
        matches.load(name)
    assert len(matches._cache) == 2
    assert all(matches.load(name).state.match_id == name for name in ("a", "b", "c", "m"))


def play_on(matches: Matches, plies: int) -> None:
    """Play random legal moves in the match m."""
    chance = random.Random(1)
    for _ in range(plies):
        state = matches.load("m").state
        game = GAMES[state.game]
        moves = [game.format_move(state.play.position, move) for move in game.legal_moves(state.play.position)]
        player = state.seats[game.to_move(state.play.position)].player
        do(matches, SubmitMove(player=player or "", move=chance.choice(moves)), f"ply {len(state.play.moves)}")


def test_snapshots_spare_the_replay(matches: Matches, store: WatchedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events.matches.matches, "SNAPSHOT_EVERY", 10)
    play_on(matches, 25)
    assert store.calls.count("save_snapshot") == 2
    known = matches.load("m")
    opened = store.open("m", None)
    assert opened.snapshot is not None
    assert 0 < len(opened.events) < 10
    assert Matches(store, lambda: T0).load("m")[:2] == known[:2]


def unknown_layout(snapshot: dict[str, Any]) -> None:
    snapshot["layout"] = 0


def unknown_ruleset(snapshot: dict[str, Any]) -> None:
    snapshot["state"]["ruleset"] = 99


def malformed_position(snapshot: dict[str, Any]) -> None:
    snapshot["state"]["play"]["position"] = "?"


def other_history(snapshot: dict[str, Any]) -> None:
    snapshot["digest"] = "00" * 32


@pytest.mark.parametrize("spoil", [unknown_layout, unknown_ruleset, malformed_position, other_history])
@pytest.mark.parametrize("later", [0, 3])
def test_a_snapshot_that_cannot_be_used_is_replaced_by_the_events(
    matches: Matches, store: WatchedStore, spoil: Callable[[dict[str, Any]], None], later: int
) -> None:
    play_on(matches, 4)
    known = matches.load("m")
    snapshot = snapshot_of(known.state, known.head)
    spoil(snapshot)
    store.save_snapshot("m", known.state.version, snapshot)
    play_on(matches, later)
    fresh = Matches(store, lambda: T0).load("m")
    assert fresh[:2] == matches.load("m")[:2]
    assert len(fresh.state.play.moves) == 4 + later


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: str(game.id))
def test_a_snapshot_gives_the_state_back_whole(game: AnyGame) -> None:
    for setup in game.setups.values():
        players = [f"player-{number}" for number in range(len(setup.seat_names))]
        seats = (Seat.taken(players[0]), *[Seat.invited(player) for player in players[1:]])
        match = PlayedMatch(creation(*seats, creator=players[0], game=game.id, setup=setup.name))
        assert_restored(match.state)
        for player in players[1:]:
            match.do(JoinMatch(player=player))
        chance = random.Random(3)
        for _ in range(30):
            player = players[game.to_move(match.state.play.position)]
            match.move(player, chance.choice(match.legal_moves()))
            if match.state.ended:
                break
        else:
            match.do(OfferDraw(player=players[0]))
            assert_restored(match.state)
            match.do(Resign(player=players[1]))
        assert_restored(match.state)


def assert_restored(state: MatchState) -> None:
    head = Head(state.version, bytes(range(32)))
    assert restore_snapshot(snapshot_of(state, head)) == (state, head)
