"""Cases of a simulated year: disputes, freezes, rulings of all kinds, and appeals."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from random import Random

from domain.match import commands as c
from domain.match.enums import Ground, RulingKind, Status
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR
from tests.simulation.server import ServerDownError, SimulatedServer

ARBITERS = ("arbiter-0", "arbiter-1", "arbiter-2")
"""The second one decides appeals."""

DISPUTE_RATE = 0.08
"""The share of matches that are disputed in play, and again of those that are over."""


class Cases:
    """All cases of a year on ``server``; ``counts`` counts what happened, ``case_texts`` has all texts of cases."""

    def __init__(self, server: SimulatedServer, random: Random, counts: Counter[str]) -> None:
        self._server = server
        self._random = random
        self._counts = counts
        self._considered: set[tuple[str, str]] = set()
        self._open: dict[str, tuple[int, bool]] = {}
        self.case_texts: list[str] = []

    def changed(self, match_id: str) -> None:
        """Sometimes have a match disputed, in play or once it is over."""
        state = self._server.state(match_id)
        self._judge(state)
        if (state.status == Status.PLAYING and state.play.plies >= 4) or state.status == Status.FINISHED:
            if (match_id, state.status) not in self._considered and self._random.random() < DISPUTE_RATE:
                self._schedule(5 * DAY, lambda: self._dispute(match_id))
            self._considered.add((match_id, state.status))

    def _judge(self, state: MatchState) -> None:
        """Plan statements, sometimes a freeze or its end, and a ruling for an open case."""
        case = state.cases.open
        place = None if case is None else (case.number, case.appealed)
        if case is None or self._open.get(state.match_id) == place:
            return
        self._open[state.match_id] = case.number, case.appealed
        match_id, arbiter = state.match_id, ARBITERS[case.appealed]
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        for player in people:
            if self._random.random() < 0.5:
                self._schedule(DAY, partial(self._state, match_id, player))
        if self._random.random() < 0.5:
            frozen = not state.cases.frozen
            self._schedule(2 * DAY, lambda: self._do(match_id, arbiter, c.Freeze(arbiter=arbiter, frozen=frozen)))
        self._schedule(8 * DAY, lambda: self._rule(match_id, arbiter))

    def _state(self, match_id: str, player: str) -> None:
        self._do(match_id, player, c.FileStatement(player=player, statement=self._statement(match_id, player)))

    def _dispute(self, match_id: str) -> None:
        state = self._server.state(match_id)
        if state.cases.open is not None or state.status not in (Status.PLAYING, Status.FINISHED):
            return
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        ground, ply = self._random.choice(list(Ground)), self._random.randint(0, state.play.plies)
        if self._random.random() < 0.2:
            arbiter = ARBITERS[2]  # who opens a case does not rule on it
            self._do(
                match_id,
                arbiter,
                c.OpenCase(arbiter=arbiter, ply=ply, ground=ground, statement=self._statement(match_id, arbiter)),
            )
        else:
            player = self._random.choice(people)
            self._do(
                match_id,
                player,
                c.RaiseDispute(player=player, ply=ply, ground=ground, statement=self._statement(match_id, player)),
            )

    def _rule(self, match_id: str, arbiter: str) -> None:
        state = self._server.state(match_id)
        if state.cases.open is None:
            return
        ruling = RulingKind.RESTORE if state.result.annulled is not None else self._random.choice(self._rulings(state))
        rule = c.Rule(
            arbiter=arbiter,
            ruling=ruling,
            reason=self._statement(match_id, arbiter),
            rule=self._statement(match_id, arbiter),
        )
        if ruling == RulingKind.TAKE_BACK:
            rule = replace(rule, ply=max(0, state.play.plies - self._random.randint(1, 6)))
        elif ruling == RulingKind.ADJUST_CLOCKS:
            rule = replace(rule, remaining=tuple(self._random.randint(1, 5) * DAY for _ in state.seats))
        elif ruling == RulingKind.DECIDE:
            winner = self._random.randrange(len(state.seats))
            rule = replace(rule, scores=tuple(float(seat == winner) for seat in range(len(state.seats))))
        if not self._do(match_id, arbiter, rule):
            self._do(match_id, arbiter, self._let_stand(match_id, arbiter))
        again = self._server.state(match_id)
        if self._random.random() < (0.7 if again.result.annulled is not None else 0.3):
            people = [seat.player for seat in again.seats if seat.player is not None and seat.level is None]
            player = self._random.choice(people)
            self._schedule(
                6 * DAY,
                lambda: self._do(
                    match_id, player, c.Appeal(player=player, statement=self._statement(match_id, player))
                ),
            )

    def _rulings(self, state: MatchState) -> list[RulingKind]:
        if state.status == Status.PLAYING:
            return [
                RulingKind.LET_STAND, RulingKind.TAKE_BACK, RulingKind.ADJUST_CLOCKS, RulingKind.DECIDE,
                RulingKind.ANNUL,
            ]  # fmt: skip
        ground = state.cases.open.ground if state.cases.open is not None else ""
        return (
            [RulingKind.LET_STAND, RulingKind.ANNUL, RulingKind.ANNUL]
            if ground == Ground.CONDUCT
            else [RulingKind.LET_STAND, RulingKind.TAKE_BACK, RulingKind.DECIDE, RulingKind.ANNUL, RulingKind.ANNUL]
        )

    def _let_stand(self, match_id: str, arbiter: str) -> c.Rule:
        return c.Rule(
            arbiter=arbiter,
            ruling=RulingKind.LET_STAND,
            reason=self._statement(match_id, arbiter),
            rule=self._statement(match_id, arbiter),
        )

    def _statement(self, match_id: str, author: str) -> str:
        """Return the digest of a text by ``author`` as the event carries it; the number of texts is its salt."""
        text = f"{author} says in {match_id} that it was not so, for the {len(self.case_texts)}th time"
        self.case_texts.append(text)
        return sha256(text.encode()).hexdigest()

    def _do(self, match_id: str, actor: str, command: c.Command) -> bool:
        """Execute ``command``, if need be when the server is back; return False when it was refused."""
        try:
            self._server.execute(match_id, command, actor)
        except ServerDownError as down:
            self._server.at(down.until + HOUR, lambda: self._repeat(match_id, actor, command))
            return True
        except CommandError as refused:
            self._counts[f"refused: {refused.code}"] += 1
            return False
        self._counts[type(command).__name__] += 1
        return True

    def _repeat(self, match_id: str, actor: str, command: c.Command) -> None:
        if not self._do(match_id, actor, command) and isinstance(command, c.Rule):
            self._do(match_id, actor, self._let_stand(match_id, command.arbiter))

    def _schedule(self, span: int, act: Callable[[], object]) -> None:
        def happen() -> None:
            act()

        self._server.at(self._server.now + HOUR + int(self._random.random() * span), happen)
