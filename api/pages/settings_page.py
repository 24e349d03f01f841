"""The settings of a person: time zone, free days, vacations, automatic moves, keys, tokens, blocks."""

from flask import render_template
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.operations.jobs import archive_state
from api.pages.bot_wording import game_title
from api.pages.layout import blueprint, sign_in_first
from api.representations.bots import CAPACITY_GAMES
from api.services import services
from domain.match import vacation
from domain.match.calendar import MAX_FREE_DAYS
from domain.match.terms import duration
from domain.match.vacation import year_of
from events.people.capacity import MAX_CONCURRENT
from events.people.credentials import MAX_LABEL_LENGTH
from events.people.player_keys import MAX_KEY_NAME_LENGTH
from events.private.time_zones import zone_names
from events.runtime.wall_clock import rfc3339

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@blueprint.get("/settings")
def settings() -> str | Response:
    """Return the settings of the signed-in person."""
    person = current_person()
    if person is None:
        return sign_in_first()
    now = services().now()
    availability = services().availability.read([person.id])[person.id]
    blocks = services().blocks.of(person.id)
    return render_template(
        "settings.html",
        availability=availability,
        days=DAYS,
        max_free_days=MAX_FREE_DAYS,
        zones=sorted(zone_names()),
        current=vacation.current(availability.book, now),
        ahead=[each for each in availability.book if each.since > now],
        past=sum(each.until <= now for each in availability.book),
        left=duration(vacation.left(availability.book, year_of(now))),
        allowance=duration(vacation.ALLOWANCE),
        year=year_of(now),
        archive=archive_state(person),
        blocks=blocks,
        blocked=services().people.persons(blocks),
        tokens=services().people.tokens.of(person),
        max_label_length=MAX_LABEL_LENGTH,
        player_keys=services().player_keys.of(person.id),
        max_key_name_length=MAX_KEY_NAME_LENGTH,
        bot=services().bots.among([person.id]).get(person.id),
        bot_games={name: game_title(name) for name in CAPACITY_GAMES},
        max_concurrent=MAX_CONCURRENT,
        now=now,
        rfc3339=rfc3339,
    )
