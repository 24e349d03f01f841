"""Which keys a backup has, and why it does not have the others: every key of the key space is in one of these lists.

References are copied before their targets, so that everything that a restored store names exists.
"""

import re
from collections.abc import Sequence

from events.runtime.keys import (
    AdministrationKeys,
    ArchiveKeys,
    CaseKeys,
    ChatKeys,
    ContestKeys,
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
from events.runtime.notice_keys import NoticeKeys, PostmasterKeys, PushKeys

ANY = "*"


class Coverage:
    """The treatment of all keys with a prefix, as patterns in which ``*`` stands for anything."""

    def __init__(self, prefix: str) -> None:
        people, proof, time = PeopleKeys(prefix), ProofKeys(prefix), TimeKeys(prefix)
        cases, chats, jobs = CaseKeys(prefix), ChatKeys(prefix), JobKeys(prefix)
        fleet, archive = FleetKeys(prefix), ArchiveKeys(prefix)
        alone, shard = InstallationKeys(prefix), ShardKeys(prefix, 0)
        models, ratings, notices = ReadModelKeys(prefix, 1), RatingKeys(prefix, 0), NoticeKeys(prefix, 0)
        administration = AdministrationKeys(prefix)

        self.single = [time.heartbeat, time.outages, time.uncredited, time.provisional, time.flag_lateness]
        """Keys with a known name, copied first: the time since the heartbeat is credited after a restore."""

        self.before = [
            _of_shards(notices.decided(ANY)),
            self._kept_beside_matches(prefix),
            [chats.reported, people.syncs.entry(ANY)],
        ]
        """Searched for and copied before the matches, in three steps: decided notices must be there, those there
        must be due.
        """

        self.after = [
            *(people.account(ANY), people.suspension(ANY), people.availability(ANY), people.rewrite),
            *(people.guests.entry(ANY), people.erasures.entry(ANY)),
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
        """Keys of the matches, copied shard by shard, and the files of the archive."""

        self.derived = [
            *(people.name(ANY), people.look(ANY), people.bots),
            *(proof.log_size, proof.tile_files, proof.nodes + ANY, proof.logged, proof.others, proof.looked_hour),
            *_of_shards(shard.feed, shard.snapshot(ANY), models.generation(0), models.of_shard(0) + ANY),
            ContestKeys(prefix).all + ANY,
            *(ratings.all + ANY, *_indexes(people.syncs), *_indexes(people.guests), *_indexes(people.erasures)),
            *_of_shards(*_indexes(notices.outbox), *_indexes(notices.inbox), *_indexes(notices.checks)),
        ]
        """Keys that a restore writes from others, or that ``rookery rebuild`` makes."""

        self.ephemeral = [
            *(alone.relays, alone.limits + ANY, alone.ticket(ANY)),
            *(alone.unacked, alone.unacked_index, alone.unacked_mutex),
            *(people.writes + ANY, people.failed_sign_ins(ANY), people.sign_in_delay(ANY), chats.channel),
            people.player_key_nonce(ANY),
            *_of_shards(notices.presence(ANY)),
            *(WorkListKeys(prefix, "jobs", "work").base + ANY, jobs.result(ANY, ANY, ANY), time.offsets),
            archive.unused,
            WorkListKeys(prefix, "opponents", "turns").base + ANY,
            *(fleet.jobs, fleet.running, fleet.workers),
            *(fleet.job(ANY), fleet.results(ANY), WorkListKeys(prefix, "fleet", "work").base + ANY),
        ]
        """Keys that count, are on their way, or are requested again."""

    def _kept_beside_matches(self, prefix: str) -> list[str]:
        people, chats, incidents = PeopleKeys(prefix), ChatKeys(prefix), IncidentKeys(prefix)
        proof, notices = ProofKeys(prefix), NoticeKeys(prefix, 0)
        return [
            *_of_shards(notices.outbox.entry(ANY), notices.inbox.entry(ANY), notices.checks.entry(ANY)),
            *_of_shards(notices.finished(ANY), notices.ledger(ANY), notices.dropped(ANY), notices.notice(ANY, ANY)),
            *_of_shards(notices.preferences(ANY), notices.outcomes, notices.subscriptions(ANY)),
            *_of_shards(notices.feed_address(ANY), notices.address(ANY), notices.holders(ANY), notices.order(ANY)),
            *_of_shards(notices.mails(ANY), notices.contents(ANY), notices.refusals(ANY, ANY)),
            *_of_shards(notices.endpoints(ANY), notices.webhook_log(ANY, ANY)),
            PushKeys(prefix).private_key,
            PostmasterKeys(prefix).mails,
            *(proof.witnesses, proof.timestamps),
            *(chats.messages(ANY), chats.request(ANY, ANY), chats.open_to_others(ANY), chats.reports(ANY)),
            *(chats.hidden(ANY), chats.matches_of(ANY), chats.matches_reported_by(ANY)),
            *(incidents.all, incidents.of_match(ANY)),
            *(people.session(ANY), people.token(ANY), people.sessions(ANY), people.tokens(ANY)),
            *(people.directory, people.seen, people.follows(ANY)),
            *(people.blocks(ANY), people.places(ANY), people.notes(ANY), people.explorations(ANY)),
            *(people.puzzle_attempts(ANY), people.puzzle_rating(ANY), people.puzzles(ANY)),
            *(people.publications(ANY), people.publishers(ANY)),
            *(people.conditional_moves(ANY), people.bytes_kept(ANY), people.player_keys(ANY)),
        ]


def matching(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return an expression that matches the keys of ``patterns``."""
    return re.compile(
        "|".join(f"(?:{'.*'.join(map(re.escape, pattern.split(ANY)))})" for pattern in patterns), re.DOTALL
    )


def searches(patterns: Sequence[str]) -> list[str]:
    """Return the patterns to search for with SCAN so that all keys of ``patterns`` are found: one for each hash tag."""
    return sorted({f"{pattern.partition('}')[0]}}}*" if "}" in pattern else pattern for pattern in patterns})


def _of_shards(*keys: str) -> list[str]:
    return [re.sub("{([ns])00}", rf"{{\1{ANY}}}", key) for key in keys]


def _indexes(keys: WorkListKeys) -> list[str]:
    return [
        *(keys.lanes, keys.entries(ANY, ANY), keys.owners(ANY), keys.due(ANY)),
        *(keys.charges(ANY), keys.charge(ANY)),
    ]
