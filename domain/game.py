"""The contract that every game fulfils.

A game is one value, ``domain.<package>.GAME``, an instance of a subclass of ``Game``. Its class has the facts (titles,
seats, setups, the reasons for which it ends), and its operations are pure functions of a position in six groups: the
rules say what may be played and how a game ends, notation reads and writes positions and moves, the view describes a
position to people, search terms judge it for the opponents. Two further groups are for few games: unlisted moves, of
which there are too many to enumerate, and elimination, after which a game goes on without a seat.

An operation is a method of the class, or a function of the same name, without ``self``, in one of the modules that
``domain.operations.operations_from`` is given. Those that raise NotImplementedError here every game must have; the
others have a default that follows from them, and a game replaces it where it knows something better or faster.

Positions and moves are opaque, hashable values in whatever representation makes the game fast; strings are for
storage, wire and people. ``domain.scene`` has the value types of pictures, ``domain.presentation`` those of all else
that a page shows.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import GenericAlias, MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from domain.errors import GameOver, RulesError, StepBudget, ambiguous_move
from domain.operations import contract
from domain.presentation import ArmyDraft, Composed, Composition, GameFact, Hint, PieceGuide, PositionFormat
from domain.scene import Scene, text_of

if TYPE_CHECKING:
    from domain.search_position import SearchPosition

P = TypeVar("P", bound=Hashable)
M = TypeVar("M", bound=Hashable)


class Outcome(NamedTuple):
    """The end of a game: one score per seat, in seat order, and a reason that the game declares."""

    scores: tuple[float, ...]
    reason: str


class Setup(NamedTuple):
    """One way to start a game: its name in commands and events, its title for people, its seats in turn order.

    ``colours`` are the colours of the seats' pieces, from ``domain.scene.COLOURS``. ``start`` is the start position.
    ``turns`` is, for each seat, by how many quarter turns clockwise its player sees the board, so that the seat's home
    is at the bottom; two seats sit opposite each other.
    """

    name: str
    title: str
    seat_names: tuple[str, ...]
    colours: tuple[str, ...]
    start: str
    turns: tuple[int, ...] = (0, 2)


NOISY_GAIN: Final = 1000
"""The gain from which on a move is noisy: see ``Game.gains``."""


@contract
class Game(Generic[P, M]):
    """One ruleset of one game: its facts and its operations."""

    id: str
    title: str
    ruleset: int = 1
    """The version of the rules. A version that has been played is never changed, only succeeded."""
    distinction: str = ""
    """Where this ruleset parts from the others of its game, in one sentence; empty while there is no other."""
    blurb: str
    """The game in two sentences, for people who have never heard of it."""
    goal: str
    """How to win, in one or two sentences."""
    ending: str
    """The rule that makes every game end, in one sentence."""
    difficulty: str = ""
    """How hard the game is to learn, in one sentence that says why."""
    duration: str = ""
    """How long a match is, in one sentence, as measured between opponents."""
    setups: Mapping[str, Setup]
    reasons: Mapping[str, str]
    """The reasons of its outcomes, in kebab-case, and how a result names each: "by checkmate"."""
    showcase: str = ""
    """A position that shows what the game looks like when it is under way; empty: its first start position does."""
    position_format: PositionFormat
    """How the page that verifies reads position strings."""
    pieces: Mapping[str, PieceGuide] = MappingProxyType({})
    """How each kind of piece moves, by ``Piece.kind``; ``frozen`` is about all pieces that have no owner any more."""
    standing: str = ""
    """The title of the fact by seat that says how near each is to winning, shown beside the names; empty: none."""
    further_pieces: tuple[str, ...] = ()
    """Positions with the kinds of pieces that no start position has."""
    counters: int = 0
    """How many fields at the end of a position string are counters, which repetition disregards: see ``key``."""
    place_worth: int = 0
    """The worth in ``evaluate`` of a whole point of the places of a game that gives points for each of them."""

    def __init__(self) -> None:
        self._starts: dict[str, P] = {}

    @classmethod
    def __class_getitem__(cls, types: Any) -> GenericAlias:
        # mypyc leaves Generic out of the bases of a class with a decorator.
        return GenericAlias(cls, types)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}-{self.ruleset})"

    @property
    def seats(self) -> int:
        """The largest number of seats that a setup of this game has."""
        return len(self.seat_names)

    @property
    def seat_names(self) -> tuple[str, ...]:
        """The seat names of the setup with the most seats, in turn order."""
        return max((setup.seat_names for setup in self.setups.values()), key=len)

    # Rules: legal moves, turns, and the end of a game.

    def initial(self, setup: str) -> P:
        """Return the start position of a setup; raises KeyError when the game has no such setup."""
        start = self.setups[setup].start
        if start not in self._starts:
            self._starts[start] = self.parse_position(start)
        return self._starts[start]

    def to_move(self, position: P) -> int:
        """Return the seat whose turn it is; of an ended game, the seat that would be next."""
        raise NotImplementedError

    def legal_moves(self, position: P) -> Iterable[M]:
        """Return the legal moves, in ASCII order of their strings; none when the game is over by position."""
        raise NotImplementedError

    def is_legal(self, position: P, move: M) -> bool:
        """Return whether ``move``, which may be any value, is a legal move, listed or not."""
        return move in self.legal_moves(position)

    def play(self, position: P, move: M) -> P:
        """Return the position after a legal move. Legality is not checked again (use ``parse_move``)."""
        raise NotImplementedError

    def outcome(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return how the game has ended, or None while it goes on.

        ``history`` is the earlier positions of the game, oldest first, the present one not included; it decides
        repetition only and may be empty.
        """
        raise NotImplementedError

    def outcome_by_history(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return the same as ``outcome``, of a position that is known to have a legal move.

        A game defines it when finding a legal move takes long.
        """
        return self.outcome(position, history)

    def bounded_outcome(self, position: P, history: Sequence[P], budget: StepBudget) -> Outcome | None:
        """Return the same as ``outcome``; raises OutcomeUnknownError when the budget is spent.

        For positions and lines that players only explore; the end of a match is always told by ``outcome``.
        """
        return self.outcome(position, history)

    def key(self, position: P) -> Hashable:
        """Return a value that two positions share exactly when they count as the same for repetition."""
        return self.key_string(position)

    def is_mid_turn(self, position: P) -> bool:
        """Return whether the seat to move has made a ply of its turn and has to make more.

        A seat that moves again because all others are skipped begins another turn. Default: never.
        """
        return False

    def seats_at(self, position: P) -> int:
        """Return the number of seats of the game that the position belongs to. Default: the most of any setup."""
        return self.seats

    def scores_after_leaving(self, position: P, leaving: tuple[int, ...]) -> tuple[float, ...]:
        """Return one score per seat when the seats ``leaving`` resign and the others share.

        A draw agreed is nobody leaving. Default: the others share one point.
        """
        seats = self.seats_at(position)
        share = 1.0 / (seats - len(leaving))
        return tuple(0.0 if seat in leaving else share for seat in range(seats))

    # Notation: the strings of positions and moves.

    def parse_position(self, text: str) -> P:
        """Return the position that a string describes; raises MalformedNotation with the place and the reason."""
        raise NotImplementedError

    def format_position(self, position: P) -> str:
        """Return the one position string of a position: fields, each separated by a space."""
        raise NotImplementedError

    def key_string(self, position: P) -> str:
        """Return the part of the position string that is the same exactly when ``key`` is."""
        return self.key_of_text(self.format_position(position))

    def key_of_text(self, text: str) -> str:
        """Return the ``key_string`` of the position that ``format_position`` writes as ``text``, without parsing it."""
        return text.rsplit(" ", self.counters)[0]

    def parse_move(self, position: P, text: str) -> M:
        """Return the legal move that a text names, in canonical form or an alias.

        Raises MalformedNotation when no move is written like that, GameOver when the game has ended and IllegalMove,
        with a reason that a player understands, when the rules forbid it here.
        """
        raise NotImplementedError

    def format_move(self, position: P, move: M) -> str:
        """Return the one canonical string of a move."""
        raise NotImplementedError

    def read_move(self, position: P, text: str, setup: str) -> M:
        """Return the legal move that a player means, in a game begun from ``setup``.

        It reads the strings of ``parse_move``, those of ``display_move``, and less strict forms (without marks between
        squares, with spaces, in capitals) that fit one legal move only. Raises as ``parse_move`` does; an IllegalMove
        lists the moves when a text fits several.
        """
        try:
            return self.parse_move(position, without_marks(text))
        except GameOver:
            raise
        except RulesError as refusal:
            moves = {self.format_move(position, move): move for move in self.legal_moves(position)}
            displayed = {name: (name, self.display_move(position, move)) for name, move in moves.items()}
            fitting = [name for name, forms in displayed.items() if _bare(text) in map(_bare, forms)]
            if len(fitting) > 1:
                raise ambiguous_move(text, fitting) from refusal
            if not fitting:
                raise
            return moves[fitting[0]]

    def display_move(self, position: P, move: M) -> str:
        """Return the move as players of the game like to read it. Default: ``format_move``.

        In games with checks a move that gives check ends with ``+``, one that mates with ``#``.
        """
        return self.format_move(position, move)

    # The view: a position as people see it.

    def scene(self, position: P) -> Scene:
        """Return the scene of a picture of the position, for a renderer that knows no game."""
        raise NotImplementedError

    def diagram(self, position: P) -> str:
        """Return the board as lines of text with coordinates, without trailing spaces or newline."""
        seats = self.seats_at(position)
        names = next(setup.seat_names for setup in self.setups.values() if len(setup.seat_names) == seats)
        return f"{text_of(self.scene(position))}\n\n{names[self.to_move(position)]} to move"

    def hints(self, position: P) -> dict[str, tuple[Hint, ...]]:
        """Return the squares that can be selected and, for each, the legal moves that begin there.

        Default: those that the string of a move names, in order; a move that names none is under "".
        """
        hints: dict[str, list[Hint]] = {}
        for move in self.legal_moves(position):
            text = self.format_move(position, move)
            origin, *path = _SQUARE.findall(text) or ("",)
            hints.setdefault(origin, []).append(Hint(text, tuple(path), "capture" if "x" in text else "move"))
        return {square: tuple(moves) for square, moves in hints.items()}

    def why_not(self, position: P, square: str) -> str | None:
        """Return why no legal move begins on a square, in a player's words; None when one does.

        Raises MalformedNotation when the board has no such square.
        """
        raise NotImplementedError

    def facts(self, position: P, history: Sequence[P]) -> tuple[GameFact, ...]:
        """Return the facts that players count: captured pieces, supplies, how near a draw is."""
        raise NotImplementedError

    def demand(self, position: P) -> str:
        """Return a sentence about a demand of the rules on the player to move, such as a capture. Default: ""."""
        return ""

    def draft(self, position: P) -> ArmyDraft | None:
        """Return the army that the seat to move has to set up. Default: None, there is none to set up."""
        return None

    # Search terms: the knowledge of a game that the search needs to play it well.

    def evaluate(self, position: P, seat: int) -> int:
        """Return how good an unfinished position looks for the seat, in hundredths of the smallest piece.

        With two seats the game is zero-sum: ``evaluate(p, 0) == -evaluate(p, 1)``.
        """
        raise NotImplementedError

    def gains(self, position: P, moves: Sequence[M]) -> list[int]:
        """Return how promising each move looks, the larger the better. Default: alike.

        A capture, or another move that changes the evaluation for good, counts ``NOISY_GAIN`` and as much as it may
        gain, in hundredths of the smallest piece; quiet moves count less.
        """
        return [0] * len(moves)

    def expected_move(self, position: P, moves: Sequence[M], gains: Sequence[int]) -> M:
        """Return the move that a search expects of one of several opponents. Default: the one that gains most."""
        return moves[gains.index(max(gains))]

    def order(self, position: P, moves: Iterable[M]) -> list[M]:
        """Return the moves with the largest gains first, equals as given."""
        listed = list(moves)
        gains = self.gains(position, listed)
        return [listed[place] for place in sorted(range(len(listed)), key=lambda place: -gains[place])]

    def is_forced(self, position: P) -> bool:
        """Return whether the player to move has no free choice: must capture, or is in check. Default: never.

        The search does not judge such a position as it stands; it looks at all its moves, which count as no depth.
        """
        return False

    def noisy_moves(self, position: P) -> Iterable[M]:
        """Return the moves that quiescence search looks at in a position that is not forced. Default: none."""
        return ()

    def fast_outcome(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return the same as ``outcome``, or None where an end takes long to prove.

        The search calls it for thousands of positions, each of which may cost it no more than a node should.
        """
        return self.outcome(position, history)

    def search_position(self, position: P) -> "SearchPosition[M] | None":
        """Return the position in a form that is faster to search. Default: None, it is searched as it is."""
        return None

    # Unlisted moves: kinds that ``legal_moves`` and ``hints`` leave out because there are too many of them. A caller
    # that lists the legal moves and gets none must ask ``any_unlisted_move`` before taking the game for ended.

    def any_unlisted_move(self, position: P) -> M | None:
        """Return one legal move of these kinds, None when there is none."""
        return None

    def unlisted_candidates(self, position: P, limit: int) -> list[M]:
        """Return at most ``limit`` of these moves that deserve a search, the most promising first.

        The choice is deterministic and its work proportional to ``limit``; a good move may be missed.
        """
        return []

    def compositions(self, position: P) -> tuple[Composition, ...]:
        """Return the kinds that may be possible; none when the game is over by position.

        Whether a move of the kind is legal in the end is not examined.
        """
        return ()

    def compose(self, position: P, kind: str, parts: Sequence[str]) -> Composed:
        """Return how far the parts have come as a composed move of ``kind``, and the parts that can follow.

        Raises KeyError when the game has no such kind, MalformedNotation when a part is malformed; a kind that is only
        not available in this position is a reason in the answer.
        """
        raise KeyError(kind)

    # Elimination: a game of several seats goes on after one of them has resigned, lost on time or been beaten.

    def without_seat(self, position: P, seat: int) -> P | None:
        """Return the position in which the others play on after a seat has left; None when they cannot.

        None ends the match: see ``scores_after_leaving``. The position that the seat leaves can never recur.
        """
        return None

    def eliminated(self, position: P) -> tuple[int, ...]:
        """Return the seats that are out of a game that goes on without them."""
        return ()


AnyGame = Game[Any, Any]
"""A game whose positions and moves are opaque to the caller."""

_SQUARE = re.compile("(?!x)[a-z]{1,2}[0-9]{1,2}")
_MARKS = re.compile("(?<=[0-9])x|[^a-z0-9]")


def _bare(text: str) -> str:
    return _MARKS.sub("", text.lower())


def without_marks(text: str) -> str:
    """Return ``text`` without white space and without a mark of check or mate at its end."""
    joined = "".join(text.split())
    return joined[:-1] if joined[-1:] in ("+", "#") else joined
