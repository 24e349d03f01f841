"""The contract that every game fulfils, and the errors of the rules.

A game is one object, ``domain.<package>.GAME``. It states facts (titles, seats, setups), reads and writes the public
notation and holds the rules as pure functions of a position. Positions and moves are opaque, hashable values in
whatever representation makes the game fast; strings are for storage, wire and people.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from domain.scene import Piece, Scene

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
    """How much may be spent on telling how games have ended, in steps that each take well below a millisecond."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def spend(self) -> None:
        """Count one step; raises OutcomeUnknownError when there is none left."""
        self._steps -= 1
        if self._steps < 0:
            raise OutcomeUnknownError


class Outcome(NamedTuple):
    """The end of a game: one score per seat, in seat order, and a kebab-case reason."""

    scores: tuple[float, ...]
    reason: str


class Setup(NamedTuple):
    """One way to start a game: its name in commands and events, its title for people, its seats in turn order.

    ``turns`` is, for each seat, by how many quarter turns clockwise its player sees the board, so that the seat's home
    is at the bottom; two seats sit opposite each other.
    """

    name: str
    title: str
    seat_names: tuple[str, ...]
    turns: tuple[int, ...] = (0, 2)


class Hint(NamedTuple):
    """One legal move as a board offers it, after its first square has been selected.

    ``path`` is the squares to select next, in order; it is empty when the move needs no further square. ``label``
    tells apart moves that share a path (a promotion piece, "build").
    """

    move: str
    path: tuple[str, ...]
    label: str


class Fact(NamedTuple):
    """Something that players keep count of: its title, the seat it is about (None: the game as a whole), its value."""

    title: str
    seat: int | None
    value: str


class Composition(NamedTuple):
    """A kind of move that is put together part by part, because there are too many of them to enumerate.

    ``kind`` names it to ``compose`` and ``title`` to people. ``sources`` are the squares of the pieces that make it
    possible, ``pieces`` those of the pieces that can take part. ``free`` are the vacant squares where these may be put;
    it is empty when they move as they always do.
    """

    kind: str
    title: str
    sources: tuple[str, ...]
    pieces: tuple[str, ...]
    free: tuple[str, ...]


class Composed(NamedTuple):
    """A composed move as far as it has come.

    ``move`` is its canonical string, None while it is not legal; then ``reason`` says why, in a player's words, and
    ``failing`` is the index of the part that is not possible, None when every part is. ``scene`` is the board after the
    parts that are possible. ``following`` are the parts that can be added to these: hints by first square, as for
    moves, with the part in the place of the move.
    """

    move: str | None
    failing: int | None
    reason: str
    following: Mapping[str, tuple[Hint, ...]]
    scene: Scene


class DraftPiece(NamedTuple):
    """A kind of piece of which an army may be set up.

    ``code`` stands for it in placements, ``title`` is its name, ``piece`` what its picture shows. An army has at most
    ``limit`` of it, each for ``price``, on ``squares``.
    """

    code: str
    title: str
    piece: Piece
    price: int
    limit: int
    squares: tuple[str, ...]


class Draft(NamedTuple):
    """The army that the seat to move has to set up in one turn: placements, written ``code@square``, and then ``done``.

    It costs at least ``least`` and at most ``budget``, has no two pieces on one square, and the piece of the code
    ``first`` is placed before all others. ``placed`` are the pieces that stand already, by square. ``ready`` is a whole
    army as placements, for players who do not want to choose one; empty once a piece has been placed.
    """

    pieces: tuple[DraftPiece, ...]
    first: str
    budget: int
    least: int
    placed: Mapping[str, str]
    ready: tuple[str, ...]
    done: str


