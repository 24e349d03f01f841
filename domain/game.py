"""The contract that every game fulfils, and the errors of the rules.

A game is one value, ``domain.<package>.GAME``: facts (titles, seats, setups, the reasons for which it ends) and pure
functions of a position, in four groups. ``Rules`` say what may be played and how a game ends, ``Notation`` reads and
writes positions and moves, ``View`` describes a position to people, ``SearchTerms`` judge it for the opponents. Two
further groups are optional: ``UnlistedMoves`` for games with too many moves to enumerate, ``Elimination`` for games
that go on after a seat has left. Positions and moves are opaque, hashable values in whatever representation makes the
game fast; strings are for storage, wire and people.

The text below each operation begins with the names of its arguments. ``domain.scene`` has the value types of pictures,
``domain.presentation`` those of all else that a page shows.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

from domain.presentation import ArmyDraft, Composed, Composition, GameFact, Hint
from domain.scene import Scene

P = TypeVar("P", bound=Hashable)
M = TypeVar("M", bound=Hashable)


class RulesError(ValueError):
    """A text or a move that the rules refuse. ``str(error)`` is the reason, in a player's words."""


class MalformedNotation(RulesError):
    """A text that is no position or no move at all, whatever stands on the board."""


class IllegalMove(RulesError):
    """A well-formed move that is not legal in this position."""


class GameOver(IllegalMove):
    """A move in a game that has already ended."""


class OutcomeUnknownError(Exception):
    """Whether the game has ended takes more steps to tell than the budget allows."""


