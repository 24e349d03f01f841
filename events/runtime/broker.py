"""How much waits in the queues of the broker, of whatever kind it is."""

from collections.abc import Iterable, Iterator
from typing import Any

from kombu.connection import Connection
from kombu.exceptions import ChannelError

from events.runtime.settings import MASTER_NAME

TIMEOUT_S = 1.0
"""For each step of asking: a broker that is away must not hold up what asks."""


NOT_FOUND = "404"
_ONE_MORE_ATTEMPT = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
"""To connect: by itself kombu waits for two seconds between attempts."""


class BrokerUnavailableError(Exception):
    """The broker does not say what waits in its queues; the message has no address, which may hold a password."""


def queue_depths(broker_url: str, names: Iterable[str]) -> dict[str, int]:
    """Return how many tasks wait in queues, 0 in one that does not exist; raises BrokerUnavailableError."""
    url, _, master_name = broker_url.partition(f"?{MASTER_NAME}=")
    options: dict[str, Any] = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S, **_ONE_MORE_ATTEMPT}
    if master_name:
        options[MASTER_NAME] = master_name
    try:
        made: Any = Connection(url, connect_timeout=TIMEOUT_S, transport_options=options)  # type: ignore[no-untyped-call]
        with made as connection:
            return dict(_depths(connection, names))
    except Exception as error:  # each transport has errors of its own
        raise BrokerUnavailableError(f"the broker does not answer: {type(error).__name__}") from error


def _depths(connection: Any, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    channel = connection.default_channel
    for name in names:
        try:
            yield name, int(channel.queue_declare(queue=name, passive=True).message_count)
        except ChannelError as error:
            if str(error.reply_code) != NOT_FOUND:
                raise
            yield name, 0
            if not getattr(channel, "is_open", True):  # AMQP closes a channel that has named what is not there
                channel = connection.channel()
