"""Events in words: the readers of the record page are players and arbiters, not programs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.pages.case_page import GROUND_WORDS, RULING_WORDS
from api.pages.clocks import PAUSED
from api.pages.settings_page import DAYS
from api.pages.wording import instant, reason_words, score_words
from api.representations.players import represent_player
from domain.games import GAMES
from domain.match.enums import Channel, Limit
from domain.match.player_signatures import PlayerSignature
from domain.match.terms import Terms, duration, in_words
from events.people.person import Person
from events.proof.player_signatures import ACTS, key_id
from events.store.converter import read_value

_PLAYERS = frozenset({"creator", "player", "arbiter"})
_LIMITS = {
    Limit.TIME: "the time that was left",
    Limit.CEILING: "the time for one move",
    Limit.FIRST_MOVE: "the time to begin",
}
_NAMES = {"creator": "created by", "statement": "digest of the statement", "dispute": "case", "setup": "start"}
"""The names of fields, where they are not the recorded ones."""

_PAUSES = ("clock-paused", "clock-resumed")
"""The events whose reason is one of ``PAUSED``; reasons of other events, except results, are written by people."""

_WORDS: Mapping[str, Callable[[Any], str]] = {
    "deadline": instant,
    "since": instant,
    "until": instant,
    "time": duration,
    "terms": lambda terms: " ".join(in_words(read_value(Terms, terms))),
    "scores": lambda scores: " : ".join(map(score_words, scores)),
    "calendar": lambda calendar: ", ".join(DAYS[day] for day in calendar["free_days"]) or "no free days",
    "ground": lambda ground: GROUND_WORDS[ground],
    "ruling": lambda ruling: RULING_WORDS[ruling],
    "limit": lambda limit: _LIMITS[limit],
    "occasion": lambda occasion: f"{occasion['kind']} {occasion['id']}, pairing {occasion['pairing']}",
    "signed": lambda signed: _signature_words(read_value(PlayerSignature, signed)),
}
"""The words of fields that need nothing but their value."""


@dataclass(frozen=True, slots=True)
class EventWording:
    """Describes the events of a match of ``game_id``; ``people`` are those whom ``people_named`` names."""

    seat_names: Sequence[str]
    game_id: str
    people: Mapping[str, Person]

    def describe(self, type: str, content: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the fields of an event of ``type`` as pairs of name and value, both in words.

        A value that cannot be interpreted is shown as recorded: a record must show defects, not fail because of them.
        """
        pairs = []
        for field, value in content.items():
            try:
                words = self._value(type, field, value)
            except (LookupError, TypeError, ValueError, AttributeError):
                words = json.dumps(value, ensure_ascii=False)
            pairs.append((_NAMES.get(field, field.replace("_", " ")), words))
        if type in ACTS and content.get("channel") == Channel.MAIL:
            pairs.append(("signed", "no, for a mail carries no signature of a key"))
        return pairs

    def _value(self, type: str, field: str, value: Any) -> str:
        match field:
            case "creator" | "player" | "arbiter":
                return represent_player(value, self.people).name
            case "seat" | "to" | "claimed_by":
                return str(self.seat_names[int(value)])
            case "setup" if self.game_id in GAMES:
                return GAMES[self.game_id].setups[value].title
            case "seats":
                return self._by_seat(value, self._seat)
            case "remaining":
                return self._by_seat(value, duration)
            case "reason" if type == "match-finished":
                return reason_words(value, self.game_id)
            case "reason" if type in _PAUSES:
                return PAUSED[value]
            case _ if field in _WORDS:
                return _WORDS[field](value)
        return ("yes" if value else "no") if isinstance(value, bool) else str(value)

    def _by_seat(self, values: Sequence[Any], words: Callable[[Any], str]) -> str:
        return "; ".join(f"{name}: {words(value)}" for name, value in zip(self.seat_names, values, strict=True))

    def _seat(self, seat: Mapping[str, Any]) -> str:
        if not seat.get("player"):
            return "open"
        name = represent_player(seat["player"], self.people).name
        return name if seat["joined"] else f"{name}, invited"


def _signature_words(signed: PlayerSignature) -> str:
    return f"by the player's key {key_id(signed.key)}, over version {signed.version}"


def people_named(content: Mapping[str, Any]) -> set[str]:
    """Return the ids of the people named in the content of an event."""
    seats = content.get("seats", ())
    named = [seat.get("player") for seat in seats if isinstance(seat, Mapping)] if isinstance(seats, list) else []
    named += [content.get(field) for field in _PLAYERS]
    return {id for id in named if isinstance(id, str)}
