"""The earlier positions of a game as one immutable sequence that is cheap to extend and to search for repetitions."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, overload

from domain.game import AnyGame, P, RulesError

MAX_RECENT = 64
"""Positions at the end that are copied when the history grows; those before them are shared and counted by key."""


class History(Sequence[Any]):
    """The positions in which the moves of a game were played, oldest first.

    Extending it and asking for repetitions take a bounded number of steps, so that a game of n plies costs about n of
    them and not n squared. A history that was restored from position strings parses them when they are looked at. It
    never changes and may be shared between threads: what it remembers in place has one value only.
    """

    __slots__ = (
        "_by_key",
        "_by_text",
        "_game",
        "_movers",
        "_parsed",
        "_recent",
        "_recent_keys",
        "_restored",
        "_settled",
        "_spelled",
        "_texts",
    )

    def __init__(self, game: AnyGame, positions: Sequence[Any] = ()) -> None:
        self._game = game
        # The beginning, if it was restored: as texts, and parsed and counted once that is needed.
        self._restored: tuple[str, ...] = ()
        self._parsed: tuple[Any, ...] | None = None
        self._by_text: Mapping[str, int] | None = None
        # What follows it, counted by key, and the last few, which are not.
        self._settled: tuple[Any, ...] = tuple(positions)
        self._by_key: Mapping[Hashable, int] = Counter(map(game.key, self._settled))
        self._recent: tuple[Any, ...] = ()
        self._recent_keys: tuple[Hashable, ...] = ()
        # What is known of the position strings, the seats to move and the moves as spelled, from the first on.
        self._texts: tuple[str, ...] = ()
        self._movers: tuple[int, ...] = ()
        self._spelled: tuple[str, ...] = ()

    @classmethod
    def restored(cls, game: AnyGame, texts: Sequence[str], movers: Sequence[int], spelled: Sequence[str]) -> "History":
        """Return the history of which ``texts``, ``movers`` and ``spelled`` returned these."""
        history = cls(game)
        history._restored = history._texts = tuple(texts)
        history._movers, history._spelled = tuple(movers), tuple(spelled)
        return history

    def then(self, position: Any) -> "History":
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

    def occurrences(self, position: Any) -> int:
        """Return how often ``position`` stood before: positions are the same when their keys are."""
        key = self._game.key(position)
        found = self._by_key.get(key, 0) + self._recent_keys.count(key)
        if self._restored:
            if self._by_text is None:
                self._by_text = Counter(map(self._game.key_of_text, self._restored))
            found += self._by_text.get(self._game.key_string(position), 0)
        return found

    def texts(self) -> tuple[str, ...]:
        """Return the position strings. Each is written once, however often this is asked as the history grows."""
        known = self._texts
        if len(known) < len(self):
            missing = range(len(known), len(self))
            self._texts = known = (*known, *(self._game.format_position(self[place]) for place in missing))
        return known

    def movers(self) -> tuple[int, ...]:
        """Return the seat that was to move in each position."""
        known = self._movers
        if len(known) < len(self):
            missing = range(len(known), len(self))
            self._movers = known = (*known, *(self._game.to_move(self[place]) for place in missing))
        return known

    def spelled(self, moves: Sequence[str]) -> tuple[str, ...]:
        """Return ``moves``, which were played in these positions, as players like to read them."""
        known = self._spelled
        if len(known) < len(self):
            missing = range(len(known), len(self))
            self._spelled = known = (*known, *(self._spell(self[place], moves[place]) for place in missing))
        return known

    def last_spelled(self, moves: Sequence[str]) -> str:
        """Return the last of ``moves`` as ``spelled`` does, without a look at the others."""
        if len(self._spelled) == len(self):
            return self._spelled[-1]
        return self._spell(self[-1], moves[-1])

    def __len__(self) -> int:
        return len(self._restored) + len(self._settled) + len(self._recent)

    def __iter__(self) -> Iterator[Any]:
        yield from self._beginning()
        yield from self._settled
        yield from self._recent

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> "History": ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if (start, step) != (0, 1):
                raise ValueError("only the beginning of a history is one")
            return self._first(stop)
        place = place if place >= 0 else len(self) + place
        for part in (self._restored, self._settled, self._recent):
            if 0 <= place < len(part):
                found = part[place]
                return self._game.parse_position(found) if part is self._restored else found
            place -= len(part)
        raise IndexError("there is no such ply")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"History({self._game.id}, {len(self)} plies)"

    def _beginning(self) -> tuple[Any, ...]:
        if self._parsed is None:
            self._parsed = tuple(map(self._game.parse_position, self._restored))
        return self._parsed

    def _copy(self) -> "History":
        copied = object.__new__(History)
        for name in History.__slots__:
            setattr(copied, name, getattr(self, name))
        return copied

    def _first(self, plies: int) -> "History":
        """Return the history of the first ``plies``."""
        shorter = self._copy()
        shorter._texts, shorter._movers = self._texts[:plies], self._movers[:plies]
        shorter._spelled = self._spelled[:plies]
        rest = plies - len(self._restored) - len(self._settled)
        shorter._recent, shorter._recent_keys = self._recent[: max(rest, 0)], self._recent_keys[: max(rest, 0)]
        if rest < 0:
            shorter._settled = self._settled[: max(plies - len(self._restored), 0)]
            shorter._by_key = Counter(map(self._game.key, shorter._settled))
        if plies < len(self._restored):
            shorter._restored, shorter._by_text = self._restored[:plies], None
            shorter._parsed = None if self._parsed is None else self._parsed[:plies]
        return shorter

    def _spell(self, position: Any, move: str) -> str:
        try:
            return self._game.display_move(position, self._game.parse_move(position, move))
        except RulesError:
            return move  # an earlier ruleset of the match allowed it


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)


def occurrences(position: P, history: Sequence[P], key: Callable[[P], Hashable]) -> int:
    """Return how often ``position`` stands in ``history``; positions are the same when their ``key`` is."""
    if isinstance(history, History):
        return history.occurrences(position)
    return list(map(key, history)).count(key(position))
