"""The answers of opponents that think for minutes: searches in a process of low priority, one after the other.

A search notes in its entry of the work list when it is expected to end, and goes on only while its move is wanted.
Crash-safe: a search that was killed begins again when its lease ends. It chooses the same move with the same nodes.
"""

import gc
import time
from collections.abc import Callable
from typing import NamedTuple

import structlog

from domain.match.commands import SubmitMove
from domain.search import node_budget
from domain.search.budgets import MAX_SHORT_LEVEL, MAX_THINKING_S, pace_of
from events.matches import thoughts
from events.matches.matches import Executed, Loaded, UnknownMatchError
from events.matches.thoughts import Thought
from events.runtime import beats
from events.runtime.errors import StoreError
from events.runtime.work_list import Claim
from events.store.converter import unpack
from workers.celery_beats import LOOP
from workers.opponents import LONG, Debt, Opponents, basis_of, debts_of, lane_of, search, submission

DRAW_WAIT_MS = 2_000
"""A move waits so long for the answer to a draw offer, which is given elsewhere."""

MAX_SILENCE_S = 60.0
"""The longest time without progress of a search that does not hang."""

MIN_INTERVAL_S = 0.5

log = structlog.get_logger("worker")


class SearchEndedError(Exception):
    """The search is given up: its move is not wanted any more, or its claim is lost."""


class WorkerStopsError(Exception):
    """The search is given up because its worker stops."""


class LongThinker(NamedTuple):
    """Answers for ``opponents`` that think for minutes, until ``is_stopping``."""

    opponents: Opponents
    is_stopping: Callable[[], bool]

    def answer(self, turn: Claim) -> Executed | None:
        """Make the move for which the claimed ``turn`` waits; return the result, None when there is none.

        A worker that stops, and a draw offer that is to be answered first, leave the turn waiting. Raises as
        ``Opponents.answer``.
        """
        match_id, of = thoughts.match_of(turn.id), self.opponents
        try:
            executed = of.answer(match_id, LONG, LongSearch(of, turn, self.is_stopping).find_move)
        except SearchEndedError:
            return None
        except WorkerStopsError:
            of.turns.postpone(turn, turn.due, tried=False)
            return None
        if executed is None and self._waits_for_draw(match_id):
            of.turns.postpone(turn, of.now() + DRAW_WAIT_MS, tried=False)
        return executed

    def _waits_for_draw(self, match_id: str) -> bool:
        try:
            debts = debts_of(self.opponents.matches.load(match_id).state)
        except UnknownMatchError:
            return False
        return bool(debts) and debts[0].draw and lane_of(debts[-1]) == LONG


class LongSearch:
    """The search for a claimed turn."""

    def __init__(self, opponents: Opponents, turn: Claim, is_stopping: Callable[[], bool]) -> None:
        self._opponents = opponents
        self._turn = turn
        self._is_stopping = is_stopping
        self._thought = unpack(Thought, turn.content)
        self._interval_s = max(MIN_INTERVAL_S, opponents.turns.lease_ms / 4000)

    def find_move(self, debt: Debt, loaded: Loaded) -> SubmitMove:
        """Return the move that is owed, searched for unless the entry has it already; raises when it is given up."""
        basis = basis_of(loaded)
        if self._thought.basis != basis:
            nodes = self._affordable_nodes(debt, loaded)
            self._note_end(nodes / pace_of(loaded.state.game).nodes_per_second)
            # A search leaves no reference cycles: looking for them takes an eighth of its time.
            gc.disable()
            try:
                command = search(debt, loaded, nodes, self._watch(loaded, basis, nodes))
            finally:
                gc.enable()
            self._thought = self._thought._replace(until=0, basis=basis, move=command.move, nodes=nodes)
            self._renew()
        return submission(debt, loaded, self._thought.move, self._thought.nodes)

    def _affordable_nodes(self, debt: Debt, loaded: Loaded) -> int:
        """Return the budget of the level, or the nodes that can be searched here in time if these are fewer."""
        game, urgent_at = loaded.state.game, thoughts.urgent_at(loaded.state)
        seconds = float(MAX_THINKING_S)
        if urgent_at is not None:
            seconds = min(seconds, (urgent_at - self._opponents.now()) / 1000)
        affordable = max(round(seconds * pace_of(game).nodes_per_second), node_budget(game, MAX_SHORT_LEVEL))
        return min(node_budget(game, debt.level), affordable)

    def _watch(self, loaded: Loaded, basis: str, nodes: int) -> Callable[[int], None]:
        """Return the callback for the progress of a search."""
        begun = looked_at = time.monotonic()

        def watch(done: int) -> None:
            nonlocal looked_at
            now = time.monotonic()
            if now < looked_at + self._interval_s:
                return
            looked_at = now
            beats.beat(LOOP, extra_s=MAX_SILENCE_S)
            if self._is_stopping():
                raise WorkerStopsError
            try:
                self._note_end((nodes - done) * (now - begun) / done)
                current = self._opponents.matches.load(loaded.state.match_id)
                if basis_of(current) != basis or not debts_of(current.state):
                    raise SearchEndedError
            except UnknownMatchError:
                raise SearchEndedError from None
            except StoreError as error:
                log.warning("a search goes on without the store", error=str(error))

        return watch

    def _note_end(self, seconds: float) -> None:
        self._thought = self._thought._replace(until=self._opponents.now() + round(seconds * 1000))
        self._renew()

    def _renew(self) -> None:
        if not self._opponents.turns.renew(self._turn, thoughts.packed(self._thought)):
            raise SearchEndedError
