"""Seeks for resources and pages: as the viewer sees them, with their stakes, and acting on one."""

from collections import Counter
from collections.abc import Sequence

from api.access.auth import current_person, require_person
from api.access.limits import spend
from api.http.conditions import idempotent_request
from api.http.problems import Problem
from api.representations.clocks import SECOND_MS
from api.representations.seeks import AuthorRecord, Outcome, Seek, SeekList, SeekStakes, ShownSeek, represent_seek
from api.services import services
from domain.contest.seek import commands as c
from domain.contest.seek.state import Seek as SeekState, SeekStatus
from domain.contest.wishes import Interval, SeekObstacle, SeekTerms, games_of, setup_of
from domain.match.refusals import CommandError
from domain.rating import DEFAULT, Rating, Result, rate, weight_of_result
from events.contests.contests import ExecutedContest, UnknownContestError
from events.contests.play_history import count_flags, finished_matches, pace_ms
from events.contests.seeks import MAX_OPEN_SEEKS, SeenSeek
from events.contests.starting import Room
from events.matches.readmodels import paging
from events.people.person import Person
from events.people.places import Starts
from events.store.contract import Head
from events.store.kinds import StreamKind, kind_of

SHOWN_THOUGH_NOT_TAKEN = (None, SeekObstacle.SAME_PERSON)
MAX_LOOKED_AT = 60
"""Seeks for whose authors one request looks at blocks and room: a page may be short, and have a next one."""


def load_seek(id: str) -> tuple[SeekState, Head]:
    """Return a seek and the head of its stream. Raises CommandError no-such-seek."""
    try:
        seek, head = services().seeks.contests.load(id)
    except UnknownContestError:
        raise CommandError("no-such-seek", "there is no such seek") from None
    return seek, head


def represented(seeks: Sequence[SeekState]) -> list[Seek]:
    """Return ``seeks`` as the caller sees them."""
    return _represent(services().seeks.seen_by(current_person(), seeks))


def _represent(seen: Sequence[SeenSeek]) -> list[Seek]:
    persons = services().people.persons({player for view in seen for player in view.seek.people})
    return [represent_seek(view.seek, persons, view.obstacle) for view in seen]


def list_seeks(cursor: str | None, limit: int) -> SeekList:
    """Return a page of the open seeks that the caller can take or has posted, the latest first; the others by reason.

    Blocks and the room of authors are looked at for the seeks that come first. Raises ValueError for an invalid cursor.
    """
    after, person, seeks = paging.parse_cursor(cursor), current_person(), services().seeks
    by_terms = seeks.seen_by_terms(person, seeks.listed())
    hidden = Counter(view.obstacle for view in by_terms if view.obstacle not in SHOWN_THOUGH_NOT_TAKEN)
    open_to_caller = [view.seek for view in by_terms if view.obstacle in SHOWN_THOUGH_NOT_TAKEN]
    places = {paging.Place(seek.posted_at, seek.id): seek for seek in open_to_caller}
    following = sorted((place for place in places if after is None or place < after), reverse=True)
    looked_at = following[:MAX_LOOKED_AT]
    seen = list(zip(looked_at, seeks.seen_by(person, [places[place] for place in looked_at]), strict=True))
    hidden.update(view.obstacle for _, view in seen if view.obstacle not in SHOWN_THOUGH_NOT_TAKEN)
    page = paging.page_of([placed for placed in seen if placed[1].obstacle in SHOWN_THOUGH_NOT_TAKEN], limit)
    if page.next is None and len(following) > len(looked_at):
        page = page._replace(next=paging.format_cursor(looked_at[-1]))
    return SeekList(
        items=_represent(page.items),
        hidden={str(reason): number for reason, number in hidden.items()},
        usual_days=seeks.usual_days((*games_of(2), *games_of(4))),
        next=page.next,
    )


def own_seeks(person: Person) -> list[Seek]:
    """Return the seeks of ``person`` that are not over, the oldest first."""
    return represented(services().seeks.read(services().contest_lists.oldest(f"seeks:by:{person.id}")))


def own_room(player: str) -> Room:
    """Return the room of ``player`` for matches that the server starts."""
    return services().match_starter.room_of([player], services().now())[player]


