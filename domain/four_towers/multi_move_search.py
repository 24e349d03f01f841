"""The search for any multi-move that leaves the own king safe (rules, sections 6.8 and 7)."""

from collections.abc import Iterator
from functools import reduce
from math import inf
from operator import and_, or_
from typing import Final, NamedTuple

from domain.errors import StepBudget
from domain.four_towers.attacks import BLACK, DRAGON, KING, LANCER, PAWN
from domain.four_towers.board import ARENA_OF, ARENA_SETS, TOWER_SET, TOWERS, members_of
from domain.four_towers.check_tables import (
    LATER_SHIELDS,
    SHIELDS,
    CheckTables,
    Towers,
    paths_to,
    range_of,
    squares_with_range_to,
)
from domain.four_towers.compound_moves import MAX_COMPONENTS, TrialsExceededError, canonical, zones_with
from domain.four_towers.moves import PROMOTED, MultiMove, head_of, memory_after, target_of
from domain.four_towers.position import Position, occupied_by, sets_of
from domain.four_towers.pseudo_legal import PieceReach

_ANYWHERE: Final = -1


def find_multi_move(
    position: Position, max_trials: int | None = None, budget: StepBudget | None = None
) -> MultiMove | None:
    """Return a legal multi-move, or None when there is none; the fewest components first.

    With ``budget`` every sequence of components that is tried is one of its steps; raises OutcomeUnknownError when it
    is spent. With ``max_trials`` the search does not prune, and raises TrialsExceededError when it takes more trials of
    components: the moves that an opponent finds in this way are part of its engine version.
    """
    return _Search(position, max_trials, budget).find()


class _Sequence(NamedTuple):
    """Components played and their result: board, own squares, king, towers, arenas left, memory of the movers."""

    board: bytes
    own: int
    king: int
    towers: Towers
    arenas: tuple[int, ...]
    memory: int
    components: tuple[int, ...]


class _Steps(NamedTuple):
    """The plain moves of a piece, the squares where they end, and the memory that they leave to dragons."""

    moves: tuple[int, ...]
    targets: int
    memory: int


