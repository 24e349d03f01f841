"""The key space of Redis: every key of an installation, one class for what belongs together.

All keys begin with the prefix of the installation (``rk:``). Between braces is the hash tag: keys with the same tag are
on one server of a cluster, and change together:

    {s07}             a shard: its feed, the streams of its matches and contests, read models of its matches
    {people}          accounts, and all that belongs to one person
    {cases}           the statements of parties to a dispute
    {<match>}         the chat of a match; the job of a match or person; the result of a job
    {administration}  roles, and the log of the acts of arbiters and operators
    {proof}           signing keys, the log of checkpoints, its witnesses
    {push}            the key for push services
    {ratings}         all ratings
    {contests}        read models of seeks and tournaments
    {time}            the heartbeat of the clocks, outages
    {incidents}       the losses of the installation
    {opponents}       the matches that wait for an opponent
    {fleet}           fleet jobs: their slices and results
    {archive}         the files of archived matches

The remaining keys are used alone. The content of a key is described beside it.
"""

import functools
import hashlib
import re
from collections.abc import Callable


@functools.lru_cache(maxsize=4096)
def shard_of(stream: str, shards: int) -> int:
    """Return the shard of ``stream``, 0 to ``shards`` - 1: the same on every machine, now and later."""
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8], "big") % shards


def keys_of(begin: str) -> Callable[[str], str]:
    """Return the function that makes keys of ``begin`` and a name."""
    return begin.__add__


class InstallationKeys:
    """Keys of the whole installation; each is used alone."""

    def __init__(self, prefix: str) -> None:
        self.installation = f"{prefix}rookery"  # hash: id, number of shards, layout; replicas to wait for, if ordered
        self.relays = f"{prefix}relays"  # hash: when each relay last reported, and the silences of its lines as JSON
        self.limits = f"{prefix}limits"  # begins the counters of the library ``limits``
        self.unacked = f"{prefix}unacked"
        self.unacked_index = f"{prefix}unacked-index"
        self.unacked_mutex = f"{prefix}unacked-mutex"  # in the broker: Celery's tasks that are being done
        self._tickets = f"{prefix}ticket:"
        # a ticket for the live stream. String: its digest, key of a session or token; it expires
        self.ticket = keys_of(self._tickets)


class ShardKeys:
    """The feed of a shard and its streams, of matches and contests: an append changes all of them in one script."""

    def __init__(self, prefix: str, shard: int) -> None:
        tag = f"{prefix}{{s{shard:02d}}}:"
        self.feed = f"{tag}feed"
        """Stream: a pointer (match, version, origin) for each event. The channel of wake-ups has the same name."""

        self.sequence = f"{tag}sequence"
        """String: how many events the shard has had, the id of the feed's last entry; never absent."""

        self.streams = f"{tag}streams"  # list: the live matches, in the order of their first events
        self.archived_streams = f"{tag}archived-streams"  # list: the archived ones, in the order of archiving
        self.deadlines = f"{tag}deadlines"  # sorted set: matches by the instant at which something is due
        self.parked = f"{tag}parked"  # stream: the feed entries that a consumer group could not handle, with the reason
        self.base = f"{tag}m:"  # begins the next ones

    def events(self, match_id: str) -> str:
        """Return the key of a match's events. Stream: packed event and digest."""
        return f"{self.base}{match_id}:e"

    def head(self, match_id: str) -> str:
        """Return the key of a match's head. Hash: version, digest, request keys, revision of conditional moves."""
        return f"{self.base}{match_id}:h"

    def snapshot(self, match_id: str) -> str:
        """Return the key of a match's cached state. Hash: version, compressed JSON; it expires."""
        return f"{self.base}{match_id}:s"

    def conditional_moves(self, match_id: str) -> str:
        """Return the key of a match's conditional moves. Hash: text by seat."""
        return f"{self.base}{match_id}:o"


