"""The form for a new match."""

from typing import Any

from flask import render_template, request
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.pages.layout import blueprint, sign_in_first
from api.representations.clocks import SECOND_MS
from domain.games import GAMES
from domain.match.enums import Control
from domain.match.terms import PRESETS, Terms
from domain.search.levels import LEVELS, MAX_GUEST_LEVEL


@blueprint.get("/matches/new")
def new_match() -> str | Response:
    """Return the form for a new match, filled in as the query says (game, setup, ruleset, invite, level)."""
    person = current_person()
    if person is None:
        return sign_in_first()
    chosen = request.args.get("game", "")
    if chosen not in GAMES:
        chosen = next(iter(GAMES))
    setups = GAMES[chosen].setups
    setup = request.args.get("setup", "")
    ruleset = request.args.get("ruleset", "")
    level = request.args.get("level", "")
    levels = range(1, (MAX_GUEST_LEVEL if person.kind == "guest" else max(LEVELS)) + 1)
    return render_template(
        "new_match.html",
        games=list(GAMES.values()),
        chosen=chosen,
        chosen_setup=setup if setup in setups else next(iter(setups)),
        rulesets=GAMES.rulesets,
        chosen_ruleset=int(ruleset) if ruleset in {str(game.ruleset) for game in GAMES.rulesets[chosen]} else None,
        invite=request.args.get("invite", "")[:24],
        levels=levels,
        level=int(level) if level in map(str, levels) else 3,
        presets={title: _control(terms) for title, terms in PRESETS.items()},
    )


def _control(terms: Terms) -> dict[str, Any]:
    """Return the time control of ``terms`` as the API is sent it, in seconds."""
    control = {"control": terms.control, "bank": terms.bank // SECOND_MS}
    if terms.control == Control.DAYS_PER_MOVE:
        return control
    return control | {"increment": terms.increment // SECOND_MS, "cap": terms.cap // SECOND_MS}
