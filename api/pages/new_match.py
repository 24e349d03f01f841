"""The form for a new match, filled in as the last match that the person has created."""

from collections.abc import Sequence
from typing import NamedTuple

from flask import render_template, request

from api.access.admission import LONG_LIMIT, MAX_MATCHES_AGAINST_OPPONENTS, opponent_limit
from api.pages.layout import blueprint, read_viewer_roles, signed_in_reader
from api.representations.clocks import SECOND_MS
from api.services import services
from domain.games import GAMES
from domain.match.enums import Control
from domain.match.terms import PRESETS, STANDARD, Terms
from domain.search.budgets import MAX_SHORT_LEVEL, offered_levels
from domain.search.choose import LEVELS, MAX_GUEST_LEVEL
from events.matches.readmodels import Summary
from events.people.capacity import Invitations
from events.people.names import MAX_NAME_CHARACTERS
from events.people.person import Person
from events.runtime.reads import ReadBatch

MAX_BOTS_SUGGESTED = 20
DEFAULT_LEVEL = 3
FIRST_LEVEL = 1
"""The level of the computer in the first match that a person creates."""

FIRST_RATED_MATCH = 3
"""Against the computer a person plays for a rating, unless otherwise chosen, from this match on."""

LATEST_OF_SHARD = 10
"""Finished matches that are looked at for the last one and for the number of matches against the computer."""


class SeatChoice(NamedTuple):
    """Who is to play a seat: "me", "opponent", "player" or "open"; the level, and the name of the player."""

    kind: str
    level: int = DEFAULT_LEVEL
    name: str = ""


class LastMatch(NamedTuple):
    """The last match that a person has created: its kind, such as "towers/two-player", and its choices."""

    kind: str
    ruleset: int
    seats: Sequence[SeatChoice]
    terms: Terms
    rated: bool
    private: bool


class Past(NamedTuple):
    """The latest matches of a person: the last one created, how many were against the computer, the limits reached.

    ``reached`` are sentences, by "any" or "long" for the levels that the limit is about.
    """

    last: LastMatch | None
    against_computer: int
    reached: dict[str, str]


@blueprint.get("/matches/new")
def new_match() -> str:
    """Return the form for a new match, filled in from the query (game, setup, ruleset, invite, level)."""
    person = signed_in_reader()
    past = _read_past(person)
    last = past.last
    chosen = request.args.get("game", "")
    if chosen not in GAMES:
        chosen = last.kind.split("/")[0] if last else next(iter(GAMES))
    setups, setup = GAMES[chosen].setups, request.args.get("setup", "")
    if setup not in setups:
        setup = last.kind.split("/")[1] if last and last.kind.startswith(f"{chosen}/") else next(iter(setups))
    ruleset = request.args.get("ruleset", "")
    most = MAX_GUEST_LEVEL if person.kind == "guest" else max(LEVELS)
    levels = {game_id: [number for number in offered_levels(game_id) if number <= most] for game_id in GAMES}
    level, invite = request.args.get("level", ""), request.args.get("invite", "")[:MAX_NAME_CHARACTERS]
    wanted_level = int(level) if level in map(str, levels[chosen]) else DEFAULT_LEVEL if last else FIRST_LEVEL
    seats: dict[str, Sequence[SeatChoice]] = {
        f"{game.id}/{name}": _usual_seats(len(of_seats.seat_names), wanted_level, invite)
        for game in GAMES.values()
        for name, of_seats in game.setups.items()
    }
    if last and not invite and not level:
        seats[last.kind] = last.seats
    terms = last.terms if last else STANDARD._replace(takebacks=person.kind == "guest")
    begins_now = seats[f"{chosen}/{setup}"]
    return render_template(
        "new_match.html",
        games=sorted(GAMES.values(), key=lambda game: not (last and last.kind.startswith(f"{game.id}/"))),
        last=last,
        chosen=chosen,
        chosen_setup=setup,
        rulesets=GAMES.rulesets,
        chosen_ruleset=_ruleset(chosen, ruleset, last),
        seats=seats,
        invite=invite,
        bots=_free_bots(),
        levels=levels,
        max_guest_level=MAX_GUEST_LEVEL,
        max_guest_matches=opponent_limit("guest").maximum,
        max_long=LONG_LIMIT.maximum,
        max_short=MAX_SHORT_LEVEL,
        **terms_form(terms),
        is_new=past.against_computer + 1 < FIRST_RATED_MATCH,
        rated=_is_rated_by_default(person, past, begins_now),
        private=last is not None and last.private,
        reached=past.reached,
        begins_against=[seat.level for seat in begins_now if seat.kind == "opponent"],
    )