class ReadModelKeys:
    """Summaries and lists of matches, by shard, and ratings: all of it can be deleted and rebuilt."""

    def __init__(self, prefix: str, shards: int) -> None:
        self.prefix = prefix
        self.shards = shards
        self.ratings = f"{prefix}{{ratings}}:"  # begins all keys of ratings
        self.rating_generation = f"{self.ratings}generation"
        """String: the generation of ratings that is read, and the one that is being built."""

    def shard_of(self, match_id: str) -> int:
        """Return the shard of a match: the one in which the event store keeps its stream."""
        return shard_of(match_id, self.shards)

    def generation(self, shard: int) -> str:
        """Return the key of a shard's present generation of summaries and lists. String: see ``Generations``."""
        return f"{self.prefix}{{s{shard:02d}}}:read-models"

    def summary(self, match_id: str, generation: int) -> str:
        """Return the key of a match's summary in a generation. String: packed."""
        return f"{self.summaries(self.shard_of(match_id), generation)}{match_id}"

    def summaries(self, shard: int, generation: int) -> str:
        """Return how the keys of the summaries of a shard begin in a generation, before the match."""
        return f"{self.of_generation(shard, generation)}m:"

    def listed(self, shard: int, name: str, generation: int) -> str:
        """Return the key of a shard's part of the list ``name`` in a generation. Sorted set: matches by an instant."""
        return f"{self.of_generation(shard, generation)}l:{name}"

    def of_generation(self, shard: int, generation: int) -> str:
        """Return how the keys of a shard's summaries and lists begin in a generation, before their kind."""
        return self.of_shard(shard) + (f"{generation}:" if generation else "")

    def of_shard(self, shard: int) -> str:
        """Return how the keys of all generations of a shard begin."""
        return f"{self.prefix}{{s{shard:02d}}}:rm:"

    def rating_keys(self, generation: int) -> "RatingKeys":
        """Return the keys of the ratings in a generation."""
        return RatingKeys(self.prefix, generation)

    def late_ratings(self, generation: int) -> str:
        """Return the key of results that changed while a generation of ratings was built. Hash: packed, by match."""
        return f"{self.ratings}late:{generation}"


class RatingKeys:
    """The ratings of all pools in one generation; those of generation 0 do not name it."""

    def __init__(self, prefix: str, generation: int) -> None:
        self.all = f"{prefix}{{ratings}}:" + (f"{generation}:" if generation else "")  # begins the next ones
        self.pools = f"{self.all}pools"  # set: the pools that have ratings
        self.rated = f"{self.all}matches"  # hash: the results that the ratings follow from, by match
        self.revision = f"{self.all}revision"  # string: how often the next ones have changed
        self.unsettled = f"{self.all}unsettled"
        """Sorted set by day: the days of players that have to be calculated again, see ``Unsettled``."""

    def timeline(self, pool: str, player: str) -> str:
        """Return the key of a player's ratings. Sorted set: the ratings after each rated day."""
        return f"{self.all}{pool}:player:{player}"

    def day(self, pool: str, day: int) -> str:
        """Return the key of a rating period. Hash: the matches of each player in it, in parts."""
        return f"{self.all}{pool}:day:{day}"

    def leaderboard(self, pool: str) -> str:
        """Return the key of a pool's players. Sorted set: by rating."""
        return f"{self.all}{pool}:leaderboard"

    def ranked(self, pool: str) -> str:
        """Return the key of the players whose ratings were certain after their last matches. Sorted set: by rating."""
        return f"{self.all}{pool}:ranked"


class ContestKeys:
    """The read models of contests: all of it can be deleted and rebuilt."""

    def __init__(self, prefix: str) -> None:
        self.all = f"{prefix}{{contests}}:"  # begins all keys
        self.lists = f"{self.all}l:"  # begins the keys of lists
        self.content = keys_of(f"{self.all}c:")  # a contest. Hash: version, packed content, the names of its lists
        self.listed = keys_of(self.lists)  # a list of contests. Sorted set: by an instant


class ArchiveKeys:
    """The archive: the catalogue, in the shards of the matches, and the files."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        tag = f"{prefix}{{archive}}:"
        self.packs = f"{tag}packs"  # hash: file, size in bytes, number of matches and game as JSON, by the pack's name
        self.tables = f"{tag}tables"  # string: file, size in bytes and number of entries of all tables, JSON
        self.dictionaries = f"{tag}dictionaries"  # hash: the file with the dictionary for new packs, by game
        self.unused = f"{tag}unused"  # hash: since when nothing refers to a file (ms since 1970 UTC), by its name

    def catalogue(self, shard: int, block: int) -> str:
        """Return the key of a part of a shard's catalogue. Hash: place, version and digest, packed, by match."""
        return f"{self._prefix}{{s{shard:02d}}}:archived:{block}"

    def round(self, shard: int) -> str:
        """Return the key of the last round of archiving in a shard. String: its number; no other may drop matches."""
        return f"{self._prefix}{{s{shard:02d}}}:archive-round"


