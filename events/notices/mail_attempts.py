"""How far sending a mail has come, so that a worker that takes over knows whether it may have been accepted."""

import hashlib

from events.notices.outbox import Dispatch
from events.runtime.connections import StoreClient
from events.runtime.notice_keys import MailKeys

KEPT_S = 7 * 24 * 3600
"""Longer than a mail is tried for."""

_BEGUN = "begun "
_ACCEPTED = "accepted "


class MailAttempts:
    """The attempts of an installation with ``shards`` shards."""

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._prefix = prefix
        self._shards = shards

    def open(self, dispatch: Dispatch) -> str | None:
        """Return the Message-ID of an attempt of which nobody knows how it ended; None when there was none."""
        return self._read(dispatch, _BEGUN)

    def answer(self, dispatch: Dispatch) -> str | None:
        """Return what the server said when it accepted the mail, None when it is not known to have done so."""
        return self._read(dispatch, _ACCEPTED)

    def begin(self, dispatch: Dispatch, message_id: str) -> None:
        """Record that the content is about to be sent: from now on the server may have accepted it."""
        self._client.set(self._key(dispatch), _BEGUN + message_id, ex=KEPT_S)

    def accept(self, dispatch: Dispatch, answer: str) -> None:
        """Record that the server has accepted the mail."""
        self._client.set(self._key(dispatch), _ACCEPTED + answer, ex=KEPT_S)

    def refuse(self, dispatch: Dispatch) -> None:
        """Record that the server has not accepted the mail."""
        self._client.delete(self._key(dispatch))

    def _read(self, dispatch: Dispatch, state: str) -> str | None:
        stored = self._client.get(self._key(dispatch))
        text = stored.decode() if stored else ""
        return text.removeprefix(state) if text.startswith(state) else None

    def _key(self, dispatch: Dispatch) -> str:
        name = f"{dispatch.player} {dispatch.id} {dispatch.first_at}"
        digest = hashlib.sha256(name.encode()).hexdigest()[:32]
        return MailKeys.of(self._prefix, dispatch.player, self._shards).attempt(digest)
