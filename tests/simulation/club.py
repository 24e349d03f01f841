"""A simulated year of a club of 40 people on a real server: seeks, four tournaments, and what people are told.

Time goes on in steps of a day. At each, people who are to move do so more or less often, post seeks and resign
lost matches; then the relay does all that there is to do, and the mail server takes all that is to be sent.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from random import Random
from typing import NamedTuple

from domain.contest.points import PointsRule
from domain.contest.schedules import Form
from domain.contest.seek.commands import PostSeek
from domain.contest.tournament import commands as c
from domain.contest.tournament.state import TournamentState, TournamentStatus
from domain.contest.tournament.terms import TournamentTerms
from domain.contest.wishes import Interval, SeekTerms
from domain.games import find_ruleset
from domain.match.commands import Resign, SubmitMove
from domain.match.enums import Status
from domain.match.guards import TIME_UP
from domain.match.positions import to_move
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import DAY, days_per_move
from events.notify.addresses import MailAddress
from events.notify.notice import Notice, NoticeChannel
from events.people.person import Person
from events.runtime.keys import TimeKeys
from events.store.contract import Request
from events.store.kinds import StreamKind, only_matches, stream_id
from tests.simulation.server import MAIL
from tests.support.stepped_installation import SteppedInstallation, drain, legal_moves
from tests.support.tournaments import TWO_SEATS

PEOPLE = 40
MAX_DAYS = 500
SEEKS_UNTIL = 330 * DAY
RESIGNING_PLIES = range(6, 15)
"""After so many plies, drawn for each match, its weakest player resigns."""

FOUR_SEATS = replace(TWO_SEATS, game="towers", setup="four-player", form=Form.SHIFTED, least=5, most=20)
Planned = tuple[int, int, TournamentTerms]
TOURNAMENTS: Sequence[Planned] = (
    (10, 40, replace(TWO_SEATS, title="Spring round", form=Form.SHIFTED, least=5, most=40, at_once=4)),
    (60, 20, replace(FOUR_SEATS, title="Four at a table", points=PointsRule.WINNER)),
    (140, 12, replace(TWO_SEATS, title="All play all", game="four-towers", setup="standard", most=12, at_once=3)),
    (180, 13, replace(FOUR_SEATS, title="Perfect thirteen", form=Form.PERFECT, most=13)),
)
"""The day of the start, how many people enter, and the terms."""

_KEYS = count(1)


class Member(NamedTuple):
    """Somebody of the club: the chance to move on a day, and the strength, which decides who resigns."""

    id: str
    diligence: float
    strength: float


class ClubYear(NamedTuple):
    """A year that was played: the tournaments, and by person the notices and the number of mails."""

    shop: SteppedInstallation
    begin: int
    members: Sequence[Member]
    tournaments: Sequence[str]
    notices: Sequence[Notice]
    mails: Counter[str]


class Club:
    """A club whose year, of ``least_days`` at least, is drawn from ``seed``; ``step`` is called after each day."""

    def __init__(
        self,
        shop: SteppedInstallation,
        seed: int,
        step: Callable[[], None] = lambda: None,
        tournaments: Sequence[Planned] = TOURNAMENTS,
        least_days: int = 365,
    ) -> None:
        self._shop = shop
        self._planned = tournaments
        self._least_days = least_days
        shop.parts.settings = shop.settings._replace(mail=MAIL)
        self._random = random = Random(f"club {seed}")
        self._step = step
        self._begin = shop.now
        self._members = [
            Member(f"member-{number}", min(0.9, random.lognormvariate(-0.5, 0.5)), random.gauss(0, 1))
            for number in range(PEOPLE)
        ]
        self._of = {member.id: member for member in self._members}
        self._limits: dict[str, int] = {}
        self._notices: list[Notice] = []
        for member in self._members:
            shop.parts.people.enrol(Person(member.id, f"Member {member.id[7:]}", "person", shop.now), "")
            address = MailAddress(address=f"{member.id}@home.example", confirmed_at=shop.now)
            shop.disturb(member.id)  # the days of the simulation begin at one hour, which is night
            shop.parts.addresses.change(member.id, lambda _, address=address: address)  # type: ignore[misc]
        self._watch_ledger()
        self._consumers = [shop.projections(), shop.rating_requests(), shop.clocks(), shop.notices(), shop.contests()]
        self._deliveries, self._ticker = shop.deliveries(), shop.ticker()

    def play(self) -> ClubYear:
        """Play until all tournaments have ended; raises RuntimeError when they do not."""
        shop = self._shop
        ids = [self._announce(day, terms) for day, _, terms in self._planned]
        self._settle()
        for id, (_, entries, _) in zip(ids, self._planned, strict=True):
            for member in self._random.sample(self._members, entries):
                self._execute(id, c.EnterTournament(player=member.id, facts=None), member.id)
        while shop.now - self._begin < MAX_DAYS * DAY:
            self._pass_time()
            if shop.now - self._begin < SEEKS_UNTIL:
                self._seek()
            self._act()
            self._leave_now_and_then(ids)
            self._settle()
            self._step()
            is_over = shop.now - self._begin >= self._least_days * DAY
            if is_over and all(self._state(id).status == TournamentStatus.ENDED for id in ids):
                mails = Counter(each.player for each in shop.senders[NoticeChannel.MAIL].sent)
                return ClubYear(shop, self._begin, self._members, ids, self._notices, mails)
        raise RuntimeError("some tournaments have not ended")

    def _announce(self, day: int, terms: TournamentTerms) -> str:
        start = self._begin + day * DAY
        dated = replace(terms, starts_at=start, latest_end=start + 250 * DAY, clock=days_per_move(5))
        organiser = self._members[0].id
        id = stream_id(StreamKind.TOURNAMENT, organiser, terms.title)
        self._execute(id, c.AnnounceTournament(organiser=organiser, terms=dated), organiser)
        return id

    def _execute(self, id: str, command: c.Command, actor: str) -> None:
        self._shop.parts.tournaments.contests.execute(id, command, actor, Request(f"club:{next(_KEYS)}", ""))

    def _state(self, id: str) -> TournamentState:
        return self._shop.parts.tournaments.contests.load(id).state

    def _pass_time(self) -> None:
        """Let a day pass in which time was kept, and what was due by then be settled."""
        shop = self._shop
        shop.now += DAY
        shop.client.set(TimeKeys(shop.settings.prefix).heartbeat, shop.now)
        while self._ticker.tick() <= shop.now:
            pass

    def _settle(self) -> None:
        """Do what the relay, the rounds and the senders of notices do, until nothing is left."""
        shop = self._shop
        drain(*self._consumers)
        for match in dict.fromkeys(shop.rated):
            shop.ratings.rate(match)
        shop.rated.clear()
        shop.notice_rounds.do_round()
        shop.parts.tournaments.start_waiting()
        drain(*self._consumers)
        while self._deliveries.deliver_due():
            pass

    def _seek(self) -> None:
        for member in self._members:
            if self._random.random() < 0.02:
                terms = SeekTerms(games=("bashni/start", "towers/two-player"), seats=2, days=Interval(3, 7), rated=True)
                id = stream_id(StreamKind.SEEK, member.id, str(next(_KEYS)))
                request = Request(f"club:{next(_KEYS)}", "")
                self._shop.parts.seeks.contests.execute(id, PostSeek(member.id, terms), member.id, request)

    def _act(self) -> None:
        """Let those who are to move do so with the chance of their diligence, and the weakest resign in the end."""
        for member in self._members:
            for summary in self._shop.readmodels.matches("queue", member.id, limit=50).items:
                if self._random.random() < member.diligence:
                    self._move(summary.match, member)

    def _move(self, match: str, member: Member) -> None:
        state = self._shop.state(match)
        if state.status != Status.PLAYING or state.seats[to_move(state) or 0].player != member.id:
            return
        limit = self._limits.setdefault(match, self._random.choice(RESIGNING_PLIES))
        try:
            if state.play.plies >= limit:
                self._shop.do(match, Resign(player=self._weakest(state)))
            else:
                game, position = find_ruleset(state.game, state.ruleset), state.play.position
                moves = sorted(game.format_move(position, move) for move in legal_moves(state))
                self._shop.do(match, SubmitMove(player=member.id, move=self._random.choice(moves)))
        except CommandError as refusal:
            if refusal.code != TIME_UP:
                raise

    def _weakest(self, state: MatchState) -> str:
        """Return the weakest of those who still play, by strength and luck."""
        gone = find_ruleset(state.game, state.ruleset).eliminated(state.play.position)
        playing = [seat.player or "" for number, seat in enumerate(state.seats) if number not in gone]
        return min(playing, key=lambda player: self._of[player].strength + self._random.gauss(0, 1))

    def _leave_now_and_then(self, ids: Sequence[str]) -> None:
        if self._random.random() < 0.008:
            running = [id for id in ids if self._state(id).status == TournamentStatus.RUNNING]
            for id in running[:1]:
                playing = [entrant.player for entrant in self._state(id).entrants if entrant.left_at is None]
                leaver = self._random.choice(playing)
                self._execute(id, c.LeaveTournament(player=leaver), leaver)

    def _watch_ledger(self) -> None:
        decide = self._shop.ledger.decide

        def watched(notice: Notice, *, digest: bool = False) -> bool:
            self._notices.append(notice)
            return decide(notice, digest=digest)

        self._shop.ledger.decide = watched  # type: ignore[method-assign]


def matches_of(year: ClubYear) -> list[str]:
    """Return all matches of a year."""
    return list(only_matches(year.shop.store.all_streams()))
