"""Proofs of wins: depth-first proof-number search (df-pn; Nagai 2002) for games of two seats, through the contract.

A position has a proof number and a disproof number: the least number of positions that must yet be won, or not won, to
decide it. The search follows the line that is nearest to a proof, however long it is, and so sees narrow wins far
beyond the horizon of the ordinary search: forced captures in Bashni, mating attacks with checks.

Only wins are claimed. A repetition counts as not won, on the path on which it occurs: no result that depends on it is
kept for other paths (the graph-history interaction problem). A proof is then replayed by the rules, with every reply,
before it is returned; so it is sound whatever the search has mixed up.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple

from domain.game import Game, M, P
from domain.search.negamax import PROGRESS_NODES

INFINITE: Final = 1 << 40
MAX_PROOF_PLIES: Final = 150
MAX_ENTRIES: Final = 30_000
"""Positions of a generation of the table, two of which are kept: within 32 MB."""

MAX_EXPANSIONS: Final = 500
"""Positions of which the following ones are kept."""

FREE_PROOF_NUMBER: Final = 4
"""The first proof number of a position with free replies; one with forced replies, to a check or a capture, has 1."""


class Numbers(NamedTuple):
    """Proof and disproof number of a position, and the plies to the win once it is proven."""

    proof: int
    disproof: int
    plies: int = 0


DISPROVEN: Final = Numbers(INFINITE, 0)


class ProvenWin(NamedTuple, Generic[P, M]):
    """A win by force: the line of the longest resistance, the winner's answer to every position, the nodes visited."""

    line: tuple[M, ...]
    answers: Mapping[P, M]
    nodes: int


class NotProvenError(Exception):
    """The nodes are spent, or the supposed win is none."""


def prove(
    game: Game[P, M], position: P, history: Iterable[P], nodes: int, on_progress: Callable[[int], None] | None = None
) -> ProvenWin[P, M] | None:
    """Return a proof that the seat to move wins, or None when ``nodes`` nodes do not suffice to find one.

    ``history`` is the earlier positions of the game; going back to one of them counts as not won. ``on_progress`` is as
    in ``choose``. Where an opponent has moves that the game does not list, nothing is claimed. Deterministic.
    """
    earlier = list(history)
    if game.seats_at(position) != 2 or game.outcome(position, earlier) is not None:
        return None
    search = _ProofSearch(game, game.to_move(position), earlier, nodes, on_progress)
    try:
        answers = search.winning_answers(position)
        line = verify(game, position, earlier, answers, search.visit)
    except NotProvenError:
        return None
    return ProvenWin(line, answers, search.nodes)


def verify(
    game: Game[P, M],
    position: P,
    history: Sequence[P],
    answers: Mapping[P, M],
    visit: Callable[[], None] = lambda: None,
) -> tuple[M, ...]:
    """Return the longest line after the seat to move plays ``answers`` against every reply, by the rules alone.

    ``visit`` is called for each position. Raises NotProvenError when a line does not end in a win.
    """
    seat = game.to_move(position)
    path = list(history)

    def longest(position: P) -> tuple[M, ...]:
        visit()
        outcome = game.outcome(position, path)
        if outcome is not None:
            if outcome.scores[seat] < 1:
                raise NotProvenError
            return ()
        if len(path) - len(history) >= MAX_PROOF_PLIES:
            raise NotProvenError
        moves: Iterable[M]
        if game.to_move(position) == seat:
            if position not in answers or not game.is_legal(position, answers[position]):
                raise NotProvenError
            moves = (answers[position],)
        else:
            if game.any_unlisted_move(position) is not None:
                raise NotProvenError
            moves = game.legal_moves(position)
        path.append(position)
        lines = [(move, *longest(game.play(position, move))) for move in moves]
        path.pop()
        return max(lines, key=len)

    return longest(position)


