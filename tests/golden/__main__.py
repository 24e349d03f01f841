"""Make the golden matches of a ruleset: ``python -m tests.golden GAME RULESET``.

Many games are played. Kept are the shortest one of every way in which they end (one long one has no end), of every
setup, and of those that another ruleset of the game would not play like that; one of every kind of players; and
beginnings in which moves are written as in none kept before. Then come matches that people end.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import count

from domain.game import AnyGame
from domain.games import GAMES, find_ruleset
from domain.match import commands as c
from domain.match.enums import Channel, Status
from domain.match.impact import impact
from domain.match.state import MatchState, Seat
from domain.match.terms import days_per_move
from domain.search import ENGINE_VERSION, choose, node_budget, seed_for
from events.matches.matches import Matches
from events.store.codec import event_of
from events.store.contract import GENESIS, Request
from events.store.envelope import seal
from tests.golden.players import PLAYERS, Line, play
from tests.golden.stored import Golden, path_of, replayed, write
from tests.support.memory_store import MemoryStore
from tests.support.timeless import execute

LONG_ENOUGH = 60
"""Plies of a game that is kept for its players, not for its end."""
BUDGET = 250
"""Plies spent on moves that are written in new ways."""
RESIGNS_AFTER = 24
"""Plies after which the person who plays against opponents resigns."""
MAX_PLIES_WITHOUT_PEOPLE = 10_000
NAMES = ("ann", "ben", "cat", "dan")
BEGINNING = 1_700_000_000_000

Candidate = tuple[str, str, Line]
"""Setup, who played, and what."""


class Table:
    """Where one match is played, as on the server but in memory; an event a second."""

    def __init__(self, game: AnyGame, name: str, setup: str, levels: Sequence[int | None] = ()) -> None:
        seconds = count(1)
        self.name, self.game = name, game
        self.store = MemoryStore()
        self.matches = Matches(self.store, lambda: BEGINNING + 1000 * next(seconds))
        self.people = NAMES[: len(game.setups[setup].seat_names)]
        seats = [Seat.taken(NAMES[0]), *(Seat.invited(person) for person in self.people[1:])]
        for number, level in enumerate(levels):
            seats[number] = seats[number] if level is None else Seat.opponent(level)
        terms = days_per_move(3)._replace(takebacks=True)
        create = c.CreateMatch(
            match=name, creator=NAMES[0], game=game.id, setup=setup, seats=tuple(seats), rated=False, private=False,
            seed="7", ruleset=game.ruleset, terms=terms,
        )  # fmt: skip
        self.do(create, NAMES[0])
        for seat in seats:
            if seat.player is not None and not seat.joined:
                self.do(c.JoinMatch(player=seat.player), seat.player)

    @property
    def state(self) -> MatchState:
        return self.matches.load(self.name).state

    def do(self, command: c.Command, actor: str) -> None:
        """Carry ``command`` out."""
        execute(self.matches, self.name, command, actor, Request(f"{actor}{self.store.head(self.name).version}", ""))

    def play(self, moves: Sequence[str]) -> None:
        """Play ``moves``, each by whose turn it is."""
        for move in moves:
            mover = self.state.seats[self.game.to_move(self.state.play.position)].player
            assert mover is not None
            self.do(c.SubmitMove(player=mover, move=move), mover)

    def play_first_legal(self) -> None:
        position = self.state.play.position
        self.play([self.game.format_move(position, next(iter(self.game.legal_moves(position))))])

    def think(self, plies: int) -> None:
        """Let the opponents play, ``plies`` in all or to the end."""
        while (state := self.state).status == Status.PLAYING and len(state.play.moves) < plies:
            seat = state.seats[self.game.to_move(state.play.position)]
            assert seat.player is not None
            assert seat.level is not None
            seed = seed_for(state.seed, len(state.play.moves) + 1)
            nodes = node_budget(self.game.id, seat.level)
            found = choose(self.game, state.play.position, state.play.history, seat.level, seed, nodes)
            text = self.game.format_move(state.play.position, found.move)
            self.do(
                c.SubmitMove(
                    player=seat.player, move=text, level=seat.level, seed=seed, engine=str(ENGINE_VERSION), nodes=nodes,
                    channel=Channel.OPPONENT,
                ),
                seat.player,
            )  # fmt: skip

    def agree(self) -> None:
        """Let all people still in the game agree on a draw."""
        out = self.game.eliminated(self.state.play.position)
        first, *others = (person for seat, person in enumerate(self.people) if seat not in out)
        self.do(c.OfferDraw(player=first), first)
        for person in others:
            self.do(c.AcceptDraw(player=person), person)

    def take_back(self) -> None:
        last = self.state.seats[self.game.to_move(self.state.play.history[-1])].player
        assert last is not None
        self.do(c.RequestTakeback(player=last), last)
        for person in self.people:
            if person != last:
                self.do(c.AcceptTakeback(player=person), person)

    def golden(self, made_by: str) -> Golden:
        state = self.state
        assert state.status == Status.FINISHED, (self.name, state.status)
        assert state.result.scores is not None
        assert state.result.reason is not None
        sealed = seal([event.draft for event in self.store.read(self.name)], self.name, 0, GENESIS)
        stored = tuple((event.digest.hex(), event.packed.decode()) for event in sealed)
        position = self.game.format_position(state.play.position)
        golden = Golden(self.name, made_by, position, state.result.scores, state.result.reason, "", stored)
        return golden._replace(plays=replayed(golden)[1])


def shape(move: str) -> str:
    """Return how ``move`` is written, whatever its squares are: ``@x@`` for ``c3xe5``."""
    return re.sub("[a-z]{1,2}[0-9]{1,2}", "@", move)


def chosen(game: AnyGame, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the games that are kept, and the beginnings, as games that were broken off."""
    kept: list[Candidate] = []
    known = set[object]()
    for setup, who, line in sorted(candidates, key=lambda each: (each[2].outcome is None, len(each[2].moves))):
        parted = set[int]()
        if line.outcome is not None:
            parted = {other.ruleset for other in GAMES.rulesets[game.id] if other.ruleset not in known}
            parted = {ruleset for ruleset in parted if parts_from(game, setup, line, ruleset)}
        marks = {setup, line.outcome and line.outcome.reason, *parted}
        if not marks <= known:
            known |= marks
            kept.append((setup, who, line))
    for setup, who, line in candidates:
        if who.endswith("seed 0") and (name := who.split(",")[0]) not in known:
            known.add(name)
            outcome = line.outcome if len(line.moves) <= LONG_ENOUGH else None
            if (setup, who, line) not in kept:
                kept.append((setup, who, Line(line.moves[:LONG_ENOUGH], outcome)))
    shown = {shape(move) for _, _, line in kept for move in line.moves}
    spent = 0
    while spent < BUDGET and (best := max((_new(each, shown) for each in candidates), key=lambda new: new[0]))[0]:
        _, (setup, who, line), plies = best
        kept.append((setup, who, Line(line.moves[:plies], None)))
        shown |= {shape(move) for move in line.moves[:plies]}
        spent += plies
    return kept