class StepBudget:
    """How many steps may be spent on finding out how games have ended; each takes well below a millisecond."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def spend(self) -> None:
        """Count one step; raises OutcomeUnknownError when there is none left."""
        self._steps -= 1
        if self._steps < 0:
            raise OutcomeUnknownError


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


_DERIVED: Any = None
"""The default of an operation that ``Game`` derives from others."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rules(Generic[P, M]):
    """Legal moves, turns, and the end of a game."""

    initial: Callable[[str], P] = _DERIVED
    """(setup): the start position of a setup; raises KeyError when the game has no such setup.

    Default: the position that ``Setup.start`` describes.
    """
    to_move: Callable[[P], int]
    """(position): the seat whose turn it is; of an ended game, the seat that would be next."""
    legal_moves: Callable[[P], Iterable[M]]
    """(position): the legal moves, in ASCII order of their strings; none when the game is over by position."""
    is_legal: Callable[[P, M], bool]
    """(position, move): whether the move is among the legal moves, listed or not, without enumerating them."""
    play: Callable[[P, M], P]
    """(position, move): the position after a legal move. Legality is not checked again (use ``parse_move``)."""
    outcome: Callable[[P, Sequence[P]], Outcome | None]
    """(position, history): how the game has ended, or None while it goes on.

    ``history`` is the earlier positions of the game, oldest first, the present one not included; it decides repetition
    only and may be empty.
    """
    key: Callable[[P], Hashable]
    """(position): a value that two positions share exactly when they count as the same for repetition."""
    outcome_by_history: Callable[[P, Sequence[P]], Outcome | None] = _DERIVED
    """(position, history): the same as ``outcome``, of a position that is known to have a legal move.

    A game declares it when finding a legal move takes long. Default: ``outcome``.
    """
    bounded_outcome: Callable[[P, Sequence[P], StepBudget], Outcome | None] = _DERIVED
    """(position, history, budget): the same as ``outcome``; raises OutcomeUnknownError when the budget is spent.

    For positions and lines that players only explore; the end of a match is always told by ``outcome``. Default:
    ``outcome``.
    """
    is_mid_turn: Callable[[P], bool] = _DERIVED
    """(position): whether the seat to move has made a ply of its turn and has to make more.

    A seat that moves again because all others are skipped begins another turn. Default: never.
    """
    seats_at: Callable[[P], int] = _DERIVED
    """(position): the number of seats of the game that the position belongs to. Default: the most of any setup."""
    scores_after_leaving: Callable[[P, tuple[int, ...]], tuple[float, ...]] = _DERIVED
    """(position, leaving): one score per seat when the seats ``leaving`` resign and the others share.

    A draw agreed is nobody leaving. Default: the others share one point.
    """


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Notation(Generic[P, M]):
    """The strings of positions and moves."""

    parse_position: Callable[[str], P]
    """(text): the position that a string describes; raises MalformedNotation with the place and the reason."""
    format_position: Callable[[P], str]
    """(position): the one position string of a position: fields, each separated by a space."""
    counters: int
    """How many fields at the end of a position string are counters, which repetition disregards: see ``key``."""
    parse_move: Callable[[P, str], M]
    """(position, text): the legal move that a text names, in canonical form or an alias.

    Raises MalformedNotation when no move is written like that, GameOver when the game has ended and IllegalMove, with a
    reason that a player understands, when the rules forbid it here.
    """
    format_move: Callable[[P, M], str]
    """(position, move): the one canonical string of a move."""
    read_move: Callable[[P, str, str], M]
    """(position, text, setup): the legal move that a player means, in a game begun from ``setup``.

    It reads what ``parse_move`` reads, what ``display_move`` returns, and less strict forms (without marks between
    squares, with spaces, in capitals) that fit one legal move only. Raises as ``parse_move`` does; an IllegalMove lists
    the moves when a text fits several.
    """
    display_move: Callable[[P, M], str] = _DERIVED
    """(position, move): the move as players of the game like to read it. Default: ``format_move``.

    In games with checks a move that gives check ends with ``+``, one that mates with ``#``.
    """

    def key_string(self, position: P) -> str:
        """Return the part of the position string that is the same exactly when ``key`` is."""
        return self.key_of_text(self.format_position(position))

    def key_of_text(self, text: str) -> str:
        """Return the ``key_string`` of the position that ``format_position`` writes as ``text``, without parsing it."""
        return text.rsplit(" ", self.counters)[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class View(Generic[P]):
    """A position as people see it."""

    diagram: Callable[[P], str]
    """(position): the board as lines of text with coordinates, without trailing spaces or newline."""
    scene: Callable[[P], Scene]
    """(position): the scene of a picture of the position, for a renderer that knows no game."""
    hints: Callable[[P], dict[str, tuple[Hint, ...]]]
    """(position): the squares that can be selected and, for each, the legal moves that begin there."""
    why_not: Callable[[P, str], str | None]
    """(position, square): why no legal move begins on a square, in a player's words; None when one does.

    Raises MalformedNotation when the board has no such square.
    """
    facts: Callable[[P, Sequence[P]], tuple[GameFact, ...]]
    """(position, history): the facts that players count: captured pieces, supplies, how near a draw is."""
    demand: Callable[[P], str] = _DERIVED
    """(position): a sentence about what the rules demand of the player to move, such as a capture. Default: ""."""
    draft: Callable[[P], ArmyDraft | None] = _DERIVED
    """(position): the army that the seat to move has to set up. Default: None, there is none to set up."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SearchTerms(Generic[P, M]):
    """The knowledge of a game that the search needs to play it well."""

    evaluate: Callable[[P, int], int]
    """(position, seat): how good an unfinished position looks for the seat, in hundredths of the smallest piece.

    With two seats the game is zero-sum: ``evaluate(p, 0) == -evaluate(p, 1)``.
    """
    order: Callable[[P, Iterable[M]], list[M]]
    """(position, moves): the moves with the most promising first; a stable, deterministic order."""
    noisy_moves: Callable[[P], tuple[Iterable[M], bool]]
    """(position): the moves that quiescence search looks at, and whether they may be declined.

    Not declinable means that the player has no other moves (compulsory capture), so that the position cannot be judged
    as it stands. Moves that may be declined are best generated lazily: often they are not used.
    """
    fast_outcome: Callable[[P, Sequence[P]], Outcome | None] = _DERIVED
    """(position, history): the same as ``outcome``, or None where an end takes long to prove. Default: ``outcome``.

    The search calls it for thousands of positions, each of which may cost it no more than a node should.
    """


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnlistedMoves(Generic[P, M]):
    """The kinds of legal moves that ``legal_moves`` and ``hints`` leave out because there are too many of them.

    A caller that lists the legal moves and gets none must ask ``any_move`` before taking the game for ended.
    """

    any_move: Callable[[P], M | None]
    """(position): one legal move of these kinds, None when there is none."""
    candidates: Callable[[P, int], list[M]]
    """(position, limit): at most ``limit`` of these moves that deserve a search, the most promising first.

    The choice is deterministic and its work proportional to ``limit``; a good move may be missed.
    """
    compositions: Callable[[P], tuple[Composition, ...]]
    """(position): the kinds that may be possible; none when the game is over by position.

    Whether a move of the kind is legal in the end is not examined.
    """
    compose: Callable[[P, str, Sequence[str]], Composed]
    """(position, kind, parts): how far the parts have come as a composed move of ``kind``, and what can follow.

    Raises KeyError when the game has no such kind, MalformedNotation when a part is malformed; a kind that is only not
    available in this position is a reason in the answer.
    """


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Elimination(Generic[P]):
    """How a game of several seats goes on after one of them has resigned, lost on time or been beaten."""

    without_seat: Callable[[P, int], P | None]
    """(position, seat): the position in which the others play on after a seat has left; None when they cannot.

    None ends the match: see ``scores_after_leaving``. The position that the seat leaves can never recur.
    """
    eliminated: Callable[[P], tuple[int, ...]]
    """(position): the seats that are out of a game that goes on without them."""


def _compose_nothing(_: Any, kind: str, __: Sequence[str]) -> Composed:
    raise KeyError(kind)


NO_UNLISTED_MOVES: UnlistedMoves[Any, Any] = UnlistedMoves(
    any_move=lambda _: None, candidates=lambda *_: [], compositions=lambda _: (), compose=_compose_nothing
)
NO_ELIMINATION: Elimination[Any] = Elimination(without_seat=lambda *_: None, eliminated=lambda _: ())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Game(Rules[P, M], Notation[P, M], View[P], SearchTerms[P, M]):
    """One ruleset of one game: its facts, its operations, and its optional parts."""

    id: str
    title: str
    ruleset: int
    """The version of the rules. A version that has been played is never changed, only succeeded."""
    distinction: str = ""
    """Where this ruleset parts from the others of its game, in one sentence; empty while there is no other."""
    blurb: str
    """The game in two sentences, for people who have never heard of it."""
    goal: str
    """How to win, in one or two sentences."""
    ending: str
    """The rule that makes every game end, in one sentence."""
    setups: Mapping[str, Setup]
    reasons: Mapping[str, str]
    """The reasons of its outcomes, in kebab-case, and how a result names each: "by checkmate"."""
    showcase: str = ""
    """A position that shows what the game looks like when it is under way; empty: its first start position does."""
    unlisted: UnlistedMoves[P, M] = NO_UNLISTED_MOVES
    elimination: Elimination[P] = NO_ELIMINATION

    def __post_init__(self) -> None:
        """Derive the operations that the game has left out."""
        derived: dict[str, Callable[..., Any]] = {
            "initial": self._initial(),
            "outcome_by_history": self.outcome,
            "bounded_outcome": lambda position, history, _: self.outcome(position, history),
            "fast_outcome": self.outcome,
            "is_mid_turn": lambda _: False,
            "seats_at": lambda _: self.seats,
            "scores_after_leaving": self._scores_shared,
            "display_move": self.format_move,
            "demand": lambda _: "",
            "draft": lambda _: None,
        }
        for name, operation in derived.items():
            if getattr(self, name) is _DERIVED:
                object.__setattr__(self, name, operation)

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

    def _initial(self) -> Callable[[str], P]:
        starts: dict[str, P] = {}

        def initial(setup: str) -> P:
            if setup not in starts:
                starts[setup] = self.parse_position(self.setups[setup].start)
            return starts[setup]

        return initial

    def _scores_shared(self, position: P, leaving: tuple[int, ...]) -> tuple[float, ...]:
        seats = self.seats_at(position)
        share = 1.0 / (seats - len(leaving))
        return tuple(0.0 if seat in leaving else share for seat in range(seats))


def operations(*modules: ModuleType, **others: Any) -> dict[str, Any]:
    """Return the operations of a game: the functions of ``modules`` that have their names, and ``others``."""
    names = {field.name for group in (Rules, Notation, View, SearchTerms) for field in fields(group)}
    found = ((name, getattr(module, name, None), module) for module in modules for name in names)
    defined = {name: value for name, value, module in found if getattr(value, "__module__", None) == module.__name__}
    return defined | others


AnyGame = Game[Any, Any]
"""A game whose positions and moves are opaque to the caller."""
