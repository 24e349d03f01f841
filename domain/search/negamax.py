"""Alpha-beta search of one seat against all others, over the contract of a game.

With two seats this is plain negamax. With more the others are taken for one side that wants the searching seat to do
badly; but between two moves of that seat only one of them may choose against it, the rest play the move that the game
orders first (best-reply search, in the form BRS+ of Esser, Gras, Winands, Schadd and Lanctot 2013). Were all of them
to conspire (paranoid search), nearly everything would look lost. A side may move several times running, so a value
changes its sign with the side, not with the ply.

The search deepens iteratively and spends a budget of nodes to the last one. It prunes with null windows (principal
variation search), a table of positions, killer moves and the history of refutations; late moves are tried a ply less
deep. Compulsory moves do not count as depth, and on the horizon the noisy moves of the game are played out.

Python's order of hashes reaches no result: sets and tables are only asked, never walked through.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from domain.game import Game, M, P
from domain.search.values import UNDECIDED, WIN, clamp_evaluation, is_won, seen_from, value_of_scores

T = TypeVar("T")

INFINITE: Final = WIN + 1
HORIZON: Final = 24
"""What a line may spend beyond its depth; a compulsory move costs 1, one that could be declined costs TACTIC."""
TACTIC: Final = 6

REPLIES: Final = 3
"""So many moves of the kinds that a game never lists are looked at as an answer to a move of the root."""

FOLLOWED: Final = 6
"""So many of those among the moves of the root are looked at beyond the first ply."""

EARLY: Final = 4
"""So many moves of a position are looked at in full depth; later ones must first show promise a ply less deep."""

EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = -1


class Candidate(NamedTuple, Generic[T]):
    """A move of the root and the whim that is added to its value while neither side has certainly won.

    ``rare`` are the moves of kinds that are never listed: only the best of them are followed beyond the first ply.
    """

    move: T
    whim: int
    rare: bool = False


class Found(NamedTuple, Generic[T]):
    """The best move, its value for the searching seat without whim, the depth completed and the nodes visited."""

    move: T
    value: int
    depth: int
    nodes: int


class Entry(NamedTuple, Generic[T]):
    """What the table knows of a position: a value seen from there, its kind, and the move that gave it."""

    depth: int
    kind: int
    value: int
    move: T | None


class Exhausted(Exception):
    """The budget of nodes is spent."""


class Search(Generic[P, M]):
    """One search: made for a position, used once. The table is bounded by the budget, one entry a node at most."""

    def __init__(self, game: Game[P, M], seat: int, seats: int, history: Iterable[P], nodes: int) -> None:
        self.game = game
        self.seat = seat
        self.crowded = seats > 2
        self.budget = nodes
        self.nodes = 0
        self.longest = 0
        self.line: set[Hashable] = {game.key(position) for position in history}
        self.table: dict[Hashable, Entry[M]] = {}
        self.killers: dict[int, M] = {}
        self.refutations: dict[M, int] = {}
        self.replies: dict[P, list[M]] = {}

    def best(self, position: P, candidates: Sequence[Candidate[M]], depth: int) -> Found[M]:
        """Return the best of ``candidates``, at least one, after looking at most ``depth`` plies ahead.

        When the budget ends within an iteration, the moves it has completed count: its first is the best of the
        iteration before, and another one has to beat that at the same depth.
        """
        side = self._side(position)
        self.line.add(self.game.key(position))
        ranked = list(candidates)
        found = Found(ranked[0].move, side * self._evaluate(position, side), 0, 0)
        for iteration in range(1, depth + 1):
            self.longest = 2 * iteration + 2
            answers = self.crowded and side < 0
            results: list[tuple[int, Candidate[M]]] = []
            best_total = -INFINITE
            best_value = -INFINITE
            best_move = ranked[0].move
            try:
                for candidate in ranked:
                    # Only a value that beats the best with this candidate's whim on top need be exact.
                    floor = best_total if abs(best_total) > UNDECIDED else best_total - candidate.whim
                    value = self._reply(position, candidate.move, side, iteration - 1, floor, INFINITE, 1, answers)
                    total = value if abs(value) > UNDECIDED else value + candidate.whim
                    results.append((total, candidate))
                    if total > best_total:
                        best_total, best_value, best_move = total, value, candidate.move
            except Exhausted:
                if results:
                    found = Found(best_move, side * best_value, found.depth, self.nodes)
                break
            found = Found(best_move, side * best_value, iteration, self.nodes)
            if is_won(abs(best_value)):
                break
            results.sort(key=lambda result: -result[0])
            ranked = [candidate for _, candidate in results]
            rare = [candidate for candidate in ranked if candidate.rare][FOLLOWED:]
            ranked = [candidate for candidate in ranked if candidate not in rare]
        return found._replace(nodes=self.nodes)

    def _side(self, position: P) -> int:
        return 1 if self.game.to_move(position) == self.seat else -1

    def _evaluate(self, position: P, side: int) -> int:
        return side * clamp_evaluation(self.game.evaluate(position, self.seat))

    def _reply(
        self, position: P, move: M, side: int, depth: int, alpha: int, beta: int, ply: int, answered: bool
    ) -> int:
        """Return the value of ``move`` for the side that plays it."""
        after = self.game.play(position, move)
        if self._side(after) == side:
            return self._search(after, side, depth, alpha, beta, ply, answered)
        return -self._search(after, -side, depth, -beta, -alpha, ply, answered)

    def _search(self, position: P, side: int, depth: int, alpha: int, beta: int, ply: int, answered: bool) -> int:
        """Return the value of ``position`` for the side to move: exact between ``alpha`` and ``beta``, else a bound.

        ``answered`` tells that one of several opponents has already chosen its move against the searching seat.
        """
        if self.nodes >= self.budget:
            raise Exhausted
        self.nodes += 1
        game = self.game
        key = game.key(position)
        if key in self.line:
            # Once is enough: what can be had a second time can be had a third time.
            repeated = game.fast_outcome(position, (position, position))
            if repeated is not None:
                return side * value_of_scores(repeated.scores, self.seat, ply)
        slot = (key, answered) if self.crowded else key
        entry = self.table.get(slot)
        if entry is not None and entry.depth >= depth:
            value = seen_from(entry.value, ply)
            if entry.kind == EXACT or (value >= beta if entry.kind == AT_LEAST else value <= alpha):
                return value
        if depth <= 0:
            value = self._settle(position, side, alpha, beta, ply, HORIZON)
            kind = AT_MOST if value <= alpha else AT_LEAST if value >= beta else EXACT
            self.table[slot] = Entry(0, kind, seen_from(value, -ply), None)
            return value

        noisy_moves, declinable = game.noisy_moves(position)
        forced = [] if declinable else list(noisy_moves)
        moves = forced or list(game.legal_moves(position))
        if ply == 1:
            moves += self._rare_replies(position)
        if not moves:
            return self._settle(position, side, alpha, beta, ply, 0)
        moves = game.order(position, moves)
        rest = depth if forced and ply < self.longest else depth - 1
        usual = moves[0]
        if answered and side < 0:
            del moves[1:]
        self._promote(moves, ply, entry.move if entry is not None else None)

        added = key not in self.line
        self.line.add(key)
        floor = alpha
        best = -INFINITE
        best_move: M | None = None
        for number, move in enumerate(moves):
            answers = self.crowded and side < 0 and (answered or move != usual)
            if number == 0:
                value = self._reply(position, move, side, rest, alpha, beta, ply + 1, answers)
            else:
                late = number >= EARLY and depth >= 3 and declinable
                value = self._reply(position, move, side, rest - late, alpha, alpha + 1, ply + 1, answers)
                if value > alpha and (late or value < beta):
                    value = self._reply(position, move, side, rest, alpha, beta, ply + 1, answers)
            if value > best:
                best, best_move = value, move
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        self.killers[ply] = move
                        self.refutations[move] = self.refutations.get(move, 0) + depth * depth
                        break
        if added:
            self.line.discard(key)
        kind = AT_MOST if best <= floor else AT_LEAST if best >= beta else EXACT
        self.table[slot] = Entry(depth, kind, seen_from(best, -ply), best_move)
        return best

    def _settle(self, position: P, side: int, alpha: int, beta: int, ply: int, left: int) -> int:
        """Return the value of ``position`` for the side to move once its noisy moves have been played out."""
        game = self.game
        outcome = game.fast_outcome(position, ())
        if outcome is not None:
            return side * value_of_scores(outcome.scores, self.seat, ply)
        moves, declinable = game.noisy_moves(position)
        best = -INFINITE
        if declinable or left <= 0:
            best = self._evaluate(position, side)
            if best >= beta or left <= 0:
                return best
            alpha = max(alpha, best)
        ordered = game.order(position, moves)
        if not ordered:
            return self._evaluate(position, side)
        if declinable:
            # The further from the horizon, the fewer: where everything can be taken, exchanges have no end.
            del ordered[max(1, left // TACTIC) :]
        for move in ordered:
            if self.nodes >= self.budget:
                raise Exhausted
            self.nodes += 1
            after = game.play(position, move)
            spent = left - (TACTIC if declinable else 1)
            if self._side(after) == side:
                value = self._settle(after, side, alpha, beta, ply + 1, spent)
            else:
                value = -self._settle(after, -side, -beta, -alpha, ply + 1, spent)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best

    def _rare_replies(self, position: P) -> list[M]:
        """Return the moves of the kinds that are never listed by which a move of the root may be answered."""
        known = self.replies.get(position)
        if known is None:
            known = self.replies[position] = self.game.candidates(position, REPLIES)
        return known

    def _promote(self, moves: list[M], ply: int, known: M | None) -> None:
        """Put the moves that have refuted most before the others, the killer of this ply and the known move first."""
        refutations = self.refutations
        moves.sort(key=lambda move: -refutations.get(move, 0))
        for move in (self.killers.get(ply), known):
            if move is not None and move in moves:
                moves.remove(move)
                moves.insert(0, move)
