"""Alpha-beta search of one seat against all others, over the contract of a game.

With two seats this is plain negamax. With more seats the others count as one side that minimizes the value of the
searching seat; between two moves of that seat, however, only one of them may choose its move against it, and the rest
play the move that the game orders first (best-reply search, in the form BRS+ of Esser, Gras, Winands, Schadd and
Lanctot 2013). If all of them were to conspire (paranoid search), nearly every position would look lost. A side may move
several times in a row, so a value changes its sign with the side, not with the ply.

The search deepens iteratively and spends its node budget completely. It prunes with null windows (principal variation
search), a transposition table, killer moves and a history heuristic; late moves are reduced by a ply. Compulsory moves
do not count as depth, and a quiescence search plays out the noisy moves at the horizon.

The results do not depend on Python's order of hashes: sets and tables are only queried, never iterated over.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from domain.game import Game, M, P

WIN = 1_000_000
"""The value of winning the whole point now. Every ply until then costs one, so that shorter wins are better."""

MAX_EVALUATION = 100_000
"""The largest evaluation of an undecided position; values beyond it come from the end of a game."""


def value_of_scores(scores: Sequence[float], seat: int, ply: int) -> int:
    """Return the worth to ``seat`` of an end with ``scores``, ``ply`` plies ahead.

    An equal share of the points is worth 0, the whole point WIN, everything between in proportion: half a win for
    3/4 of the point between two seats, a third of a defeat for nothing among four of whom one wins all.
    """
    share = sum(scores) / len(scores)
    if share >= 1:
        return 0
    value = round(WIN * (scores[seat] - share) / (1 - share))
    return value - ply if value > 0 else value + ply if value < 0 else 0


def clamp_evaluation(value: int) -> int:
    """Return ``value`` limited to the range of evaluations."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, value))


def is_won(value: int) -> bool:
    """Return whether ``value`` is a certain win of the whole point."""
    return value > WIN - MAX_EVALUATION


def adjusted_for_ply(value: int, plies: int) -> int:
    """Return ``value`` as seen ``plies`` plies earlier (later when negative): only the ends of games change."""
    if value > MAX_EVALUATION:
        return value - plies
    if value < -MAX_EVALUATION:
        return value + plies
    return value


T = TypeVar("T")

INFINITE: Final = WIN + 1
QUIESCENCE_BUDGET: Final = 24
"""The extension of a line beyond its depth: 1 for each compulsory move, DECLINABLE_COST for every other one."""
DECLINABLE_COST: Final = 6

MAX_UNLISTED_REPLIES: Final = 3
"""Moves of the kinds that a game never lists, searched as replies to a root move."""

MAX_UNLISTED_FOLLOWED: Final = 6
"""Root moves of the kinds that a game never lists, searched beyond the first ply."""

FULL_DEPTH_MOVES: Final = 4
"""Moves of a position that are searched to full depth; later ones are reduced by a ply until they raise alpha."""

EXACT: Final = 0
LOWER_BOUND: Final = 1
UPPER_BOUND: Final = -1


class RootMove(NamedTuple, Generic[T]):
    """A move of the root and the noise that is added to its value unless the value is a certain win or loss.

    ``unlisted`` marks kinds that the game never lists: only the best of them are followed beyond the first ply.
    """

    move: T
    noise: int
    unlisted: bool = False


class Choice(NamedTuple, Generic[T]):
    """A chosen move, its value for the searching seat without noise, the depth completed and the nodes visited.

    The value is in hundredths of the smallest piece; beyond ``values.MAX_EVALUATION`` it is the end of the game.
    """

    move: T
    value: int
    depth: int
    nodes: int


class TableEntry(NamedTuple, Generic[T]):
    """An entry of the transposition table: depth, kind of bound, value seen from the position, and the best move."""

    depth: int
    bound: int
    value: int
    move: T | None


class NodeLimitError(Exception):
    """The node budget is spent."""


