"""The notices of a simulated year: what its people are told by mail, push and webhook, on the same virtual clock.

Everything is real but the other end: the decisions, ledgers and outbox in a database, and the senders with what they
compose. The mail server and the receivers fail as such servers do, and remember what they have accepted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.match.enums import Status
from domain.match.lines import answer_due
from domain.match.positions import to_move
from domain.match.state import MatchState, is_person
from domain.match.terms import HOUR
from events.matches.matches import Loaded
from events.notify.addresses import confirmed, wants
from events.notify.endpoints import Endpoint, PayloadForm
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeKind, Timing
from events.notify.outbox import Dispatch, Purpose
from events.notify.preferences import Preferences
from events.notify.push.encryption import to_base64url
from events.notify.subscriptions import Subscription, subscription_id
from events.notify.webhooks.signing import fresh_keys
from events.runtime.notice_keys import NoticeKeys
from events.store.contract import Request
from tests.simulation.elsewhere import Accepted, Elsewhere, KnownPeople
from tests.simulation.people import Person
from tests.simulation.server import MAIL, SimulatedInstallation
from tests.support.looks import look_at_match
from tests.support.push_service import Browser
from workers.composition import make_deliveries, make_mail_sender, make_observer, make_push_sender, make_webhook_sender
from workers.notices.decide import NoticeRounds
from workers.notices.senders import Sender, SendOutcome

CHAT_MARK = "private words"
"""Begins every message of a chat: it must be in nothing that is sent."""

BEGINNINGS = ("match-started", "move-submitted", "moves-taken-back", "flag-forgiven", "match-unfrozen", "ruling-made")
"""The types of events with which a turn begins, or goes on."""

NEEDS_DECISION = (NoticeKind.TURN, NoticeKind.DEADLINE, NoticeKind.OFFER, NoticeKind.INVITATION)
MIN_REMINDED = 2 * HOUR
"""In shorter turns there is no reminder: the notice of the turn is recent."""

MAIL_SERVER_WARNING = "the mail server takes no mail"
"""What is logged then, and with no other server."""


class SentNotice(NamedTuple):
    """A notice that was sent through one channel to one target."""

    id: str
    channel: NoticeChannel
    target: str


class ToldOf(NamedTuple):
    """The results of the notices of a year.

    ``decided`` are all notices by id, ``accepted`` what other servers have accepted, ``sent`` how often each notice was
    sent where, ``needless`` those that were sent to people who had nothing to decide, ``missing`` turns of which nobody
    was told, ``unreminded`` those whose flag fell without a reminder, ``disturbing`` what was sent in quiet hours and
    could wait, ``decided_again`` the notices that the ledger took twice, ``unexplained`` places without a reason.
    """

    decided: Mapping[str, Notice]
    accepted: Sequence[Accepted]
    sent: Counter[SentNotice]
    needless: Sequence[str]
    missing: Sequence[str]
    unreminded: Sequence[str]
    disturbing: Sequence[str]
    decided_again: Sequence[str]
    unexplained: Sequence[str]
    counts: Counter[str]


class SimulatedNotices:
    """The notices of ``people`` in a year that began at ``begin``, with ``parts`` that have a database."""

    def __init__(self, parts: SimulatedInstallation, people: Sequence[Person], begin: int, seed: int) -> None:
        self._parts = parts
        self._begin = begin
        self._random = Random(f"notices {seed}")
        self._elsewhere = Elsewhere(parts.now, begin, self._random)
        self._shards = [NoticeKeys(parts.prefix, shard) for shard in range(parts.store.shards)]
        self._decided: dict[str, Notice] = {}
        self._facts: set[tuple[str, str]] = set()
        self._decided_again: list[str] = []
        self._sent: Counter[SentNotice] = Counter()
        self._needless: list[str] = []
        self._missing: list[str] = []
        self._unreminded: list[str] = []
        self._disturbing: list[str] = []
        self._counts: Counter[str] = Counter()
        self._people = people
        self._zones = {person.id: ZoneInfo(person.zone) for person in people}
        self._messages = 0
        parts.people = KnownPeople(people, begin)  # type: ignore[assignment]
        self._watch_ledger()
        self._observer = make_observer(parts)
        deliveries = make_deliveries(parts, {channel: Watched(self, channel) for channel in NoticeChannel})
        self._rounds = NoticeRounds(parts.store, parts.checks, parts.now, self._observer)
        self._deliver = deliveries.deliver_due
        self._senders: Mapping[NoticeChannel, Sender] = {
            NoticeChannel.MAIL: make_mail_sender(parts, MAIL, self._elsewhere.mail_server),
            NoticeChannel.WEBHOOK: make_webhook_sender(parts, self._elsewhere.receivers),
            NoticeChannel.PUSH: make_push_sender(parts, self._elsewhere.receivers),
        }
        for person in people:
            self._set_up(person)

    def look(self, match_id: str, versions: Collection[int]) -> None:
        """Do what the relay does about new events of a match."""
        look_at_match(self._observer, match_id, set(versions))
        state = self._parts.matches.load(match_id).state
        self._look_at_flags(state, min(versions))
        seat = to_move(state)
        player = None if seat is None or state.cases.frozen else state.seats[seat].player
        events = self._parts.store.read(match_id, min(versions) - 1)
        beginnings = [event for event in events if event.type in ("match-started", "move-submitted")]
        if player is None or not is_person(player) or not beginnings or beginnings[-1].actor == player:
            return
        turn = f"turn:{match_id}:{state.play.plies}:{state.play.taken_back}:{seat}"
        self._counts["turns that people must be told of"] += 1
        if (turn, player) not in self._facts:
            self._missing.append(turn)

    def _look_at_flags(self, state: MatchState, since: int) -> None:
        """Note whose flag has just fallen without a reminder, although that person wants one."""
        fallen = [each for each in self._parts.store.read(state.match_id, since - 1) if each.type == "flag-fell"]
        for flag in fallen:
            seat = flag.data["seat"]
            player = state.seats[seat].player or ""
            events = self._parts.store.read(state.match_id, 0, flag.version)
            begun = [each for each in events if each.type in BEGINNINGS and each.version < flag.version][-1]
            # Who has begun the turn, as in a draft, has just acted and knows; so does who was told an hour ago.
            is_short = flag.data["deadline"] - begun.at < MIN_REMINDED
            if begun.actor == player or is_short or not self._parts.preferences.read(player).remind_before_h:
                continue
            self._counts["flags of people who want to be reminded"] += 1
            turn = f"deadline:{state.match_id}:{state.play.plies}:{state.play.taken_back}:{seat}"
            if (turn, player) not in self._facts:
                self._unreminded.append(turn)

    def _disturbs(self, dispatch: Dispatch, now: int) -> bool:
        """Tell whether ``dispatch`` comes in quiet hours and could wait until an hour after their end."""
        quiet = self._parts.preferences.read(dispatch.player).quiet
        if quiet is None or dispatch.purpose != Purpose.NOTICE or dispatch.channel == NoticeChannel.WEBHOOK:
            return False
        first, end = quiet
        hour = datetime.fromtimestamp(now // 1000, self._zones[dispatch.player]).hour
        deadline = self._decided[dispatch.notices[0]].deadline
        is_quiet = first <= hour < end if first < end else hour >= first or hour < end
        return is_quiet and (deadline is None or deadline - now > ((end - first) % 24 + 1) * HOUR)

    def visit(self, match_id: str, player: str) -> None:
        """Have ``player`` look at a match, with a tab that stays open or not, and perhaps write a message."""
        if self._random.random() < 0.4:
            self._parts.presence.record(player, match_id, True, self._parts.now())
            self._counts["visits with an open tab"] += 1
        if self._random.random() < 0.03:
            self._messages += 1
            chats = self._parts.chats
            self._parts.checks.mark_chat(match_id, chats.length(match_id), self._parts.now())
            chats.post(match_id, player, f"{CHAT_MARK} {self._messages}", Request(f"message {self._messages}", ""))
            self._counts["messages in chats"] += 1

    def next_round(self) -> int | None:
        """Return the instant at which there is something to be done; None when there never is."""
        client = self._parts.client
        with client.pipeline(transaction=False) as pipeline:
            for keys in self._shards:
                for key in (keys.outbox.lanes, keys.checks.lanes):
                    pipeline.zrange(key, 0, 0, withscores=True)
            return min((int(at) for first in pipeline.execute() for _, at in first), default=None)

    def do_round(self) -> None:
        self._rounds.do_round()
        self._deliver()

    def result(self) -> ToldOf:
        return ToldOf(
            decided=self._decided, accepted=self._elsewhere.accepted, sent=self._sent, needless=self._needless,
            missing=self._missing, unreminded=self._unreminded, disturbing=self._disturbing,
            decided_again=self._decided_again, unexplained=list(self._unexplained()),
            counts=self._counts + self._elsewhere.counts,
        )  # fmt: skip

    def send(self, channel: NoticeChannel, dispatch: Dispatch, now: int) -> SendOutcome:
        """Send ``dispatch`` with the real sender, and compare it with how the matches stand."""
        outcome = self._senders[channel].send(dispatch, now)
        self._counts[f"{channel}: {outcome.state}"] += 1
        if outcome.state == DeliveryState.SENT:
            if self._disturbs(dispatch, now):
                self._disturbing.append(f"{dispatch.id} at {now}")
            for id in dispatch.notices:
                self._sent[SentNotice(id, channel, dispatch.target)] += 1
                notice = self._decided[id]
                if not self._has_to_decide(notice):
                    self._needless.append(f"{notice.player}: {notice.fact} by {channel}")
        return outcome

    def _has_to_decide(self, notice: Notice) -> bool:
        if notice.kind not in NEEDS_DECISION or notice.match is None:
            return True
        loaded = self._parts.matches.load(notice.match)
        state, seat = loaded.state, loaded.state.seat_of(notice.player)
        if seat is None:
            return False
        if notice.kind == NoticeKind.INVITATION:
            return state.status == Status.OPEN and not state.seats[seat].joined
        if notice.kind == NoticeKind.OFFER:
            return not state.ended and any(seat not in agreed for agreed in _proposals(state))
        return self._must_move(loaded, seat)

    def _must_move(self, loaded: Loaded, seat: int) -> bool:
        state = loaded.state
        if state.status != Status.PLAYING or state.cases.frozen or to_move(state) != seat:
            return False
        return not answer_due(state, loaded.orders, self._parts.now()).events

    def _unexplained(self) -> Iterable[str]:
        for notice in self._decided.values():
            if not notice.reason or not notice.summary:
                yield notice.fact
        now = self._parts.now()
        for person in self._people:
            for notice in self._parts.ledger.page(person.id, limit=500).notices:
                for delivery in notice.deliveries:
                    overdue = delivery.state == DeliveryState.WAITING and (delivery.due or 0) <= now
                    if not delivery.reason or overdue:
                        yield f"{notice.fact} by {delivery.channel}: {delivery}"

    def _watch_ledger(self) -> None:
        decide = self._parts.ledger.decide

        def watched(notice: Notice, *, digest: bool = False) -> bool:
            is_new = decide(notice, digest=digest)
            if is_new and notice.id in self._decided:
                self._decided_again.append(notice.fact)
            self._decided.setdefault(notice.id, notice)
            self._facts.add((notice.fact, notice.player))
            self._counts[f"decided: {notice.kind}"] += is_new
            return is_new

        self._parts.ledger.decide = watched  # type: ignore[method-assign]

    def _set_up(self, person: Person) -> None:
        random, parts = self._random, self._parts
        if random.random() < 0.8:
            address = f"{person.id}@people.example"
            parts.addresses.change(
                person.id, lambda stored: confirmed(wants(stored, address, self._begin), address, self._begin)
            )
        if random.random() < 0.2:
            endpoint = Endpoint(
                id=f"w{person.id}", url=f"https://receiver-{random.randrange(4)}.example/{person.id}",
                kinds=tuple(NoticeKind), payload=random.choice([PayloadForm.FULL, PayloadForm.THIN]),
                created_at=self._begin, keys=(fresh_keys(),),
            )  # fmt: skip
            parts.endpoints.add(person.id, endpoint)
        if random.random() < 0.5:
            browser = Browser(f"https://fcm.googleapis.com/{person.id}")
            parts.subscriptions.save(
                person.id,
                Subscription(
                    id=subscription_id(browser.endpoint), endpoint=browser.endpoint, point=to_base64url(browser.point),
                    secret=to_base64url(browser.secret), label="A browser", session=person.id, created_at=self._begin,
                ),
            )  # fmt: skip
            self._elsewhere.receivers.browsers[browser.endpoint] = browser
        quiet = random.choice([None, None, (22, 7), (0, 6)])
        timings = [Timing.AT_ONCE, Timing.AT_ONCE, Timing.DIGEST, Timing.NEVER]
        mail = {kind: random.choice(timings) for kind in NoticeKind}
        wanted = Preferences(
            mail=mail, digest_hour=random.randrange(24), quiet=quiet, remind_before_h=random.choice([0, 6, 24])
        )
        parts.preferences.change(person.id, lambda _: wanted)


class Watched:
    def __init__(self, notices: SimulatedNotices, channel: NoticeChannel) -> None:
        self._notices = notices
        self._channel = channel

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Send ``dispatch``."""
        return self._notices.send(self._channel, dispatch, now)


def _proposals(state: MatchState) -> Iterable[Sequence[int]]:
    """Return the seats that have agreed to each thing that is proposed."""
    if state.offers.draw_agreed:
        yield state.offers.draw_agreed
    if state.offers.takeback is not None:
        yield state.offers.takeback.agreed
    if state.cases.proposal is not None:
        yield state.cases.proposal.agreed
