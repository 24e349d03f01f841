"""The opponents' answers: the move of an opponent whose turn it is, and its answer to a draw offer."""

from collections.abc import Callable
from typing import NamedTuple

from domain.match.commands import AcceptDraw, Command, DeclineDraw, SubmitMove
from domain.match.enums import Channel
from domain.match.opponents import move_of, takes_draw
from domain.match.positions import to_move as seat_to_move
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.search import ENGINE_VERSION, node_budget, seed_for
from domain.search.budgets import MAX_SHORT_LEVEL, thinks_long
from events.matches import thoughts
from events.matches.match_service import MatchService
from events.matches.matches import Executed, Loaded, Matches, UnknownMatchError
from events.matches.readmodels.summary import draw_answers_owed
from events.matches.thoughts import Thought
from events.runtime.origin import current
from events.runtime.queues import Queue
from events.runtime.work_list import Repeats, WorkList
from events.store.contract import Request, StaleVersionError

QUICK, SLOW, LONG = "quick", "slow", "long"
"""The lanes of the matches that wait for an opponent: cheap answers and searches of minutes have processes reserved."""

OPPONENTS = {QUICK: Queue.QUICK_OPPONENTS, SLOW: Queue.OPPONENTS, LONG: Queue.LONG_OPPONENTS}
"""The queue of each lane: its tasks are hints that a match waits there."""

MAX_QUICK_NODES = 1_400
"""An answer whose search may visit more positions than this waits in the slow lane."""

MAX_ATTEMPTS = 5
_ANY = ""
"""The fingerprint of an answer: its key alone says which one it is, whichever engine computed it."""


class Debt(NamedTuple):
    """The debt of an opponent to a match: its seat, player id and level, and whether it is a draw answer or a move."""

    seat: int
    player: str
    level: int
    draw: bool


FindMove = Callable[[Debt, Loaded], SubmitMove]
"""Finds the move that an opponent owes to a match as it stands."""


def debts_of(state: MatchState) -> list[Debt]:
    """Return the debts of opponents to the match, the most urgent first: answers to a draw offer, then the move."""
    to_move = seat_to_move(state)
    if to_move is None or state.cases.frozen:
        return []
    owing = [*((seat, True) for seat in draw_answers_owed(state)), (to_move, False)]
    return [
        Debt(number, seat.player, seat.level, draw)
        for number, draw in owing
        if (seat := state.seats[number]).player is not None and seat.level is not None
    ]


def lane_of(debt: Debt) -> str:
    """Return the lane in which a debt waits; draws are answered without long thought."""
    if thinks_long(debt.level) and not debt.draw:
        return LONG
    return QUICK if node_budget("", min(debt.level, MAX_SHORT_LEVEL)) <= MAX_QUICK_NODES else SLOW


