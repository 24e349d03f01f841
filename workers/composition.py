"""How the workers are composed: each gets the parts of the installation that it needs, and none the whole.

Relay, Celery workers and commands compose their parts here; nothing connects.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event

from events.installation import Installation
from events.notify.mail.execution import execute_commands
from events.notify.mail.messages import Site
from events.notify.notice import NoticeChannel
from events.notify.push.sender_key import subject_of
from events.runtime.counters import fixed_windows
from events.runtime.egress import Egress
from events.runtime.settings import MailSettings
from events.store.kinds import StreamKind
from workers.contests import ContestSweep, Followers, settle_contest
from workers.hints import HintRounds, ListHints
from workers.long_searches import LongThinker
from workers.notices.decide import Decider, MatchObserver, StrangerLimit
from workers.notices.deliver import Deliveries
from workers.notices.incoming_mail import MailReader
from workers.notices.mail_composer import MailComposer
from workers.notices.mail_sender import MailSender
from workers.notices.match_reader import MatchReader
from workers.notices.push_sender import PushComposer, PushSender
from workers.notices.reach import ChatReader, CircumstancesReader
from workers.notices.senders import Sender
from workers.notices.smtp import SmtpServer
from workers.notices.webhook_answers import BotAnswers, Fallback
from workers.notices.webhook_sender import WebhookSender
from workers.opponents import Opponents
from workers.reminders import CheckpointReminders, Reminders
from workers.shares import Share
from workers.sweeper import Sweeper
from workers.task_queue import TaskQueue
from workers.ticker import Ticker

DELIVERY_THREADS = 12
"""The threads of a worker for notices; as many hints about the outbox are of use at a time."""


def make_opponents(of: Installation) -> Opponents:
    """Return the machine players."""
    return Opponents(of.matches, of.match_service, of.turns, of.now)


def make_long_thinker(of: Installation, is_stopping: Callable[[], bool]) -> LongThinker:
    """Return the part that answers after searches of minutes."""
    return LongThinker(make_opponents(of), is_stopping)


def make_task_queue(of: Installation) -> TaskQueue:
    """Return the task queue."""
    return TaskQueue(of.settings, make_opponents(of))


def make_followers(of: Installation) -> Followers:
    """Return the followers of contests by their kind."""
    return {StreamKind.SEEK: of.seeks, StreamKind.TOURNAMENT: of.tournaments}


def make_ticker(of: Installation, share: Share = lambda: None) -> Ticker:
    """Return the ticker of a ``share`` of the matches and contests."""

    def settle(contest: str) -> bool:
        return settle_contest(make_followers(of), contest)

    return Ticker(of.store, of.readmodels, of.timekeeper, of.heartbeat, of.now, share, settle)


def make_checkpoint_reminders(of: Installation, reminders: Reminders) -> CheckpointReminders:
    """Return the part that has checkpoints signed and vouched for."""
    timestamps = None if of.settings.timestamp_url is None else of.timestamps
    return CheckpointReminders(reminders, of.checkpoints, of.witnesses, timestamps)


def make_sweeper(
    of: Installation, tasks: TaskQueue, share: Share = lambda: None, rounds: Sequence[Callable[[], object]] = ()
) -> Sweeper:
    """Return the sweeper of a ``share`` of the matches, which also does ``rounds``."""
    reminders = Reminders(tasks, of.now)
    of_checkpoints = make_checkpoint_reminders(of, reminders)
    of_contests = ContestSweep(of.store, of.contest_lists, make_followers(of), of.now)
    rounds = [of_checkpoints.request_checkpoint, of_checkpoints.request_cosignatures, of_contests, *rounds]
    return Sweeper(of.store, of.readmodels, of.projector, of.ratings, of.timekeeper, reminders, share, rounds)


def make_hint_rounds(of: Installation, tasks: TaskQueue, woken: Event, share: Share = lambda: None) -> HintRounds:
    """Return the rounds that give hints about a ``share`` of the work lists."""
    sharded = [ListHints(of.outbox.work, lambda _: tasks.request_delivery(), DELIVERY_THREADS)]
    if of.settings.mail is not None:
        sharded.append(ListHints(of.inbox.work, lambda _: tasks.request_reading()))
    single = [
        ListHints(of.turns, tasks.request_turn),
        ListHints(of.jobs.work, lambda _: tasks.request_jobs()),
        ListHints(of.fleet_jobs.work, tasks.request_slices),
    ]
    return HintRounds(sharded, single, woken, of.now, share)


def make_decider(of: Installation, wake: Callable[[], object] = lambda: None) -> Decider:
    """Return the decider about notices; it calls ``wake`` for those that go at once."""
    strangers = StrangerLimit(of.matches, of.readmodels, fixed_windows(of.client, of.prefix))
    return Decider(of.people, of.ledger, _circumstances(of), strangers, of.heartbeat, of.now, wake)


def make_observer(of: Installation, wake: Callable[[], object] = lambda: None) -> MatchObserver:
    """Return the observer of matches, with its decider."""
    return MatchObserver(of.client, make_decider(of, wake), of.matches, of.timekeeper, of.checks, _chat_reader(of))


def make_deliveries(of: Installation, senders: Mapping[NoticeChannel, Sender]) -> Deliveries:
    """Return the deliveries of notices and letters; by ``senders``."""
    return Deliveries(of.outbox, of.ledger, of.matches, _circumstances(of), senders, of.now)


def make_senders(of: Installation) -> Mapping[NoticeChannel, Sender]:
    """Return the sender of each channel that the installation has."""
    egress = Egress(of.settings.egress_allowed)
    senders: dict[NoticeChannel, Sender] = {
        NoticeChannel.PUSH: make_push_sender(of, egress),
        NoticeChannel.WEBHOOK: make_webhook_sender(of, egress),
    }
    mail = of.settings.mail
    if mail is not None:
        senders[NoticeChannel.MAIL] = make_mail_sender(of, mail, SmtpServer(mail.smtp_url, mail.domain))
    return senders


def make_push_sender(of: Installation, egress: Egress) -> PushSender:
    """Return the sender of push notices by ``egress``."""
    page_url = of.settings.page_url
    composer = PushComposer(of.ledger, of.readmodels, of.people, of.blocks, of.availability, page_url)
    subject = subject_of(of.settings.contact, page_url)
    return PushSender(composer, of.subscriptions, of.push_key, egress, of.now, subject)


def make_webhook_sender(of: Installation, egress: Egress) -> WebhookSender:
    """Return the sender of webhooks by ``egress``."""
    answers = BotAnswers(of.people, of.blocks, of.bot_admission, of.match_service, make_decider(of))
    sends_mail = of.settings.mail is not None
    fallback = Fallback(of.preferences, of.outbox, of.addresses, of.settings.page_url, sends_mail)
    return WebhookSender(of.endpoints, of.ledger, make_match_reader(of), answers, fallback, egress)


def make_mail_sender(of: Installation, settings: MailSettings, server: SmtpServer) -> MailSender:
    """Return the sender of mail to ``server``."""
    composer = make_mail_composer(of, Site(domain=settings.domain, page_url=of.settings.page_url))
    return MailSender(composer, of.addresses, of.outbox, server)


def make_mail_composer(of: Installation, site: Site) -> MailComposer:
    """Return the composer of mails of ``site``."""
    matches, chats = make_match_reader(of), _chat_reader(of)
    return MailComposer(site, matches, chats, of.ledger, of.addresses, of.preferences, of.availability)


def make_mail_reader(of: Installation, settings: MailSettings) -> MailReader:
    """Return the reader of incoming mail. A mail may do nearly all that a person may, so commands get the whole."""
    matches, execute = make_match_reader(of), partial(execute_commands, of)
    return MailReader(settings, of.inbox, of.outbox, of.addresses, of.availability, matches, execute, of.now)


def make_match_reader(of: Installation) -> MatchReader:
    """Return the reader of matches as their players see them."""
    return MatchReader(of.matches, of.timekeeper, of.people, of.blocks, of.settings.page_url)


def _circumstances(of: Installation) -> CircumstancesReader:
    sends_mail = of.settings.mail is not None
    return CircumstancesReader(
        of.availability, of.preferences, of.presence, of.addresses, of.subscriptions, of.endpoints, sends_mail
    )


def _chat_reader(of: Installation) -> ChatReader:
    return ChatReader(of.chats, of.reports, of.blocks)