class Game(ABC, Generic[P, M]):
    """The rules of one game. Implementations are stateless; every method is a pure function of its arguments."""

    id: str
    title: str
    ruleset: int
    """The version of the rules. What has been played under a version is never changed, only succeeded."""
    distinction: str = ""
    """Where this ruleset parts from the others of its game, in one sentence; empty while there is no other."""
    blurb: str
    """What the game is, in two sentences for somebody who has never heard of it."""
    goal: str
    """How to win, in one or two sentences."""
    setups: Mapping[str, Setup]
    ending: str
    """The rule that makes every game end, in one sentence."""

    @property
    def seats(self) -> int:
        """The largest number of seats that a setup of this game has."""
        return max(len(setup.seat_names) for setup in self.setups.values())

    @property
    def seat_names(self) -> tuple[str, ...]:
        """The seat names of the setup with the most seats, in turn order."""
        return max((setup.seat_names for setup in self.setups.values()), key=len)

    @abstractmethod
    def initial(self, setup: str) -> P:
        """Return the start position of ``setup``; raises KeyError when the game has no such setup."""

    @abstractmethod
    def to_move(self, position: P) -> int:
        """Return the seat whose turn it is; of an ended game, the seat that would be next."""

    @abstractmethod
    def legal_moves(self, position: P) -> Iterable[M]:
        """Return the legal moves, in ASCII order of their strings; none when the game is over by position."""

    def unlisted_move(self, position: P) -> M | None:  # noqa: ARG002
        """Return one legal move of the kinds that ``legal_moves`` leaves out, None when there is none.

        Who has no other move must find it: see ``compositions``.
        """
        return None

    def candidates(self, position: P, most: int) -> list[M]:  # noqa: ARG002
        """Return at most ``most`` legal moves of those kinds that deserve a search, the most promising first.

        The choice is deterministic and its work in proportion to ``most``; a good move may be missed.
        """
        return []

    @abstractmethod
    def is_legal(self, position: P, move: M) -> bool:
        """Tell whether ``move`` is among the legal moves, without enumerating them."""

    @abstractmethod
    def play(self, position: P, move: M) -> P:
        """Return the position after ``move``, which must be legal: it is not checked again (use ``parse_move``)."""

    @abstractmethod
    def outcome(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return how the game has ended, or None while it goes on.

        ``history`` is the earlier positions of the game, oldest first, the present one not included; it decides
        repetition only and may be empty.
        """

    def fast_outcome(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return the same as ``outcome``, except that it may be None where an end takes long to prove.

        The search asks this of thousands of positions, each of which may cost it no more than a node should.
        """
        return self.outcome(position, history)

    def bounded_outcome(self, position: P, history: Sequence[P], budget: StepBudget) -> Outcome | None:  # noqa: ARG002
        """Return the same as ``outcome``; raises OutcomeUnknownError when that takes more steps than ``budget`` has
        left.

        This is for positions and lines that anybody may ask about. What a played move leads to is always told.
        """
        return self.outcome(position, history)

    def outcome_by_history(self, position: P, history: Sequence[P]) -> Outcome | None:
        """Return the same as ``outcome`` of a position in which some move is known to be legal.

        A game overrides this when it takes long to find out whether there is one: only ``history`` can end it then.
        """
        return self.outcome(position, history)

    def is_mid_turn(self, position: P) -> bool:  # noqa: ARG002
        """Tell whether the seat to move is in the middle of a turn: it has made a ply of it and has to make more.

        A seat that moves again because all others are skipped begins another turn.
        """
        return False

    def without_seat(self, position: P, seat: int) -> P | None:  # noqa: ARG002
        """Return the position in which the others play on after ``seat`` has left, or None when they cannot.

        The position that the seat leaves can never stand again.

        None ends the match: see ``scores_after_leaving``. A game of several seats overrides this when its rules say how
        a seat is eliminated.
        """
        return None

    def eliminated(self, position: P) -> tuple[int, ...]:  # noqa: ARG002
        """Return the seats that are out of a game that goes on without them."""
        return ()

    def scores_after_leaving(self, position: P, leaving: tuple[int, ...]) -> tuple[float, ...]:
        """Return one score per seat when ``leaving`` give up and the others share; a draw agreed is nobody leaving."""
        seats = self.seats_at(position)
        staying = seats - len(leaving)
        return tuple(0.0 if seat in leaving else 1.0 / staying for seat in range(seats))

    def seats_at(self, position: P) -> int:  # noqa: ARG002
        """Return the number of seats of the game that ``position`` belongs to."""
        return self.seats

    @abstractmethod
    def key(self, position: P) -> Hashable:
        """Return a value that two positions share exactly when they count as the same for repetition."""

    def key_string(self, position: P) -> str:
        """Return the part of the position string that is the same exactly when ``key`` is.

        These are all fields but the counters at its end: see ``key_of_text``.
        """
        return self.key_of_text(self.format_position(position))

    def key_of_text(self, text: str) -> str:
        """Return the ``key_string`` of the position that ``format_position`` writes as ``text``, without parsing it."""
        fields = text.split(" ")
        while fields[-1].isdigit():
            fields.pop()
        return " ".join(fields)

    @abstractmethod
    def parse_position(self, text: str) -> P:
        """Return the position that ``text`` describes; raises MalformedNotation with the place and the reason."""

    @abstractmethod
    def format_position(self, position: P) -> str:
        """Return the one position string of ``position``."""

    @abstractmethod
    def parse_move(self, position: P, text: str) -> M:
        """Return the legal move that ``text`` names, in canonical form or an alias.

        Raises MalformedNotation when no move is written like that, GameOver when the game has ended and
        IllegalMove, with a reason that a player understands, when the rules forbid it here.
        """

    @abstractmethod
    def format_move(self, position: P, move: M) -> str:
        """Return the one canonical string of ``move``."""

    def read_move(self, position: P, text: str, setup: str) -> M:  # noqa: ARG002
        """Return the legal move that a player means by ``text`` in a game begun from ``setup``.

        Read are the texts that ``parse_move`` reads, what ``spell`` returns, and less strict spellings (without marks
        between squares, with spaces, in capitals) that fit one legal move only. Raises as ``parse_move`` does; an
        IllegalMove lists the moves when a text fits several.
        """
        return self.parse_move(position, text)

    def display_move(self, position: P, move: M) -> str:
        """Return ``move`` as players of the game like to read it; the canonical string where they have no other.

        In games with checks a move that gives check ends with ``+``, one that mates with ``#``.
        """
        return self.format_move(position, move)

    @abstractmethod
    def diagram(self, position: P) -> str:
        """Return the board as lines of text with coordinates, without trailing spaces or newline."""

    @abstractmethod
    def scene(self, position: P) -> Scene:
        """Return what a picture of the position shows, for a renderer that knows no game."""

    @abstractmethod
    def hints(self, position: P) -> dict[str, tuple[Hint, ...]]:
        """Return the squares that can be selected and, for each, the legal moves that begin there."""

    def demand(self, position: P) -> str:  # noqa: ARG002
        """Return a sentence about what the rules demand of the player to move, such as a capture; "" if nothing."""
        return ""

    def why_not(self, position: P, square: str) -> str | None:
        """Return why no legal move begins on ``square``, in a player's words; None when one does.

        Raises MalformedNotation when the board has no such square.
        """
        return None if square in self.hints(position) else f"no legal move begins on {square}"

    def facts(self, position: P, history: Sequence[P]) -> tuple[Fact, ...]:  # noqa: ARG002
        """Return what players keep count of: captured pieces, supplies, and how near the rules are to a draw.

        ``history`` is the earlier positions of the game, as for ``outcome``.
        """
        return ()

    def compositions(self, position: P) -> tuple[Composition, ...]:  # noqa: ARG002
        """Return the kinds of legal moves that ``legal_moves`` and ``hints`` leave out, for they are too many.

        Whether a move of the kind is legal in the end is not looked into; none when the game is over by position.
        """
        return ()

    def compose(self, position: P, kind: str, parts: Sequence[str]) -> Composed:  # noqa: ARG002
        """Return how far ``parts`` have come as a composed move of ``kind``, and what can follow.

        Raises KeyError when the game knows no such kind, MalformedNotation when a part is written like none; a kind
        that is only not available in this position is a reason in the answer.
        """
        raise KeyError(kind)

    def draft(self, position: P) -> Draft | None:  # noqa: ARG002
        """Return the army that the seat to move has to set up; None when it has none to set up."""
        return None

    @abstractmethod
    def evaluate(self, position: P, seat: int) -> int:
        """Return how good a position that is not over looks for ``seat``, in hundredths of the smallest piece.

        With two seats the game is zero-sum: ``evaluate(p, 0) == -evaluate(p, 1)``.
        """

    @abstractmethod
    def order(self, position: P, moves: Iterable[M]) -> list[M]:
        """Return ``moves`` with the most promising first; a stable, deterministic order for the search."""

    @abstractmethod
    def noisy_moves(self, position: P) -> tuple[Iterable[M], bool]:
        """Return the moves that the search must still look at on its horizon, and whether they may be declined.

        Not declinable means that the player has no other moves (compulsory capture), so that the position cannot be
        judged as it stands. Moves that may be declined are best generated lazily: often nobody asks for them.
        """
