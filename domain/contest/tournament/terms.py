"""The terms of a tournament, as data: agreed by entering, printed as sentences, checked when it is announced."""

from dataclasses import dataclass
from enum import StrEnum

from domain.contest.points import PointsRule
from domain.contest.schedules import Form, field_size, sizes
from domain.contest.standings import STANDARD_TIE_BREAKS, TieBreak
from domain.games import GAMES
from domain.match import terms as match_terms
from domain.match.enums import Control
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, Terms

MAX_TITLE = 60
MAX_DURATION_MS = 3 * 366 * DAY
MIN_DURATION_MS = 14 * DAY
"""From the start to the latest end."""

MAX_LEAD_MS = 183 * DAY
"""From the announcement to the start."""

MIN_INCREMENT_MS = 12 * HOUR
"""Less for a move disadvantages those whose opponents live in other time zones."""

POSTPONEMENT_MS = 14 * DAY
MAX_AT_ONCE = 20
MAX_FINISHED = 100

MIN_REPEAT_WEEKS = 4
MAX_REPEAT_WEEKS = 26

MIN_FIELD = {2: 3, 4: 5}
"""The least number of people with whom a postponed tournament begins, by number of seats."""


class StartRule(StrEnum):
    """When a tournament starts."""

    AT_TIME = "at-time"
    WHEN_FULL = "when-full"
    """As soon as it is full, and else at its time."""


class DropOut(StrEnum):
    """The treatment of the results of those who leave."""

    EARLY_STRUCK = "early-struck"
    """They count for the table unless fewer than half of the leaver's matches are finished."""

    RESULTS_STAND = "results-stand"
    """They count for the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryTerms:
    """Who may enter. The rating that counts is the highest lower bound of the last year, minus 150.

    ``flags`` is how many matches may have been lost on time in the last 90 days. None is no limit.
    """

    rating_from: int | None = None
    rating_to: int | None = None
    finished: int = 0
    flags: int | None = None
    bots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentTerms:
    """The terms of a tournament; instants are milliseconds since 1970 UTC.

    ``least`` and ``most`` are numbers of people, ``at_once`` how many of its matches a person plays at once. After
    ``latest_end`` no match starts. With ``repeat_weeks`` the start announces the next tournament of a series.
    ``drop_out`` None is EARLY_STRUCK.
    """

    title: str
    game: str
    setup: str
    form: Form
    clock: Terms
    rated: bool
    private: bool
    least: int
    most: int
    starts_at: int
    latest_end: int
    start: StartRule = StartRule.AT_TIME
    at_once: int = 4
    points: PointsRule = PointsRule.PLACES
    tie_breaks: tuple[TieBreak, ...] = STANDARD_TIE_BREAKS
    entry: EntryTerms = EntryTerms()
    repeat_weeks: int | None = None
    drop_out: DropOut | None = None

    @property
    def seats(self) -> int:
        """How many seats a match has."""
        return len(GAMES[self.game].setups[self.setup].seat_names)


def check(terms: TournamentTerms, now: int) -> None:
    """Raise CommandError, naming the field, unless a tournament can be announced ``now`` with ``terms``."""
    if not 3 <= len(terms.title) <= MAX_TITLE or not terms.title.isprintable() or terms.title != terms.title.strip():
        raise CommandError("invalid-terms", f"a title has 3 to {MAX_TITLE} printable characters", "title")
    game = GAMES.get(terms.game)
    if game is None:
        raise CommandError("unknown-game", f"there is no game {terms.game!r}", "game")
    if terms.setup not in game.setups:
        raise CommandError("unknown-setup", f"{game.title} has no setup {terms.setup!r}", "setup")
    fitting = sizes(terms.form, terms.seats)
    if not fitting:
        raise CommandError("invalid-terms", f"there is no {terms.form} schedule for {terms.seats} seats", "form")
    _within("most", terms.most, fitting[0], fitting[-1])
    _within("least", terms.least, fitting[0], terms.most)
    if field_size(terms.form, terms.seats, terms.most) < terms.least:
        numbers = ", ".join(map(str, fitting))
        raise CommandError("invalid-terms", f"this form is for {numbers} people: none from least to most", "least")
    match_terms.check(terms.clock)
    per_move = terms.clock.bank if terms.clock.control == Control.DAYS_PER_MOVE else terms.clock.increment
    if per_move < MIN_INCREMENT_MS:
        words = match_terms.duration(MIN_INCREMENT_MS)
        raise CommandError("invalid-terms", f"every move must bring {words} at least, for all time zones", "clock")
    _instant("starts_at", terms.starts_at, now, now + MAX_LEAD_MS, "the start")
    earliest = terms.starts_at + MIN_DURATION_MS
    _instant("latest_end", terms.latest_end, earliest, terms.starts_at + MAX_DURATION_MS, "the latest end")
    _within("at_once", terms.at_once, 1, MAX_AT_ONCE)
    if len(set(terms.tie_breaks)) != len(terms.tie_breaks):
        raise CommandError("invalid-terms", "name each tie-break once", "tie_breaks")
    if terms.repeat_weeks is not None:
        _within("repeat_weeks", terms.repeat_weeks, MIN_REPEAT_WEEKS, MAX_REPEAT_WEEKS)
    _check_entry(terms.entry)


def _check_entry(entry: EntryTerms) -> None:
    least, most = entry.rating_from, entry.rating_to
    if least is not None and most is not None and least > most:
        raise CommandError("invalid-terms", "the lowest rating is above the highest", "entry.rating_from")
    _within("entry.finished", entry.finished, 0, MAX_FINISHED)
    if entry.flags is not None:
        _within("entry.flags", entry.flags, 0, MAX_FINISHED)


def _within(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise CommandError("invalid-terms", f"this must be {least} to {most}, not {value}", field)


def _instant(field: str, instant: int, earliest: int, latest: int, words: str) -> None:
    if instant < earliest:
        after = "in the future" if field == "starts_at" else f"{MIN_DURATION_MS // DAY} days after the start at least"
        raise CommandError("invalid-terms", f"{words} must be {after}", field)
    if instant > latest:
        limit = MAX_LEAD_MS if field == "starts_at" else MAX_DURATION_MS
        raise CommandError("invalid-terms", f"{words} can be {limit // DAY} days ahead at most", field)
