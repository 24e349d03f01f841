"""Bundles of long matches: making one, and verifying it, in milliseconds of processor time.

The games are random ones that go on for as long as they last; hardly one lasts 10,000 plies. The match of 10,000 does:
an arbiter takes it back to the beginning whenever the moves are used up, so that its stream is as long as any.
Twice the plies should take twice the time: the last column is the time a ply, compared with the first row of its game.
"""

import time
from collections.abc import Callable, Iterator
from random import Random
from statistics import median
from typing import Any

from domain.games import GAMES
from domain.match.authority import Authority
from domain.match.commands import Command, JoinMatch, OpenCase, Rule, SubmitMove
from domain.match.decide import decide
from domain.match.enums import Ground, RulingKind
from domain.match.events import Event
from domain.match.state import Seat
from events.proof.audit import audit
from events.proof.bundle import make_bundle, make_contents, sign_content
from events.proof.verification import verify
from events.store.envelope import Envelope
from tests.bench.measure import Table, verdict
from tests.support.bundles import KEY, envelopes, keys
from tests.support.cases import REASON, RULE
from tests.support.matches import FOUR, T0, creation

TURNS = 3
LENGTHS = (250, 1000, 4000)
MAX_PLIES = 10_000
TARGET_MS = 1000.0
GAMES_MEASURED = (
    ("tower-game", "original"),
    ("towers", "two-player"),
    ("four-towers", "standard"),
    ("fourplay", "standard"),
    ("bashni", "start"),
)
MATCHES = 20


def tables() -> Iterator[Table]:
    """Measure and yield the tables."""
    yield _lengths()
    yield _audits()


def long_game(name: str, setup: str, plies: int) -> list[tuple[str, int]]:
    """Return moves of a random game and the seats that make them: up to ``plies``, or as many as it lasts.

    Moves that can be undone are preferred, since the others bring the end of every game nearer.
    """
    game = GAMES[name]
    best: list[tuple[str, int]] = []
    for seed in range(5):
        chance, position, played = Random(seed), game.initial(setup), list[tuple[str, int]]()
        stood: dict[Any, int] = {}
        while len(played) < plies:
            legal = list(game.legal_moves(position))
            following = None
            for move in chance.sample(legal, min(len(legal), 40)):
                after = game.play(position, move)
                if stood.get(game.key(after), 0) < 2 and game.outcome(after, ()) is None:
                    quiet = _counter(after) > _counter(position)
                    following = (move, after) if following is None or quiet else following
                    if quiet:
                        break
            if following is None:
                break
            played.append((game.format_move(position, following[0]), game.to_move(position)))
            position = following[1]
            stood[game.key(position)] = stood.get(game.key(position), 0) + 1
        best = max(best, played, key=len)
        if len(best) == plies:
            break
    return best


def match_of(name: str, setup: str, played: list[tuple[str, int]], plies: int) -> list[Envelope]:
    """Return the events of a match of ``plies`` plies in which ``played`` is repeated as often as that takes."""
    players = FOUR[: len(GAMES[name].setups[setup].seat_names)]
    seats = (Seat.taken(players[0]), *[Seat.open()] * (len(players) - 1))
    create = creation(*seats, creator=players[0], game=name, setup=setup)
    commands: list[Command] = [create, *(JoinMatch(player=player) for player in players[1:])]
    for number in range(plies):
        if number and not number % len(played):
            commands += [
                OpenCase(arbiter="ann", ply=1, ground=Ground.WRONG_RESULT, statement="0" * 64),
                Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=0),
            ]
        move, seat = played[number % len(played)]
        commands.append(SubmitMove(player=players[seat], move=move))
    state, events = None, list[Event]()
    for number, command in enumerate(commands):
        decision = decide(state, command, T0 + 1000 * number, fresh_seed="1")
        state = decision.state
        events += decision.events
    return envelopes(events)


def _lengths() -> Table:
    table = Table(
        "Bundles, in milliseconds of processor time",
        "game", "plies", "kB", "make", "with positions", "sign a stored one", "verify", "without rules", "us a ply",
        "target",
    )  # fmt: skip
    for name, setup in GAMES_MEASURED:
        setup = setup if setup in GAMES[name].setups else next(iter(GAMES[name].setups))
        played = long_game(name, setup, LENGTHS[-1])
        lengths = [length for length in LENGTHS if length < len(played)]
        for length in (*lengths, len(played)):
            _add(table, name, match_of(name, setup, played[:length], length), length)
        if len(GAMES[name].setups[setup].seat_names) == 2:
            _add(table, name, match_of(name, setup, played, MAX_PLIES), MAX_PLIES)
    return table


def _add(table: Table, name: str, events: list[Envelope], plies: int) -> None:
    now, trusted = events[-1].at, keys()
    packed = make_bundle("m", events, KEY, now, None)
    content, _ = make_contents("m", events)
    made = _median(lambda: make_bundle("m", events, KEY, now, None))
    table.add(
        name,
        f"{plies:,}",
        f"{len(packed) / 1000:,.0f}",
        made,
        _median(lambda: make_bundle("m", events, KEY, now, None, positions=True)),
        _median(lambda: sign_content(content, KEY, now, None)),
        _median(lambda: list(verify(packed, trusted))),
        _median(lambda: list(verify(packed, trusted, rules=False))),
        1000 * made / plies,
        verdict(made, TARGET_MS, at_least=False) if plies == MAX_PLIES else "",
    )


def _audits() -> Table:
    table = Table("Matches audited a second by one processor, as by audit all", "game", "plies", "matches/s", "plies/s")
    for name, setup in (("bashni", "start"), ("tower-game", "original")):
        played = long_game(name, setup, 120)
        events = match_of(name, setup, played, len(played))

        def audited(found: list[Envelope] = events) -> None:
            for _ in range(MATCHES):
                for record in audit("m", found, authority=Authority("m")):
                    assert record.objection is None, record.objection

        taken = _median(audited) / MATCHES
        table.add(name, f"{len(played)}", 1000 / taken, 1000 * len(played) / taken)
    return table


def _counter(position: Any) -> int:
    """Return how many plies nothing has happened that cannot be undone."""
    names = ("halfmove_clock", "pushes")
    return next((getattr(position, name) for name in names if hasattr(position, name)), 0)


def _median(work: Callable[[], Any]) -> float:
    taken = []
    for _ in range(TURNS):
        began = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - began))
    return median(taken)
