"""The earlier positions of a game as one immutable sequence that is cheap to extend and to search for repetitions."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import eq
from typing import Final, overload

from domain.errors import RulesError
from domain.game import AnyGame, P

MAX_RECENT: Final = 64
"""How many positions at the end are copied when the history grows; those before them are shared and counted by key."""


class History(Sequence[Hashable]):
    """The positions in which the moves of a game were played, oldest first.

    Extending it and counting repetitions take a bounded number of steps, so that a game of n plies costs about n of
    them and not n squared. A history that was restored from position strings parses them when they are needed. It is
    immutable and may be shared between threads: every value that it caches in place is the only one possible.
    """

    __slots__ = (
        "_by_key", "_by_text", "_displayed", "_game", "_movers", "_parsed", "_recent", "_recent_keys", "_restored",
        "_settled", "_texts",
    )  # fmt: skip

    def __init__(self, game: AnyGame, positions: Sequence[Hashable] = ()) -> None:
        self._game = game
        # The beginning, if it was restored: position strings, which are parsed and counted when that is needed.
        self._restored: tuple[str, ...] = ()
        self._parsed: tuple[Hashable, ...] | None = None
        self._by_text: Mapping[str, int] | None = None
        # The positions after it, counted by key, and the last few, which are not.
        self._settled: tuple[Hashable, ...] = tuple(positions)
        self._by_key: Mapping[Hashable, int] = Counter(map(game.key, self._settled))
        self._recent: tuple[Hashable, ...] = ()
        self._recent_keys: tuple[Hashable, ...] = ()
        # Caches of the position strings, the seats to move and the moves as displayed, each from the first ply on.
        self._texts: tuple[str, ...] = ()
        self._movers: tuple[int, ...] = ()
        self._displayed: tuple[str, ...] = ()

    @classmethod
    def restore(cls, game: AnyGame, texts: Sequence[str], movers: Sequence[int], displayed: Sequence[str]) -> "History":
        """Return the history of which ``texts``, ``movers`` and ``display_moves`` returned these."""
        history = cls(game)
        history._restored = history._texts = tuple(texts)
        history._movers, history._displayed = tuple(movers), tuple(displayed)
        return history

    def with_position(self, position: Hashable) -> "History":
        """Return the history with ``position`` after its last one."""
        longer = self._copy()
        key = self._game.key(position)
        if len(self._recent) < MAX_RECENT:
            longer._recent = (*self._recent, position)
            longer._recent_keys = (*self._recent_keys, key)
        else:
            counts = Counter(self._by_key)
            counts.update(self._recent_keys)
            longer._settled, longer._by_key = self._settled + self._recent, counts
            longer._recent, longer._recent_keys = (position,), (key,)
        return longer

    def occurrences(self, position: Hashable) -> int:
        """Return how often ``position`` has occurred before: positions are the same when their keys are."""
        key = self._game.key(position)
        occurred = self._by_key.get(key, 0) + self._recent_keys.count(key)
        if self._restored:
            if self._by_text is None:
                self._by_text = Counter(map(self._game.key_of_text, self._restored))
            occurred += self._by_text.get(self._game.key_string(position), 0)
        return occurred

    def texts(self) -> tuple[str, ...]:
        """Return the position strings. Each is formatted once, however often this is called as the history grows."""
        texts = self._texts
        if len(texts) < len(self):
            missing = range(len(texts), len(self))
            self._texts = texts = (*texts, *(self._game.format_position(self[ply]) for ply in missing))
        return texts

    def movers(self) -> tuple[int, ...]:
        """Return the seat that was to move in each position."""
        movers = self._movers
        if len(movers) < len(self):
            missing = range(len(movers), len(self))
            self._movers = movers = (*movers, *(self._game.to_move(self[ply]) for ply in missing))
        return movers

    def display_moves(self, moves: Sequence[str]) -> tuple[str, ...]:
        """Return ``moves``, the strings of the moves played in these positions, as players like to read them."""
        texts = self._displayed
        if len(texts) < len(self):
            missing = range(len(texts), len(self))
            self._displayed = texts = (*texts, *(self._display(self[ply], moves[ply]) for ply in missing))
        return texts

    def display_last_move(self, moves: Sequence[str]) -> str:
        """Return the last of ``moves`` as ``display_moves`` does, without formatting the others."""
        if len(self._displayed) == len(self):
            return self._displayed[-1]
        return self._display(self[-1], moves[-1])

    def __len__(self) -> int:
        return len(self._restored) + len(self._settled) + len(self._recent)

    def __iter__(self) -> Iterator[Hashable]:
        yield from self._beginning()
        yield from self._settled
        yield from self._recent

    @overload
    def __getitem__(self, place: int) -> Hashable: ...

    @overload
    def __getitem__(self, place: slice) -> "History": ...

    def __getitem__(self, place: int | slice) -> Hashable:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if (start, step) != (0, 1):
                raise ValueError("a slice of a history must begin with its first position")
            return self._first(stop)
        place = place if place >= 0 else len(self) + place
        if 0 <= place < len(self._restored):
            position: Hashable = self._game.parse_position(self._restored[place])
            return position
        place -= len(self._restored)
        for part in (self._settled, self._recent):
            if 0 <= place < len(part):
                return part[place]
            place -= len(part)
        raise IndexError("there is no such ply")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"History({self._game.id}, {len(self)} plies)"

    def _beginning(self) -> tuple[Hashable, ...]:
        if self._parsed is None:
            self._parsed = tuple(map(self._game.parse_position, self._restored))
        return self._parsed

    def _copy(self) -> "History":
        # Every move makes a copy; to name the fields takes a third of the time of a loop over them.
        copied = History(self._game)
        copied._restored, copied._parsed, copied._by_text = self._restored, self._parsed, self._by_text
        copied._settled, copied._by_key = self._settled, self._by_key
        copied._recent, copied._recent_keys = self._recent, self._recent_keys
        copied._texts, copied._movers, copied._displayed = self._texts, self._movers, self._displayed
        return copied

    def _first(self, plies: int) -> "History":
        shorter = self._copy()
        shorter._texts, shorter._movers = self._texts[:plies], self._movers[:plies]
        shorter._displayed = self._displayed[:plies]
        rest = plies - len(self._restored) - len(self._settled)
        shorter._recent, shorter._recent_keys = self._recent[: max(rest, 0)], self._recent_keys[: max(rest, 0)]
        if rest < 0:
            settled = max(plies - len(self._restored), 0)
            shorter._settled = self._settled[:settled]
            # Counted again or counted down, whichever is less: moves may be taken back often, mostly a few of many.
            if 2 * settled < len(self._settled):
                shorter._by_key = Counter(map(self._game.key, shorter._settled))
            else:
                counts = Counter(self._by_key)
                counts.subtract(map(self._game.key, self._settled[settled:]))
                shorter._by_key = counts
        if plies < len(self._restored):
            shorter._restored, shorter._by_text = self._restored[:plies], None
            shorter._parsed = None if self._parsed is None else self._parsed[:plies]
        return shorter

    def _display(self, position: Hashable, move: str) -> str:
        try:
            return self._game.display_move(position, self._game.parse_move(position, move))
        except RulesError:
            return move  # an earlier ruleset of the match allowed it


def occurrences(position: P, history: Sequence[P], key: Callable[[P], Hashable]) -> int:
    """Return how often ``position`` occurs in ``history``; positions are the same when their ``key`` is."""
    if isinstance(history, History):
        return history.occurrences(position)
    return list(map(key, history)).count(key(position))
