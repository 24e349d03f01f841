"""The opponents' answers: the move of an opponent whose turn it is, and its answer to a draw offer."""

from collections.abc import Callable
from typing import NamedTuple

from domain.match.commands import AcceptDraw, Command, DeclineDraw, SubmitMove
from domain.match.enums import Channel
from domain.match.opponents import move_of, takes_draw
from domain.match.positions import to_move as seat_to_move
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.search import ENGINE_VERSION, LEVELS, seed_for
from events.matches.match_service import MatchService
from events.matches.matches import Executed, Matches, UnknownMatchError
from events.matches.readmodels.summary import draw_answers_owed
from events.runtime.origin import current
from events.runtime.queues import Queue
from events.runtime.work_list import Repeats, WorkList
from events.store.contract import Head, Request, StaleVersionError

QUICK, SLOW = "quick", "slow"
"""The lanes of the matches that wait for an opponent: a process is reserved for cheap answers."""

OPPONENTS = {QUICK: Queue.QUICK_OPPONENTS, SLOW: Queue.OPPONENTS}
"""The queue of each lane: its tasks are hints that a match waits there."""

MAX_QUICK_NODES = 1000
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


class SearchBasis(NamedTuple):
    """The basis of the move of an opponent: the moves so far, the seed of the match, its ruleset."""

    moves: tuple[str, ...]
    seed: str
    ruleset: int


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


def lane_of(level: int) -> str:
    """Return the lane in which the answers of an opponent of ``level`` wait."""
    return QUICK if LEVELS[level].nodes <= MAX_QUICK_NODES else SLOW


class Opponents(NamedTuple):
    """The machine players of an installation; in ``turns`` matches wait for their answers."""

    matches: Matches
    match_service: MatchService
    turns: WorkList
    now: Callable[[], int]

    def add_turn(self, match_id: str) -> str | None:
        """Let a match wait for the opponent that owes it an answer; return the lane, None when nothing is owed.

        Each answer costs the creator of the match the nodes that its search may visit. Raises what ``Matches.load``
        raises. Crash-safe: the owed answer is read off the match; the sweeper adds answers that are not in the list.
        """
        state = self.matches.load(match_id).state
        debt = next(iter(debts_of(state)), None)
        if debt is None:
            return None
        lane, nodes, now = lane_of(debt.level), LEVELS[debt.level].nodes, self.now()
        self.turns.add(match_id, state.creator, now, str(current()), lane=lane, cost=nodes, repeats=Repeats.AGAIN)
        return lane

    def answer(self, match_id: str, lane: str | None = None) -> Executed | None:
        """Do the one thing that an opponent owes the match next; return the result, None when nothing is owed.

        With a ``lane`` only if it belongs there. Crash-safe: nothing is stored between load and append. The answer is
        bound to its version, and a move carries its ply as request key, so two tasks make one move. Raises
        DamagedStreamError, UndecodableEventError and what ``evolve`` raises.
        """
        computed: dict[SearchBasis, SubmitMove] = {}
        for _ in range(MAX_ATTEMPTS):
            try:
                loaded = self.matches.load(match_id)
            except UnknownMatchError:
                return None
            state = loaded.state
            debts = debts_of(state)
            if lane is not None and debts and lane_of(debts[0].level) != lane:
                return None
            for debt in debts:
                command, key = _answer_to(debt, state, loaded.head, computed)
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
        # What changes the match all the time causes events, and each of them requests the opponent again.
        return None


def _answer_to(
    debt: Debt, state: MatchState, head: Head, computed: dict[SearchBasis, SubmitMove]
) -> tuple[Command, str]:
    """Return the command that pays ``debt`` and its request key; moves are remembered in ``computed``."""
    if debt.draw:
        return _draw_answer(state, debt), f"opponent:draw:{head.tag}"
    # Moves may be taken back, or lost with the end of the stream: then another position follows as many plies, and
    # a move that was computed for the one before must not be played in it.
    basis, ply = SearchBasis(tuple(state.play.moves), state.seed, state.ruleset), len(state.play.moves) + 1
    if basis not in computed:
        computed[basis] = _move(state, debt, ply)
    return computed[basis], f"opponent:{ply}:{state.play.taken_back}"


def _move(state: MatchState, debt: Debt, ply: int) -> SubmitMove:
    seed, nodes = seed_for(state.seed, ply), LEVELS[debt.level].nodes
    return SubmitMove(
        player=debt.player,
        move=move_of(state, debt.level, seed, nodes),
        level=debt.level,
        seed=seed,
        engine=str(ENGINE_VERSION),
        nodes=nodes,
        channel=Channel.OPPONENT,
    )


def _draw_answer(state: MatchState, debt: Debt) -> AcceptDraw | DeclineDraw:
    nodes = LEVELS[debt.level].nodes
    answer = AcceptDraw if takes_draw(state, debt.seat, nodes) else DeclineDraw
    return answer(player=debt.player, engine=str(ENGINE_VERSION), nodes=nodes)
