"""The composition root: every part of an installation, built from its settings.

API, stream, relay, tasks, command line, simulation and tests all take the parts from here. A part is built when it is
first used; building it does not connect.
"""

from collections.abc import Callable
from functools import cached_property, partial
from urllib.parse import urlsplit

from domain.contest.seek.decide import SEEK
from domain.contest.tournament.decide import TOURNAMENTS
from events.contests.contests import Contests
from events.contests.lists import ContestLists
from events.contests.seeks import Seeks
from events.contests.starting import MatchStarter
from events.contests.tournaments import Tournaments
from events.matches.bot_admission import BotAdmission
from events.matches.fleet_jobs import FleetJobs
from events.matches.jobs import Jobs
from events.matches.match_service import MatchService
from events.matches.matches import CachedSummaries, Matches, result_reader
from events.matches.outages import Heartbeat
from events.matches.readmodels import ReadModels
from events.matches.readmodels.archived import ArchivedModels
from events.matches.readmodels.projector import EventSummaries, Projector
from events.matches.readmodels.ratings import Ratings
from events.matches.reviews import Reviews
from events.matches.timekeeper import Timekeeper
from events.notify.addresses import AddressStore
from events.notify.endpoints import Endpoints
from events.notify.feed_addresses import FeedAddresses
from events.notify.inbox import Inbox
from events.notify.ledger import Ledger
from events.notify.outbox import Outbox
from events.notify.preferences import PreferencesStore
from events.notify.presence import Presence
from events.notify.push.sender_key import SenderKeyStore
from events.notify.scheduled_checks import ScheduledChecks
from events.notify.subscriptions import Subscriptions
from events.operations import figures as metrics
from events.operations.archiving import Archiver
from events.operations.figures import FlagLateness
from events.people.accounts import People
from events.people.administration import Administration
from events.people.availability import AvailabilityStore
from events.people.blocks import Blocks
from events.people.bots import Bots
from events.people.chats import Chats
from events.people.credentials import Tickets
from events.people.directory import Directory
from events.people.follows import Follows
from events.people.notebooks import Notebooks
from events.people.passwords import HASHER, Passwords
from events.people.places import Places
from events.people.player_keys import PlayerKeys
from events.people.puzzle_attempts import PuzzleAttempts
from events.people.puzzles import Puzzles
from events.people.reports import Reports
from events.people.statements import Statements
from events.proof.checkpoint_log import CheckpointLog
from events.proof.guard import CheckpointGuard
from events.proof.keys import KeyRing
from events.proof.receipts import ReceiptSigner
from events.proof.transparency.timestamp_store import TimestampStore
from events.proof.transparency.witnesses import Witnesses
from events.runtime.egress_rules import EgressRules
from events.runtime.keys import WorkListKeys
from events.runtime.liveness import RedisLiveness
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from events.runtime.work_list import WorkList
from events.store.archive.store import ArchivingStore, make_store
from events.store.incidents import Incidents
from events.store.kinds import StreamKind
from events.store.rewriting import Rewriting

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Installation:
    """The parts of one installation. Safe to share between threads.

    ``now`` is a clock in milliseconds since 1970 UTC; None for the wall clock, which the store compares with its own.
    ``name`` is the process that keeps time, as operators see it. ``readmodels`` and the parts built on it raise
    StoreUnavailableError until the store has once said how many shards it has.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], int] | None = None,
        store: ArchivingStore | None = None,
        name: str = "",
    ) -> None:
        self.settings = settings
        self.now = now or now_ms
        self._own_clock = now
        self.name = name
        self.store = store or make_store(settings, None if now else now_ms)
        self.client = self.store.client
        self.prefix = self.store.prefix

    @cached_property
    def matches(self) -> Matches:
        """The matches, with the cache of this process."""
        return Matches(self.store, self.now)

    @cached_property
    def timekeeper(self) -> Timekeeper:
        """The timekeeper, which carries out the steps that time makes due in matches."""
        return Timekeeper(
            self.matches, self.availability, self.heartbeat, lambda player: self.readmodels.active(player)
        )

    @cached_property
    def match_service(self) -> MatchService:
        """The service that executes every command on a match."""
        return MatchService(self.matches, self.timekeeper, self.now)

    @cached_property
    def heartbeat(self) -> Heartbeat:
        """The heartbeat of the clocks, and the outages."""
        return Heartbeat(self.client, self.prefix, self.store.clock, self.name)

    @cached_property
    def availability(self) -> AvailabilityStore:
        """The availability of players."""
        return AvailabilityStore(self.client, self.prefix, self._own_clock)

    @cached_property
    def readmodels(self) -> ReadModels:
        """The read models."""
        archived = ArchivedModels(self.store, lambda match_id: EventSummaries(self.store).read(match_id, 0, None))
        return ReadModels(self.client, self.prefix, self.store.shards, self.now, archived)

    @cached_property
    def projector(self) -> Projector:
        """The projector, which brings the read models up to the events."""
        return Projector(
            self.client, self.readmodels.keys, CachedSummaries(self.matches, self.store), self.store.are_archived
        )

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings, for writing."""
        return Ratings(self.client, self.readmodels.keys, result_reader(self.matches))

    @cached_property
    def archiver(self) -> Archiver:
        """The archiver, which moves matches to the archive."""
        return Archiver(
            store=self.store,
            readmodels=self.readmodels,
            ratings=self.ratings,
            now=self.now,
            after_days=self.settings.archive_after_days,
            log=self.checkpoints,
        )

    @cached_property
    def people(self) -> People:
        """Accounts, sessions and tokens."""
        return People(self.client, self.prefix, self.now, Passwords(HASHER))

    @cached_property
    def administration(self) -> Administration:
        """Roles, and the log of administrative acts."""
        return Administration(self.client, self.prefix, self.now)

    @cached_property
    def player_keys(self) -> PlayerKeys:
        """The keys with which people sign."""
        return PlayerKeys(self.client, self.prefix, self.now, self.administration)

    @cached_property
    def blocks(self) -> Blocks:
        """The lists of people whom players block and mute."""
        return Blocks(self.client, self.prefix)

    @cached_property
    def directory(self) -> Directory:
        """The directory of people who can be found."""
        return Directory(self.client, self.prefix, self.now)

    @cached_property
    def follows(self) -> Follows:
        """The lists of people whom others follow."""
        return Follows(self.client, self.prefix, self.now)

    @cached_property
    def ledger(self) -> Ledger:
        """The notices to each player, sent or not, and why."""
        return Ledger(self.client, self.prefix, self.store.shards)

    @cached_property
    def outbox(self) -> Outbox:
        """The messages that wait to be sent to people."""
        return Outbox(self.client, self.prefix, self.store.shards, self._own_clock)

    @cached_property
    def checks(self) -> ScheduledChecks:
        """The checks scheduled for an instant."""
        return ScheduledChecks(self.client, self.prefix, self.store.shards, self._own_clock)

    @cached_property
    def preferences(self) -> PreferencesStore:
        """The preferences of people about notices."""
        return PreferencesStore(self.client, self.prefix, self.store.shards)

    @cached_property
    def presence(self) -> Presence:
        """The presence of people: the matches that they have open."""
        return Presence(self.client, self.prefix, self.store.shards)

    @cached_property
    def bots(self) -> Bots:
        """The accounts that are bots, and their capacity."""
        return Bots(self.client, self.prefix)

    @cached_property
    def places(self) -> Places:
        """The places of accounts: the limits on matches that begin for them."""
        return Places(self.client, self.prefix, self.now)

    @cached_property
    def bot_admission(self) -> BotAdmission:
        """The admission of matches within the capacity of bots."""
        return BotAdmission(self.bots, self.places, self.readmodels)

    @cached_property
    def contest_lists(self) -> ContestLists:
        """The read models of seeks and tournaments."""
        return ContestLists(self.client, self.prefix)

    @cached_property
    def match_starter(self) -> MatchStarter:
        """The starter of the matches of seeks and tournaments."""
        service, admission = self.match_service, self.bot_admission
        return MatchStarter(self.store, service, self.readmodels, admission, self.places, self.availability)

    @cached_property
    def seeks(self) -> Seeks:
        """The seeks."""
        contests = Contests(self.store, StreamKind.SEEK, SEEK, self.now)
        return Seeks(
            self.store, contests, self.contest_lists, self.match_starter, self.readmodels, self.blocks, self.now
        )

    @cached_property
    def tournaments(self) -> Tournaments:
        """The tournaments."""
        contests = Contests(self.store, StreamKind.TOURNAMENT, TOURNAMENTS, self.now)
        lists, starter = self.contest_lists, self.match_starter
        return Tournaments(self.store, contests, lists, starter, self.readmodels, self.blocks, self.people, self.now)

    @cached_property
    def tickets(self) -> Tickets:
        """Tickets for the live stream."""
        return Tickets(self.client, self.prefix)

    @cached_property
    def chats(self) -> Chats:
        """The chats of matches."""
        return Chats(self.client, self.prefix, self.now)

    @cached_property
    def notebooks(self) -> Notebooks:
        """The notes of players."""
        return Notebooks(self.client, self.prefix)

    @cached_property
    def puzzle_attempts(self) -> PuzzleAttempts:
        """The attempts at puzzles."""
        return PuzzleAttempts(self.client, self.prefix, self.now)

    @cached_property
    def puzzles(self) -> Puzzles:
        """The puzzles that were found in reviews."""
        return Puzzles(self.client, self.prefix)

    @cached_property
    def reports(self) -> Reports:
        """Messages that were reported to arbiters."""
        return Reports(self.client, self.prefix, self.now)

    @cached_property
    def statements(self) -> Statements:
        """The texts of cases."""
        return Statements(self.client, self.prefix, self.now)

    @cached_property
    def rewriting(self) -> Rewriting:
        """The rewriting of the store's files after erasures."""
        return Rewriting(self.client, self.prefix, self.now)

    @cached_property
    def inbox(self) -> Inbox:
        """The mail that has arrived."""
        return Inbox(self.client, self.prefix, self.store.shards, self._own_clock)

    @cached_property
    def jobs(self) -> Jobs:
        """Long work that was requested."""
        return Jobs(self.client, self.prefix, self.now, self._work_list(WorkListKeys(self.prefix, "jobs", "work")))

    @cached_property
    def turns(self) -> WorkList:
        """The matches that wait for an opponent, owned by the creators."""
        return self._work_list(WorkListKeys(self.prefix, "opponents", "turns"))

    def _work_list(self, *keys: WorkListKeys) -> WorkList:
        return WorkList(self.client, keys, self._own_clock)

    @cached_property
    def fleet_jobs(self) -> FleetJobs:
        """Work over all matches, done by the fleet."""
        return FleetJobs(self.client, self.prefix, self._own_clock)

    @cached_property
    def reviews(self) -> Reviews:
        """The reviews of finished matches."""
        return Reviews(self.jobs, self.fleet_jobs)

    @cached_property
    def incidents(self) -> Incidents:
        """The incidents of the store."""
        return Incidents(self.client, self.prefix)

    @cached_property
    def flag_lateness(self) -> FlagLateness:
        """The lateness of flags."""
        return FlagLateness(self.client, self.prefix)

    @cached_property
    def figures(self) -> metrics.Figures:
        """The figures for operators."""
        readers = (
            partial(metrics.store_figures, self.store),
            partial(metrics.feed_figures, self.store, self.liveness),
            partial(metrics.clock_figures, self.store, self.heartbeat, self.flag_lateness),
            partial(metrics.opponent_figures, self.readmodels),
            partial(metrics.notice_figures, self.outbox, self.inbox),
            metrics.BrokerFigures(self.settings.broker_url, self.prefix),
            partial(metrics.record_figures, self.checkpoints, self.witnesses, self.jobs, self.incidents),
            partial(metrics.archive_figures, self.store, self.readmodels, self.settings.archive_after_days),
            partial(metrics.fleet_figures, self.fleet_jobs),
        )
        return metrics.Figures(readers, self.now)

    @cached_property
    def liveness(self) -> RedisLiveness:
        """The liveness of the relays."""
        return RedisLiveness(self.client, self.prefix)

    @cached_property
    def keys(self) -> KeyRing:
        """The signing keys."""
        return KeyRing(self.client, self.prefix, self.now, self.settings.key_file)

    @cached_property
    def checkpoints(self) -> CheckpointLog:
        """The log of checkpoints."""
        place = self.settings.checkpoint_guard
        guard = None if place is None else CheckpointGuard(place)
        return CheckpointLog(self.store, self.keys, guard, _public_host(self.settings.page_url))

    @cached_property
    def witnesses(self) -> Witnesses:
        """The witnesses who are asked to cosign checkpoints."""
        return Witnesses(self.client, self.prefix)

    @cached_property
    def receipts(self) -> ReceiptSigner:
        """The signer of receipts."""
        return ReceiptSigner(self.keys, lambda: self.store.installation().id, self.now)

    @cached_property
    def timestamps(self) -> TimestampStore:
        """The timestamps of checkpoints."""
        return TimestampStore(self.client, self.prefix, self.checkpoints)

    @cached_property
    def egress_rules(self) -> EgressRules:
        """The rules of calls to addresses that others name."""
        return EgressRules(self.settings.egress_allowed)

    @cached_property
    def push_key(self) -> SenderKeyStore:
        """The key that identifies the installation to push services."""
        return SenderKeyStore(self.client, self.prefix, self.settings.key_file)

    @cached_property
    def subscriptions(self) -> Subscriptions:
        """The browsers that get notices by push."""
        return Subscriptions(self.client, self.prefix, self.store.shards)

    @cached_property
    def feed_addresses(self) -> FeedAddresses:
        """The secret addresses of feeds."""
        return FeedAddresses(self.client, self.prefix, self.store.shards)

    @cached_property
    def addresses(self) -> AddressStore:
        """The mail addresses of people."""
        return AddressStore(self.client, self.prefix, self.store.shards)

    @cached_property
    def endpoints(self) -> Endpoints:
        """The webhook endpoints of people."""
        return Endpoints(self.client, self.prefix, self.store.shards)


def _public_host(url: str | None) -> str | None:
    """Return the host of ``url``, None where it is one that only this machine knows."""
    host = None if url is None else urlsplit(url).hostname
    return None if host in LOOPBACK else host