def _usual_seats(number: int, level: int, invite: str) -> list[SeatChoice]:
    """Return the seats of a match of the viewer, who has the first, against the computer or the invited player."""
    if not invite:
        return [SeatChoice("me"), *(SeatChoice("opponent", level) for _ in range(number - 1))]
    return [SeatChoice("me"), SeatChoice("player", level, invite), *(SeatChoice("open") for _ in range(number - 2))]


def _ruleset(chosen: str, asked: str, last: LastMatch | None) -> int | None:
    """Return the ruleset of ``chosen`` that is asked for, or was played last; None for the default."""
    if asked in {str(game.ruleset) for game in GAMES.rulesets[chosen]}:
        return int(asked)
    return last.ruleset if last and last.kind.startswith(f"{chosen}/") else None


def _is_rated_by_default(person: Person, past: Past, seats: Sequence[SeatChoice]) -> bool:
    """Return whether the match counts unless otherwise chosen: not for guests, nor at first against the computer."""
    if person.kind == "guest":
        return False
    if all(seat.kind in ("me", "opponent") for seat in seats) and past.against_computer < FIRST_RATED_MATCH:
        return past.against_computer + 1 == FIRST_RATED_MATCH
    return past.last is None or past.last.rated


def _read_past(person: Person) -> Past:
    """Return the values of the form that follow from the matches of ``person``: a round trip, and one for names."""
    batch, lists = ReadBatch(services().client), services().readmodels
    read_viewer_roles(batch)
    active = batch.add(lists.read_of_latest("active", person.id, MAX_MATCHES_AGAINST_OPPONENTS))
    finished = batch.add(lists.read_of_latest("finished", person.id, LATEST_OF_SHARD))
    playing = active()
    latest = {summary.match: summary for summary in (*finished(), *playing)}.values()
    created = [summary for summary in latest if summary.creator == person.id and _can_be_created(summary)]
    last = max(created, key=lambda summary: summary.created_at, default=None)
    any_level = opponent_limit(person.kind)
    reached = {
        name: limit.in_words(person.kind)
        for name, limit in (("any", any_level), ("long", LONG_LIMIT))
        if sum(limit.counts(summary.seats) for summary in playing) >= limit.maximum
    }
    return Past(
        None if last is None else _describe(last, person),
        sum(any_level.counts(summary.seats) for summary in latest),
        reached,
    )


def _can_be_created(summary: Summary) -> bool:
    return summary.game in GAMES and summary.setup in GAMES[summary.game].setups


def _describe(summary: Summary, person: Person) -> LastMatch:
    others = services().people.persons(
        seat.player for seat in summary.seats if seat.player not in (None, person.id) and seat.level is None
    )

    def choice(player: str | None, level: int | None) -> SeatChoice:
        if level is not None:
            return SeatChoice("opponent", level)
        if player == person.id:
            return SeatChoice("me")
        return SeatChoice("player", name=others[player].name) if player in others else SeatChoice("open")

    return LastMatch(
        f"{summary.game}/{summary.setup}",
        summary.ruleset,
        [choice(seat.player, seat.level) for seat in summary.seats],
        summary.terms,
        summary.rated,
        summary.private,
    )


def _free_bots() -> list[str]:
    """Return the names of bots that take invitations and have a place free."""
    bots = services().bots.among(services().bots.listed("", MAX_BOTS_SUGGESTED))
    matches = services().readmodels.engagements(list(bots))
    return [
        bot.name
        for bot in bots.values()
        if bot.capacity.invitations != Invitations.NOBODY
        and bot.capacity.concurrent > matches[bot.id]
        and not bot.suspended
    ]


def terms_form(chosen: Terms) -> dict[str, object]:
    """Return the values of the template of terms, of which ``chosen`` are shown: the time controls by their titles."""
    presets = {title: _control(terms) for title, terms in PRESETS.items()}
    return {"presets": presets, "terms": chosen, "control": _control(chosen)}


def _control(terms: Terms) -> dict[str, str | int]:
    """Return the time control of ``terms`` in the form of the API, in seconds."""
    control: dict[str, str | int] = {"control": terms.control, "bank": terms.bank // SECOND_MS}
    if terms.control == Control.DAYS_PER_MOVE:
        return control
    return control | {"increment": terms.increment // SECOND_MS, "cap": terms.cap // SECOND_MS}
