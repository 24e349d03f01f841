"""Seeks as callers see them."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, Instant, Next, instant, one_of
from api.representations.clocks import AIDS
from api.representations.players import Player, represent_player
from domain.contest.seek.decide import OPPONENTS_AFTER_MS
from domain.contest.seek.state import Seek as SeekState, SeekStatus
from domain.contest.wishes import MAX_RATING, SeekObstacle
from events.people.person import Person

Game = Annotated[str, Meta(description="A game and a setup: towers/two-player")]


class SeekTable(Answer):
    """The table of a seek: those who sit there beside its author, the game and the pace agreed so far."""

    takers: Sequence[Player]
    game: Annotated[Game | None, Meta(description="null: any that is sought")]
    least_days: int
    most_days: Annotated[int, Meta(description="The match has this number of days for every move")]


class Seek(Answer):
    """A wish to be matched."""

    id: str
    author: Player
    status: Annotated[str, one_of(SeekStatus)]
    games: Sequence[Game]
    seats: int
    least_days: Annotated[int, Meta(description="Of the days for every move")]
    most_days: int
    rated: bool
    least_rating: Annotated[int | None, Meta(description="Of who takes it; null: any")]
    most_rating: int | None
    aids: Annotated[str | None, AIDS]
    count: Annotated[int, Meta(description="The number of matches after which it is over")]
    table: SeekTable
    matches: Annotated[Sequence[str], Meta(description="The matches that have come of it")]
    waits_at: Annotated[str | None, Meta(description="The seek of somebody else at whose table its author waits")]
    posted_at: Instant
    expires_at: Instant
    opponents_from: Annotated[Instant, Meta(description="From then on its author may begin with opponents")]
    obstacle: Annotated[
        str | None,
        Meta(description=f"Why the caller cannot take it: {', '.join(SeekObstacle)}; null: nothing is in the way"),
    ]


class SeekList(Answer):
    """A page of seeks."""

    items: Sequence[Seek]
    hidden: Annotated[
        Mapping[str, int], Meta(description="How many of this page the caller cannot take, by the reason")
    ]
    usual_days: Annotated[
        Mapping[str, int], Meta(description="Within how many days half of the last seeks for a game were answered")
    ]
    next: Next


class Outcome(Answer):
    """A result and the change of the caller's rating that would follow from it alone."""

    score: Annotated[float, Meta(description="1 a win, 0.5 a draw, 0 a loss; of four the share of the others behind")]
    change: int


class SeekStakes(Answer):
    """A game of a seek, and the rating changes of a rated match."""

    game: Game
    outcomes: Sequence[Outcome]


class AuthorRecord(Answer):
    """What a person knows before playing with another: of the last 200 matches, and against the caller."""

    finished: int
    lost_on_time: Annotated[int, Meta(description="In the last 90 days")]
    pace: Annotated[
        int | None, Meta(description="Seconds for a move, of all players, in half of these matches or less")
    ]
    playing: Annotated[int, Meta(description="Matches that have not ended, invitations included")]
    free: Annotated[int, Meta(description="How many more matches the server starts now")]
    asks: Annotated[bool, Meta(description="Whether the author is asked before the match begins")]
    wins: Annotated[int, Meta(description="Of the author against the caller")]
    draws: int
    losses: int


class ShownSeek(Answer):
    """A seek, the record of its author and the stakes of the viewer."""

    seek: Seek
    author_record: AuthorRecord
    stakes: Annotated[
        Sequence[SeekStakes], Meta(description="Empty unless rated, with the last seat left for the caller")
    ]
    usual_days: Annotated[int | None, Meta(description="Half of the last seeks like this were answered within so long")]


def represent_seek(seek: SeekState, persons: Mapping[str, Person], obstacle: SeekObstacle | None) -> Seek:
    """Return a seek as a caller sees it who cannot take it because of ``obstacle`` (None: nothing is in the way)."""
    terms, table = seek.terms, seek.table
    return Seek(
        id=seek.id,
        author=represent_player(seek.author, persons),
        status=seek.status,
        games=terms.games,
        seats=terms.seats,
        least_days=terms.days.least,
        most_days=terms.days.most,
        rated=terms.rated,
        least_rating=terms.rating.least or None,
        most_rating=None if terms.rating.most == MAX_RATING else terms.rating.most,
        aids=terms.aids,
        count=terms.count,
        table=SeekTable(
            takers=[represent_player(taker.player, persons) for taker in table.takers],
            game=table.game,
            least_days=table.days.least,
            most_days=table.days.most,
        ),
        matches=seek.matches,
        waits_at=None if seek.joined is None else seek.joined.seek,
        posted_at=_written(seek.posted_at),
        expires_at=_written(seek.expires_at),
        opponents_from=_written(seek.posted_at + OPPONENTS_AFTER_MS),
        obstacle=obstacle,
    )


def _written(at: int) -> str:
    written = instant(at)
    assert written is not None  # noqa: S101  (only None is not written)
    return written