def parts_from(game: AnyGame, setup: str, line: Line, ruleset: int) -> bool:
    """Tell whether another ruleset would have played a game otherwise."""
    table = Table(game, "parting", setup)
    table.play(line.moves)
    return impact("parting", map(event_of, table.store.read("parting")), game.ruleset, ruleset) is not None


def _new(candidate: Candidate, shown: set[str]) -> tuple[float, Candidate, int]:
    """Return the most new shapes per ply that a beginning of a game shows, the game, and how long that beginning is."""
    best, length, fresh = 0.0, 0, set[str]()
    for ply, move in enumerate(candidate[2].moves[:BUDGET], 1):
        if shape(move) not in shown | fresh:
            fresh.add(shape(move))
            if len(fresh) / ply > best:
                best, length = len(fresh) / ply, ply
    return best, candidate, length


def goldens(game: AnyGame) -> Iterator[Golden]:
    candidates = [
        (setup, f"{name}, seed {seed}", play(game, setup, name, seed))
        for setup in game.setups
        for name, (_, games, _) in PLAYERS.items()
        for seed in range(games)
    ]
    numbers = count(1)

    def table(setup: str, levels: Sequence[int | None] = ()) -> Table:
        return Table(game, f"{game.id}-{game.ruleset}-{next(numbers)}", setup, levels)

    for setup, who, line in chosen(game, candidates):
        match = table(setup)
        match.play(line.moves)
        if line.outcome is None:
            match.agree()
        yield match.golden(who)
    for setup in game.setups:
        line = next(line for other, _, line in candidates if other == setup)
        yield left_by_all_but_one(table(setup), line.moves)
    setup = next(iter(game.setups))
    yield against_opponents(table(setup, [None, *((2, 1, 2)[: len(game.setups[setup].seat_names) - 1])]))


def left_by_all_but_one(match: Table, moves: Sequence[str]) -> Golden:
    """Play ``moves`` with one taken back, then let one after another resign, with a move in between."""
    match.play(moves[:6])
    match.take_back()
    match.play(moves[5:9])
    for person in match.people[:0:-1]:
        if match.state.status == Status.PLAYING:
            match.do(c.Resign(player=person), person)
        if match.state.status == Status.PLAYING:
            match.play_first_legal()
    return match.golden("people: a move taken back, all but one resign")


def against_opponents(match: Table) -> Golden:
    """Let a person on the first seat, who resigns at last, play opponents on all others."""
    while match.state.status == Status.PLAYING and len(match.state.play.moves) < RESIGNS_AFTER:
        match.play_first_legal()
        while match.state.status == Status.PLAYING and match.game.to_move(match.state.play.position) != 0:
            match.think(len(match.state.play.moves) + 1)
    if match.state.status == Status.PLAYING:
        match.do(c.Resign(player=NAMES[0]), NAMES[0])
        match.think(MAX_PLIES_WITHOUT_PEOPLE)
    return match.golden("a person who plays the first legal move, against opponents")


def main() -> None:
    """Make a file that is not there yet."""
    name, ruleset = sys.argv[1], int(sys.argv[2])
    path = path_of(name, ruleset)
    if path.exists():
        sys.exit(f"{path} is there: golden matches are made once, and kept for ever")
    write(path, goldens(find_ruleset(name, ruleset)))
    print(f"{path}: {path.stat().st_size:,} bytes")


main()
