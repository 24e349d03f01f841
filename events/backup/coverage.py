"""Which keys a backup has, and why it does not have the others: every key of the key space is in one of these lists.

What refers is copied before what is referred to, so that everything that a restored store names exists.
"""

import re
from collections.abc import Callable, Sequence

from events.runtime.keys import (
    AdministrationKeys,
    ArchiveKeys,
    CaseKeys,
    ChatKeys,
    FleetKeys,
    IncidentKeys,
    InstallationKeys,
    JobKeys,
    PeopleKeys,
    ProofKeys,
    RatingKeys,
    ReadModelKeys,
    ShardKeys,
    TimeKeys,
    WorkListKeys,
)
from events.runtime.notice_keys import (
    IncomingMailKeys,
    LedgerKeys,
    MailKeys,
    NoticeKeys,
    PostmasterKeys,
    PushKeys,
    SubscriberKeys,
    WebhookKeys,
)

ANY = "*"


class Coverage:
    """The treatment of all keys with a prefix, as patterns in which ``*`` stands for anything."""

    def __init__(self, prefix: str) -> None:
        people, proof, time = PeopleKeys(prefix), ProofKeys(prefix), TimeKeys(prefix)
        cases, chats, jobs = CaseKeys(prefix), ChatKeys(prefix), JobKeys(prefix)
        fleet, archive = FleetKeys(prefix), ArchiveKeys(prefix)
        alone, shard = InstallationKeys(prefix), ShardKeys(prefix, 0)
        models, ratings = ReadModelKeys(prefix, 1), RatingKeys(prefix, 0)
        administration = AdministrationKeys(prefix)

        self.single = [time.heartbeat, time.outages, time.uncredited, time.provisional, time.flag_lateness]
        """Keys with a known name, copied first: the time since the heartbeat is credited after a restore."""

        self.before = [
            _of_every_shard(lambda number: [LedgerKeys(prefix, number).decided(ANY)]),
            self._kept_beside_matches(prefix),
            [chats.reported, people.syncs.entry(ANY)],
        ]
        """Searched for and copied before the matches, in three steps: what is decided must be there, what is there must
        be due.
        """

        self.after = [
            *(people.account(ANY), people.suspension(ANY), people.availability(ANY), people.erased, people.rewrite),
            people.guests.entry(ANY),
            *(cases.texts(ANY), cases.matches_of(ANY), cases.unconfirmed),
        ]

        self.with_logs = [
            *(proof.private_key, proof.public_keys, proof.key_horizon),
            *(proof.leaves, proof.checkpoints, proof.latest_day, proof.log_origin, proof.note),
            *(administration.log, administration.head, administration.once, administration.roles),
        ]

        self.with_shards = [
            *_of_shards(shard.streams, shard.events(ANY), shard.head(ANY), shard.conditional_moves(ANY)),
            *_of_shards(shard.deadlines, shard.archived_streams, shard.sequence, shard.parked),
            *_of_shards(archive.catalogue(0, 0).removesuffix("0") + ANY, archive.round(0)),
            *(archive.packs, archive.tables, archive.dictionaries, alone.installation),
        ]
        """Keys of the matches, copied shard by shard, and what the catalogue of the archive refers to."""

        self.derived = [
            *(people.name(ANY), people.look(ANY), people.bots),
            *(proof.log_size, proof.tile_files, proof.nodes + ANY, proof.logged, proof.others, proof.looked_hour),
            *_of_shards(shard.feed, shard.snapshot(ANY), models.generation(0), models.of_shard(0) + ANY),
            *(ratings.all + ANY, *_indexes(people.syncs), *_indexes(people.guests)),
            *_of_every_shard(
                lambda number: _indexes(LedgerKeys(prefix, number).outbox),
                lambda number: _indexes(IncomingMailKeys(prefix, number).inbox),
                lambda number: _indexes(LedgerKeys(prefix, number).checks),
            ),
        ]
        """Keys that a restore writes from others, or that ``rookery rebuild`` makes."""

        self.ephemeral = [
            *(alone.relays, alone.limits + ANY, alone.ticket(ANY)),
            *(alone.unacked, alone.unacked_index, alone.unacked_mutex),
            *(people.writes + ANY, people.failed_sign_ins(ANY), people.sign_in_delay(ANY), chats.channel),
            people.player_key_nonce(ANY),
            *_of_every_shard(lambda number: [LedgerKeys(prefix, number).presence(ANY)]),
            *(WorkListKeys(prefix, "jobs", "work").base + ANY, jobs.result(ANY, ANY, ANY), time.offsets),
            archive.unused,
            WorkListKeys(prefix, "opponents", "turns").base + ANY,
            *(fleet.jobs, fleet.running, fleet.workers),
            *(fleet.job(ANY), fleet.slices(ANY), fleet.results(ANY), WorkListKeys(prefix, "fleet", "work").base + ANY),
        ]
        """Keys that count, are on their way, or are requested again."""

    def _kept_beside_matches(self, prefix: str) -> list[str]:
        people, chats, incidents = PeopleKeys(prefix), ChatKeys(prefix), IncidentKeys(prefix)
        proof = ProofKeys(prefix)
        return [
            *_of_every_shard(
                lambda number: _ledger_keys(LedgerKeys(prefix, number)),
                lambda number: _subscriber_keys(SubscriberKeys(prefix, number), MailKeys(prefix, number)),
                lambda number: _mail_keys(IncomingMailKeys(prefix, number), WebhookKeys(prefix, number)),
            ),
            PushKeys(prefix).private_key,
            PostmasterKeys(prefix).mails,
            *(proof.witnesses, proof.timestamps),
            *(chats.messages(ANY), chats.request(ANY, ANY), chats.open_to_others(ANY), chats.reports(ANY)),
            *(chats.hidden(ANY), chats.matches_of(ANY), chats.matches_reported_by(ANY)),
            *(incidents.all, incidents.of_match(ANY)),
            *(people.session(ANY), people.token(ANY), people.sessions(ANY), people.tokens(ANY)),
            *(people.blocks(ANY), people.bot_places(ANY), people.notes(ANY), people.explorations(ANY)),
            *(people.conditional_moves(ANY), people.bytes_kept(ANY), people.player_keys(ANY)),
        ]


