"""The words of the pages: levels, results, instants and durations."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from enum import StrEnum

from api.representations.ratings import RatingValue
from domain.games import GAMES
from domain.match.endings import reason_words
from domain.match.enums import Aids, Limit
from domain.match.terms import AIDS_IN_WORDS, DAY, Terms, duration, in_short, limit_in_words
from domain.puzzles.attempts import SolverRating
from domain.search.budgets import thinking_time_s, thinks_long
from domain.search.choose import node_budget, strength_of
from events.matches.readmodels import PlayerRating, Summary, Unrated
from events.matches.readmodels.standings import PROVISIONAL_DEVIATION, interval_of

URGENT_MS = DAY
"""A deadline that is nearer, in milliseconds, stands out in lists."""

LEVELS = (
    "knows the rules",
    "beginner",
    "casual player",
    "attentive player",
    "club player",
    "strong club player",
    "expert",
    "plays to win and takes its time",
)

LEVEL_SIGHTS = (
    "Looks no further than what it can take at once",
    "Takes what it sees",
    "Sees a capture coming, not a plan",
    "Sees short exchanges to their end",
    "Looks a few moves ahead",
    "Looks farther ahead, at up to {nodes:,} positions a move",
    "Looks at up to {nodes:,} positions a move",
    "Looks at up to {nodes:,} positions a move",
)
"""The sight of an opponent that answers at once, by level from 1; ``nodes`` is its node budget in the game."""

_OVERLOOKED = (
    (0.92, "nearly every move"),
    (0.87, "nine moves in ten"),
    (0.8, "five moves in six"),
    (0.7, "three moves in four"),
    (0.64, "two moves in three"),
    (0.55, "three moves in five"),
    (0.45, "every second move"),
    (0.4, "two moves in five"),
    (0.34, "more than a third of its moves"),
    (0.26, "more than a quarter of its moves"),
    (0.165, "about one move in five"),
    (0.13, "about one move in seven"),
    (0.05, "a move now and then"),
    (0.01, "next to nothing"),
    (0.0, "nothing"),
)
"""The share of its own next moves that an opponent overlooks, from each blunder rate on."""

_STEPS = ((3_600_000, 60_000, "minute"), (86_400_000, 3_600_000, "hour"), (30 * 86_400_000, 86_400_000, "day"))


time_control = in_short
"""A time control in a few words, by its terms."""


def time_sentence(terms: Terms) -> str:
    """Return how the time of the players is measured, as a sentence."""
    return limit_in_words(terms, Limit.TIME)


def aids_sentence(aids: str) -> str:
    """Return the term of a match about ``aids`` as a sentence."""
    return AIDS_IN_WORDS[Aids(aids)]


def level_words(level: int, game_id: str = "") -> str:
    """Return the description of an opponent of ``level`` (1 to 12), in a game if one is named."""
    if not thinks_long(level):
        return LEVELS[level - 1]
    if not game_id:
        return "plays to win and thinks for long"
    return f"thinks {thinking_words(game_id, level)} about a move"


def sight_of(game_id: str, level: int) -> str:
    """Return the sight of an opponent of ``level`` in a game, as a sentence."""
    strength = strength_of(game_id, level)
    if level <= len(LEVEL_SIGHTS):
        overlooked = next(share for least, share in _OVERLOOKED if strength.blunder_rate >= least)
        return f"{LEVEL_SIGHTS[level - 1].format(nodes=strength.nodes)}; it overlooks {overlooked}."
    return f"Looks at up to {strength.nodes:,} positions a move, which takes it {thinking_words(game_id, level)}."


def thinking_words(game_id: str, level: int) -> str:
    """Return how long an opponent of ``level`` (9 to 12) thinks about a move of a game: "about 6 minutes"."""
    return about(thinking_time_s(game_id, node_budget(game_id, level)))


def about(seconds: float) -> str:
    """Return a time of thinking in words: "about 6 minutes", "less than a minute"."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return "less than a minute"
    return f"about {minutes} minute{'' if minutes == 1 else 's'}"


def nodes_sentence(player: str, game_id: str, level: int) -> str:
    """Return as a sentence what an opponent called ``player`` spends on a move."""
    spent = f"{player} visits up to {node_budget(game_id, level):,} positions for a move"
    return f"{spent}: it thinks {thinking_words(game_id, level)}." if thinks_long(level) else f"{spent}."


def ruleset_words(game: str, ruleset: int) -> str:
    """Return the addition of lists to the title of a game: the ruleset, unless it is the only one."""
    return "" if [rules.ruleset for rules in GAMES.rulesets.get(game, ())] == [ruleset] else f", ruleset {ruleset}"


def ago(then: int, now: int) -> str:
    """Return how long ago ``then`` was, both in milliseconds since 1970 UTC; beyond a month, the date."""
    passed = max(0, now - then)
    if passed < 60_000:
        return "just now"
    for limit, unit, name in _STEPS:
        if passed < limit:
            count = passed // unit
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return f"on {datetime.fromtimestamp(then / 1000, UTC):%-d %B %Y}"


