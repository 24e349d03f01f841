"""The form for a new match."""

from flask import render_template, request

from api.access.admission import MAX_MATCHES_AGAINST_LONG_THINKERS
from api.pages.layout import blueprint, signed_in_reader
from api.representations.clocks import SECOND_MS
from api.services import services
from domain.games import GAMES
from domain.match.enums import Control
from domain.match.terms import PRESETS, Terms
from domain.search.budgets import offered_levels
from domain.search.choose import LEVELS, MAX_GUEST_LEVEL
from events.people.capacity import Invitations

MAX_BOTS_SUGGESTED = 20


@blueprint.get("/matches/new")
def new_match() -> str:
    """Return the form for a new match, filled in from the query (game, setup, ruleset, invite, level)."""
    person = signed_in_reader()
    chosen = request.args.get("game", "")
    if chosen not in GAMES:
        chosen = next(iter(GAMES))
    setups = GAMES[chosen].setups
    setup = request.args.get("setup", "")
    ruleset = request.args.get("ruleset", "")
    level = request.args.get("level", "")
    most = MAX_GUEST_LEVEL if person.kind == "guest" else max(LEVELS)
    levels = {game_id: [number for number in offered_levels(game_id) if number <= most] for game_id in GAMES}
    return render_template(
        "new_match.html",
        games=list(GAMES.values()),
        chosen=chosen,
        chosen_setup=setup if setup in setups else next(iter(setups)),
        rulesets=GAMES.rulesets,
        chosen_ruleset=int(ruleset) if ruleset in {str(game.ruleset) for game in GAMES.rulesets[chosen]} else None,
        invite=request.args.get("invite", "")[:24],
        bots=_free_bots(),
        levels=levels,
        level=int(level) if level in map(str, levels[chosen]) else 3,
        max_guest_level=MAX_GUEST_LEVEL,
        max_long=MAX_MATCHES_AGAINST_LONG_THINKERS,
        presets=time_controls(),
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


def time_controls() -> dict[str, dict[str, str | int]]:
    """Return the time controls to choose from, by their titles."""
    return {title: _control(terms) for title, terms in PRESETS.items()}


def _control(terms: Terms) -> dict[str, str | int]:
    """Return the time control of ``terms`` in the form of the API, in seconds."""
    control: dict[str, str | int] = {"control": terms.control, "bank": terms.bank // SECOND_MS}
    if terms.control == Control.DAYS_PER_MOVE:
        return control
    return control | {"increment": terms.increment // SECOND_MS, "cap": terms.cap // SECOND_MS}
