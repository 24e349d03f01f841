"""How people want to be told: for each kind and channel when, quiet hours, the hour of the digest, the reminder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from events.notify.notice import NoticeKind, Timing, WhoMayInvite, from_json, to_json
from events.notify.player_store import PlayerStore
from events.runtime.connections import StorePipeline
from events.runtime.reads import Read, read_alone
from events.runtime.transactions import transact

MAX_REMIND_BEFORE_H = 168
DEFAULT_QUIET_HOURS = (22, 7)
_IN_DIGEST = (NoticeKind.CHAT, NoticeKind.STARTED)


def default_mail() -> dict[NoticeKind, Timing]:
    """Return when players who have set nothing are told by mail."""
    return {kind: Timing.DIGEST if kind in _IN_DIGEST else Timing.AT_ONCE for kind in NoticeKind}


def default_push() -> dict[NoticeKind, Timing]:
    """Return when players who have set nothing are told by push message."""
    return dict.fromkeys(NoticeKind, Timing.AT_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """The preferences of a player, or the defaults.

    ``mail`` and ``push`` say for each kind when the player is told. Hours are in the player's time zone; ``quiet`` are
    the first quiet hour and the first that is not. A reminder comes ``remind_before_h`` hours before a deadline (0:
    none). ``who_may_invite`` applies to people.
    """

    mail: Mapping[NoticeKind, Timing] = field(default_factory=default_mail)
    push: Mapping[NoticeKind, Timing] = field(default_factory=default_push)
    digest_hour: int = 8
    quiet: tuple[int, int] | None = DEFAULT_QUIET_HOURS
    remind_before_h: int = 24
    chat_text: bool = False
    who_may_invite: WhoMayInvite = WhoMayInvite.NO_GUESTS


class PreferencesStore(PlayerStore):
    """The preferences of all players."""

    def read(self, player: str) -> Preferences:
        """Return the preferences of ``player``, the defaults where nothing was set."""
        return read_alone(self._client, self.read_of(player))

    def read_of(self, player: str) -> Read[Preferences]:
        """Return the read of the preferences of ``player``: see ``read``."""
        return Read(lambda pipeline: pipeline.get(self._key(player)), lambda replies: _preferences(replies[0]))

    def change(self, player: str, change: Callable[[Preferences], Preferences]) -> Preferences:
        """Replace the preferences of ``player`` by the result of ``change``, which may raise; return them."""
        key = self._key(player)

        def write(pipeline: StorePipeline) -> Preferences:
            changed = change(_preferences(pipeline.get(key)))
            pipeline.multi()
            pipeline.set(key, to_json(changed))
            return changed

        return transact(self._client, [key], write)

    def is_set(self, player: str) -> bool:
        """Tell whether ``player`` has set anything."""
        return bool(self._client.exists(self._key(player)))

    def erase(self, player: str) -> None:
        """Erase the preferences of ``player``."""
        self._client.delete(self._key(player))

    def _key(self, player: str) -> str:
        return self._keys(player).preferences(player)


def _preferences(stored: object) -> Preferences:
    if not isinstance(stored, bytes):
        return Preferences()
    given = from_json(Preferences, stored)
    # A kind that came later has the default.
    mail, push = (
        {NoticeKind(kind): Timing(when) for kind, when in timings.items()} for timings in (given.mail, given.push)
    )
    return replace(given, mail=default_mail() | mail, push=default_push() | push)
