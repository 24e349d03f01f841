"""What the people of a simulated year do in their matches: moves, lines, offers, gifts, claims, and staying away."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from domain.match import commands as c
from domain.match.clock import forecast, left
from domain.match.enums import Channel, FlagRule, Status
from domain.match.guards import seats_playing
from domain.match.lines import Lines, Orders, laid_down
from domain.match.positions import to_move
from domain.match.refusals import Refused
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, MINUTE
from domain.match.timekeeping import FORGIVABLE_FOR
from tests.simulation.people import Person
from tests.simulation.random_play import lines_for, move_for
from tests.simulation.server import House, NobodyHome
from workers.opponents import answer, debts_of


class Laid(NamedTuple):
    """Lines that ``seat`` has laid down in ``match`` when it was at ``version``."""

    match: str
    seat: int
    version: int
    lines: Lines


class Players:
    """All people of a year, at ``house``. ``counted`` is what they did and what they were refused."""

    def __init__(self, house: House, people: Sequence[Person], random: Random) -> None:
        self._house = house
        self._people = {person.id: person for person in people}
        self._random = random
        self._visits: dict[tuple[str, str], int] = {}
        self._deserted: set[tuple[str, str]] = set()
        self.counted: Counter[str] = Counter()
        self.laid: list[Laid] = []

    def changed(self, match: str) -> None:
        """Let everybody who has a part in ``match`` decide when to look at it."""
        state = self._house.state(match)
        if debts_of(state):
            self._house.at(self._house.now + self._within(10 * MINUTE), lambda: self._ask_opponents(match))
        for seat, taken in enumerate(state.seats):
            if taken.player is not None and taken.level is None:
                self._plan(state, seat, taken.player)

    def later(self, player: str, delay: int, match: str, act: Callable[[str, str], None]) -> None:
        """Let ``player`` do something about ``match``, awake and not away, that many milliseconds from now or later."""

        def attempt() -> None:
            try:
                act(match, player)
            except NobodyHome as away:
                self.counted["came while the server was away"] += 1
                self._house.at(self._people[player].up(away.until + self._within(3 * HOUR)), attempt)

        self._house.at(self._people[player].up(self._house.now + delay), attempt)

    def do(self, match: str, player: str, command: c.Command) -> bool:
        """Carry ``command`` out for ``player``; return whether that was possible. Raises NobodyHome."""
        try:
            self._house.execute(match, command, player)
        except Refused as refused:
            self.counted[f"refused: {refused.code}"] += 1
            return False
        self.counted[type(command).__name__] += 1
        return True

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _within(self, span: int) -> int:
        return int(self._random.random() * span)

    def _pace(self, player: str) -> int:
        return int(self._random.expovariate(1 / self._people[player].pace))

    def _plan(self, state: MatchState, seat: int, player: str) -> None:
        if state.status == Status.FINISHED and state.fallen is not None and state.fallen.seat != seat:
            if self._chance(0.4):
                self.later(player, self._within(FORGIVABLE_FOR), state.match, self._forgive)
        elif state.status == Status.PLAYING and state.clock is not None and seat in seats_playing(state):
            expected = forecast(state.clock)
            by_claim = state.clock.terms.flag == FlagRule.CLAIM and expected is not None and expected.seat != seat
            if by_claim and expected is not None and expected.at is not None and self._chance(0.7):
                self.later(player, expected.at - self._house.now + self._pace(player), state.match, self._claim)
            if _owes_something(state, seat) or self._chance(0.12):
                self._come(state.match, player, self._pace(player))

    def _come(self, match: str, player: str, delay: int) -> None:
        """Let ``player`` visit ``match`` once, at the earliest of all instants that were thought of."""
        at = self._people[player].up(self._house.now + delay)
        if self._visits.get((match, player), at) >= at:
            self._visits[match, player] = at
            self.later(player, delay, match, lambda match, player: self._visit(match, player, at))

    def _visit(self, match: str, player: str, planned: int) -> None:
        if self._visits.get((match, player)) != planned:
            return
        state = self._house.state(match)
        seat = state.seat_of(player)
        cares = (match, player) not in self._deserted
        if cares and state.status == Status.PLAYING and seat is not None and seat in seats_playing(state):
            self._look(state, seat, player)
        self._visits.pop((match, player), None)

    def _look(self, state: MatchState, seat: int, player: str) -> None:
        match = state.match
        if state.takeback is not None and seat not in state.takeback.agreed:
            self.do(match, player, (c.AcceptTakeback if self._chance(0.6) else c.DeclineTakeback)(player=player))
        elif state.draw_agreed and seat not in state.draw_agreed and self._chance(0.6):
            self.do(match, player, (c.AcceptDraw if self._chance(0.4) else c.DeclineDraw)(player=player))
        elif to_move(state) == seat:
            self._take_turn(state, seat, player)
        else:
            self._meanwhile(state, seat, player)

    def _take_turn(self, state: MatchState, seat: int, player: str) -> None:
        match = state.match
        tired = state.plies * 2 > self._people[player].stamina * len(state.seats)
        if self._chance(0.2 if tired else 0.002):
            self.do(match, player, c.Resign(player=player))
        elif self._chance(0.006):
            self._deserted.add((match, player))
            self.counted["walked off"] += 1
        else:
            if self._chance(0.05):
                self._lay_lines(match, seat, player)
            channel = Channel.WEB if self._chance(0.7) else Channel.API
            move = c.SubmitMove(
                player=player, move=move_for(state, self._random), channel=channel, offer_draw=self._chance(0.03)
            )
            if self.do(match, player, move) and self._chance(0.3):
                self._meanwhile(self._house.state(match), seat, player)

    def _meanwhile(self, state: MatchState, seat: int, player: str) -> None:
        """Do something that needs no turn: lay lines down most of the time."""
        if state.status != Status.PLAYING or state.clock is None:
            return
        running = state.clock.seat
        if self._chance(0.7):
            self._lay_lines(state.match, seat, player)
        elif self._chance(0.3):
            self.do(state.match, player, c.RequestTakeback(player=player))
        elif self._chance(0.2):
            self.do(state.match, player, c.OfferDraw(player=player))
        elif running is not None and running != seat and left(state.clock, running, self._house.now) < 2 * DAY:
            self.do(
                state.match, player, c.GiveTime(player=player, seat=running, time=self._random.randint(1, 72) * HOUR)
            )

    def _lay_lines(self, match: str, seat: int, player: str) -> None:
        def arrange(state: MatchState, orders: Orders) -> Orders:
            playing = state.status == Status.PLAYING
            lines = lines_for(state, seat, self._random) if playing and self._chance(0.95) else ()
            return laid_down(state, player, orders, lines, None, self._house.now)

        try:
            loaded = self._house.lay_down(match, player, arrange)
        except Refused as refused:
            self.counted[f"refused: {refused.code}"] += 1
            return
        lines = loaded.orders[seat].lines if seat in loaded.orders else None
        if lines is not None:
            self.counted["lines laid down"] += 1
            self.laid.append(Laid(match, seat, loaded.head.version, lines))

    def _claim(self, match: str, player: str) -> None:
        state = self._house.state(match)
        expected = forecast(state.clock) if state.clock is not None else None
        if expected is not None and expected.at is not None and expected.at <= self._house.now:
            self.do(match, player, c.CallTime(player=player))

    def _forgive(self, match: str, player: str) -> None:
        fallen = self._house.state(match).fallen
        if not self.do(match, player, c.ForgiveFlag(player=player)) or fallen is None:
            return
        saved = self._house.state(match).seats[fallen.seat].player
        if saved in self._people and self._chance(0.8):
            self._deserted.discard((match, saved))
            self._come(match, saved, HOUR)

    def _ask_opponents(self, match: str) -> None:
        if self._house.idle_until is not None:
            self._house.at(self._house.idle_until + MINUTE, lambda: self._ask_opponents(match))
        elif answer(self._house.parts, match) is not None:
            self.counted["opponents answered"] += 1


def _owes_something(state: MatchState, seat: int) -> bool:
    """Tell whether ``seat`` is to move or has an offer or a request to answer."""
    asked = state.takeback is not None and seat not in state.takeback.agreed
    offered = bool(state.draw_agreed) and seat not in state.draw_agreed
    return to_move(state) == seat or asked or offered


def seats_of(players: Sequence[str], random: Random) -> tuple[Seat, ...]:
    """Return seats in the order of ``players``, the first of whom has taken his; the others are invited or awaited."""
    others = [Seat.open() if random.random() < 0.6 else Seat.invited(player) for player in players[1:]]
    return (Seat.taken(players[0]), *others)
