"""The capacity of a bot: the declaration of its owner, and the refusals of the server that follow. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from domain.match.enums import Control
from domain.match.terms import Terms, duration, first_move

MAX_CONCURRENT = 1000


class Invitations(StrEnum):
    """The inviters whom a bot accepts, unless it blocks them."""

    ANYONE = "anyone"
    NO_BOTS = "no-bots"
    NOBODY = "nobody"
    """It joins matches by itself only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The capacity of a bot: ``games`` (``bashni`` or ``towers/two-player``), ``concurrent`` matches at once.

    Every move must have ``min_move_ms`` and may take ``max_move_ms`` (None: any). With ``accepts_at_once`` the server
    accepts invitations for it.
    """

    games: tuple[str, ...]
    concurrent: int
    rated: bool = True
    private: bool = True
    min_move_ms: int | None = None
    max_move_ms: int | None = None
    invitations: Invitations = Invitations.ANYONE
    accepts_at_once: bool = False


class ProposedMatch(NamedTuple):
    """A match that a bot is to play; ``setup`` None means the only one of the game."""

    game: str
    setup: str | None
    rated: bool
    private: bool
    terms: Terms


class Excess(NamedTuple):
    """The excess over a capacity: the field of ``Capacity`` and the reason, which follows the name of the bot."""

    limit: str
    reason: str


def excess_of(capacity: Capacity, proposal: ProposedMatch, inviter_kind: str | None) -> Excess | None:
    """Return why a bot does not play a proposed match, however many it plays; ``inviter_kind`` None: it acts itself."""
    setups = {proposal.game, f"{proposal.game}/{proposal.setup}"}
    if proposal.setup is None:
        setups |= {game for game in capacity.games if game.startswith(f"{proposal.game}/")}
    shortest, longest = _move_times(proposal.terms)
    invitations = capacity.invitations
    if inviter_kind is not None and invitations == Invitations.NOBODY:
        return Excess("invitations", "takes no invitations: it joins matches by itself")
    if inviter_kind == "bot" and invitations == Invitations.NO_BOTS:
        return Excess("invitations", "takes no invitations from other bots")
    if setups.isdisjoint(capacity.games):
        return Excess("games", f"does not play this: it plays {', '.join(capacity.games) or 'nothing at present'}")
    if proposal.rated and not capacity.rated:
        return Excess("rated", "plays unrated matches only")
    if proposal.private and not capacity.private:
        return Excess("private", "plays public matches only")
    if capacity.min_move_ms is not None and shortest < capacity.min_move_ms:
        wanted = f"needs {duration(capacity.min_move_ms)} for every move"
        return Excess("min_move_time", f"{wanted}; these terms leave {duration(shortest)}")
    if capacity.max_move_ms is not None and longest > capacity.max_move_ms:
        wanted = f"plays when no move may take longer than {duration(capacity.max_move_ms)}"
        return Excess("max_move_time", f"{wanted}; these terms allow {duration(longest)}")
    return None


def full(capacity: Capacity) -> Excess:
    """Return the excess of a match for which a bot has no place left."""
    if not capacity.concurrent:
        return Excess("concurrent", "takes no new matches at present")
    number = "1 match" if capacity.concurrent == 1 else f"{capacity.concurrent} matches"
    return Excess("concurrent", f"plays {number} at once at most, invitations included, and has none free")


def _move_times(terms: Terms) -> tuple[int, int]:
    """Return the time that ``terms`` leave for every move at least, and the longest that one may take."""
    per_move = terms.control == Control.DAYS_PER_MOVE
    most = terms.bank if per_move else terms.cap
    ceiling = most if terms.ceiling is None else terms.ceiling
    least = terms.bank if per_move else terms.increment
    return min(least, ceiling, first_move(terms)), min(most, ceiling)
