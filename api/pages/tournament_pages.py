"""The list of tournaments, and the page of one: its contract, its table, its pairings and why they wait."""

from statistics import median

from flask import abort, render_template, request

from api.access.auth import current_person
from api.operations.tournaments import ShownTournament, list_tournaments, load_tournament
from api.pages import list_pages
from api.pages.layout import blueprint
from api.representations.tournaments import represent_tournament
from api.services import services
from domain.contest.standings import cross_table
from domain.contest.starting import Obstacle
from domain.contest.tournament.state import PairingStatus, TournamentStatus
from domain.contest.tournament.words import contract
from domain.games import GAMES

TOURNAMENTS_PER_PAGE = 20
MAX_IN_CROSS_TABLE = 17
"""Entrants: a wider table is read line by line."""

TITLES = {
    TournamentStatus.ENTRIES: "Open for entries",
    TournamentStatus.RUNNING: "Being played",
    TournamentStatus.ENDED: "Finished",
    TournamentStatus.CALLED_OFF: "Cancelled",
}

OBSTACLES = {
    Obstacle.AT_ONCE: "Waits for {}: at the limit of matches at once.",
    Obstacle.NO_ROOM: "Waits for {}: no room for a match now.",
    Obstacle.SAME_PLAYERS: "Waits: {} play each other already.",
    Obstacle.APART: "Two people cannot be placed together.",
}


@blueprint.get("/tournaments")
def tournaments() -> str:
    """Return the tournaments by their stage, or the list of one stage."""
    requested = request.args.get("status")
    statuses = [status for status in TITLES if requested in (None, status)]
    cursor = request.args.get("cursor") if requested in TITLES else None
    sections = []
    for status in statuses:
        try:
            page = list_tournaments(status, cursor, TOURNAMENTS_PER_PAGE)
        except ValueError:
            abort(404, list_pages.NO_SUCH_PAGE)
        sections.append((status, TITLES[status], page))
    return render_template("tournaments.html", sections=sections, games=GAMES)


@blueprint.get("/tournaments/<id>")
def tournament(id: str) -> str:
    """Return the page of a tournament."""
    shown = load_tournament(id)
    following = services().tournaments.next_matches(shown.state)
    represented = represent_tournament(shown.state, shown.head, following, shown.persons)
    names = [entrant.player.name for entrant in represented.entrants]
    waits = {
        pairing.number: OBSTACLES[Obstacle(pairing.waits)].format(" and ".join(names[one] for one in pairing.waits_for))
        for pairing in represented.pairings
        if pairing.waits
    }
    person, state = current_person(), shown.state
    return render_template(
        "tournament.html",
        tournament=represented,
        state=state,
        game=GAMES[state.terms.game],
        clauses=contract(state.terms, len(state.entries) + len(state.entrants)),
        names=names,
        waits=waits,
        cross=cross_table(state.records()) if len(names) <= MAX_IN_CROSS_TABLE else None,
        entered=person is not None and (person.id in state.entries or state.entrant_of(person.id) is not None),
        forecast=_forecast(shown),
    )


def _forecast(shown: ShownTournament) -> int | None:
    """Return when the last match will end if the matches go on at the median pace; None without finished ones.

    What has not started is played in as many rounds as the most matches that somebody has left need.
    """
    state, now = shown.state, services().now()
    lasted = [
        pairing.ended_at - pairing.started_at
        for pairing in state.pairings
        if pairing.status == PairingStatus.FINISHED and pairing.started_at is not None and pairing.ended_at is not None
    ]
    if state.status != TournamentStatus.RUNNING or not lasted:
        return None
    waiting = [one for number in state.numbers(PairingStatus.WAITING) for one in state.pairings[number - 1].entrants]
    most = max(map(waiting.count, set(waiting)), default=0)
    rounds = 1 + -(-most // state.terms.at_once)
    return min(now + rounds * int(median(lasted)), max(now, state.terms.latest_end) + int(median(lasted)))
