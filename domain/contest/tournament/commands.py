"""The commands to a tournament, in the imperative."""

from dataclasses import dataclass

from domain.contest.entry import AnnouncementFacts, EntryFacts
from domain.contest.tournament.events import Leaving
from domain.contest.tournament.terms import TournamentTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnounceTournament:
    """Announce a tournament; ``series`` names the rule that announces it.

    ``facts`` None: an operator or a series announces it, or they were judged before.
    """

    organiser: str
    terms: TournamentTerms
    series: str | None = None
    facts: AnnouncementFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterTournament:
    """Enter, or wait for a place of a tournament that has started. ``facts`` None: they were judged before."""

    player: str
    facts: EntryFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveTournament:
    """Take an entry back, or leave a tournament that has started."""

    player: str
    reason: Leaving = Leaving.WISH


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOffTournament:
    """Call a tournament off before it starts: by its organiser, or an ``operator``."""

    player: str
    operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseEntries:
    """Start a tournament whose time has come, or that is full, with lots of ``seed``; or put it off, or call it off.

    ``seed`` None is for a query of what is due: a decision needs a seed.
    """

    seed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPairing:
    """Record that the match of a pairing exists."""

    pairing: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMatch:
    """Record how the match of a pairing stands at ``version``, where the digest of its events is ``head``.

    ``scores`` is None for a match without a result; it is then ``ended`` or goes on. ``forfeit`` is the seat to blame
    for a match that was called off, ``flags`` the seats that lost on time.
    """

    pairing: int
    match: str
    version: int
    head: str
    scores: tuple[float, ...] | None
    flags: tuple[int, ...] = ()
    ended: bool = False
    annulled: bool = False
    forfeit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirePairings:
    """Give up the pairings that have not started at the latest end."""


Command = (
    AnnounceTournament
    | EnterTournament
    | LeaveTournament
    | CallOffTournament
    | CloseEntries
    | StartPairing
    | RecordMatch
    | ExpirePairings
)