class _Search:
    def __init__(self, position: Position, max_trials: int | None, budget: StepBudget | None = None) -> None:
        self.position = position
        self.budget = budget
        self.pruning = max_trials is None
        self.trials_left = inf if max_trials is None else max_trials
        self.base = position.side * BLACK
        self.tables = CheckTables(position)
        self.enemies = self.tables.enemies
        self.dead_ends: dict[tuple[int, Towers, int, tuple[int, ...], int], bool] = {}
        self.steps: dict[tuple[int, int, int, Towers], _Steps] = {}

    def find(self) -> MultiMove | None:
        """Return a legal multi-move, or None; raises TrialsExceededError when that takes too many trials."""
        position = self.position
        king = position.men[self.base + KING].bit_length() - 1
        towers = tuple(position.board[tower] for tower in TOWERS)
        own = occupied_by(position.men, position.side)
        for zone in zones_with(position, DRAGON):
            sequences = [_Sequence(position.board, own, king, towers, zone, 0, ())]
            for left in range(MAX_COMPONENTS, 0, -1):
                following: dict[tuple[bytes, tuple[int, ...], int], _Sequence] = {}
                for sequence in sequences:
                    for longer, may_end_check in self.extensions(sequence, left):
                        key = (longer.board, longer.arenas, longer.memory)
                        if key not in following:
                            following[key] = longer
                            if may_end_check and left < MAX_COMPONENTS and self.is_solution(longer):
                                return canonical(position, longer.components)
                sequences = list(following.values())
        return None

    def extensions(self, sequence: _Sequence, left: int) -> Iterator[tuple[_Sequence, bool]]:
        """Yield the sequence with each component to try, and whether that may end a check."""
        if self.budget is not None:
            self.budget.spend()
        check_answers, min_components = self.check_answers(sequence)
        if self.is_dead_end(sequence, min_components, left):
            return
        for square, steps, useful, goals in self.components(sequence, check_answers, left):
            if not steps.targets & goals:
                self.spend_trials(len(steps.moves))
                continue
            for move in steps.moves:
                self.spend_trials(1)
                target = target_of(move)
                if goals >> target & 1:
                    yield self.extended_by(sequence, square, move, steps.memory), bool(useful >> target & 1)

    def spend_trials(self, trials: int) -> None:
        self.trials_left -= trials
        if self.trials_left < 0:
            raise TrialsExceededError

    def components(self, sequence: _Sequence, check_answers: int, left: int) -> Iterator[tuple[int, _Steps, int, int]]:
        """Yield the pieces that may move next: the square, the moves, which targets may end a check, which to try."""
        shields = LATER_SHIELDS if left > 1 else SHIELDS
        last_but_one = self.pruning and left == 2
        for arena in sequence.arenas:
            penultimate = _PenultimateGoals(self, sequence, arena) if last_but_one else None
            for square in members_of(ARENA_SETS[arena] & sequence.own):
                kind = sequence.board[square] & 15
                if kind == DRAGON:
                    continue
                useful = _ANYWHERE if kind == KING else check_answers | TOWER_SET if kind in shields else check_answers
                if left == 1:
                    goals = self.final_goals(sequence, kind, useful)
                else:
                    goals = _ANYWHERE if penultimate is None else penultimate.goals(square, kind)
                if not self.pruning or goals & range_of(kind, square):
                    yield square, self.steps_from(sequence, square), useful, goals

    def final_goals(self, sequence: _Sequence, kind: int, useful: int) -> int:
        """Return where a last component by a piece of ``kind`` may end the check."""
        if not self.pruning:
            return useful
        if kind == KING:
            return self.tables.refuges(sequence.king, sequence.towers, sequence.memory, at_once=True)
        relief = self.tables.relief(sequence.king, sequence.towers, sequence.memory)
        if relief == {}:
            return useful
        return 0 if relief is None else relief.get(kind, 0)

    def steps_from(self, sequence: _Sequence, square: int) -> _Steps:
        board = sequence.board
        kind = board[square] & 15
        key = (board[square], square, (sequence.own | self.enemies) & range_of(kind, square), sequence.towers)
        steps = self.steps.get(key)
        if steps is None:
            position = self.position._replace(board=board, men=sets_of(board))
            moves = tuple(PieceReach(position).plain_moves_from(square))
            targets = reduce(or_, (1 << target_of(move) for move in moves), 0)
            memory = memory_after(position, moves[0]) if moves and kind <= KING else 0
            steps = self.steps[key] = _Steps(moves, targets, memory)
        return steps

    def extended_by(self, sequence: _Sequence, square: int, move: int, memory: int) -> _Sequence:
        """Return the sequence with one more component, by the piece on ``square``."""
        target = target_of(move)
        board = bytearray(sequence.board)
        board[target] = self.base + PROMOTED[move & 15] if move & 15 else board[square]
        board[square] = 0
        return _Sequence(
            bytes(board),
            sequence.own ^ 1 << square | 1 << target,
            target if square == sequence.king else sequence.king,
            tuple(board[tower] for tower in TOWERS) if TOWER_SET >> target & 1 else sequence.towers,
            tuple(arena for arena in sequence.arenas if arena != ARENA_OF[square]),
            sequence.memory | memory,
            (*sequence.components, move),
        )

    def check_answers(self, sequence: _Sequence) -> tuple[int, int]:
        """Return how a check can end, if it can, while the king stays and no piece on a tower helps it.

        That is the squares of which the last component must reach one, and the least number of components: 0 when
        there is no check, more than a multi-move has when nothing helps.
        """
        unstoppable, lines = self.tables.attackers(sequence.king, sequence.towers, sequence.memory)
        if unstoppable:
            return 0, MAX_COMPONENTS + 1
        occupied = sequence.own | self.enemies
        opened = [between for between in lines if not between & occupied]
        check_answers = reduce(and_, opened, _ANYWHERE)
        return check_answers, 0 if not opened else 1 if check_answers else 2

    def is_solution(self, sequence: _Sequence) -> bool:
        position = self.position
        memory = sequence.memory or position.memories[position.side]
        unstoppable, lines = self.tables.attackers(sequence.king, sequence.towers, memory)
        occupied = sequence.own | self.enemies
        return sequence.board != position.board and not unstoppable and all(between & occupied for between in lines)

    def is_dead_end(self, sequence: _Sequence, min_components: int, left: int) -> bool:
        """Return whether no ``left`` components can make the king safe, as far as the tables show."""
        if self.pruning:
            key = (sequence.king, sequence.towers, sequence.memory, sequence.arenas, left)
            dead_end = self.dead_ends.get(key)
            if dead_end is None:
                dead_end = self.dead_ends[key] = all(
                    self.tables.relief(square, sequence.towers, sequence.memory) is None
                    for square in members_of(self.within_reach(sequence, left))
                )
            return dead_end
        mobile = ARENA_OF[sequence.king] in sequence.arenas
        return min_components > left and not mobile and not self.has_shield(sequence, left)

    def has_shield(self, sequence: _Sequence, left: int) -> bool:
        if all(sequence.towers):
            return False
        shields = LATER_SHIELDS if left > 1 else SHIELDS
        return any(sequence.board[square] & 15 in shields for square in members_of(sequence.own & ~TOWER_SET))

    def within_reach(self, sequence: _Sequence, left: int) -> int:
        """Return the squares where the king may stand in the end, and some more: as if own pieces were not there."""
        reached = latest = 1 << sequence.king
        for _ in range(left):
            steps = 0
            for square in members_of(latest):
                if ARENA_OF[square] in sequence.arenas:
                    steps |= range_of(KING, square)
            latest = steps & ~self.enemies & ~reached
            reached |= latest
        return reached


