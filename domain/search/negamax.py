"""Search of a game tree: the best move that can be found within a budget of nodes.

It works on any game through the contract. Values are those of two sides: the seat that searches and all others. In a
game of two seats that is minimax. Of more than two, each of the others plays for the worst evaluation of the searching
seat; between two moves of that seat, however, only one of them may choose its move against it, and the rest play the
move that looks best (best-reply search, in the form BRS+ of Esser, Gras, Winands, Schadd and Lanctot 2013). If all of
them were to conspire (paranoid search), nearly every position would look lost. A side may move several times in a row,
so a value changes its sign with the side, not with the ply.

The search deepens iteratively and spends its node budget completely. It prunes with null windows (principal variation
search) and a transposition table; ``ordering`` says which moves come first, and late quiet moves are searched less deep
(late move reductions). Compulsory moves do not count as depth, and a quiescence search plays out the noisy moves at the
horizon.

The results do not depend on Python's order of hashes: sets and tables are queried, or iterated over as they were built.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

from domain.game import NOISY_GAIN, Game, M, P
from domain.search.contract_position import ContractPosition
from domain.search.ordering import BY_WEIGHT, QUIET, Ordering
from domain.search.table import EXACT, Table
from domain.search.values import MAX_EVALUATION, WIN, clamp_evaluation, is_won, value_of_scores
from domain.search_position import SearchPosition

T = TypeVar("T")

INFINITE: Final = WIN + 1
QUIESCENCE_BUDGET: Final = 24
"""The extension of a line beyond its depth: 1 for each forced move, NOISY_COST for every other one."""
NOISY_COST: Final = 6

MAX_UNLISTED_REPLIES: Final = 3
"""Moves of the kinds that a game never lists, searched as replies to a root move."""

MAX_UNLISTED_FOLLOWED: Final = 6
"""Root moves of the kinds that a game never lists, searched beyond the first ply."""

MAX_LINE_PLIES: Final = 32

PROGRESS_NODES: Final = 1024
"""Nodes between two reports of progress."""

FULL_DEPTH_MOVES: Final = 4
"""Moves of a position that are searched to full depth; later quiet ones are reduced until they raise alpha."""

MARGIN: Final = 250
"""The most, in hundredths of the smallest piece, that a quiet move next to the horizon is expected to gain."""


def reduction(depth: int, number: int) -> int:
    """Return by how many plies move ``number`` (from 0) of a position, a quiet one, is searched less deep.

    Reductions from depth 2 on, or growing with logarithms, lost games in Bashni, where quiet moves offer sacrifices.
    """
    if depth < 3 or number < FULL_DEPTH_MOVES:
        return 0
    return 2 if depth >= 6 and number >= 4 * FULL_DEPTH_MOVES else 1


class RootMove(NamedTuple, Generic[T]):
    """A move of the root and the noise that is added to its value unless the value is a certain win or loss.

    ``unlisted`` marks kinds that the game never lists: only the best of them are followed beyond the first ply.
    ``exact`` marks moves whose value is to be exact even where another move is better.
    """

    move: T
    noise: int
    unlisted: bool = False
    exact: bool = False


class Choice(NamedTuple, Generic[T]):
    """A chosen move, its value for the searching seat without noise, the depth completed and the nodes visited.

    The value is in hundredths of the smallest piece; beyond ``values.MAX_EVALUATION`` it is the end of the game.
    """

    move: T
    value: int
    depth: int
    nodes: int


class RootResult(NamedTuple, Generic[T]):
    """Value with noise, and value, of a root move for the side that plays it; exact or an upper bound."""

    total: int
    value: int
    root_move: RootMove[T]


class Iteration(NamedTuple, Generic[T]):
    """The root moves searched ``depth`` plies deep, the best first, and whether these are all."""

    depth: int
    results: list[RootResult[T]]
    completed: bool


class NodeLimitError(Exception):
    """The node budget is spent."""


class Search(Generic[P, M]):
    """One search: made for a position, used once. ``on_progress`` gets the nodes visited, every PROGRESS_NODES."""

    def __init__(
        self,
        game: Game[P, M],
        seat: int,
        seats: int,
        history: Iterable[P],
        node_limit: int,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        self.game = game
        self.seat = seat
        self.multiplayer = seats > 2
        self.node_limit = node_limit
        self.on_progress = on_progress
        self.nodes = 0
        self.pause_at = 0
        self.max_extended_ply = 0
        self.path: set[Hashable] = {self._search_position(position).key() for position in history}
        self.table: Table[M] = Table()
        self.ordering: Ordering[M] = Ordering()
        self.unlisted_replies: dict[M, list[M]] = {}

    def best(self, position: P, root_moves: Sequence[RootMove[M]], depth: int) -> Choice[M]:
        """Return the best of ``root_moves``, at least one, after looking at most ``depth`` plies ahead.

        When the budget ends within an iteration, the moves that it has completed count: the first of them is the best
        move of the iteration before, and another one has to beat it at the same depth.
        """
        root = self._search_position(position)
        choice = Choice(root_moves[0].move, clamp_evaluation(root.evaluate(self.seat)), 0, 0)
        for iteration in self.iterations(position, root_moves, depth):
            if iteration.results:
                best = iteration.results[0]
                completed = iteration.depth if iteration.completed else choice.depth
                choice = Choice(best.root_move.move, self._side(root) * best.value, completed, self.nodes)
        return choice._replace(nodes=self.nodes)

    def iterations(self, position: P, root_moves: Sequence[RootMove[M]], depth: int) -> Iterator[Iteration[M]]:
        """Search ``root_moves`` one ply deeper each time, up to ``depth``, a certain win or the end of the budget."""
        root = self._search_position(position)
        self.path.add(root.key())
        ranked = list(root_moves)
        for plies in range(1, depth + 1):
            iteration = self._search_root(root, ranked, plies)
            yield iteration
            if not iteration.completed or is_won(abs(iteration.results[0].value)):
                return
            ranked = [result.root_move for result in iteration.results]
            dropped = [root_move for root_move in ranked if root_move.unlisted][MAX_UNLISTED_FOLLOWED:]
            ranked = [root_move for root_move in ranked if root_move not in dropped or root_move.exact]
            # Moves whose values are wanted come early, so that the best of the others has only to beat them.
            best = ranked[0]
            ranked.sort(key=lambda root_move, best=best: root_move is not best and not root_move.exact)  # type: ignore[misc]

    def limit_nodes(self, node_limit: int) -> None:
        """Change the node budget."""
        self.node_limit = self.pause_at = node_limit

    def line(self, position: P, move: M) -> tuple[M, ...]:
        """Return ``move`` and the best play that the search has seen after it, as far as its table still has it."""
        before = self._search_position(position)
        line = [move]
        seen = {before.key()}
        after = before.play(move)
        while (key := after.key()) not in seen and len(line) < MAX_LINE_PLIES:
            seen.add(key)
            slots = ((key, False), (key, True)) if self.multiplayer else (key,)
            entries = [entry for entry in map(self.table.get, slots) if entry is not None]
            reply = next((entry.move for entry in entries if entry.bound == EXACT), None)
            if reply is None:
                break
            line.append(reply)
            after = after.play(reply)
        return tuple(line)

    def _search_position(self, position: P) -> SearchPosition[M]:
        return self.game.search_position(position) or ContractPosition(self.game, position)

    def _search_root(self, root: SearchPosition[M], root_moves: Sequence[RootMove[M]], depth: int) -> Iteration[M]:
        self.max_extended_ply = 2 * depth + 2
        self.ordering.age()
        side = self._side(root)
        replied = self.multiplayer and side < 0
        results: list[RootResult[M]] = []
        best_total = -INFINITE
        completed = True
        try:
            for root_move in root_moves:
                # Only a value that beats the best with this move's noise on top need be exact.
                alpha = best_total if abs(best_total) > MAX_EVALUATION else best_total - root_move.noise
                value = alpha + 1
                if results and not root_move.exact:
                    value = self._search_move(root, root_move.move, side, depth - 1, alpha, alpha + 1, 1, replied)
                if value > alpha:
                    floor = -INFINITE if root_move.exact else alpha
                    value = self._search_move(root, root_move.move, side, depth - 1, floor, INFINITE, 1, replied)
                total = value if abs(value) > MAX_EVALUATION else value + root_move.noise
                results.append(RootResult(total, value, root_move))
                best_total = max(best_total, total)
        except NodeLimitError:
            completed = False
        results.sort(key=itemgetter(0), reverse=True)
        return Iteration(depth, results, completed)

    def _side(self, position: SearchPosition[M]) -> int:
        """Return 1 when the searching seat is to move, -1 when another one is."""
        return 1 if position.side == self.seat else -1

    def _evaluate(self, position: SearchPosition[M], side: int) -> int:
        return side * clamp_evaluation(position.evaluate(self.seat))

    def _visit(self) -> None:
        """Count a node, report progress when it is time, and raise NodeLimitError when the budget is spent."""
        if self.nodes >= self.pause_at:
            if self.nodes >= self.node_limit:
                raise NodeLimitError
            if self.on_progress is not None and self.nodes:
                self.on_progress(self.nodes)
            self.pause_at = min(self.node_limit, self.nodes + PROGRESS_NODES)
        self.nodes += 1

    def _search_move(
        self,
        position: SearchPosition[M],
        move: M,
        side: int,
        depth: int,
        alpha: int,
        beta: int,
        ply: int,
        replied: bool,
    ) -> int:
        """Return the value of ``move`` for the side that plays it."""
        after = position.play(move)
        if self._side(after) == side:
            return self._search(after, side, depth, alpha, beta, ply, replied, move)
        return -self._search(after, -side, depth, -beta, -alpha, ply, replied, move)

    def _search(
        self,
        position: SearchPosition[M],
        side: int,
        depth: int,
        alpha: int,
        beta: int,
        ply: int,
        replied: bool,
        previous: M,
    ) -> int:
        """Return the value of ``position`` for the side to move: exact between ``alpha`` and ``beta``, else a bound.

        ``replied`` tells that one of several opponents has already chosen its move against the searching seat,
        ``previous`` is the move that led here.
        """
        self._visit()
        key = position.key()
        # One repetition is enough: a position that can be repeated once can be repeated twice.
        if key in self.path and (outcome := position.outcome(repeated=True)) is not None:
            return side * value_of_scores(outcome.scores, self.seat, ply, self.game.place_worth)
        slot = (key, replied) if self.multiplayer else key
        entry = self.table.get(slot)
        if entry is not None and (value := entry.value_within(depth, alpha, beta, ply)) is not None:
            return value
        if depth <= 0:
            value = self._quiescence(position, side, alpha, beta, ply, QUIESCENCE_BUDGET)
            self.table.store(slot, 0, value, alpha, beta, ply, None)
            return value

        moves = position.legal_moves()
        if ply == 1:
            moves += self._unlisted_replies(position, previous)
        if not moves:
            return self._quiescence(position, side, alpha, beta, ply, 0)
        forced = position.is_forced()
        rest = depth if forced and ply < self.max_extended_ply else depth - 1
        gains = position.gains(moves)
        ranked = self.ordering.rank(moves, gains, ply, previous, None if entry is None else entry.move)
        expected: M | None = None
        if self.multiplayer and side < 0:
            expected = position.expected_move(moves, gains)
            ranked = [(0, expected)] if replied else ranked

        # Next to the horizon no quiet move is expected to make up for more than the margin.
        hope = INFINITE
        if depth == 1 and not forced and -MAX_EVALUATION <= alpha <= MAX_EVALUATION:
            hope = self._evaluate(position, side) + MARGIN

        added = key not in self.path
        self.path.add(key)
        floor = alpha
        best = -INFINITE
        best_move: M | None = None
        for number, (weight, move) in enumerate(ranked):
            if hope <= alpha and weight < QUIET and number:
                best = max(best, hope)
                break
            replies = self.multiplayer and side < 0 and (replied or move != expected)
            if number == 0:
                value = self._search_move(position, move, side, rest, alpha, beta, ply + 1, replies)
            else:
                reduced = 0 if forced or weight >= QUIET else reduction(depth, number)
                value = self._search_move(position, move, side, rest - reduced, alpha, alpha + 1, ply + 1, replies)
                if value > alpha and (reduced or value < beta):
                    value = self._search_move(position, move, side, rest, alpha, beta, ply + 1, replies)
            if value > best:
                best, best_move = value, move
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        self.ordering.reward(ranked, number, depth, ply, previous)
                        break
        if added:
            self.path.discard(key)
        self.table.store(slot, depth, best, floor, beta, ply, best_move)
        return best

    def _unlisted_replies(self, position: SearchPosition[M], root_move: M) -> list[M]:
        """Return the moves of the kinds that are never listed which are searched as replies to a root move."""
        replies = self.unlisted_replies.get(root_move)
        if replies is None:
            replies = position.unlisted_candidates(MAX_UNLISTED_REPLIES)
            self.unlisted_replies[root_move] = replies
        return replies

    def _quiescence(self, position: SearchPosition[M], side: int, alpha: int, beta: int, ply: int, budget: int) -> int:
        """Return the value of ``position`` for the side to move once its noisy moves have been played out."""
        outcome = position.outcome(repeated=False)
        if outcome is not None:
            return side * value_of_scores(outcome.scores, self.seat, ply, self.game.place_worth)
        forced = budget > 0 and position.is_forced()
        static = self._evaluate(position, side)
        best = -INFINITE
        if not forced:
            best = static
            if best >= beta or budget <= 0:
                return best
            alpha = max(alpha, best)
        moves = position.legal_moves() if forced else position.noisy_moves()
        if not moves:
            return static
        gains = position.gains(moves)
        ranked = [(gains[number], move) for number, move in enumerate(moves)]
        if len(ranked) > 1:
            ranked.sort(key=BY_WEIGHT, reverse=True)
        if not forced:
            # The further from the horizon, the fewer: where everything can be captured, exchanges do not end.
            del ranked[max(1, budget // NOISY_COST) :]
        rest = budget - (1 if forced else NOISY_COST)
        for gain, move in ranked:
            hope = static + MARGIN + max(0, gain - NOISY_GAIN)
            if hope <= alpha and -MAX_EVALUATION <= alpha <= MAX_EVALUATION:
                best = max(best, hope)
                break
            self._visit()
            after = position.play(move)
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
