"""Cases of a simulated year: players dispute, arbiters freeze, rule and are appealed against, all kinds of rulings."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from random import Random

from domain.match import commands as c
from domain.match.enums import Ground, RulingKind, Status
from domain.match.refusals import Refused
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR
from tests.simulation.server import House, NobodyHome

ARBITERS = ("arbiter-0", "arbiter-1")
"""The second one rules on appeals."""

SHARE = 0.08
"""Of the matches, while they are played and again when they are over."""


class Cases:
    """All cases of a year, at ``house``. ``counted`` is what happened how often, ``said`` every word said in one."""

    def __init__(self, house: House, random: Random, counted: Counter[str]) -> None:
        self._house = house
        self._random = random
        self._counted = counted
        self._looked_at: set[tuple[str, str]] = set()
        self._open: dict[str, tuple[int, bool]] = {}
        self.said: list[str] = []

    def changed(self, match: str) -> None:
        """Let ``match`` come to be disputed now and then, while it is played or once it is over."""
        state = self._house.state(match)
        self._judge(state)
        if (state.status == Status.PLAYING and state.plies >= 4) or state.status == Status.FINISHED:
            if (match, state.status) not in self._looked_at and self._random.random() < SHARE:
                self._later(5 * DAY, lambda: self._dispute(match))
            self._looked_at.add((match, state.status))

    def _judge(self, state: MatchState) -> None:
        """See to it that an open case is stated, sometimes frozen or let go on, and ruled on."""
        case = state.open_case
        place = None if case is None else (case.number, case.appealed)
        if case is None or self._open.get(state.match) == place:
            return
        self._open[state.match] = case.number, case.appealed
        match, arbiter = state.match, ARBITERS[case.appealed]
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        for player in people:
            if self._random.random() < 0.5:
                self._later(DAY, partial(self._state, match, player))
        if self._random.random() < 0.5:
            frozen = not state.frozen
            self._later(2 * DAY, lambda: self._do(match, arbiter, c.Freeze(arbiter=arbiter, frozen=frozen)))
        self._later(8 * DAY, lambda: self._rule(match, arbiter))

    def _state(self, match: str, player: str) -> None:
        self._do(match, player, c.FileStatement(player=player, statement=self._statement(match, player)))

    def _dispute(self, match: str) -> None:
        state = self._house.state(match)
        if state.open_case is not None or state.status not in (Status.PLAYING, Status.FINISHED):
            return
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        ground, ply = self._random.choice(list(Ground)), self._random.randint(0, state.plies)
        if self._random.random() < 0.2:
            arbiter = ARBITERS[0]
            self._do(
                match,
                arbiter,
                c.OpenCase(arbiter=arbiter, ply=ply, ground=ground, statement=self._statement(match, arbiter)),
            )
        else:
            player = self._random.choice(people)
            self._do(
                match,
                player,
                c.RaiseDispute(player=player, ply=ply, ground=ground, statement=self._statement(match, player)),
            )

    def _rule(self, match: str, arbiter: str) -> None:
        state = self._house.state(match)
        if state.open_case is None:
            return
        ruling = RulingKind.RESTORE if state.annulled is not None else self._random.choice(self._rulings(state))
        rule = c.Rule(
            arbiter=arbiter, ruling=ruling, reason=self._statement(match, arbiter), rule=self._statement(match, arbiter)
        )
        if ruling == RulingKind.TAKE_BACK:
            rule = replace(rule, ply=max(0, state.plies - self._random.randint(1, 6)))
        elif ruling == RulingKind.ADJUST_CLOCKS:
            rule = replace(rule, remaining=tuple(self._random.randint(1, 5) * DAY for _ in state.seats))
        elif ruling == RulingKind.DECIDE:
            winner = self._random.randrange(len(state.seats))
            rule = replace(rule, scores=tuple(float(seat == winner) for seat in range(len(state.seats))))
        if not self._do(match, arbiter, rule):
            self._do(match, arbiter, self._let_stand(match, arbiter))
        again = self._house.state(match)
        if self._random.random() < (0.7 if again.annulled is not None else 0.3):
            people = [seat.player for seat in again.seats if seat.player is not None and seat.level is None]
            player = self._random.choice(people)
            self._later(
                6 * DAY,
                lambda: self._do(match, player, c.Appeal(player=player, statement=self._statement(match, player))),
            )

    def _rulings(self, state: MatchState) -> list[RulingKind]:
        if state.status == Status.PLAYING:
            return [
                RulingKind.LET_STAND,
                RulingKind.TAKE_BACK,
                RulingKind.ADJUST_CLOCKS,
                RulingKind.DECIDE,
                RulingKind.ANNUL,
            ]
        ground = state.open_case.ground if state.open_case is not None else ""
        return (
            [RulingKind.LET_STAND, RulingKind.ANNUL, RulingKind.ANNUL]
            if ground == Ground.CONDUCT
            else [RulingKind.LET_STAND, RulingKind.TAKE_BACK, RulingKind.DECIDE, RulingKind.ANNUL, RulingKind.ANNUL]
        )

    def _let_stand(self, match: str, arbiter: str) -> c.Rule:
        return c.Rule(
            arbiter=arbiter,
            ruling=RulingKind.LET_STAND,
            reason=self._statement(match, arbiter),
            rule=self._statement(match, arbiter),
        )

    def _statement(self, match: str, author: str) -> str:
        """Return the digest of what ``author`` says, as the event has it; the salt is the number of all said so far."""
        text = f"{author} says in {match} that it was not so, for the {len(self.said)}th time"
        self.said.append(text)
        return sha256(text.encode()).hexdigest()

    def _do(self, match: str, actor: str, command: c.Command) -> bool:
        """Carry ``command`` out, or do so when the server is back; return False when it was refused."""
        try:
            self._house.execute(match, command, actor)
        except NobodyHome as away:
            self._house.at(away.until + HOUR, lambda: self._repeat(match, actor, command))
            return True
        except Refused as refused:
            self._counted[f"refused: {refused.code}"] += 1
            return False
        self._counted[type(command).__name__] += 1
        return True

    def _repeat(self, match: str, actor: str, command: c.Command) -> None:
        if not self._do(match, actor, command) and isinstance(command, c.Rule):
            self._do(match, actor, self._let_stand(match, command.arbiter))

    def _later(self, span: int, act: Callable[[], object]) -> None:
        def happen() -> None:
            act()

        self._house.at(self._house.now + HOUR + int(self._random.random() * span), happen)