class PeopleKeys:
    """Accounts, and all that belongs to one person and can be exported and erased."""

    def __init__(self, prefix: str) -> None:
        self._tag = f"{prefix}{{people}}:"
        self.guests = WorkListKeys(prefix, "people", "guests")  # guests by when they are next looked at
        self.erasures = WorkListKeys(prefix, "people", "erasures")  # people who are to be erased once more
        self.rewrite = f"{self._tag}rewrite"  # hash: the last rewrite of the store's files, and whether one is wanted
        self.syncs = WorkListKeys(prefix, "people", "syncs")  # changes of availability that matches have yet to follow
        self.bots = f"{self._tag}bots"  # sorted set: the accounts that are bots, in ASCII order
        # people by name in small letters and id. Sorted set, in ASCII order
        self.directory = f"{self._tag}directory"
        self.seen = f"{self._tag}seen"  # sorted set: the people in the directory, by the day of the last visit
        self.accounts = f"{self._tag}person:"  # begins the keys of accounts
        self.writes = f"{self._tag}acts:"  # begins the counters of people's writes in the last minute
        self.suspensions = f"{self._tag}suspended:"  # begins the keys of suspensions
        self.availabilities = f"{self._tag}diary:"  # begins the keys of availability
        # an account. Hash: name, kind, created_at, password (hashed), capacity of a bot, limit of starts, unlisted
        self.account = keys_of(self.accounts)
        self.look = keys_of(f"{self._tag}look:")  # all names that look alike. String: the id of the person
        # the session whose secret has this SHA-256. String: that, packed person; it expires
        self.session = keys_of(f"{self._tag}session:")
        self.token = keys_of(
            f"{self._tag}token:"
        )  # the token whose secret has this SHA-256. String: that, packed person
        # a person's sessions. Sorted set: their keys, by when they were opened
        self.sessions = keys_of(f"{self._tag}signed-in:")
        # a person's tokens. Hash: label, instant and key, by the id of the token
        self.tokens = keys_of(f"{self._tag}tokens:")
        # the keys with which a person signs acts. Hash: packed, by id; and ``signs``, if wanted
        self.player_keys = keys_of(f"{self._tag}player-keys:")
        # the nonce for the next such key of a person. String; it expires
        self.player_key_nonce = keys_of(f"{self._tag}player-key-nonce:")
        self.suspension = keys_of(self.suspensions)  # a suspension. String: JSON; it expires
        self.writes_of = keys_of(self.writes)  # a person's writes. String: a counter; it expires
        self.blocks = keys_of(f"{self._tag}blocks:")  # the people whom a person blocks or mutes. Hash: kind by id
        self.follows = keys_of(f"{self._tag}follows:")  # the people whom a person follows. Sorted set: ids, by when
        self.availability = keys_of(self.availabilities)  # a player's availability. String: JSON
        # how many bytes a person keeps in the next three. String: a number
        self.bytes_kept = keys_of(f"{self._tag}bytes-kept:")
        self.notes = keys_of(f"{self._tag}notes:")  # a person's notes. Hash: text by match
        self.explorations = keys_of(f"{self._tag}explorations:")  # a person's trees of moves. Hash: text by match
        # a person's published trees of moves. Hash: text by match
        self.publications = keys_of(f"{self._tag}published:")
        self.publishers = keys_of(f"{self._tag}publishers:")  # the authors of published trees about a match. Set: ids
        # a person's attempts at puzzles, by game and puzzle, and ratings as a solver, by game. Hash: packed
        self.puzzle_attempts = keys_of(f"{self._tag}puzzle-attempts:")
        self.puzzle_rating = keys_of(f"{self._tag}puzzle-rating:")  # of a puzzle, by game and id. String: packed
        self.puzzles = keys_of(f"{self._tag}puzzles:")  # those of a game that reviews have yielded. Hash: packed by id
        # the sizes of a person's conditional moves. Hash: bytes by match
        self.conditional_moves = keys_of(f"{self._tag}lines:")

    def name(self, name: str) -> str:
        """Return the key of a name, in any case. String: the id of the person."""
        return f"{self._tag}name:{name.lower()}"

    def failed_sign_ins(self, digest: str) -> str:
        """Return the key of the wrong passwords for a name. String: a counter; it expires."""
        return f"{self._tag}attempts:{digest}:count"

    def sign_in_delay(self, digest: str) -> str:
        """Return the key that is there while a name has to wait. String: empty; it expires."""
        return f"{self._tag}attempts:{digest}:wait"

    def places(self, owner: str) -> str:
        """Return the key of the new matches, or seeks, that count for a limit of ``owner``. Sorted set: by creation."""
        return f"{self._tag}places:{owner}"


