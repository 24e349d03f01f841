"""What an event recorded, in words: the reader of the record page is a player or an arbiter, not a program."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from api.pages.case_page import GROUND_WORDS, RULING_WORDS
from api.pages.clocks import PAUSED
from api.pages.settings_page import DAYS
from api.pages.wording import instant, reason_words, score_words
from api.representations.players import represent_player
from domain.games import GAMES
from domain.match.enums import Limit
from domain.match.terms import Terms, duration, in_words
from events.people.person import Person
from events.store.converter import read_value

_PLAYERS = frozenset({"creator", "player", "arbiter"})
_SEATS = frozenset({"seat", "to", "claimed_by"})
_INSTANTS = frozenset({"deadline", "since", "until"})
_NAMES = {"creator": "made by", "statement": "fingerprint of what was said", "dispute": "case", "setup": "start"}
_LIMITS = {
    Limit.TIME: "the time that was left",
    Limit.CEILING: "the time for one move",
    Limit.FIRST_MOVE: "the time to begin",
}


def describe(
    type: str, content: Mapping[str, Any], names: Sequence[str], game_id: str, people: Mapping[str, Person]
) -> list[tuple[str, str]]:
    """Return the fields of an event of ``type`` as pairs of name and value, both in words.

    ``content`` is what was recorded in a match of ``game_id``, ``names`` are those of the seats, ``people`` those whom
    ``people_named`` names. What cannot be understood is shown as it was recorded: a record finds faults, it does not
    fail on them.
    """

    def seated(seat: Mapping[str, Any]) -> str:
        if not seat.get("player"):
            return "open"
        name = represent_player(seat["player"], people).name
        return name if seat["joined"] else f"{name}, invited"

    def words(field: str, value: Any) -> str:
        if field in _PLAYERS:
            return represent_player(value, people).name
        if field in _SEATS:
            return str(names[int(value)])
        if field in _INSTANTS:
            return instant(value)
        if field == "setup":
            return GAMES[game_id].setups[value].title if game_id in GAMES else str(value)
        if field == "seats":
            return "; ".join(f"{name}: {seated(seat)}" for name, seat in zip(names, value, strict=True))
        if field == "remaining":
            return "; ".join(f"{name}: {duration(time)}" for name, time in zip(names, value, strict=True))
        if field == "reason" and type == "match-finished":
            return reason_words(value, game_id)
        if field == "reason" and type in _PAUSES:
            return PAUSED[value]
        if field in _WORDS:
            return _WORDS[field](value)
        return ("yes" if value else "no") if isinstance(value, bool) else str(value)

    pairs = []
    for field, value in content.items():
        try:
            in_words = words(field, value)
        except (LookupError, TypeError, ValueError, AttributeError):
            in_words = json.dumps(value, ensure_ascii=False)
        pairs.append((_NAMES.get(field, field.replace("_", " ")), in_words))
    return pairs


def people_named(content: Mapping[str, Any]) -> set[str]:
    """Return the ids of those who are named in what an event recorded."""
    seats = content.get("seats", ())
    named = [seat.get("player") for seat in seats if isinstance(seat, Mapping)] if isinstance(seats, list) else []
    named += [content.get(field) for field in _PLAYERS]
    return {id for id in named if isinstance(id, str)}


_PAUSES = ("clock-paused", "clock-resumed")
"""The events whose reason is one of ``PAUSED``; all but that of a result are written by people."""

_WORDS: Mapping[str, Callable[[Any], str]] = {
    "time": duration,
    "terms": lambda terms: " ".join(in_words(read_value(Terms, terms))),
    "scores": lambda scores: " : ".join(map(score_words, scores)),
    "calendar": lambda calendar: ", ".join(DAYS[day] for day in calendar["free_days"]) or "no free days",
    "ground": lambda ground: GROUND_WORDS[ground],
    "ruling": lambda ruling: RULING_WORDS[ruling],
    "limit": lambda limit: _LIMITS[limit],
}