def matching(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return an expression that matches the keys of ``patterns``."""
    return re.compile("|".join(f"(?:{'.*'.join(map(re.escape, each.split(ANY)))})" for each in patterns), re.DOTALL)


def searches(patterns: Sequence[str]) -> list[str]:
    """Return the patterns to search for with SCAN so that all keys of ``patterns`` are found: one for each hash tag."""
    return sorted({f"{pattern.partition('}')[0]}}}*" if "}" in pattern else pattern for pattern in patterns})


def _of_every_shard(*kinds: Callable[[int], list[str]]) -> list[str]:
    tag = NoticeKeys("", 0)._tag
    return [key.replace(tag, tag.replace("00", ANY)) for kind in kinds for key in kind(0)]


def _of_shards(*keys: str) -> list[str]:
    return [key.replace("{s00}", "{s" + ANY + "}") for key in keys]


def _ledger_keys(keys: LedgerKeys) -> list[str]:
    return [
        *(keys.outbox.entry(ANY), keys.checks.entry(ANY), keys.finished(ANY), keys.ledger(ANY), keys.dropped(ANY)),
        *(keys.notice(ANY, ANY), keys.preferences(ANY), keys.outcomes),
    ]


def _indexes(keys: WorkListKeys) -> list[str]:
    return [
        *(keys.lanes, keys.entries(ANY, ANY), keys.owners(ANY), keys.due(ANY)),
        *(keys.charges(ANY), keys.charge(ANY)),
    ]


def _subscriber_keys(keys: SubscriberKeys, mail: MailKeys) -> list[str]:
    return [
        *(keys.subscriptions(ANY), keys.feed_address(ANY)),
        *(mail.address(ANY), mail.holders(ANY)),
    ]


def _mail_keys(keys: IncomingMailKeys, webhooks: WebhookKeys) -> list[str]:
    return [
        *(keys.inbox.entry(ANY), keys.order(ANY), keys.mails(ANY), keys.contents(ANY), keys.refusals(ANY, ANY)),
        *(webhooks.endpoints(ANY), webhooks.webhook_log(ANY, ANY)),
    ]
