"""Contests as large as they may be."""

from dataclasses import replace

from api.services import Services
from domain.contest.schedules import MAX_SHIFTED, Form
from domain.contest.seek.commands import PostSeek
from domain.contest.tournament.state import PairingStatus
from domain.contest.tournament.terms import EntryTerms
from domain.contest.wishes import Interval, SeekTerms, games_of
from events.store.codec import CODECS
from events.store.contract import EMPTY, Request
from events.store.kinds import StreamKind, stream_id
from tests.support.tournaments import TWO_SEATS, PlayedTournament


def post_many_seeks(services: Services, first: str) -> list[str]:
    """Post seeks of many people, for all that there is; return their ids, the first four by ``first``."""
    games, seeks, ids = games_of(2), services.seeks, list[str]()
    terms = SeekTerms(games=games, seats=2, days=Interval(1, 30), rated=True, rating=Interval(0, 3999), count=10)
    for author in (*[first] * 4, *(f"p{number}" for number in range(120))):
        id = stream_id(StreamKind.SEEK, author, str(len(ids)))
        seeks.contests.execute(id, PostSeek(author, terms), author, Request("0", ""))
        seeks.refresh(id)
        ids.append(id)
    return ids


def store_large_tournament(services: Services) -> str:
    """Store a tournament with as many people as there can be, half played; return its id."""
    terms = replace(TWO_SEATS, form=Form.SHIFTED, least=5, most=MAX_SHIFTED, entry=EntryTerms(rating_to=4000))
    played = PlayedTournament(terms)
    played.begin(*(f"p{number}" for number in range(MAX_SHIFTED + 20)))
    for number in played.state.numbers(PairingStatus.WAITING)[::2]:
        played.record(number, (0.5, 0.5))
    drafts = [CODECS[StreamKind.TOURNAMENT].draft_of(event, "p0") for event in played.events]
    services.store.append("tournament-large", EMPTY, drafts, Request("0", ""))
    services.tournaments.refresh("tournament-large")
    return "tournament-large"
