"""What awaits a player as the store has it: read models follow the matches by milliseconds, or by more without a relay.

Matches that have moved on since are loaded, so that nobody is asked for a move that has just been acknowledged. What a
list does not contain yet is not looked for.
"""

from collections.abc import Iterable, Sequence

from api.services import services
from events.readmodels import Page, Summary
from events.readmodels.summary import summarise
from events.runtime.errors import StoreError, StoreUnavailableError
from events.service.matches import UnknownMatchError

MAX_LOADED_MATCHES = 25
"""Matches that one request loads because the read models are behind."""


class Awaited:
    """The matches that await ``player``, for the length of one request.

    When MAX_LOADED_MATCHES had to be loaded it is ``exhausted``: a page ends there, and has a next one.
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

        Raises ValueError for a cursor that is none, and what the store raises when it is away.
        """
        items: list[Summary] = []
        while not self.exhausted:
            size = min(limit - len(items), MAX_LOADED_MATCHES - self._loaded)
            found = services().readmodels.matches(view, self._player, None, cursor, size)
            items += (each for each in self._present(found.items) if self._player in each.awaiting)
            cursor = found.next
            if cursor is None or len(items) == limit:
                break
        return Page(items, cursor)

    def _present(self, found: Sequence[Summary]) -> Iterable[Summary]:
        present = up_to_date(found)
        self._loaded += sum(new is not old for new, old in zip(present, found, strict=True))
        return present


def up_to_date(found: Sequence[Summary]) -> list[Summary]:
    """Return ``found`` with the present summaries of the first MAX_LOADED_MATCHES that have moved on."""
    if not found:
        return []
    heads = services().store.heads([summary.match for summary in found])
    changed = [place for place, head in enumerate(heads) if head.version != found[place].version]
    present = list(found)
    for place in changed[:MAX_LOADED_MATCHES]:
        present[place] = _present_summary(found[place])
    return present


def owed(summary: Summary, player: str) -> str:
    """Return what ``player`` owes the match: "move", "draw-answer", "takeback-answer" or "invitation"."""
    seat = next((number for number, seat in enumerate(summary.seats) if seat.player == player), None)
    if seat is not None and not summary.seats[seat].joined:
        return "invitation"
    if seat is not None and summary.to_move == seat:
        return "move"
    return "draw-answer" if summary.draw_agreed and seat not in summary.draw_agreed else "takeback-answer"


def _present_summary(summary: Summary) -> Summary:
    """Return what the store says of the match; of one that it has lost, or cannot read, nobody awaits an answer."""
    try:
        return summarise(services().matches.load(summary.match).state)
    except StoreUnavailableError:
        raise
    except (UnknownMatchError, StoreError):
        return summary._replace(awaiting=())
