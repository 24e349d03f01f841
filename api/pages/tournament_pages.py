"""The list of tournaments, the form for a new one, and the page of one: contract, table, pairings and why they wait."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from flask import abort, render_template, request

from api.access.auth import current_person
from api.operations.tournaments import (
    ShownTournament,
    is_operator,
    list_tournaments,
    load_tournament,
    why_not_announce,
    why_not_enter,
)
from api.pages import list_pages
from api.pages.layout import blueprint, signed_in_reader
from api.pages.new_match import terms_form
from api.pages.tournament_news import latest_news, result_by_seat
from api.representations.tournaments import Pairing, represent_tournament
from api.services import services
from domain.contest.schedules import MAX_SHIFTED, Form, sizes
from domain.contest.standings import cross_table
from domain.contest.starting import Obstacle
from domain.contest.tournament.state import PairingStatus, TournamentState, TournamentStatus
from domain.contest.tournament.terms import MAX_AT_ONCE, MAX_FINISHED, MAX_REPEAT_WEEKS, MAX_TITLE, MIN_REPEAT_WEEKS
from domain.contest.tournament.words import FORMS, contract
from domain.games import GAMES
from domain.match.terms import DAY, STANDARD

TOURNAMENTS_PER_PAGE = 20
MAX_IN_CROSS_TABLE = 17
"""Entrants: a wider table is read line by line."""

MAX_NEWS = 8
SEATS = (2, 4)

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


@blueprint.get("/tournaments/new")
def new_tournament() -> str:
    """Return the form to announce a tournament, or the reason why its reader cannot."""
    person, now = signed_in_reader(), services().now()
    games = [
        (
            f"{game.id}/{setup.name}",
            f"{game.title}, {setup.title}" if len(game.setups) > 1 else game.title,
            len(setup.seat_names),
        )
        for game in GAMES.values()
        for setup in game.setups.values()
    ]
    return render_template(
        "new_tournament.html",
        why_not=why_not_announce(person),
        games=[game for game in games if game[2] in SEATS],
        forms=[(form, FORMS[form], [seats for seats in SEATS if sizes(form, seats)]) for form in Form],
        **terms_form(STANDARD),
        limits={
            "title": MAX_TITLE,
            "people": MAX_SHIFTED,
            "at_once": MAX_AT_ONCE,
            "matches": MAX_FINISHED,
            "weeks": (MIN_REPEAT_WEEKS, MAX_REPEAT_WEEKS),
        },
        dates={"starts_at": now + 14 * DAY, "latest_end": now + 194 * DAY},
    )


def _following(state: TournamentState) -> str | None:
    """Return the id of the next tournament of the series, once it is announced."""
    id = services().tournaments.next_id(state)
    return id if state.terms.repeat_weeks and services().store.head(id).version else None


class PairingRow(NamedTuple):
    """A pairing as the page shows it: the players by seat, and its result or why it waits."""

    number: int
    players: str
    words: str
    match: str | None


@blueprint.get("/tournaments/<id>")
def tournament(id: str) -> str:
    """Return the page of a tournament."""
    shown = load_tournament(id)
    person, state = current_person(), shown.state
    following = services().tournaments.next_matches(state)
    represented = represent_tournament(state, shown.head, following, shown.persons)
    names = [entrant.player.name for entrant in represented.entrants]
    entered = person is not None and (person.id in state.entries or state.entrant_of(person.id) is not None)
    is_open = state.status in (TournamentStatus.ENTRIES, TournamentStatus.RUNNING)
    return render_template(
        "tournament.html",
        tournament=represented,
        state=state,
        game=GAMES[state.terms.game],
        clauses=contract(state.terms, len(state.entries) + len(state.entrants)),
        names=names,
        groups=_group_pairings(represented.pairings, state, names),
        cross=cross_table(state.records()) if len(names) <= MAX_IN_CROSS_TABLE else None,
        entered=entered,
        is_open=is_open,
        why_not=why_not_enter(person, state) if person is not None and is_open and not entered else None,
        may_cancel=person is not None
        and state.status == TournamentStatus.ENTRIES
        and (person.id == state.organiser or is_operator(person)),
        forecast=_forecast(shown),
        following=_following(state),
        news=latest_news(shown, MAX_NEWS),
    )


def _group_pairings(
    pairings: Sequence[Pairing], state: TournamentState, names: Sequence[str]
) -> Mapping[str, list[PairingRow]]:
    """Return the pairings that are being played, that wait, and that are over, by these titles."""
    groups: dict[str, list[PairingRow]] = {"Being played": [], "Not started": [], "Over": []}
    for pairing in pairings:
        players = ", ".join(names[one] for one in pairing.entrants)
        title, words = "Over", "Not played."
        match pairing.status:
            case PairingStatus.RUNNING:
                title, words = "Being played", "Open the match"
            case PairingStatus.WAITING:
                title, words = "Not started", _why_it_waits(pairing, names)
            case PairingStatus.FINISHED:
                words = "\N{NO-BREAK SPACE}– ".join(result_by_seat(pairing.scores or (), state.terms.points))
            case PairingStatus.FORFEITED:
                words = "Lost by who left."
            case _ if pairing.match:
                words = "No result"
        groups[title].append(PairingRow(pairing.number, players, words, pairing.match))
    return {title: rows for title, rows in groups.items() if rows}


def _why_it_waits(pairing: Pairing, names: Sequence[str]) -> str:
    if pairing.waits is None:
        return "Starts next."
    return OBSTACLES[Obstacle(pairing.waits)].format(" and ".join(names[one] for one in pairing.waits_for))


def _forecast(shown: ShownTournament) -> int | None:
    """Return when the last match will end if the matches go on at the median pace; None without finished ones.

    The matches not yet started need as many rounds as the most matches that somebody has left.
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