class _PenultimateGoals:
    """The aim of the last component but one, from one of the two arenas left; the last is from the other arena.

    A component that does none of this could be left out: the last one would be possible without it, and the king as
    safe. As shorter sequences are tried first, it need not be tried. It has to do one of these: to end the check, as
    far as one component can; to make way for a piece that may end it then, or to bring that piece to where it may; to
    come between the king and an attacker; to come to a tower and change how pieces move; to replace the memory of
    dragons; or to be all that changes on the board, because the last one undoes the changes before it.
    """

    def __init__(self, search: _Search, sequence: _Sequence, arena: int) -> None:
        tables, king, towers, memory = search.tables, sequence.king, sequence.towers, sequence.memory
        self.last = next(other for other in sequence.arenas if other != arena)
        self.unblocked = not tables.attackers(king, towers, memory).unstoppable
        self.relief = tables.relief(king, towers, memory)
        steps_last = ARENA_OF[king] == self.last
        self.only_king = self.relief is None and not steps_last
        self.refuges = tables.refuges(king, towers, memory)
        refuges = self.refuges if steps_last else 0
        occupied = sequence.own | search.enemies
        others = ARENA_SETS[self.last] & sequence.own
        kinds = {square: sequence.board[square] & 15 for square in members_of(others)}
        self.forgetting = (
            tables.remembering and not sequence.memory and any(kind in (PAWN, LANCER) for kind in kinds.values())
        )
        self.anything = any(
            start in kinds and range_of(kinds[start], start) >> end & 1 for start, end in _restoring(sequence)
        )
        self.blocking = 0
        for square in members_of(refuges if self.relief is None else refuges | 1 << king):
            for between in tables.lines(square, towers):
                # One piece at most leaves this line after the component.
                blockers = between & occupied
                if not blockers or (not blockers & (blockers - 1) and blockers & others):
                    self.blocking |= between
        self.opening = refuges
        for square, kind in kinds.items():
            for way in paths_to(kind, square, self.ends(kind)) if kind not in (KING, DRAGON) else ():
                blockers = way & occupied
                if not blockers & (blockers - 1):
                    self.opening |= blockers

    def ends(self, kind: int) -> int:
        """Return where a piece of ``kind`` other than the king may end the check, if it can by one component."""
        if self.relief is None:
            return 0
        if not self.unblocked:
            return self.relief.get(kind, 0)
        return self.blocking | (TOWER_SET if kind in SHIELDS else 0)

    def goals(self, square: int, kind: int) -> int:
        """Return the squares where the piece on ``square`` may be useful."""
        if self.anything:
            return _ANYWHERE
        if kind == KING:
            return self.refuges | ARENA_SETS[self.last]
        if self.only_king:
            return 0
        if self.opening >> square & 1 or (self.forgetting and kind < KING):
            return _ANYWHERE
        if kind in (PAWN, LANCER):
            # Promoted on the way it may go on as any other piece.
            nearer = ARENA_SETS[self.last]
        else:
            nearer = ARENA_SETS[self.last] & squares_with_range_to(kind, self.ends(kind))
        return self.ends(kind) | self.blocking | nearer | (TOWER_SET if kind in LATER_SHIELDS else 0)


def _restoring(sequence: _Sequence) -> list[tuple[int, int]]:
    """Return from where to where a piece would have to go to undo two components: one piece's, or two equal ones'."""
    (start, middle), (other, end) = ((head_of(move).origin, target_of(move)) for move in sequence.components)
    pairs = [(end, start)] if middle == other else []
    return [*pairs, (middle, other)] if end == start else pairs