def show_seek(seek: SeekState) -> ShownSeek:
    """Return a seek with the record of its author and the stakes of the caller."""
    (shown,) = represented([seek])
    person = current_person()
    finished = finished_matches(services().readmodels, seek.author)
    against = services().readmodels.head_to_head(seek.author, person.id, public=True) if person else []
    room, pace = own_room(seek.author), pace_ms(finished)
    record = AuthorRecord(
        finished=len(finished),
        lost_on_time=count_flags(finished, seek.author, services().now()),
        pace=None if pace is None else pace // SECOND_MS,
        playing=room.playing,
        free=room.room,
        asks=room.limit.starts == Starts.ASK,
        wins=sum(score.wins for score in against),
        draws=sum(score.draws for score in against),
        losses=sum(score.losses for score in against),
    )
    stakes = [] if person is None or person.id in seek.people else _stakes(seek, person)
    usual = services().seeks.usual_days(seek.terms.games)
    return ShownSeek(seek=shown, author_record=record, stakes=stakes, usual_days=min(usual.values(), default=None))


def post_seek(id: str, terms: SeekTerms) -> SeekState:
    """Post a seek of the caller. Raises CommandError and the problem too-many-requests."""
    person = require_person()
    spend("matches", person.id)
    if services().places.limits_of([person.id])[person.id].starts == Starts.NO:
        raise CommandError("seek-refused", "the server may start no matches for you: allow it in your settings first")
    command = c.PostSeek(person.id, terms, person.kind == "guest")
    if services().store.head(id).version:
        return execute(id, command).state  # a repeated request
    with services().seeks.place(person.id, id) as is_free:
        if not is_free:
            words = f"you have {MAX_OPEN_SEEKS} open seeks: withdraw one before you post another"
            raise CommandError("seek-refused", words)
        return execute(id, command).state


def take_seek(id: str, wanted: str | None) -> SeekState:
    """Take a seat of a seek for the caller, who plays ``wanted`` (None: the first game that fits).

    When the table is full the match begins at once. Raises CommandError, and the problems blocked and
    too-many-requests.
    """
    person = require_person()
    spend("matches", person.id)
    seek, _ = load_seek(id)
    (seen,) = services().seeks.seen_by(person, [seek])
    if seen.obstacle == SeekObstacle.BLOCKED:
        raise Problem("blocked", "The author of this seek and you do not play each other.")
    if seen.obstacle == SeekObstacle.NO_ROOM:
        raise CommandError("seek-refused", "its author has no room for another match at present")
    games = (seek.table.game,) if seek.table.game else seek.terms.games
    ratings = services().seeks.ratings([person.id], seek.terms.games, seek.terms.seats)[person.id]
    rated = {game: ratings.get(game, round(DEFAULT.rating)) for game in games}
    fitting = [game for game in games if seek.terms.rating.contains(rated[game])]
    game = wanted or (fitting or games)[0]
    command = c.TakeSeek(person.id, game, Interval(*seek.table.days), rated.get(game, 0), person.kind == "guest")
    state = execute(id, command).state
    if state.status == SeekStatus.FULL:
        services().seeks.follow(id)
        state, _ = load_seek(id)
    return state


def execute(id: str, command: c.Command) -> ExecutedContest[SeekState]:
    """Execute a command of the caller on a seek. Raises CommandError and the problems of idempotency."""
    if kind_of(id) != StreamKind.SEEK:
        raise CommandError("no-such-seek", "there is no such seek")
    person = require_person()
    return services().seeks.contests.execute(id, command, person.id, idempotent_request(person))


def _stakes(seek: SeekState, person: Person) -> list[SeekStakes]:
    """Return the changes of the rating of ``person`` in each game, by result, where all others are known.

    At four seats the result is a place, with the strongest before the person.
    """
    others = [seek.author, *(taker.player for taker in seek.table.takers)]
    seats = seek.terms.seats
    if not seek.terms.rated or len(others) + 1 != seats or person.kind == "guest":
        return []
    games = (seek.table.game,) if seek.table.game else seek.terms.games
    pools = {game: f"{setup_of(game)[0]}-{seats}" for game in games}
    wanted = [(player, pool) for pool in pools.values() for player in (person.id, *others)]
    rated = {
        key: DEFAULT if rating is None else Rating(rating.rating, rating.deviation, rating.volatility)
        for key, rating in zip(wanted, services().readmodels.ratings_in(wanted), strict=True)
    }
    stakes = []
    for game, pool in pools.items():
        own = rated[person.id, pool]
        against = sorted((rated[other, pool] for other in others), reverse=True)
        weight = weight_of_result(seats)
        scores = [[1.0], [0.5], [0.0]] if seats == 2 else [[0.0] * n + [1.0] * (seats - 1 - n) for n in range(seats)]
        outcomes = [
            Outcome(
                score=sum(met) / len(met),
                change=round(rate(own, map(Result, against, met, [weight] * len(met))).rating - own.rating),
            )
            for met in scores
        ]
        stakes.append(SeekStakes(game=game, outcomes=outcomes))
    return stakes