class CaseKeys:
    """The texts of disputes, which events name by their digests."""

    def __init__(self, prefix: str) -> None:
        self._tag = f"{prefix}{{cases}}:"
        self.unconfirmed = f"{self._tag}unconfirmed"
        """Sorted set: texts that were stored for an event that may not have been appended, by the instant."""
        self.texts = keys_of(self._tag)  # the texts of a match. Hash: salt and text, by author and digest
        self.matches_of = keys_of(f"{self._tag}by:")  # the matches in whose cases ``author`` has written something. Set


class ChatKeys:
    """Chats, and the reports about their messages."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.channel = f"{prefix}chats"  # channel of PUBLISH: the match in whose chat there is a new message
        self.reported = f"{prefix}reported-chats"  # sorted set: matches with reports, by the first of them
        # the matches in whose chats ``author`` has written something. Set
        self.matches_of = keys_of(f"{self._prefix}chats-of:")
        # the matches in whose chats ``reporter`` has reported something. Set
        self.matches_reported_by = keys_of(f"{self._prefix}reports-of:")

    def messages(self, match_id: str) -> str:
        """Return the key of a chat. Stream: instant, author, text."""
        return f"{self._prefix}chat:{{{match_id}}}"

    def request(self, match_id: str, digest: str) -> str:
        """Return the key of a request that has added a message. String: number and fingerprint; it expires."""
        return f"{self.messages(match_id)}:{digest}"

    def open_to_others(self, match_id: str) -> str:
        """Return the key of the players who let others join in when the match is over. Set."""
        return f"{self.messages(match_id)}:open"

    def reports(self, match_id: str) -> str:
        """Return the key of the reports about a chat. Hash: reason, by message and reporter."""
        return f"{self.messages(match_id)}:reports"

    def hidden(self, match_id: str) -> str:
        """Return the key of the messages of a chat that arbiters have hidden. Set: their numbers."""
        return f"{self.messages(match_id)}:hidden"


class JobKeys:
    """The results of long work that was requested, about a match or a person."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def result(self, subject: str, kind: str, basis: str) -> str:
        """Return the key of a result. String: compressed; it expires."""
        return f"{self._prefix}made:{{{subject}}}:{kind}:{basis}"


class AdministrationKeys:
    """Roles and the log of administration, which change together."""

    def __init__(self, prefix: str) -> None:
        tag = f"{prefix}{{administration}}:"
        self.log = f"{tag}log"  # stream: packed entry and digest
        self.head = f"{tag}head"  # hash: number and digest of the last entry
        self.once = f"{tag}once"  # hash: the entries that are logged only once, by a name of their own
        self.roles = f"{tag}roles"  # hash: roles by person


class ProofKeys:
    """Signing keys, and the Merkle log of matches with its signed checkpoints."""

    def __init__(self, prefix: str) -> None:
        tag = f"{prefix}{{proof}}:"
        self.private_key = f"{tag}private-key"  # string: the key that signs now, encrypted
        self.public_keys = f"{tag}public-keys"  # hash: since, until and revocation as JSON, by public key
        self.key_horizon = f"{tag}key-horizon"  # string: the instant up to which the present key may have signed
        self.log_size = f"{tag}log:size"  # string: the number of leaves
        self.leaves = f"{tag}log:leaves"  # list: the leaves that were not moved to the archive
        self.tile_files = f"{tag}log:tiles"  # string: the SHA-256 of the file of each tile that was, in order
        self.nodes = f"{tag}log:nodes"  # begins the keys of the nodes of the tree
        self.logged = f"{tag}log:logged"  # hash: index and head of the last leaf, packed, by match
        self.others = f"{tag}log:others"  # hash: the last leaf of each subject that is no match, by subject
        self.checkpoints = f"{tag}log:checkpoints"  # hash: signed checkpoints by day, further ones of a day by hour
        self.latest_day = f"{tag}log:latest"  # string: the day, or the hour, of the last checkpoint
        self.looked_hour = f"{tag}log:hour"  # string: the last hour that began with a look for changes
        self.log_origin = f"{tag}log:origin"  # string: the name of the log in notes
        self.note = f"{tag}log:note"  # string: the last tree as a signed note, with cosignatures
        self.witnesses = f"{tag}witnesses"  # hash: those asked for cosignatures, with the last outcome, JSON by name
        self.timestamps = f"{tag}log:timestamps"  # hash: RFC 3161 tokens over checkpoints by day

    def nodes_block(self, level: int, block: int) -> str:
        """Return the key of a block of nodes of one level. String: their hashes, one after the other."""
        return f"{self.nodes}:{level}:{block}"