class Opponents(NamedTuple):
    """The machine players of an installation; in ``turns`` matches wait for their answers."""

    matches: Matches
    match_service: MatchService
    turns: WorkList
    now: Callable[[], int]

    def add_turn(self, match_id: str) -> str | None:
        """Let a match wait for the opponent that owes it an answer; return the lane, None when nothing is owed.

        Each answer costs the creator of the match the nodes that its search may visit. Raises as ``Matches.load``.
        Crash-safe: the owed answer is read off the match; the sweeper adds answers that are not in the list.
        """
        state = self.matches.load(match_id).state
        debt = next(iter(debts_of(state)), None)
        if debt is None:
            return None
        lane, now, origin = lane_of(debt), self.now(), str(current())
        if lane == LONG:
            self._add_long_turn(match_id, state, debt.level)
        else:
            nodes = node_budget(state.game, min(debt.level, MAX_SHORT_LEVEL))
            self.turns.add(match_id, state.creator, now, origin, lane=lane, cost=nodes, repeats=Repeats.AGAIN)
        return lane

    def _add_long_turn(self, match_id: str, state: MatchState, level: int) -> None:
        add, owner, now, origin = self.turns.add, state.creator, self.now(), str(current())
        entry, order, thought = thoughts.search_entry(match_id), thoughts.order_of(state, now), Thought(origin)
        cost = node_budget(state.game, level)
        add(entry, owner, order, thoughts.packed(thought), lane=LONG, cost=cost, repeats=Repeats.AGAIN)
        urgent_at = thoughts.urgent_at(state)
        if urgent_at is not None:
            entry, cost = thoughts.urgent_entry(match_id), node_budget(state.game, MAX_SHORT_LEVEL)
            add(entry, owner, urgent_at, origin, lane=SLOW, cost=cost, repeats=Repeats.MOVED)

    def answer(self, match_id: str, lane: str | None = None, find_move: FindMove | None = None) -> Executed | None:
        """Do the one thing that an opponent owes the match next; return the result, None when nothing is owed.

        With a ``lane`` only if it belongs there. ``find_move`` None searches with the whole budget of the level.
        Crash-safe: nothing is stored between load and append. The answer is bound to its version, and a move carries
        its ply as request key, so two tasks make one move. Raises DamagedStreamError, UndecodableEventError, and as
        ``evolve``.
        """
        computed: dict[str, SubmitMove] = {}
        for _ in range(MAX_ATTEMPTS):
            try:
                loaded = self.matches.load(match_id)
            except UnknownMatchError:
                return None
            state = loaded.state
            debts = debts_of(state)
            if lane is not None and debts and lane_of(debts[0]) != lane:
                return None
            for debt in debts:
                command, key = _answer_to(debt, loaded, find_move or search, computed)
                try:
                    return self.match_service.execute(
                        match_id, command, debt.player, Request(key, _ANY), loaded.head.tag
                    )
                except StaleVersionError:
                    # Something else happened meanwhile, a draw offer perhaps; the position may still be the same.
                    break
                except (CommandError, UnknownMatchError):
                    # A seat that has no say any more: whatever else is owed must not wait for it.
                    continue
            else:
                return None
        # Changes that never end cause events, and each of them requests the opponent again.
        return None

    def answer_urgently(self, match_id: str) -> Executed | None:
        """Find the move of an opponent that thinks for long with the nodes of a short search, if its flag is near.

        Raises as ``answer``.
        """

        def find_move(debt: Debt, loaded: Loaded) -> SubmitMove:
            return search(debt, loaded, node_budget(loaded.state.game, min(debt.level, MAX_SHORT_LEVEL)))

        try:
            urgent_at = thoughts.urgent_at(self.matches.load(match_id).state)
        except UnknownMatchError:
            return None
        # Of a later turn than the one for which the entry was added, another entry is due later.
        if urgent_at is None or self.now() < urgent_at:
            return None
        return self.answer(match_id, find_move=find_move)


def search(
    debt: Debt, loaded: Loaded, nodes: int | None = None, on_progress: Callable[[int], None] | None = None
) -> SubmitMove:
    """Return the move of the opponent in ``debt``, found with at most ``nodes`` (None: the budget of its level)."""
    state = loaded.state
    seed = seed_for(state.seed, len(state.play.moves) + 1)
    budget = node_budget(state.game, debt.level) if nodes is None else nodes
    return submission(debt, loaded, move_of(state, debt.level, seed, budget, on_progress), budget)


def submission(debt: Debt, loaded: Loaded, move: str, nodes: int) -> SubmitMove:
    """Return the command that plays ``move``, found with a budget of ``nodes``."""
    state = loaded.state
    return SubmitMove(
        player=debt.player,
        move=move,
        level=debt.level,
        seed=seed_for(state.seed, len(state.play.moves) + 1),
        engine=str(ENGINE_VERSION),
        nodes=nodes,
        channel=Channel.OPPONENT,
    )


def basis_of(loaded: Loaded) -> str:
    """Return the basis of the next move of a match: the moves so far, the seed of the match, its ruleset, the engine.

    Moves may be taken back, or lost with the end of the stream: then another position follows as many plies, and a move
    that was computed for the one before must not be played in it.
    """
    state = loaded.state
    return thoughts.basis_of_move(state.play.moves, state.seed, state.ruleset, ENGINE_VERSION)


def _answer_to(debt: Debt, loaded: Loaded, find_move: FindMove, computed: dict[str, SubmitMove]) -> tuple[Command, str]:
    """Return the command that pays ``debt`` and its request key; moves are remembered in ``computed``."""
    state = loaded.state
    if debt.draw:
        return _draw_answer(state, debt), f"opponent:draw:{loaded.head.tag}"
    basis = basis_of(loaded)
    if basis not in computed:
        computed[basis] = find_move(debt, loaded)
    return computed[basis], f"opponent:{len(state.play.moves) + 1}:{state.play.taken_back}"


def _draw_answer(state: MatchState, debt: Debt) -> AcceptDraw | DeclineDraw:
    nodes = node_budget(state.game, min(debt.level, MAX_SHORT_LEVEL))
    answer = AcceptDraw if takes_draw(state, debt.seat, nodes) else DeclineDraw
    return answer(player=debt.player, engine=str(ENGINE_VERSION), nodes=nodes)
