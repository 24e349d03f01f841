"""The settings of an installation: environment variables, read once, here and nowhere else."""

import re
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

from environs import Env, EnvError, ValidationError, validate
from kombu.transport import TRANSPORT_ALIASES

from events.runtime.connections import connect

MAX_SHARDS = 1024
"""More would cost each reader of all shards more than the spreading saves."""

PREFIX = re.compile(r"[A-Za-z0-9:._-]{1,64}")
"""Braces in a prefix would be taken for the hash tag of every key."""

STORE_URL = "redis://127.0.0.1:6379/0"
STREAM_URL = "http://127.0.0.1:8001"
PAGE_URL = "http://127.0.0.1:8000"

DOMAIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,62}\.)+[A-Za-z][A-Za-z0-9-]{1,62}|localhost")
PUBLIC_URL = re.compile(r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")


class MailSettings(NamedTuple):
    """How mail is sent, and where answers to it arrive.

    ``smtp_url`` is the server that takes outgoing mail: ``smtps://user:password@host:465`` (TLS from the start),
    ``smtp://user:password@host:587`` (STARTTLS, refused without), ``smtp+plain://127.0.0.1:25`` (no encryption: for a
    server on this machine). ``domain`` is that of all addresses of Rookery, also of those that answers go to.
    ``authserv_id`` is the name under which the operator's own server writes Authentication-Results (RFC 8601); None
    when there is none to be believed.
    """

    smtp_url: str
    domain: str
    authserv_id: str | None = None


class Settings(NamedTuple):
    """Where the store and the broker are, and what is visible outside.

    ``shards`` counts only when the store is installed; None takes the number from then (16 the first time).
    ``trusted_proxies`` is how many proxies in front of the API and the stream are believed what they say of a caller.
    ``impairments_file`` is where the supervisor reports which parts of the installation do not work. ``mail`` is None
    where no mail is sent. ``egress_allowed`` are networks (CIDR) that webhooks and push may reach although they are not
    public. ``contact`` is the address of the operator, told to push services (RFC 8292).
    """

    redis_url: str
    broker_url: str
    prefix: str
    stream_url: str
    secure_cookies: bool
    shards: int | None
    page_url: str = PAGE_URL
    key_file: Path | None = None
    trusted_proxies: int = 0
    impairments_file: Path | None = None
    mail: MailSettings | None = None
    egress_allowed: tuple[str, ...] = ()
    contact: str | None = None

    @classmethod
    def from_environment(
        cls, redis_url: str = STORE_URL, stream_url: str = STREAM_URL, page_url: str = PAGE_URL
    ) -> "Settings":
        """Return the settings from the environment; raises environs.EnvError naming an invalid one.

        REDIS_URL (the store), BROKER_URL (default: the next database of the same server), ROOKERY_PREFIX,
        ROOKERY_STREAM_URL (public base URL of the live stream), ROOKERY_SECURE_COOKIES, ROOKERY_SHARDS,
        ROOKERY_PAGE_URL (public base URL of the pages; where the stream has a port of its own), ROOKERY_KEY_FILE (the
        secret that the signing key is encrypted with in the store; made when it is absent), ROOKERY_TRUSTED_PROXIES,
        ROOKERY_IMPAIRED, ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN (mail is sent where both are set),
        ROOKERY_AUTHSERV_ID, ROOKERY_EGRESS_ALLOWED (networks, separated by commas), ROOKERY_CONTACT (mailto: or
        https:). The arguments are the defaults of REDIS_URL, ROOKERY_STREAM_URL and ROOKERY_PAGE_URL.
        """
        env = Env()
        redis_url = env.str("REDIS_URL", redis_url, validate=check_store)
        return cls(
            redis_url=redis_url,
            broker_url=env.str("BROKER_URL", None, validate=_check_broker) or next_database(redis_url),
            prefix=env.str("ROOKERY_PREFIX", "rk:", validate=_check_prefix),
            stream_url=env.str("ROOKERY_STREAM_URL", stream_url, validate=_check_public_url),
            secure_cookies=env.bool("ROOKERY_SECURE_COOKIES", False),
            shards=env.int("ROOKERY_SHARDS", None, validate=validate.Range(min=1, max=MAX_SHARDS)),
            key_file=env.path("ROOKERY_KEY_FILE", None),
            trusted_proxies=env.int("ROOKERY_TRUSTED_PROXIES", 0, validate=validate.Range(min=0)),
            impairments_file=env.path("ROOKERY_IMPAIRED", None),
            page_url=env.str("ROOKERY_PAGE_URL", page_url, validate=_check_public_url),
            mail=_read_mail(env),
            egress_allowed=tuple(env.list("ROOKERY_EGRESS_ALLOWED", [], validate=_check_networks)),
            contact=env.str("ROOKERY_CONTACT", None, validate=_check_contact),
        )


def _read_mail(env: Env) -> MailSettings | None:
    smtp_url = env.str("ROOKERY_SMTP_URL", None, validate=_check_smtp)
    domain = env.str("ROOKERY_MAIL_DOMAIN", None, validate=_check_domain)
    if (smtp_url is None) != (domain is None):
        raise EnvError("ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN must be set together, or neither")
    if smtp_url is None or domain is None:
        return None
    return MailSettings(smtp_url, domain.lower(), env.str("ROOKERY_AUTHSERV_ID", None))


def next_database(url: str) -> str:
    """Return the broker URL of the database after that of the store at ``url``, on the same server."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        number = int(parse_qs(parts.query).get("db", ["0"])[0])
        return f"redis+socket://{parts.path}?virtual_host={number + 1}"
    return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + 1}"))


# Errors do not repeat the value: it may hold a password.


def check_store(url: str) -> None:
    """Raise ValidationError, without the URL itself, unless a store can be at ``url``."""
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValidationError("must begin with redis://, rediss:// or unix://")
    _check_place(url)
    parts = urlsplit(url)
    has_database = bool(parts.path) if parts.scheme == "unix" else bool(re.fullmatch("/?[0-9]*", parts.path))
    if not has_database or (parts.scheme != "unix" and "db" in parse_qs(parts.query)):
        raise ValidationError(
            "must be like redis://host:6379/0, with the number of the database, or unix:///socket?db=0"
        )
    try:
        connect(url).connection_pool.make_connection()
    except (TypeError, ValueError):
        raise ValidationError("has an option, behind the question mark, that cannot be read") from None


def _check_broker(url: str) -> None:
    scheme, separator, _ = url.partition("://")
    if url and (not separator or scheme.partition("+")[0] not in TRANSPORT_ALIASES):
        raise ValidationError("must begin with a kind of broker that Celery knows, like redis:// or amqp://")
    _check_place(url)


def _check_place(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ValidationError(
            "has a host or port that cannot be read (what is special in a password must be percent-encoded)"
        ) from None


def _check_prefix(prefix: str) -> None:
    if not PREFIX.fullmatch(prefix):
        raise ValidationError("must be 1 to 64 letters, digits, colons, dots, hyphens and underscores")


def _check_smtp(url: str | None) -> None:
    if url is not None and not (url.startswith(("smtps://", "smtp://", "smtp+plain://")) and urlsplit(url).hostname):
        raise ValidationError("must be like smtps://user:password@host, smtp://host:587 or smtp+plain://127.0.0.1:25")
    _check_place(url or "")


def _check_domain(domain: str | None) -> None:
    if domain is not None and not DOMAIN.fullmatch(domain):
        raise ValidationError("must be a domain name, such as mail.example.org")


def _check_networks(networks: Sequence[str]) -> None:
    for network in networks:
        try:
            ip_network(network.strip())
        except ValueError:
            raise ValidationError("must be networks like 10.0.0.0/8, separated by commas") from None


def _check_contact(contact: str | None) -> None:
    if contact is not None and not contact.startswith(("mailto:", "https://")):
        raise ValidationError("must begin with mailto: or https://")


def _check_public_url(url: str) -> None:
    if not PUBLIC_URL.fullmatch(url):
        raise ValidationError("must be a URL like https://live.example, without a query")