class TimeKeys:
    """The heartbeat of the processes that keep time."""

    def __init__(self, prefix: str) -> None:
        tag = f"{prefix}{{time}}:"
        self.heartbeat = f"{tag}heartbeat"  # string: the instant of the last beat
        self.outages = f"{tag}outages"
        self.uncredited = f"{tag}uncredited"
        self.provisional = f"{tag}provisional"
        """Sorted sets by their ends: outages; those that not all matches know of; those that wait for confirmation."""

        self.flag_lateness = f"{tag}flag-lateness"  # hash: flags by how late they fell, and the sum of that
        self.offsets = f"{tag}offsets"
        """Hash: by how much the clock of each process differs from the store's, and when it said so."""


class IncidentKeys:
    """The losses of the installation."""

    def __init__(self, prefix: str) -> None:
        self._tag = f"{prefix}{{incidents}}:"
        self.all = f"{self._tag}all"  # hash: JSON by the id of the incident
        self.of_match = keys_of(f"{self._tag}match:")  # the incidents in which a match lost events. Set: their ids


class FleetKeys:
    """Fleet jobs. The keys of a job expire some days after it has ended."""

    def __init__(self, prefix: str) -> None:
        self._tag = f"{prefix}{{fleet}}:"
        self.jobs = f"{self._tag}jobs"  # sorted set: jobs by when they were requested
        self.running = f"{self._tag}running"  # hash: the jobs that have not ended, by kind and parameters
        self.workers = f"{self._tag}workers"  # sorted set: workers of the fleet by when they were last seen
        self.results = keys_of(f"{self._tag}results:")  # the results of a job. Hash: packed, by the number of the slice

    def job(self, job: str) -> str:
        """Return the key of a job. Hash: kind, parameters, state, progress."""
        return f"{self._tag}job:{job}"


class WorkListKeys:
    """One shard of the work list ``name``, with the hash tag ``tag``. ``work_list.lua`` makes the same keys."""

    def __init__(self, prefix: str, tag: str, name: str) -> None:
        self.base = f"{prefix}{{{tag}}}:{name}:"  # begins all keys
        self.lanes = f"{self.base}lanes"  # sorted set: lanes by the instant from which something can be claimed
        # an entry. Hash: lane, owner, cost, content, due instant, attempts, token of its claim
        self.entry = keys_of(f"{self.base}entry:")

    @staticmethod
    def parse_entry(prefix: str, key: str) -> tuple[str, str] | None:
        """Return the base of the work list and the id of the entry that ``key`` belongs to; None for any other key."""
        matched = re.match(rf"({re.escape(prefix)}{{[a-z0-9]+}}:[a-z]+:)entry:(.*)", key, re.DOTALL)
        return None if matched is None else (matched[1], matched[2])

    def entries(self, lane: str, owner: str) -> str:
        """Return the key of an owner's entries. Sorted set: ids by the instant from which they can be claimed."""
        return f"{self.base}{lane}:of:{owner}"

    def owners(self, lane: str) -> str:
        """Return the key of the owners of entries. Sorted set: by the earliest instant of the one before."""
        return f"{self.base}{lane}:owners"

    def due(self, lane: str) -> str:
        """Return the key of the entries of a lane. Sorted set: ids by when they are due, claimed or not."""
        return f"{self.base}{lane}:due"

    def charges(self, lane: str) -> str:
        """Return the key of the owners for whom more was claimed than for the one served last. Sorted set: by cost."""
        return f"{self.base}{lane}:charges"

    def charge(self, lane: str) -> str:
        """Return the key of the charge of the owner who was served last. String: a number."""
        return f"{self.base}{lane}:charge"


def literal_pattern(text: str) -> str:
    """Return a pattern that matches ``text`` only."""
    return "".join(f"\\{letter}" if letter in "\\*?[]^" else letter for letter in text)
