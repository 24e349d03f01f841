"""Pages of match lists, and the matches that await a player according to the store."""

from collections.abc import Mapping
from typing import Any

from flask import g

from api.http.problems import Problem
from api.representations.matches import MatchPage, represent_summaries
from api.representations.players import opponent_level
from api.services import services
from events.matches.matches import UnknownMatchError
from events.matches.readmodels import Page, Summary
from events.matches.readmodels.summary import summarise
from events.runtime.errors import StoreError, StoreUnavailableError

MAX_LOADED_MATCHES = 25
"""Matches that one request loads because the read models are behind."""

MATCHES_PER_PAGE = 20
"""Matches on one page of a list; the next page is behind "more"."""

OWED = ("move", "draw-answer", "takeback-answer", "invitation")


class AwaitedMatches:
    """The matches that await ``player``, for the length of one request.

    It is ``exhausted`` when MAX_LOADED_MATCHES had to be loaded: a page ends there, and has a next one.
    """

    def __init__(self, player: str) -> None:
        self._player = player
        self._loaded = 0

    @property
    def exhausted(self) -> bool:
        """Whether no more matches are loaded for this request."""
        return self._loaded >= MAX_LOADED_MATCHES

    def page(self, view: str, cursor: str | None, limit: int) -> Page[Summary]:
        """Return up to ``limit`` of them in the order of ``view``, "awaiting" or "queue".

        Raises ValueError for an invalid cursor, and StoreUnavailableError.
        """
        items: list[Summary] = []
        while not self.exhausted:
            size = min(limit - len(items), MAX_LOADED_MATCHES - self._loaded)
            page = services().readmodels.matches(view, self._player, None, cursor, size)
            items += (summary for summary in refresh(page) if self._player in summary.awaiting)
            self._loaded += len(page.stale)
            cursor = page.next
            if cursor is None or len(items) == limit:
                break
        return Page(items, cursor)


def first_awaited(player: str) -> Page[Summary]:
    """Return the first MATCHES_PER_PAGE matches that await ``player``, by deadline, read once in a request."""
    if "awaited" not in g:
        g.awaited = AwaitedMatches(player).page("queue", None, MATCHES_PER_PAGE)
    awaited: Page[Summary] = g.awaited
    return awaited


def refresh(page: Page[Summary]) -> list[Summary]:
    """Return the summaries of a page with the first MAX_LOADED_MATCHES stale ones as they stand."""
    changed = set(list(page.stale)[:MAX_LOADED_MATCHES])
    return [_present_summary(summary) if summary.match in changed else summary for summary in page.items]


def owed(summary: Summary, player: str) -> str:
    """Return the act that ``player`` owes the match, one of OWED."""
    seat = next((number for number, seat in enumerate(summary.seats) if seat.player == player), None)
    if seat is not None and not summary.seats[seat].joined:
        return "invitation"
    if seat is not None and summary.to_move == seat:
        return "move"
    return "draw-answer" if summary.draw_agreed and seat not in summary.draw_agreed else "takeback-answer"


def _present_summary(summary: Summary) -> Summary:
    """Return the summary of the match as it stands; one that is lost or unreadable awaits nobody."""
    try:
        return summarise(services().matches.load(summary.match).state)
    except StoreUnavailableError:
        raise
    except (UnknownMatchError, StoreError):
        return summary._replace(awaiting=())


def identify(player: str) -> str:
    """Return the id of the player with id or name ``player``; raises the problem no-such-player."""
    if opponent_level(player) is not None:
        return player
    person = services().people.person(player) or services().people.find(player)
    if person is None:
        raise Problem("no-such-player", "There is no player with this name or id.", {"player": ["is unknown"]})
    return person.id


def match_page(
    view: str, query: Mapping[str, Any], *, player: str | None = None, game: str | None = None, public: bool = False
) -> MatchPage:
    """Return a page of matches, without private ones if ``public``; raises the problem invalid-fields for a cursor."""
    try:
        page = services().readmodels.matches(view, player, game, query.get("cursor"), query["limit"], public)
    except ValueError as error:
        raise invalid_cursor() from error
    return MatchPage(items=represent_summaries(page.items), next=page.next, incomplete=page.incomplete)


def awaited_page(awaited: AwaitedMatches, view: str, cursor: str | None, limit: int) -> Page[Summary]:
    """Return a page of the matches that await a player; raises the problem invalid-fields for another cursor."""
    try:
        return awaited.page(view, cursor, limit)
    except ValueError as error:
        raise invalid_cursor() from error


def invalid_cursor() -> Problem:
    """Return the problem for a cursor that no answer contained."""
    detail = "The cursor must come from an earlier answer."
    return Problem("invalid-fields", detail, {"cursor": ["comes from no earlier answer"]})
