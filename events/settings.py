"""How this installation is told where things are: environment variables, read once."""

from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

from environs import Env, validate

from events.connection import connect
from events.redis_store import RedisStore

MOST_SHARDS = 1024
"""More would cost every reader of all shards more than they could spread."""


class Settings(NamedTuple):
    """Where the store and the broker are, and what the outside sees.

    ``shards`` counts only when the store is installed; None takes what was settled then (16 the first time).
    """

    redis_url: str
    broker_url: str
    prefix: str
    stream_url: str
    secure_cookies: bool
    shards: int | None

    @classmethod
    def from_environment(cls) -> "Settings":
        """Return the settings from the environment; raises environs.EnvError when a value cannot be read.

        REDIS_URL (the store), BROKER_URL (default: the next database of the same server), ROOKERY_PREFIX,
        ROOKERY_STREAM_URL (public base URL of the live stream), ROOKERY_SECURE_COOKIES, ROOKERY_SHARDS.
        """
        env = Env()
        redis_url = env.str("REDIS_URL", "redis://127.0.0.1:6379/0")
        return cls(
            redis_url=redis_url,
            broker_url=env.str("BROKER_URL", None) or next_database(redis_url),
            prefix=env.str("ROOKERY_PREFIX", "rk:"),
            stream_url=env.str("ROOKERY_STREAM_URL", "http://127.0.0.1:8001"),
            secure_cookies=env.bool("ROOKERY_SECURE_COOKIES", False),
            shards=env.int("ROOKERY_SHARDS", None, validate=validate.Range(min=1, max=MOST_SHARDS)),
        )


def next_database(url: str) -> str:
    """Return the broker URL of the database after that of the store at ``url``, on the same server."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        number = int(parse_qs(parts.query).get("db", ["0"])[0])
        return f"redis+socket://{parts.path}?virtual_host={number + 1}"
    return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + 1}"))


def store_from(settings: Settings) -> RedisStore:
    """Return the event store that ``settings`` name; it connects when it is first used."""
    return RedisStore(connect(settings.redis_url), settings.prefix, settings.shards)
