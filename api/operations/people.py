"""People for resources and pages: the search, the caller's list, and the record of a player."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from api.access.auth import current_person
from api.representations.clocks import SECOND_MS
from api.representations.people import FoundPlayer, GameScore, OpponentScore, PlayerRecord, represent_found
from api.representations.players import represent_player
from api.services import services
from domain.match.terms import DAY
from events.contests.play_history import count_flags, finished_matches, pace_ms, results_of
from events.matches.readmodels import Page
from events.matches.readmodels.lists import DRAWN, LOST, WON
from events.matches.readmodels.paging import Place, format_cursor, page_of, parse_cursor
from events.people.blocks import blocked_by
from events.people.directory import entry_of
from events.people.person import Person

MAX_SCANNED = 200
"""People whom one request looks at: a page may be short, or empty, and have a next one."""

BATCH = 50
MAX_OPPONENTS = 20
"""Of the record of a player, those met most often."""


class PeopleQuery(NamedTuple):
    """Whom to find: names with a ``beginning``; in a ``pool`` ratings within limits, the highest first.

    Without a pool they are in the order of their names. ``seen_days`` is the most days since the last visit.
    """

    beginning: str = ""
    pool: str | None = None
    least_rating: int = 0
    most_rating: int = 4000
    has_room: bool = False
    seen_days: int | None = None


def find_people(query: PeopleQuery, cursor: str | None, limit: int) -> Page[FoundPlayer]:
    """Return a page of the people in the directory who fit ``query``; not those who block the caller, or are blocked.

    Raises ValueError for an invalid cursor.
    """
    candidates = _candidates(query, parse_cursor(cursor))
    fitting: list[tuple[Place, Person]] = []
    scanned, last = 0, None
    while len(fitting) <= limit and scanned < MAX_SCANNED and (batch := list(islice(candidates, BATCH))):
        scanned, last = scanned + len(batch), batch[-1][0]
        fitting += _fitting(query, batch)
    page: Page[Person] = page_of(fitting, limit)
    if page.next is None and last is not None and next(candidates, None) is not None:
        page = page._replace(next=format_cursor(last))
    return Page(show_people(page.items, query.pool), page.next)


def show_people(people: Sequence[Person], pool: str | None = None) -> list[FoundPlayer]:
    """Return ``people`` with their room, when they were here last, and their ratings in a ``pool``."""
    ids = [person.id for person in people]
    rooms, seen = services().match_starter.room_of(ids, services().now()), services().directory.seen(ids)
    ratings = services().readmodels.ratings_in((id, pool) for id in ids) if pool else [None] * len(ids)
    return [
        represent_found(person, rating, rooms[person.id], seen.get(person.id))
        for person, rating in zip(people, ratings, strict=True)
    ]


def _candidates(query: PeopleQuery, after: Place | None) -> Iterator[tuple[Place, str]]:
    """Yield people, perhaps not in the directory, with their places in the order of ``query``, those after a place."""
    if query.pool is not None:
        for place in services().readmodels.rated_between(query.pool, query.least_rating, query.most_rating, after):
            yield place, place.member
        return
    last = None if after is None else after.member
    while entries := services().directory.entries(query.beginning, last, BATCH):
        for entry in entries:
            yield Place(0, entry), entry.rpartition(" ")[2]
        last = entries[-1]


def _fitting(query: PeopleQuery, batch: Sequence[tuple[Place, str]]) -> list[tuple[Place, Person]]:
    viewer, now = current_person(), services().now()
    ids = [id for _, id in batch]
    persons, seen = services().people.persons(ids), services().directory.seen(ids)
    apart = set[str]()
    if viewer is not None:
        apart = services().blocks.blocking(ids, viewer.id) | blocked_by(services().blocks, viewer.id)
    since = 0 if query.seen_days is None else now - query.seen_days * DAY
    fitting = [
        (place, persons[id])
        for place, id in batch
        if id in persons
        and id not in apart
        and seen.get(id, -1) >= since
        and persons[id].name.lower().startswith(query.beginning.lower())
        and (query.pool is not None or entry_of(persons[id]) == place.member)
    ]
    if query.has_room and fitting:
        rooms = services().match_starter.room_of([person.id for _, person in fitting], now)
        fitting = [(place, person) for place, person in fitting if rooms[person.id].room]
    return fitting


def followed_people(person: Person, cursor: str | None, limit: int) -> Page[FoundPlayer]:
    """Return a page of the people whom ``person`` follows, the last first; not those gone or who block the person.

    Raises ValueError for an invalid cursor.
    """
    after, followed = parse_cursor(cursor), services().follows.of(person.id)
    blocking, persons = services().blocks.blocking(followed, person.id), services().people.persons(followed)
    places = [Place(since, id) for id, since in followed.items() if id in persons and id not in blocking]
    later = [(place, persons[place.member]) for place in places if after is None or place < after]
    page: Page[Person] = page_of(later[: limit + 1], limit)
    return Page(show_people(page.items), page.next)


def player_record(player: str) -> PlayerRecord:
    """Return the record of a player in the last finished matches; private ones only for number, flags, pace."""
    viewer, readmodels = current_person(), services().readmodels
    finished = finished_matches(readmodels, player)
    own = viewer is not None and viewer.id == player
    results = results_of([match for match in finished if own or not match.private], player)
    met = sorted(results.opponents.items(), key=lambda item: (-item[1].total(), item[0]))[:MAX_OPPONENTS]
    persons, pace = services().people.persons(opponent for opponent, _ in met), pace_ms(finished)
    return PlayerRecord(
        finished=len(finished),
        lost_on_time=count_flags(finished, player, services().now()),
        pace=None if pace is None else pace // SECOND_MS,
        games=[
            GameScore(pool=pool, wins=score[WON], draws=score[DRAWN], losses=score[LOST])
            for pool, score in sorted(results.pools.items())
        ],
        opponents=[
            OpponentScore(
                player=represent_player(opponent, persons), wins=score[WON], draws=score[DRAWN], losses=score[LOST]
            )
            for opponent, score in met
        ],
    )
