"""The summary of a match: all that lists, pages of players and workers need of it, without its moves."""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Raw

from domain.match.clock import forecast
from domain.match.due import deadline_of
from domain.match.enums import Status
from domain.match.guards import seats_playing
from domain.match.positions import to_move as seat_to_move
from domain.match.state import MatchState, Seat
from domain.match.terms import Terms
from domain.rating import compare, weight_of_result
from events.store.converter import layout_of, pack, unpack

DAY_MS = 24 * 3600 * 1000


class Summary(NamedTuple):
    """A match at ``version``, without position and moves.

    ``status`` is "open", "playing", "finished" or "aborted", ``ply`` the number of plies. ``awaiting`` are the players
    who owe an answer, the one to move first; empty while frozen. ``deadline`` is when the time of the one to move is
    up, or a waiting match is aborted. ``case``: an arbiter has to rule. ``last_move`` is in display notation, or empty.
    """

    match: str
    version: int
    game: str
    ruleset: int
    setup: str
    pool: str
    status: str
    rated: bool
    private: bool
    creator: str
    seats: tuple[Seat, ...]
    to_move: int | None
    awaiting: tuple[str, ...]
    ply: int
    draw_agreed: tuple[int, ...]
    scores: tuple[float, ...] | None
    reason: str | None
    created_at: int
    updated_at: int
    ended_at: int | None
    deadline: int | None
    terms: Terms
    case: bool
    last_move: str


class Projected(NamedTuple):
    """A summary and the chain digest (hexadecimal) of the last event in it, which tells it from a lost history."""

    summary: Summary
    digest: str


class RatedResult(NamedTuple):
    """The result of a match that counts for ratings: its pool, its end, and per seat player and score."""

    match: str
    pool: str
    at: int
    players: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def day(self) -> int:
        """The rating period: days since 1970-01-01 UTC."""
        return self.at // DAY_MS

    def weight(self) -> float:
        """Return the weight of each of its pairwise results."""
        return weight_of_result(len(self.players))

    def results(self) -> dict[str, tuple[tuple[str, float], ...]]:
        """Return for each player the scores against other players; a player of several seats has those of all."""
        met: dict[str, tuple[tuple[str, float], ...]] = {}
        for player, scores in zip(self.players, compare(self.scores), strict=True):
            others = tuple((self.players[seat], score) for seat, score in scores if self.players[seat] != player)
            met[player] = met.get(player, ()) + others
        return met


def pool_of(game: str, seats: int) -> str:
    """Return the name of the pool in which matches of ``game`` with this number of seats are rated."""
    return f"{game}-{seats}"


def seats_of(pool: str) -> int:
    """Return the number of seats of the matches in a pool."""
    return int(pool.rpartition("-")[2])


def summarise(state: MatchState) -> Summary:
    """Return the summary of a match. In a broken one it is no seat's turn."""
    to_move = seat_to_move(state)
    return Summary(
        match=state.match_id,
        version=state.version,
        game=state.game,
        ruleset=state.ruleset,
        setup=state.setup,
        pool=pool_of(state.game, len(state.seats)),
        status=state.status,
        rated=state.rated,
        private=state.private,
        creator=state.creator,
        seats=state.seats,
        to_move=to_move,
        awaiting=_awaiting(state, to_move),
        ply=state.play.plies,
        draw_agreed=state.offers.draw_agreed,
        scores=state.result.scores,
        reason=state.result.reason,
        created_at=state.created_at,
        updated_at=state.updated_at,
        ended_at=state.result.ended_at,
        deadline=_deadline(state),
        terms=state.terms,
        case=state.cases.open is not None,
        last_move=state.play.history.display_last_move(state.play.moves) if state.play.history else "",
    )


def draw_answers_owed(state: MatchState) -> tuple[int, ...]:
    """Return the seats that still have to answer the draw offer: those that have not left the game."""
    if not state.offers.draw_agreed or state.play.broken is not None:
        return ()
    return tuple(seat for seat in seats_playing(state) if seat not in state.offers.draw_agreed)


def takeback_answers_owed(state: MatchState) -> tuple[int, ...]:
    """Return the seats that still have to answer the takeback request; opponents agree at once."""
    if state.offers.takeback is None:
        return ()
    agreed = state.offers.takeback.agreed
    return tuple(seat for seat in seats_playing(state) if seat not in agreed and state.seats[seat].level is None)


class Unrated(StrEnum):
    """Why a match that has ended does not count for ratings."""

    AGREED = "agreed"
    WITHOUT_RESULT = "without-result"
    TOO_SHORT = "too-short"
    ONE_PLAYER = "one-player"


def why_unrated(summary: Summary) -> Unrated | None:
    """Return why a match that has ended does not count for ratings; None for one that does.

    Aborted matches do not, nor those with fewer plies than seats, or with one player on all seats.
    """
    if not summary.rated:
        return Unrated.AGREED
    if summary.status != Status.FINISHED or summary.scores is None:
        return Unrated.WITHOUT_RESULT
    if summary.ply < len(summary.seats):
        return Unrated.TOO_SHORT
    return Unrated.ONE_PLAYER if len({seat.player for seat in summary.seats if seat.player is not None}) < 2 else None


def rated_result(summary: Summary) -> RatedResult | None:
    """Return the result as it counts for ratings, or None (see ``why_unrated``)."""
    if summary.scores is None or why_unrated(summary) is not None:
        return None
    players = tuple(seat.player for seat in summary.seats if seat.player is not None)
    at = summary.updated_at if summary.ended_at is None else summary.ended_at
    return RatedResult(summary.match, summary.pool, at, players, summary.scores)


def pack_summary(projected: Projected) -> bytes:
    """Return the stored bytes of a summary: a JSON array, the same for the same summary."""
    return pack((LAYOUT, projected.digest, projected.summary))


def unpack_summary(packed: bytes | None) -> Projected | None:
    """Return a packed summary; None when there is none, or none that can be read here: then it is projected."""
    if packed is None:
        return None
    try:
        layout, digest, summary = unpack(tuple[str, str, Raw], packed)
    except ValueError:
        return None
    return Projected(unpack(Summary, summary), digest) if layout == LAYOUT else None


def _awaiting(state: MatchState, to_move: int | None) -> tuple[str, ...]:
    owing: list[Seat] = []
    if state.status == Status.OPEN:
        owing = [seat for seat in state.seats if not seat.joined]
    elif to_move is not None and not state.cases.frozen:
        owing = [state.seats[to_move]]
        owing += [state.seats[seat] for seat in (*draw_answers_owed(state), *takeback_answers_owed(state))]
    return tuple(dict.fromkeys(seat.player for seat in owing if seat.player is not None))


def _deadline(state: MatchState) -> int | None:
    if state.status != Status.PLAYING:
        return deadline_of(state)
    expected = forecast(state.clock)
    return None if expected is None else expected.at


LAYOUT = layout_of(Summary)
"""Changes with the fields of Summary. When only their meaning changes, or the lists made from it, rebuild."""
