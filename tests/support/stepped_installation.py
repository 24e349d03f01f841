"""An installation whose relay is driven step by step, with a clock that a test sets and players that play at random."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import count
from random import Random
from threading import Event
from typing import Any

from domain.games import find_ruleset
from domain.match.commands import Command, CreateMatch, JoinMatch, Resign, SubmitMove
from domain.match.due import deadline_of
from domain.match.enums import Status
from domain.match.state import CLOCK, MatchState, Seat, is_person
from events.installation import Installation
from events.matches.matches import Executed, Matches
from events.matches.readmodels import dump
from events.notify.notice import DeliveryState, NoticeChannel
from events.notify.outbox import Dispatch
from events.proof.checkpoints import day_of
from events.runtime.keys import TimeKeys
from events.runtime.settings import Settings
from events.store.archive.store import make_store
from events.store.contract import Request
from events.store.feed import FeedGroup
from tests.support.callers import broker_beside
from tests.support.matches import T0, creation
from tests.support.timeless import execute
from workers.composition import (
    make_checkpoint_reminders,
    make_deliveries,
    make_followers,
    make_observer,
    make_sweeper,
    make_ticker,
)
from workers.consumers import Consumer, project_deliveries
from workers.contests import follow_contest, matches_only, record_occasions, with_contests
from workers.effects import DeliveryReader, Effect, enqueue_when_due, log_acts, match_by_match, sync_clocks
from workers.notices.contests import ContestObserver
from workers.notices.decide import MatchObserver, NoticeRounds
from workers.notices.deliver import Deliveries
from workers.notices.senders import SendOutcome
from workers.opponents import debts_of
from workers.reminders import CheckpointReminders, Reminders
from workers.shares import Share
from workers.sweeper import Sweeper
from workers.ticker import Ticker

ACCEPTED = SendOutcome(DeliveryState.SENT, "Accepted.")


class CollectingSender:
    """Remembers in ``sent`` what it was given, and answers as ``answer`` says."""

    def __init__(self, answer: Callable[[Dispatch], SendOutcome] = lambda _: ACCEPTED) -> None:
        self.sent: list[Dispatch] = []
        self.answer = answer

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Remember ``dispatch``."""
        outcome = self.answer(dispatch)
        if outcome.state == DeliveryState.SENT:
            self.sent.append(dispatch)
        return outcome


def collecting_senders() -> dict[NoticeChannel, CollectingSender]:
    return {channel: CollectingSender() for channel in NoticeChannel}


PREFIX = "test:"
SHARDS = 4
OTHER_LEAVES = 2
"""Of the first checkpoint: its key, and the end of the log of administration."""

_REQUESTS = count(1)


def settings_for(url: str, prefix: str = PREFIX, shards: int = SHARDS) -> Settings:
    """Return the settings of an installation on the server at ``url``, with the broker in its next database.

    The broker of one on a cluster is within this process.
    """
    return Settings(
        redis_url=url, broker_url=broker_beside(url), prefix=prefix, stream_url="http://127.0.0.1:8001",
        secure_cookies=False, shards=shards,
    )  # fmt: skip


