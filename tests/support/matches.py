"""Matches that a test plays command by command, without a store."""

from domain.games import find_ruleset
from domain.match.commands import Command, CreateMatch, JoinMatch, SubmitMove
from domain.match.decide import decide
from domain.match.events import Event
from domain.match.evolve import evolve, replay
from domain.match.lines import ConditionalMoves
from domain.match.state import MatchState, Seat
from domain.match.terms import STANDARD, Terms

T0 = 1_700_000_000_000
"""Milliseconds since 1970 UTC; matches of tests begin here."""

FOUR = ("wendy", "blue", "rita", "bob")
"""Players of the seats of a four-player match."""

SHORT_GAME = (
    "e3-f4 d6-e5 f4xd6 e7xc5 c3-d4 c5xe3 d2xf4 f8-e7 b2-c3 h6-g5 f4xh6xf8 d6-c5 f8xd6xb4 c7-d6 b4xe7xg5 d8-e7 "
    "g5xd8xa5 a7-b6 a5xd8 b8-c7 d8xb6 h8-g7 e3-f4 g7-h6 b6-a5 h6-g5 f4xh6"
)
"""A whole game of Bashni, which White wins."""


def creation(
    *seats: Seat,
    match_id: str = "m",
    creator: str = "alice",
    game: str = "bashni",
    setup: str = "start",
    rated: bool = True,
    private: bool = False,
    seed: str = "7",
    guest: bool = False,
    ruleset: int | None = None,
    terms: Terms = STANDARD,
) -> CreateMatch:
    """Return the command that creates a match; of alice against an open seat when no ``seats`` are given."""
    seats = seats or (Seat.taken("alice"), Seat.open())
    return CreateMatch(
        match=match_id, creator=creator, game=game, setup=setup, seats=seats, rated=rated, private=private, seed=seed,
        guest=guest, ruleset=ruleset, terms=terms,
    )  # fmt: skip


class PlayedMatch:
    """A match as its commands make it: the state, all events so far, the clock, and the orders of its seats."""

    def __init__(self, create: CreateMatch | None = None) -> None:
        self.name = create.match if create else "m"
        self.now = T0
        self.events: list[Event] = []
        self.orders: dict[int, ConditionalMoves] = {}
        self._state: MatchState | None = None
        self.do(create or creation())

    @classmethod
    def recorded(cls, events: list[Event]) -> "PlayedMatch":
        """Return the match that ``events`` make, whoever decided them."""
        match = cls()
        match.now, match.events, match._state = events[-1].at, events, replay(match.name, events)
        return match

    @property
    def state(self) -> MatchState:
        assert self._state is not None
        return self._state

    def do(self, command: Command, at: int | None = None) -> tuple[Event, ...]:
        """Carry ``command`` out a second after the last one, or ``at`` an instant; return what happened."""
        self.now = self.now + 1000 if at is None else at
        decision = decide(self._state, command, self.now, self.orders, fresh_seed=str(1000 + len(self.events)))
        for event in decision.events:
            self._state = evolve(self._state, event, self.name)
        assert decision.state == self._state, "the match that a decision returns is not what its events make"
        self.events += decision.events
        return decision.events

    def move(self, player: str, *moves: str) -> tuple[Event, ...]:
        """Play ``moves`` for ``player``; return what the last one caused."""
        happened: tuple[Event, ...] = ()
        for move in moves:
            happened = self.do(SubmitMove(player=player, move=move))
        return happened

    def legal_moves(self) -> list[str]:
        game, position = find_ruleset(self.state.game, self.state.ruleset), self.state.play.position
        return [game.format_move(position, move) for move in game.legal_moves(position)]


def started(terms: Terms = STANDARD) -> PlayedMatch:
    """Return a rated Bashni match of alice (White) and bob (Black) that has just started."""
    match = PlayedMatch(creation(terms=terms))
    match.do(JoinMatch(player="bob"))
    return match


def started_by_four(terms: Terms = STANDARD, game: str = "towers", setup: str = "four-player") -> PlayedMatch:
    """Return a match of FOUR that has just started, of Towers if no other game is asked for."""
    open_seats = (Seat.taken(FOUR[0]), Seat.open(), Seat.open(), Seat.open())
    match = PlayedMatch(creation(*open_seats, creator=FOUR[0], game=game, setup=setup, terms=terms))
    for player in FOUR[1:]:
        match.do(JoinMatch(player=player))
    return match