class _ProofSearch(Generic[P, M]):
    """One search for a win of ``seat``. Positions are told apart by all their fields, counters of moves included."""

    def __init__(
        self,
        game: Game[P, M],
        seat: int,
        history: Iterable[P],
        node_limit: int,
        on_progress: Callable[[int], None] | None,
    ) -> None:
        self.game = game
        self.seat = seat
        self.node_limit = node_limit
        self.on_progress = on_progress
        self.nodes = 0
        self.path: set[Hashable] = {game.key(position) for position in history}
        self.expansions: dict[P, tuple[list[P], list[Hashable]]] = {}
        self.young: dict[P, Numbers] = {}
        self.old: dict[P, Numbers] = {}

    def visit(self) -> None:
        """Count a node; raises NotProvenError when there is none left."""
        if self.nodes >= self.node_limit:
            raise NotProvenError
        self.nodes += 1
        if self.on_progress is not None and self.nodes % PROGRESS_NODES == 0:
            self.on_progress(self.nodes)

    def winning_answers(self, root: P) -> dict[P, M]:
        """Return a winning move for each position that the seat may come to; raises NotProvenError.

        The plies to the win fall with every move, so that no line goes in circles.
        """
        answers: dict[P, M] = {}
        unanswered = [root]
        settled = set(unanswered)
        while unanswered:
            position = unanswered.pop()
            # Results that the table has lost are found again.
            if not self._is_proven(position) and self._search(position, INFINITE, INFINITE, 0)[0].proof:
                raise NotProvenError
            children = self._children(position)
            if self.game.to_move(position) == self.seat:
                proven = [pair for pair in children if self._is_proven(pair[1])]
                if not proven:
                    raise NotProvenError
                answer = min(proven, key=lambda pair: self._numbers(pair[1]).plies)
                answers[position] = answer[0]
                children = [answer]
            for _, child in children:
                if child not in settled and self.game.fast_outcome(child, ()) is None:
                    settled.add(child)
                    unanswered.append(child)
        return answers

    def _is_proven(self, position: P) -> bool:
        return self._numbers(position).proof == 0

    def _numbers(self, position: P) -> Numbers:
        return self.young.get(position) or self.old.get(position) or self._first_numbers(position)

    def _store(self, position: P, numbers: Numbers) -> None:
        self.young[position] = numbers
        if len(self.young) >= MAX_ENTRIES:
            self.young, self.old = {}, self.young

    def _first_numbers(self, position: P) -> Numbers:
        self.visit()
        game = self.game
        outcome = game.fast_outcome(position, ())
        if outcome is not None:
            numbers = Numbers(0, INFINITE) if outcome.scores[self.seat] >= 1 else DISPROVEN
        elif game.to_move(position) == self.seat or game.is_forced(position):
            numbers = Numbers(1, 1)
        else:
            numbers = Numbers(FREE_PROOF_NUMBER, 1)
        self._store(position, numbers)
        return numbers

    def _children(self, position: P) -> list[tuple[M, P]]:
        return [(move, self.game.play(position, move)) for move in self.game.legal_moves(position)]

    def _expand(self, position: P) -> tuple[list[P], list[Hashable]]:
        """Return the positions that follow and their keys; they are kept for a while, for the search returns often."""
        expansion = self.expansions.get(position)
        if expansion is None:
            self.visit()
            children = [child for _, child in self._children(position)]
            expansion = children, [self.game.key(child) for child in children]
            if len(self.expansions) >= MAX_EXPANSIONS:
                self.expansions.clear()
            self.expansions[position] = expansion
        return expansion

    def _search(self, position: P, max_proof: int, max_disproof: int, ply: int) -> tuple[Numbers, bool]:
        """Return the numbers of a position, one of which has reached its limit, and whether they need this path."""
        game = self.game
        is_own = game.to_move(position) == self.seat
        children, keys = self._expand(position)
        if ply >= MAX_PROOF_PLIES:
            return DISPROVEN, True
        if not children or (not is_own and game.any_unlisted_move(position) is not None):
            # The end of the game is known before. Else there are moves that are not listed, and nothing is claimed.
            self._store(position, DISPROVEN)
            return DISPROVEN, False
        key = game.key(position)
        added = key not in self.path
        self.path.add(key)
        # Numbers that hold on this path only: of children that repeat a position of it, or that depend on such.
        here = {number: DISPROVEN for number, child_key in enumerate(keys) if child_key in self.path}
        while True:
            numbers = [
                here[number] if number in here else self._numbers(child) for number, child in enumerate(children)
            ]
            proofs, disproofs = [pair.proof for pair in numbers], [pair.disproof for pair in numbers]
            proof = min(proofs) if is_own else min(sum(proofs), INFINITE)
            disproof = min(sum(disproofs), INFINITE) if is_own else min(disproofs)
            if proof == 0 or disproof == 0 or proof >= max_proof or disproof >= max_disproof:
                break
            chosen = proofs if is_own else disproofs
            number = chosen.index(min(chosen))
            # A quarter more than the second best, so as not to change between the two too often (Pawlewicz, Lew 2006).
            second = min((value for place, value in enumerate(chosen) if place != number), default=INFINITE)
            second += second // 4
            if is_own:
                limits = min(max_proof, second + 1), max_disproof - disproof + disproofs[number]
            else:
                limits = max_proof - proof + proofs[number], min(max_disproof, second + 1)
            child_numbers, on_this_path = self._search(children[number], *limits, ply + 1)
            if on_this_path:
                here[number] = child_numbers
        if added:
            self.path.discard(key)
        plies = 0
        if proof == 0:
            lengths = [pair.plies for pair in numbers if pair.proof == 0]
            plies = 1 + (min(lengths) if is_own else max(lengths))
        depends = bool(here) and disproof == 0
        if not depends:
            self._store(position, Numbers(proof, disproof, plies))
        return Numbers(proof, disproof, plies), depends