class Search(Generic[P, M]):
    """One search: made for a position, used once. The table has at most one entry for each node of the budget."""

    def __init__(self, game: Game[P, M], seat: int, seats: int, history: Iterable[P], node_limit: int) -> None:
        self.game = game
        self.seat = seat
        self.multiplayer = seats > 2
        self.node_limit = node_limit
        self.nodes = 0
        self.max_extended_ply = 0
        self.path: set[Hashable] = {game.key(position) for position in history}
        self.table: dict[Hashable, TableEntry[M]] = {}
        self.killers: dict[int, M] = {}
        self.history_scores: dict[M, int] = {}
        self.unlisted_replies: dict[P, list[M]] = {}

    def best(self, position: P, root_moves: Sequence[RootMove[M]], depth: int) -> Choice[M]:
        """Return the best of ``root_moves``, at least one, after looking at most ``depth`` plies ahead.

        When the budget ends within an iteration, the moves that it has completed count: the first of them is the best
        move of the iteration before, and another one has to beat it at the same depth.
        """
        side = self._side(position)
        self.path.add(self.game.key(position))
        ranked = list(root_moves)
        choice = Choice(ranked[0].move, side * self._evaluate(position, side), 0, 0)
        for iteration in range(1, depth + 1):
            results, completed = self._search_root(position, ranked, side, iteration)
            if results:
                _, value, best = results[0]
                choice = Choice(best.move, side * value, iteration if completed else choice.depth, self.nodes)
            if not completed or is_won(abs(choice.value)):
                break
            ranked = [root_move for _, _, root_move in results]
            dropped = [root_move for root_move in ranked if root_move.unlisted][MAX_UNLISTED_FOLLOWED:]
            ranked = [root_move for root_move in ranked if root_move not in dropped]
        return choice._replace(nodes=self.nodes)

    def _search_root(
        self, position: P, root_moves: Sequence[RootMove[M]], side: int, depth: int
    ) -> tuple[list[tuple[int, int, RootMove[M]]], bool]:
        """Return value with noise, value and move of each root move, the best first, and whether all were searched."""
        self.max_extended_ply = 2 * depth + 2
        results: list[tuple[int, int, RootMove[M]]] = []
        best_total = -INFINITE
        try:
            for root_move in root_moves:
                # Only a value that beats the best with this move's noise on top need be exact.
                alpha = best_total if abs(best_total) > MAX_EVALUATION else best_total - root_move.noise
                replied = self.multiplayer and side < 0
                value = self._search_move(position, root_move.move, side, depth - 1, alpha, INFINITE, 1, replied)
                total = value if abs(value) > MAX_EVALUATION else value + root_move.noise
                results.append((total, value, root_move))
                best_total = max(best_total, total)
            completed = True
        except NodeLimitError:
            completed = False
        results.sort(key=lambda result: -result[0])
        return results, completed

    def _side(self, position: P) -> int:
        """Return 1 when the searching seat is to move, -1 when another one is."""
        return 1 if self.game.to_move(position) == self.seat else -1

    def _evaluate(self, position: P, side: int) -> int:
        return side * clamp_evaluation(self.game.evaluate(position, self.seat))

    def _search_move(
        self, position: P, move: M, side: int, depth: int, alpha: int, beta: int, ply: int, replied: bool
    ) -> int:
        """Return the value of ``move`` for the side that plays it."""
        after = self.game.play(position, move)
        if self._side(after) == side:
            return self._search(after, side, depth, alpha, beta, ply, replied)
        return -self._search(after, -side, depth, -beta, -alpha, ply, replied)

    def _search(self, position: P, side: int, depth: int, alpha: int, beta: int, ply: int, replied: bool) -> int:
        """Return the value of ``position`` for the side to move: exact between ``alpha`` and ``beta``, else a bound.

        ``replied`` tells that one of several opponents has already chosen its move against the searching seat.
        """
        if self.nodes >= self.node_limit:
            raise NodeLimitError
        self.nodes += 1
        key = self.game.key(position)
        if key in self.path:
            # One repetition is enough: a position that can be repeated once can be repeated twice.
            outcome = self.game.fast_outcome(position, (position, position))
            if outcome is not None:
                return side * value_of_scores(outcome.scores, self.seat, ply)
        slot = (key, replied) if self.multiplayer else key
        entry = self.table.get(slot)
        if entry is not None and entry.depth >= depth:
            known = _value_within(entry, alpha, beta, ply)
            if known is not None:
                return known
        if depth <= 0:
            value = self._quiescence(position, side, alpha, beta, ply, QUIESCENCE_BUDGET)
            self._store(slot, 0, value, alpha, beta, ply, None)
            return value

        moves, forced, declinable = self._ordered_moves(position, ply)
        if not moves:
            return self._quiescence(position, side, alpha, beta, ply, 0)
        rest = depth if forced and ply < self.max_extended_ply else depth - 1
        expected = moves[0]
        if replied and side < 0:
            del moves[1:]
        self._promote(moves, ply, entry.move if entry is not None else None)

        added = key not in self.path
        self.path.add(key)
        floor = alpha
        best = -INFINITE
        best_move: M | None = None
        for number, move in enumerate(moves):
            replies = self.multiplayer and side < 0 and (replied or move != expected)
            if number == 0:
                value = self._search_move(position, move, side, rest, alpha, beta, ply + 1, replies)
            else:
                reduced = number >= FULL_DEPTH_MOVES and depth >= 3 and declinable
                value = self._search_move(position, move, side, rest - reduced, alpha, alpha + 1, ply + 1, replies)
                if value > alpha and (reduced or value < beta):
                    value = self._search_move(position, move, side, rest, alpha, beta, ply + 1, replies)
            if value > best:
                best, best_move = value, move
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        self.killers[ply] = move
                        self.history_scores[move] = self.history_scores.get(move, 0) + depth * depth
                        break
        if added:
            self.path.discard(key)
        self._store(slot, depth, best, floor, beta, ply, best_move)
        return best

    def _ordered_moves(self, position: P, ply: int) -> tuple[list[M], bool, bool]:
        """Return the moves in order, whether they are forced (compulsory and noisy), and whether any is declinable."""
        noisy, declinable = self.game.noisy_moves(position)
        forced = [] if declinable else list(noisy)
        moves = forced or list(self.game.legal_moves(position))
        is_forced = bool(forced)
        if ply == 1:
            moves += self._unlisted_replies(position)
        return self.game.order(position, moves) if moves else moves, is_forced, declinable

    def _unlisted_replies(self, position: P) -> list[M]:
        """Return the moves of the kinds that are never listed which are searched as replies to a root move."""
        known = self.unlisted_replies.get(position)
        if known is None:
            known = self.unlisted_replies[position] = self.game.unlisted_candidates(position, MAX_UNLISTED_REPLIES)
        return known

    def _promote(self, moves: list[M], ply: int, table_move: M | None) -> None:
        """Sort ``moves`` by the history heuristic, the table's move and the killer of this ply before all others."""
        history_scores = self.history_scores
        moves.sort(key=lambda move: -history_scores.get(move, 0))
        for move in (self.killers.get(ply), table_move):
            if move is not None and move in moves:
                moves.remove(move)
                moves.insert(0, move)

    def _store(self, slot: Hashable, depth: int, value: int, alpha: int, beta: int, ply: int, move: M | None) -> None:
        bound = UPPER_BOUND if value <= alpha else LOWER_BOUND if value >= beta else EXACT
        self.table[slot] = TableEntry(depth, bound, adjusted_for_ply(value, -ply), move)

    def _quiescence(self, position: P, side: int, alpha: int, beta: int, ply: int, budget: int) -> int:
        """Return the value of ``position`` for the side to move once its noisy moves have been played out."""
        game = self.game
        outcome = game.fast_outcome(position, ())
        if outcome is not None:
            return side * value_of_scores(outcome.scores, self.seat, ply)
        moves, declinable = game.noisy_moves(position)
        best = -INFINITE
        if declinable or budget <= 0:
            best = self._evaluate(position, side)
            if best >= beta or budget <= 0:
                return best
            alpha = max(alpha, best)
        ordered = game.order(position, moves)
        if not ordered:
            return self._evaluate(position, side)
        if declinable:
            # The further from the horizon, the fewer: where everything can be captured, exchanges do not end.
            del ordered[max(1, budget // DECLINABLE_COST) :]
        rest = budget - (DECLINABLE_COST if declinable else 1)
        for move in ordered:
            if self.nodes >= self.node_limit:
                raise NodeLimitError
            self.nodes += 1
            after = game.play(position, move)
            if self._side(after) == side:
                value = self._quiescence(after, side, alpha, beta, ply + 1, rest)
            else:
                value = -self._quiescence(after, -side, -beta, -alpha, ply + 1, rest)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best


def _value_within(entry: TableEntry[T], alpha: int, beta: int, ply: int) -> int | None:
    """Return the value of a table entry where it decides the window of ``alpha`` and ``beta``, else None."""
    value = adjusted_for_ply(entry.value, ply)
    if entry.bound == EXACT or (value >= beta if entry.bound == LOWER_BOUND else value <= alpha):
        return value
    return None
