"""The keys of notices, deliveries and mail. All that concerns one person is in the person's shard, ``{n07}``."""

from events.runtime.keys import WorkListKeys, keys_of


class NoticeKeys:
    """The notices of the people of one shard, sent and waiting, their channels and addresses; their mail."""

    def __init__(self, prefix: str, shard: int) -> None:
        self._tag = f"{prefix}{{n{shard:02d}}}:"
        self.outbox, self.inbox, self.checks = (
            WorkListKeys(prefix, f"n{shard:02d}", name) for name in ("outbox", "inbox", "checks")
        )
        """Entries "player dispatch", in lanes by channel; "player digest"; "reminder match player" and "chat match"."""

        self.outcomes = f"{self._tag}outcomes"  # hash: the number of dispatches, by channel and state
        # a player's dispatches that were sent or given up. Sorted set: by when; it expires
        self.finished = keys_of(f"{self._tag}finished:")
        # a player's ledger. Sorted set: notices, with their matches, by when they were decided
        self.ledger = keys_of(f"{self._tag}ledger:")
        # how many notices were dropped from a player's ledger. String: a number; it expires
        self.dropped = keys_of(f"{self._tag}dropped:")
        # the notices that were decided in the last days. Sorted set: by when; it expires
        self.decided = keys_of(f"{self._tag}decided:")
        self.preferences = keys_of(f"{self._tag}preferences:")  # how a player wants to be told. String: JSON
        # the matches that a player has open. Sorted set: by when that was said; it expires
        self.presence = keys_of(f"{self._tag}presence:")
        self.subscriptions = keys_of(f"{self._tag}push:")  # a person's push subscriptions. Hash: packed, by id
        self.feed_address = keys_of(f"{self._tag}feeds:")  # the address of a person's feeds. String: packed
        # the mails to a player. Sorted set: digests by when they arrived; it expires
        self.order = keys_of(f"{self._tag}mail-order:")
        # the records of the mails to a player. Hash: JSON, by digest; it expires
        self.mails = keys_of(f"{self._tag}mails:")
        # the mails to a player that are still to be read. Hash: compressed content, by digest
        self.contents = keys_of(f"{self._tag}mail-contents:")
        self.address = keys_of(f"{self._tag}mail:")  # a player's mail address. String: JSON
        # those who have had the mail address with this SHA-256. Set: players
        self.holders = keys_of(f"{self._tag}mail-holders:")
        # a player's webhook endpoints. Hash: JSON, with the secrets that sign, by id
        self.endpoints = keys_of(f"{self._tag}webhooks:")

    def notice(self, player: str, notice: str) -> str:
        """Return the key of a notice. Hash: JSON of the notice, and of each delivery by channel and target."""
        return f"{self._tag}notice:{player}:{notice}"

    def refusals(self, player: str, match_id: str) -> str:
        """Hash that expires: numbers from 1 on of mails about a match that were only refused, by digest."""
        return f"{self._tag}mail-refusals:{player}:{match_id}"

    def webhook_log(self, player: str, endpoint: str) -> str:
        """Return the key of the last attempts of an endpoint. List: compressed JSON, the last first; it expires."""
        return f"{self._tag}webhook-log:{player}:{endpoint}"


class PushKeys:
    """The key that identifies the installation to push services."""

    def __init__(self, prefix: str) -> None:
        self.private_key = f"{prefix}{{push}}:private-key"  # string: the key that signs for push services, encrypted


class PostmasterKeys:
    """Mail to the postmaster, for the operator; the key is used alone."""

    def __init__(self, prefix: str) -> None:
        self.mails = f"{prefix}postmaster"  # stream: instant, sender, content
