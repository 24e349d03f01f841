"""How much work long matches are: counted in calls and copies, so that it is the same on every machine."""

from collections import Counter
from typing import Any

import pytest

from domain.games import GAMES
from domain.history import History
from domain.match.commands import OpenCase, Rule, SubmitMove
from domain.match.decide import decide
from domain.match.enums import Ground, RulingKind
from domain.vector import Vector
from events.proof.bundle import make_bundle
from events.proof.verification import verify
from events.store.envelope import Envelope
from tests.support.bundles import KEY, envelopes, keys
from tests.support.cases import REASON, RULE
from tests.support.matches import T0, started
from tests.support.rulesets import register, variant

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
            do(OpenCase(arbiter="olga", ply=1, ground=Ground.WRONG_RESULT, statement="0" * 64))
            do(Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=0))
        legal = list(GAME.legal_moves(state.play.position))
        move = GAME.format_move(state.play.position, legal[number % 20 * 7 % len(legal)])
        do(SubmitMove(player=("alice", "bob")[GAME.to_move(state.play.position)], move=move))
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