def iso(instant: int) -> str:
    """Return milliseconds since 1970 UTC in the form of RFC 3339, to the second."""
    return f"{datetime.fromtimestamp(instant / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def time_left(deadline: int, now: int) -> str:
    """Return the time left until ``deadline``, both in milliseconds since 1970 UTC."""
    return f"{duration(deadline - now)} left" if deadline > now else "time is up"


def milliseconds(instant: str) -> int:
    """Return an instant in the form of RFC 3339 as milliseconds since 1970 UTC."""
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def instant(at: int) -> str:
    """Return milliseconds since 1970 UTC as people read them: Sat 28 November 2026, 19:45 UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%a %-d %B %Y, %H:%M} UTC"


def day(at: int) -> str:
    """Return the UTC day of an instant, like 22 Nov 2026."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%-d %b %Y}"


def score_words(score: float) -> str:
    """Return a score as players write it: 1, 0, ½, ¼; anything else with two decimals."""
    return {1.0: "1", 0.0: "0", 0.5: "½", 0.25: "¼", 0.75: "¾"}.get(score, f"{score:.2f}")


def change(before: float, after: float) -> str:
    """Return the difference of two ratings as they are shown, rounded: +12, −7, ±0."""
    points = round(after) - round(before)
    return f"+{points}" if points > 0 else f"\N{MINUS SIGN}{-points}" if points else "±0"


def rating_range(rating: float, deviation: float) -> str:
    """Return the interval of a provisional rating, in tens: 1160–1840."""
    low, high = interval_of(rating, deviation)
    return f"{round(low, -1):.0f}–{round(high, -1):.0f}"


def rating_words(rating: PlayerRating) -> str:
    """Return a rating as it is shown: 1712; a provisional one with a question mark: 1340?"""
    return f"{rating.rating:.0f}{'?' if rating.provisional else ''}"


def solver_rating(of: SolverRating) -> str:
    """Return the rating of a puzzle, or of a person as a solver, as it is shown: 1712; 1340? while it is uncertain."""
    return f"{of.rating.rating:.0f}{'?' if of.rating.deviation > PROVISIONAL_DEVIATION else ''}"


def rating_with_interval(rating: PlayerRating) -> str:
    """Return a provisional rating as its own page shows it: 1340?, 1160–1520, after 4 matches."""
    matches = "match" if rating.matches == 1 else "matches"
    interval = rating_range(rating.rating, rating.deviation)
    return f"{rating_words(rating)}, {interval}, after {rating.matches} {matches}"


def rating_value(value: RatingValue) -> str:
    """Return a rating of then as it is shown: 1712, or 1160–1840 if it was provisional."""
    return rating_range(value.rating, value.deviation) if value.provisional else f"{value.rating:.0f}"


def rating_with_margin(value: RatingValue) -> str:
    """Return a rating of then with its error: 1712 ± 64; of a provisional one the interval says it."""
    return rating_value(value) if value.provisional else f"{rating_value(value)} ± {value.high - value.rating:.0f}"


def weight_words(weight: float) -> str:
    """Return the weight of a pairwise result: 1, ⅔, ½, else two decimals."""
    return {1.0: "1", 2 / 3: "⅔", 0.5: "½"}.get(weight, f"{weight:.2f}")


def iso_day(day: date) -> str:
    """Return a UTC day, like 22 Nov 2026."""
    return f"{day:%-d %b %Y}"


def unrated_words(reason: Unrated) -> str:
    """Return why a match does not count for ratings."""
    return {
        Unrated.AGREED: "It was agreed to be unrated.",
        Unrated.WITHOUT_RESULT: "It has no result: it was cancelled or annulled.",
        Unrated.TOO_SHORT: "It ended before every seat had moved.",
        Unrated.ONE_PLAYER: "One player had all seats.",
    }[reason]


class PlayerResult(StrEnum):
    """How a match went for one of its players."""

    WON = "Won"
    SHARED = "Win shared"
    LOST = "Lost"
    DRAWN = "Drawn"


def result_of(summary: Summary, viewer: str | None) -> PlayerResult | None:
    """Return how a finished match went for ``viewer``, None unless they played some but not all of its seats."""
    scores = summary.scores
    if scores is None:
        return None
    own = [score for seat, score in zip(summary.seats, scores, strict=True) if seat.player == viewer]
    if not own or len(own) == len(scores):
        return None
    if len(set(scores)) == 1:
        return PlayerResult.DRAWN
    if max(own) < max(scores):
        return PlayerResult.LOST
    return PlayerResult.WON if scores.count(max(scores)) == 1 else PlayerResult.SHARED


def headline(scores: Sequence[float], seat_names: Sequence[str]) -> str:
    """Return who won, or that the match is drawn."""
    best = max(scores)
    winners = [name for name, score in zip(seat_names, scores, strict=True) if score == best]
    if len(winners) == len(seat_names):
        return "A draw"
    if len(winners) == 1:
        return f"{winners[0]} has won"
    return f"{', '.join(winners[:-1])} and {winners[-1]} share the win"


def result_words(scores: Sequence[float], seat_names: Sequence[str], reason: str | None, game_id: str) -> str:
    """Return who has won and why, as a sentence: White has won by resignation."""
    why = reason_words(reason, game_id)
    return f"{headline(scores, seat_names)}{' ' if why.startswith(('by ', 'on ')) else ': '}{why}."
