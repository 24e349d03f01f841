"""What the people of a simulated year do in their matches: moves, offers, gifts, claims, or nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from domain.match import commands as c
from domain.match.clock import forecast, left
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS
from domain.match.enums import Channel, FlagRule, Status
from domain.match.guards import seats_playing
from domain.match.lines import ConditionalMoves, Lines, laid_down
from domain.match.positions import to_move
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, MINUTE
from tests.simulation.people import Person
from tests.simulation.random_play import random_lines, random_move
from tests.simulation.server import ServerDownError, SimulatedServer
from workers.composition import make_opponents
from workers.opponents import debts_of


class LinesSet(NamedTuple):
    """The conditional moves that ``seat`` had set in ``match`` when it was at ``version``."""

    match: str
    seat: int
    version: int
    lines: Lines


class Players:
    """All people of a year on ``server``; ``counts`` counts what they did and what was refused."""

    def __init__(self, server: SimulatedServer, people: Sequence[Person], random: Random) -> None:
        self._server = server
        self._people = {person.id: person for person in people}
        self._random = random
        self._visits: dict[tuple[str, str], int] = {}
        self._abandoned: set[tuple[str, str]] = set()
        self.counts: Counter[str] = Counter()
        self.lines_set: list[LinesSet] = []

    def changed(self, match_id: str) -> None:
        """Let everyone in the match decide when to visit it."""
        state = self._server.state(match_id)
        if debts_of(state):
            self._server.at(self._server.now + self._random_span(10 * MINUTE), lambda: self._ask_opponents(match_id))
        for seat, taken in enumerate(state.seats):
            if taken.player is not None and taken.level is None:
                self._plan(state, seat, taken.player)

    def later(self, player: str, delay: int, match_id: str, act: Callable[[str, str], None]) -> None:
        """Let ``player`` act in the match when they are active, at least ``delay`` milliseconds from now."""

        def attempt() -> None:
            try:
                act(match_id, player)
            except ServerDownError as down:
                self.counts["visits while the server was down"] += 1
                self._server.at(self._people[player].next_active(down.until + self._random_span(3 * HOUR)), attempt)

        self._server.at(self._people[player].next_active(self._server.now + delay), attempt)

    def do(self, match_id: str, player: str, command: c.Command) -> bool:
        """Execute ``command`` for ``player``; return whether it was accepted. Raises ServerDownError."""
        try:
            self._server.execute(match_id, command, player)
        except CommandError as refused:
            self.counts[f"refused: {refused.code}"] += 1
            return False
        self.counts[type(command).__name__] += 1
        return True

    def _happens(self, share: float) -> bool:
        return self._random.random() < share

    def _random_span(self, span: int) -> int:
        return int(self._random.random() * span)

    def _pace(self, player: str) -> int:
        return int(self._random.expovariate(1 / self._people[player].pace))

    def _plan(self, state: MatchState, seat: int, player: str) -> None:
        if state.status == Status.FINISHED and state.result.fallen is not None and state.result.fallen.seat != seat:
            if self._happens(0.4):
                self.later(player, self._random_span(MAX_FORGIVING_MS), state.match_id, self._forgive)
        elif state.status == Status.PLAYING and state.clock is not None and seat in seats_playing(state):
            expected = forecast(state.clock)
            by_claim = state.clock.terms.flag == FlagRule.CLAIM and expected is not None and expected.seat != seat
            if by_claim and expected is not None and expected.at is not None and self._happens(0.7):
                self.later(player, expected.at - self._server.now + self._pace(player), state.match_id, self._claim)
            if _must_act(state, seat) or self._happens(0.12):
                self._schedule_visit(state.match_id, player, self._pace(player))

    def _schedule_visit(self, match_id: str, player: str, delay: int) -> None:
        """Schedule one visit of ``player`` to the match, at the earliest of all instants planned."""
        at = self._people[player].next_active(self._server.now + delay)
        if self._visits.get((match_id, player), at) >= at:
            self._visits[match_id, player] = at
            self.later(player, delay, match_id, lambda match_id, player: self._visit(match_id, player, at))

    def _visit(self, match_id: str, player: str, planned: int) -> None:
        if self._visits.get((match_id, player)) != planned:
            return
        state = self._server.state(match_id)
        seat = state.seat_of(player)
        cares = (match_id, player) not in self._abandoned
        if cares and state.status == Status.PLAYING and seat is not None and seat in seats_playing(state):
            self._look(state, seat, player)
        self._visits.pop((match_id, player), None)

    def _look(self, state: MatchState, seat: int, player: str) -> None:
        match_id = state.match_id
        if state.offers.takeback is not None and seat not in state.offers.takeback.agreed:
            self.do(match_id, player, (c.AcceptTakeback if self._happens(0.6) else c.DeclineTakeback)(player=player))
        elif state.offers.draw_agreed and seat not in state.offers.draw_agreed and self._happens(0.6):
            self.do(match_id, player, (c.AcceptDraw if self._happens(0.4) else c.DeclineDraw)(player=player))
        elif to_move(state) == seat:
            self._take_turn(state, seat, player)
        else:
            self._meanwhile(state, seat, player)

    def _take_turn(self, state: MatchState, seat: int, player: str) -> None:
        match_id = state.match_id
        tired = state.play.plies * 2 > self._people[player].stamina * len(state.seats)
        if self._happens(0.2 if tired else 0.002):
            self.do(match_id, player, c.Resign(player=player))
        elif self._happens(0.006):
            self._abandoned.add((match_id, player))
            self.counts["matches abandoned"] += 1
        else:
            if self._happens(0.05):
                self._set_lines(match_id, seat, player)
            channel = Channel.WEB if self._happens(0.7) else Channel.API
            move = c.SubmitMove(
                player=player, move=random_move(state, self._random), channel=channel, offer_draw=self._happens(0.03)
            )
            if self.do(match_id, player, move) and self._happens(0.3):
                self._meanwhile(self._server.state(match_id), seat, player)

    def _meanwhile(self, state: MatchState, seat: int, player: str) -> None:
        """Do something that needs no turn, mostly set conditional moves."""
        if state.status != Status.PLAYING or state.clock is None:
            return
        running = state.clock.seat
        if self._happens(0.7):
            self._set_lines(state.match_id, seat, player)
        elif self._happens(0.3):
            self.do(state.match_id, player, c.RequestTakeback(player=player))
        elif self._happens(0.2):
            self.do(state.match_id, player, c.OfferDraw(player=player))
        elif running is not None and running != seat and left(state.clock, running, self._server.now) < 2 * DAY:
            self.do(
                state.match_id, player, c.GiveTime(player=player, seat=running, time=self._random.randint(1, 72) * HOUR)
            )

    def _set_lines(self, match_id: str, seat: int, player: str) -> None:
        def arrange(state: MatchState, orders: ConditionalMoves) -> ConditionalMoves:
            playing = state.status == Status.PLAYING
            lines = random_lines(state, seat, self._random) if playing and self._happens(0.95) else ()
            return laid_down(state, player, orders, lines, None, self._server.now)

        try:
            loaded = self._server.lay_down(match_id, player, arrange)
        except CommandError as refused:
            self.counts[f"refused: {refused.code}"] += 1
            return
        lines = loaded.orders[seat].lines if seat in loaded.orders else None
        if lines is not None:
            self.counts["conditional moves set"] += 1
            self.lines_set.append(LinesSet(match_id, seat, loaded.head.version, lines))

    def _claim(self, match_id: str, player: str) -> None:
        state = self._server.state(match_id)
        expected = forecast(state.clock) if state.clock is not None else None
        if expected is not None and expected.at is not None and expected.at <= self._server.now:
            self.do(match_id, player, c.CallTime(player=player))

    def _forgive(self, match_id: str, player: str) -> None:
        fallen = self._server.state(match_id).result.fallen
        if not self.do(match_id, player, c.ForgiveFlag(player=player)) or fallen is None:
            return
        saved = self._server.state(match_id).seats[fallen.seat].player
        if saved in self._people and self._happens(0.8):
            self._abandoned.discard((match_id, saved))
            self._schedule_visit(match_id, saved, HOUR)

    def _ask_opponents(self, match_id: str) -> None:
        if self._server.workers_down_until is not None:
            self._server.at(self._server.workers_down_until + MINUTE, lambda: self._ask_opponents(match_id))
        elif make_opponents(self._server.parts).answer(match_id) is not None:
            self.counts["opponents' moves"] += 1


def _must_act(state: MatchState, seat: int) -> bool:
    """Return whether ``seat`` is to move or has an offer or a request to answer."""
    is_asked = state.offers.takeback is not None and seat not in state.offers.takeback.agreed
    is_offered = bool(state.offers.draw_agreed) and seat not in state.offers.draw_agreed
    return to_move(state) == seat or is_asked or is_offered


def make_seats(players: Sequence[str], random: Random) -> tuple[Seat, ...]:
    """Return seats in the order of ``players``: the first is taken, the others are open or by invitation."""
    others = [Seat.open() if random.random() < 0.6 else Seat.invited(player) for player in players[1:]]
    return (Seat.taken(players[0]), *others)
