"""The terms of a match: its time control and the rights of its players beside playing, agreed before it begins."""

from collections.abc import Mapping
from typing import NamedTuple, assert_never

from domain.match.enums import Aids, Control, FlagRule, Limit
from domain.match.refusals import CommandError

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
"""Milliseconds."""

MIN_TIME_MS = 5 * MINUTE
MAX_TIME_MS = 120 * DAY
MAX_INCREMENT_MS = 30 * DAY

MAX_UNCLAIMED_MS = 30 * DAY
"""A flag that falls by claim only and that nobody claims falls by itself after so long: no match is endless."""

MAX_OPEN_MS = 30 * DAY
"""A match whose seats are not all taken after so long is cancelled."""


class Terms(NamedTuple):
    """How time is measured, and its limits. All durations are milliseconds.

    ``control`` "days-per-move" gives ``bank`` for every move; "bank" begins with ``bank``, adds ``increment``
    after every move and saves up to ``cap``. ``ceiling`` bounds one single move beside that (None: nothing does), and
    ``first_move`` the first move of each seat: a seat that does not make it in time does not lose, the match is called
    off. ``flag`` says whether a flag falls by itself or only when another seat claims it. ``aids`` are those that
    players may use; None: nothing is agreed, as in all matches before there was this term.
    """

    control: Control
    bank: int
    increment: int
    cap: int
    ceiling: int | None
    first_move: int
    flag: FlagRule
    vacations: bool
    weekends: bool
    takebacks: bool
    lines: bool
    aids: Aids | None = None


DURATIONS = ("bank", "increment", "cap", "ceiling", "first_move")
"""The fields of ``Terms`` that are milliseconds."""


STANDARD = Terms(
    control=Control.BANK,
    bank=10 * DAY,
    increment=DAY,
    cap=20 * DAY,
    ceiling=None,
    first_move=7 * DAY,
    flag=FlagRule.AUTOMATIC,
    vacations=True,
    weekends=True,
    takebacks=False,
    lines=True,
)
"""Ten days at the start, one more for every move, twenty at most."""


def days_per_move(days: int) -> Terms:
    """Return terms of ``days`` days for every move, with everything allowed that does no harm to a rated match."""
    return STANDARD._replace(control=Control.DAYS_PER_MOVE, bank=days * DAY, increment=0, cap=days * DAY)


PRESETS: Mapping[str, Terms] = {
    "10 days and 1 more for every move": STANDARD,
    "30 days and 3 more for every move": STANDARD._replace(bank=30 * DAY, increment=3 * DAY, cap=60 * DAY),
    "1 day for every move": days_per_move(1),
    "3 days for every move": days_per_move(3),
    "7 days for every move": days_per_move(7),
    "14 days for every move": days_per_move(14),
}
"""Terms to choose from, by their titles."""


def check(terms: Terms) -> None:
    """Raise CommandError, naming the field, unless ``terms`` can be played: every move is bounded and possible."""
    _within("bank", terms.bank, MIN_TIME_MS, MAX_TIME_MS)
    _within("increment", terms.increment, 0, MAX_INCREMENT_MS)
    _within("cap", terms.cap, terms.bank, MAX_TIME_MS)
    _within("first_move", terms.first_move, MIN_TIME_MS, MAX_TIME_MS)
    if terms.ceiling is not None:
        _within("ceiling", terms.ceiling, MIN_TIME_MS, MAX_TIME_MS)
    if terms.control == Control.DAYS_PER_MOVE and (terms.increment, terms.cap) != (0, terms.bank):
        raise CommandError(
            "invalid-terms", "with time per move nothing is added or saved up: leave increment and cap out", "terms"
        )


def _within(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise CommandError(
            "invalid-terms",
            f"{field.replace('_', ' ')} must be {duration(least)} to {duration(most)}, not {duration(value)}",
            f"terms.{field}",
        )


def first_move(terms: Terms) -> int:
    """Return how long a first move may take, in milliseconds: no longer than any other move."""
    return min(terms.first_move, terms.bank, terms.bank if terms.ceiling is None else terms.ceiling)


AIDS_IN_WORDS: Mapping[Aids, str] = {
    Aids.NONE: "No aids: players think for themselves, without books, notes of others or programs.",
    Aids.BOOKS: "Books and archives may be used, but no program that judges positions.",
    Aids.ANYTHING: "Any aid may be used, programs too.",
}


def in_words(terms: Terms) -> tuple[str, ...]:
    """Return the whole of ``terms`` as sentences, for a player to read before accepting them."""
    limits = (limit for limit in Limit if limit != Limit.CEILING or terms.ceiling is not None)
    sentences = [limit_in_words(terms, limit) for limit in limits]
    if terms.flag == FlagRule.AUTOMATIC:
        sentences.append("Who runs out of time loses at that instant.")
    else:
        sentences.append(
            "Who runs out of time may still move until somebody claims the win; unclaimed for "
            f"{duration(MAX_UNCLAIMED_MS)}, the flag falls by itself."
        )
    sentences.append(
        "Vacation stops a player's clock." if terms.vacations else "Vacation does not stop the clocks of this match."
    )
    sentences.append(
        "So do the free days of the week that a player has set."
        if terms.weekends and terms.vacations
        else "The free days of the week that a player has set stop that player's clock."
        if terms.weekends
        else "Free days of the week do not stop the clocks."
    )
    sentences.append("Moves may be taken back when all agree." if terms.takebacks else "Moves cannot be taken back.")
    if not terms.lines:
        sentences.append("Conditional lines are not allowed: every move is made by hand.")
    if terms.aids is not None:
        sentences.append(AIDS_IN_WORDS[terms.aids])
    return tuple(sentences)


def limit_in_words(terms: Terms, limit: Limit) -> str:
    """Return the sentence of ``terms`` about one of their limits; ``Limit.CEILING`` needs terms with a ceiling."""
    match limit:
        case Limit.TIME if terms.control == Control.DAYS_PER_MOVE:
            return f"{_capital(duration(terms.bank))} for every move; what is not used is not saved."
        case Limit.TIME:
            return (
                f"{_capital(duration(terms.bank))} at the start and {duration(terms.increment)} more after every "
                f"move, never more than {duration(terms.cap)} in all."
            )
        case Limit.CEILING:
            return f"No single move may take longer than {duration(terms.ceiling or 0)}."
        case Limit.FIRST_MOVE:
            return (
                f"Each player's first move must come within {duration(first_move(terms))}; if one does not, the match "
                "is cancelled without a result."
            )
        case _:
            assert_never(limit)


def in_short(terms: Terms) -> str:
    """Return the time control of ``terms`` in a few words, for lists: ``10 days, 1 day more for every move``."""
    if terms.control == Control.DAYS_PER_MOVE:
        return f"{duration(terms.bank)} for every move"
    if not terms.increment:
        return f"{duration(terms.bank)} for all moves"
    return f"{duration(terms.bank)}, {duration(terms.increment)} more for every move"


def duration(time: int) -> str:
    """Return ``time`` (milliseconds, not negative) in words, the two largest units: "3 days 4 hours"."""
    minutes = time // MINUTE
    parts = (("day", minutes // 1440), ("hour", minutes // 60 % 24), ("minute", minutes % 60))
    words = [f"{number} {unit}{'' if number == 1 else 's'}" for unit, number in parts if number]
    return " ".join(words[:2]) if words else "less than a minute" if time else "nothing"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