class CollectedTasks:
    """A task queue that remembers what was requested."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.answers: list[str] = []
        self.rated: list[str] = []
        self.checkpoints: list[str] = []
        self.settlements = self.cosignatures = 0
        self.request_answer = self.answers.append
        self.request_rating = self.rated.append
        self._now = now

    def request_settlement(self) -> None:
        self.settlements += 1

    def request_cosignatures(self) -> None:
        self.cosignatures += 1

    def request_checkpoint(self) -> None:
        self.checkpoints.append(day_of(self._now()))


class SteppedInstallation:
    """The parts of an installation. What would be enqueued is collected in ``answers`` and ``rated``."""

    def __init__(self, url: str, archive_url: str | None = None, prefix: str = PREFIX, shards: int = SHARDS) -> None:
        self.now = T0
        settings = settings_for(url, prefix, shards)._replace(archive_url=archive_url)
        self.parts = parts = Installation(settings, lambda: self.now, make_store(settings, None, creates=True))
        parts.matches = Matches(parts.store, self.tick)
        self.settings, self.store, self.matches = parts.settings, parts.store, parts.matches
        self.client: Any = parts.client  # redis-py declares answers of str, which only other settings give
        self.readmodels, self.projector, self.ratings = parts.readmodels, parts.projector, parts.ratings
        self.keyring, self.checkpoints = parts.keys, parts.checkpoints
        self.availability, self.heartbeat, self.timekeeper = parts.availability, parts.heartbeat, parts.timekeeper
        self.keys = self.readmodels.keys
        self.tasks = CollectedTasks(lambda: self.now)
        self.answers, self.rated, self.checkpoints_asked = self.tasks.answers, self.tasks.rated, self.tasks.checkpoints
        self.ledger, self.outbox = parts.ledger, parts.outbox
        self.senders = collecting_senders()
        self.woken = Event()
        self._made = 0

    @cached_property
    def observer(self) -> MatchObserver:
        return make_observer(self.parts, self.woken.set)

    @cached_property
    def notice_rounds(self) -> NoticeRounds:
        return NoticeRounds(self.parts.store, self.parts.checks, self.parts.now, self.observer)

    def disturb(self, player: str) -> None:
        """Let ``player``, whose matches begin at night, have no quiet hours."""
        self.parts.preferences.change(player, lambda stored: replace(stored, quiet=None))

    def tick(self) -> int:
        """Return the time: every look at the clock takes a millisecond."""
        self.now += 1
        return self.now

    def group(self, name: str, consumer: str = "one") -> FeedGroup:
        group = FeedGroup(self.client, self.settings.prefix, self.store.shards, name, consumer)
        group.ensure()
        return group

    def projections(self, consumer: str = "one") -> Consumer:
        """Return the consumer that updates the read models; it claims whenever its clock is two seconds on."""
        group = self.group("projections", consumer)
        handle = matches_only(group, project_deliveries(group, self.projector))
        return Consumer(group, handle, lambda: self.now)

    def consumer(self, name: str, *effects: Effect) -> Consumer:
        """Return the consumer of the group ``name`` that has ``effects`` on every match."""
        group = self.group(name)
        handle = matches_only(group, match_by_match(group, self.delivery_reader().read, effects))
        return Consumer(group, handle, lambda: self.now)

    def contests(self) -> Consumer:
        """Return the consumer that follows contests and the matches that they have started."""
        group, followers = self.group("contests"), make_followers(self.parts)
        matches = match_by_match(group, self.delivery_reader().read, [record_occasions(followers)])
        parts, decider = self.parts, self.observer.decider
        look = ContestObserver(parts.seeks.contests, parts.tournaments.contests, decider).look_at_contest
        return Consumer(group, with_contests(group, matches, follow_contest(followers, look)), lambda: self.now)

    def delivery_reader(self) -> DeliveryReader:
        return DeliveryReader(self.store, self.matches, self.availability)

    def opponents(self) -> Consumer:
        return self.consumer("opponents", enqueue_when_due(debts_of, self.answers.append))

    def rating_requests(self) -> Consumer:
        return self.consumer("ratings", enqueue_when_due(self.ratings.owed, self.rated.append))

    def clocks(self) -> Consumer:
        """Return the consumer that brings matches into line with the availability of their players."""
        return self.consumer("clocks", sync_clocks(self.timekeeper, lambda: self.now))

    def logged_acts(self) -> Consumer:
        parts = self.parts
        return self.consumer("administration", log_acts(parts.administration, parts.flag_lateness, lambda: self.now))

    def notices(self) -> Consumer:
        return self.consumer("notices", self.observer.look_at_match)

    def deliveries(self) -> Deliveries:
        """Return what sends notices and letters, to ``senders``."""
        return make_deliveries(self.parts, self.senders)

    def all_consumers(self) -> list[Consumer]:
        """Return a consumer of every group of the relay."""
        consumers = [self.projections(), self.opponents(), self.rating_requests(), self.clocks(), self.logged_acts()]
        return [*consumers, self.notices(), self.contests()]

    def ticker(self) -> Ticker:
        return make_ticker(self.parts)

    def sweeper(self, share: Share = lambda: None, rounds: Sequence[Callable[[], object]] = ()) -> Sweeper:
        """Return a sweeper of ``share`` that reads this installation's clock and does ``rounds``."""
        return make_sweeper(self.parts, self.tasks, share, rounds)  # type: ignore[arg-type]

    def checkpoint_reminders(self) -> CheckpointReminders:
        return make_checkpoint_reminders(self.parts, Reminders(self.tasks, self.parts.now))  # type: ignore[arg-type]

    def project_all(self) -> None:
        """Bring the read models up to the feed."""
        drain(self.projections())

    def rate_all(self) -> None:
        """Put all results into the ratings."""
        for match in self.store.all_streams():
            self.ratings.rate(match)

    def dump(self) -> dict[str, object]:
        return dump(self.client, self.keys)

    def state(self, match_id: str) -> MatchState:
        return self.matches.load(match_id).state

    def do(self, match_id: str, command: Command, actor: str | None = None) -> Executed:
        """Carry ``command`` out, by whom it names if nobody else is said to act, or by the clock."""
        named = (getattr(command, name, None) for name in ("creator", "player", "arbiter", "person"))
        actor = actor or next((each for each in named if each is not None), CLOCK)
        return execute(self.matches, match_id, command, actor, Request(f"r{next(_REQUESTS)}", ""))

    def create(self, *seats: Seat, **facts: object) -> str:
        """Create a match like ``tests.support.matches.creation`` under a name of its own; return the name."""
        self._made += 1
        name = str(facts.pop("match", f"m{self._made}"))
        create: CreateMatch = creation(*seats, match_id=name, **facts)  # type: ignore[arg-type]
        self.do(name, create)
        return name

    def start(self, *players: str, **facts: object) -> str:
        """Create a match of ``players`` (people and opponents) that all of them have joined; return its name.

        The first person creates it; alice, who then has no seat, a match of opponents.
        """
        creator = next(filter(is_person, players), "alice")
        seats = [_seat(player, player == creator) for player in players]
        name = self.create(*seats, creator=creator, **facts)
        for seat in seats:
            if not seat.joined and seat.player is not None:
                self.do(name, JoinMatch(player=seat.player))
        return name

    def play(self, match_id: str, plies: int | None = None, seed: int = 1) -> MatchState:
        """Play random moves, ``plies`` of them or to the end; return the state after them."""
        chance = Random(f"{seed}/{match_id}")
        state = self.state(match_id)
        while state.status == Status.PLAYING and plies != 0:
            game = find_ruleset(state.game, state.ruleset)
            move = chance.choice(sorted(game.format_move(state.play.position, each) for each in legal_moves(state)))
            player = state.seats[game.to_move(state.play.position)].player
            assert player is not None
            self.do(match_id, SubmitMove(player=player, move=move), player)
            state = self.state(match_id)
            plies = None if plies is None else plies - 1
        return state

    def settle_until_flag(self, match_id: str) -> None:
        """Go to the instant at which a flag falls, as if time had been kept until then."""
        deadline = deadline_of(self.state(match_id))
        assert deadline is not None
        self.heartbeat.beat(self.now, self.now)
        self.client.set(TimeKeys(self.settings.prefix).heartbeat, deadline)
        self.now = deadline

    def win(self, winner: str, loser: str, at: int | None = None, **facts: object) -> str:
        """Let ``loser`` resign a match against ``winner`` after two plies, at the instant ``at``; return the match."""
        if at is not None:
            self.now = at
        match = self.start(winner, loser, **facts)
        self.play(match, 2)
        self.do(match, Resign(player=loser), loser)
        assert self.state(match).status == Status.FINISHED
        return match


def legal_moves(state: MatchState) -> Sequence[object]:
    return list(find_ruleset(state.game, state.ruleset).legal_moves(state.play.position))


def drain(*consumers: Consumer) -> int:
    """Let consumers work until nothing is left for them; return how many deliveries they handled."""
    handled = 0
    while found := sum(consumer.step() for consumer in consumers):
        handled += found
    return handled


def _seat(player: str, creates: bool) -> Seat:
    if player.startswith("opponent-"):
        return Seat.opponent(int(player.removeprefix("opponent-")))
    return Seat.taken(player) if creates else Seat.invited(player)
