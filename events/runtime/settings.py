"""The settings of an installation: environment variables, read once, here and nowhere else."""

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

from environs import Env, EnvError, ValidationError, validate
from kombu.transport import TRANSPORT_ALIASES

from events.runtime.connections import CLUSTER, SCHEMES, SINGLE, connect, read_place

MAX_SHARDS = 1024
"""More would cost each reader of all shards more than the spreading saves."""

ALL_REPLICAS = "all"
MAX_WAIT_REPLICAS = 10
"""More replicas of a store than anybody has: a larger number is a mistake that would let no append succeed."""

PREFIX = re.compile(r"[A-Za-z0-9:._-]{1,64}")
"""Braces in a prefix would be taken for the hash tag of every key."""

STORE_URL = "redis://127.0.0.1:6379/0"
MASTER_NAME = "master_name"
"""The option of the URL of a broker that names the service of its sentinels; Celery takes it apart from the URL."""

STREAM_URL = "http://127.0.0.1:8001"
PAGE_URL = "http://127.0.0.1:8000"
ARCHIVE_AFTER_DAYS = 30
DOMAIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,62}\.)+[A-Za-z][A-Za-z0-9-]{1,62}|localhost")
PUBLIC_URL = re.compile(r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")


class MailSettings(NamedTuple):
    """How mail is sent, and where answers to it arrive: ROOKERY_SMTP_URL, _MAIL_DOMAIN and _AUTHSERV_ID."""

    smtp_url: str
    domain: str
    authserv_id: str | None = None


class Settings(NamedTuple):
    """The settings, each with the variable that it is read from and its default; ``docs/operators.md`` repeats them.

    - REDIS_URL (the embedded server): the event store, of any kind; if set, no server is started.
    - BROKER_URL (the next database of the same server): Celery's broker: ``redis://``, ``sentinel://``, or
      ``amqp://`` for RabbitMQ.
    - ROOKERY_PREFIX (``rk:``): the prefix of all keys and queue names.
    - ROOKERY_STREAM_URL (``http://127.0.0.1:8001``): the live stream as browsers see it, and where the API
      redirects stream clients; set it when others than this machine play, to the site's own address if the proxy
      passes streams on.
    - ROOKERY_PAGE_URL (``http://127.0.0.1:8000``): the pages as browsers see them; set it when others than this
      machine play. Only its host and that of ROOKERY_STREAM_URL are served, loopback too where neither is a name;
      ``/healthz``, ``/readyz`` and ``/metrics`` answer any host.
    - ROOKERY_SECURE_COOKIES (false): true behind TLS; the site's origin then begins with https.
    - ROOKERY_TRUSTED_PROXIES (0): the number of proxies in front that report addresses and scheme; 1 behind the
      nginx of ``nginx.conf``, or else all visitors share one limit on sign-ins.
    - ROOKERY_KEY_FILE (``var/keys/at-rest.key``): the file of the secret that encrypts the signing key and the key
      of push notices.
    - ROOKERY_CONTACT (none): the operator's address (``mailto:`` or ``https:``), told to push services; without it
      push notices need a public https address in ROOKERY_PAGE_URL.
    - ROOKERY_SHARDS (16; 4 with the embedded server): the number of shards, used at the first start only, and kept
      by a backup.
    - ROOKERY_WAIT_REPLICAS (``all`` under Sentinel and in a cluster, else 0): the number of replicas that must have
      an event before it is acknowledged.
    - ROOKERY_ARCHIVE_URL (``var/archive`` with the embedded server, else none): the directory or bucket that old
      matches go to.
    - ROOKERY_ARCHIVE_AFTER_DAYS (30): the days that a match has been over before it goes there.
    - ROOKERY_OTLP_URL (none): the collector that traces are sent to.
    - ROOKERY_CHECKPOINT_GUARD (``var/keys/checkpoint-guard``): the directory, or a URL of ``fsspec``, where it is
      kept outside the store which checkpoints were signed.
    - ROOKERY_TIMESTAMP_URL (none): the service (RFC 3161) that timestamps the checkpoint of each day.
    - ROOKERY_MARK_FILE (``var/mark.json`` with ``rookery up``, else none): the file of the high-water mark, on
      another disk than the store.
    - ROOKERY_EGRESS_ALLOWED (none): networks such as ``10.2.0.0/16``, separated by commas, that push notices and
      webhooks may reach although they are not public.
    - ROOKERY_IMPAIRED (none): the file in which ``rookery up`` names the parts that do not run.
    - ROOKERY_SMTP_URL (none): the server that takes outgoing mail: ``smtps://user:password@host:465``,
      ``smtp://...:587`` (STARTTLS required) or ``smtp+plain://127.0.0.1:25``.
    - ROOKERY_MAIL_DOMAIN (none): the domain of all addresses of Rookery; set together with ROOKERY_SMTP_URL.
    - ROOKERY_AUTHSERV_ID (none): the name under which the mail server writes Authentication-Results that count (RFC
      8601).

    - ROOKERY_PAGE_WORKER (true): false removes the service worker of the pages, and all that it keeps, from browsers.

    None is for: as stored (``shards``), all replicas (``wait_replicas``), and all that is not used.
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
    otlp_url: str | None = None
    wait_replicas: int | None = None
    archive_url: str | None = None
    archive_after_days: int = ARCHIVE_AFTER_DAYS
    checkpoint_guard: str | None = None
    timestamp_url: str | None = None
    mark_file: Path | None = None
    page_worker: bool = True

    @classmethod
    def from_environment(
        cls,
        redis_url: str = STORE_URL,
        stream_url: str = STREAM_URL,
        page_url: str = PAGE_URL,
        named_store: str | None = None,
    ) -> "Settings":
        """Return the settings from the environment; raises environs.EnvError naming an invalid one.

        The arguments are defaults; ``named_store`` counts in place of REDIS_URL. BROKER_URL is the next database by
        default.
        """
        env = Env()
        redis_url = named_store or env.str("REDIS_URL", redis_url, validate=check_store)
        return cls(
            redis_url=redis_url,
            broker_url=env.str("BROKER_URL", None, validate=_check_broker) or _default_broker(redis_url),
            prefix=env.str("ROOKERY_PREFIX", "rk:", validate=_check_prefix),
            stream_url=env.str("ROOKERY_STREAM_URL", stream_url, validate=_check_public_url),
            secure_cookies=env.bool("ROOKERY_SECURE_COOKIES", False),
            shards=env.int("ROOKERY_SHARDS", None, validate=validate.Range(min=1, max=MAX_SHARDS)),
            key_file=env.path("ROOKERY_KEY_FILE", None),
            trusted_proxies=env.int("ROOKERY_TRUSTED_PROXIES", 0, validate=validate.Range(min=0)),
            impairments_file=env.path("ROOKERY_IMPAIRED", None),
            page_worker=env.bool("ROOKERY_PAGE_WORKER", True),
            page_url=env.str("ROOKERY_PAGE_URL", page_url, validate=_check_public_url),
            mail=_read_mail(env),
            egress_allowed=tuple(env.list("ROOKERY_EGRESS_ALLOWED", [], validate=_check_networks)),
            contact=env.str("ROOKERY_CONTACT", None, validate=_check_contact),
            wait_replicas=_read_wait_replicas(env, redis_url),
            otlp_url=env.str("ROOKERY_OTLP_URL", None, validate=lambda url: _check_otlp(url or None)) or None,
            archive_url=env.str("ROOKERY_ARCHIVE_URL", None, validate=_check_archive),
            archive_after_days=env.int(
                "ROOKERY_ARCHIVE_AFTER_DAYS", ARCHIVE_AFTER_DAYS, validate=validate.Range(min=1)
            ),
            checkpoint_guard=env.str("ROOKERY_CHECKPOINT_GUARD", None, validate=_check_guard),
            timestamp_url=env.str("ROOKERY_TIMESTAMP_URL", None, validate=_check_timestamp_service),
            mark_file=env.path("ROOKERY_MARK_FILE", None),
        )


def _read_wait_replicas(env: Env, redis_url: str) -> int | None:
    written = env.str("ROOKERY_WAIT_REPLICAS", None)
    if written is not None and written != ALL_REPLICAS:
        return env.int("ROOKERY_WAIT_REPLICAS", validate=validate.Range(min=0, max=MAX_WAIT_REPLICAS))
    if written is not None and read_place(redis_url).kind == SINGLE:
        raise EnvError(
            f"ROOKERY_WAIT_REPLICAS={ALL_REPLICAS} needs a store under sentinels or a cluster, which say how many "
            "replicas there are: for a single server it must be a number"
        )
    return None


def _read_mail(env: Env) -> MailSettings | None:
    smtp_url = env.str("ROOKERY_SMTP_URL", None, validate=_check_smtp)
    domain = env.str("ROOKERY_MAIL_DOMAIN", None, validate=_check_domain)
    if (smtp_url is None) != (domain is None):
        raise EnvError("ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN must be set together, or neither")
    if smtp_url is None or domain is None:
        return None
    return MailSettings(smtp_url, domain.lower(), env.str("ROOKERY_AUTHSERV_ID", None))


def next_database(url: str) -> str:
    """Return the broker URL, the database after that of the store; raises ValueError for a cluster, which has one."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        number = int(parse_qs(parts.query).get("db", ["0"])[0])
        return f"redis+socket://{parts.path}?virtual_host={number + 1}"
    if "+" not in parts.scheme:
        return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + 1}"))
    place = read_place(url)
    if place.kind == CLUSTER:
        raise ValueError("a cluster has only one database")
    userinfo = parts.netloc.rpartition("@")[0]
    return (
        ";".join(
            f"sentinel://{userinfo}{'@' if userinfo else ''}{f'[{host}]' if ':' in host else host}:{port}"
            f"/{place.options['db'] + 1}"
            for host, port in place.addresses
        )
        + f"?{MASTER_NAME}={place.service}"
    )


def _default_broker(redis_url: str) -> str:
    try:
        return next_database(redis_url)
    except ValueError as error:
        raise EnvError(f"BROKER_URL must name a broker, such as amqp://host or redis://host: {error}") from None


# Errors do not repeat the value: it may hold a password.


def check_store(url: str) -> None:
    """Raise ValidationError, without the URL itself, unless a store can be at ``url``."""
    if not url.startswith(SCHEMES):
        raise ValidationError(f"must begin with {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}")
    if "+" in url.partition("://")[0]:
        try:
            read_place(url)
        except ValueError as error:
            raise ValidationError(str(error)) from None
    else:
        _check_place(url)
        _check_database(url)
    try:
        connect(url).connection_pool.make_connection()
    except (TypeError, ValueError):
        raise ValidationError("has an option, behind the question mark, that cannot be read") from None


def _check_database(url: str) -> None:
    parts = urlsplit(url)
    has_database = bool(parts.path) if parts.scheme == "unix" else bool(re.fullmatch("/?[0-9]*", parts.path))
    if not has_database or (parts.scheme != "unix" and "db" in parse_qs(parts.query)):
        raise ValidationError(
            "must be like redis://host:6379/0, with the number of the database, or unix:///socket?db=0"
        )


def _check_broker(url: str) -> None:
    for server_url in url.split(";"):
        scheme, separator, _ = server_url.partition("://")
        if url and (not separator or scheme.partition("+")[0] not in TRANSPORT_ALIASES):
            raise ValidationError("must begin with a kind of broker that Celery knows, like redis:// or amqp://")
        _check_place(server_url)
    if url.startswith("sentinel://") and MASTER_NAME not in parse_qs(url.rpartition("?")[2]):
        raise ValidationError(
            f"must end with ?{MASTER_NAME}=SERVICE, as the sentinels call the broker: "
            f"sentinel://one:26379/1;sentinel://two:26379/1?{MASTER_NAME}=SERVICE"
        )


def _check_place(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ValidationError(
            "has a host or port that cannot be read (what is special in a password must be percent-encoded)"
        ) from None


def _check(is_right: Callable[[str], object], words: str) -> Callable[[str | None], None]:
    def check(value: str | None) -> None:
        if value is not None and not is_right(value):
            raise ValidationError(words)

    return check


def _check_url(schemes: tuple[str, ...], words: str) -> Callable[[str | None], None]:
    check = _check(lambda url: url.startswith(schemes) and urlsplit(url).hostname, words)

    def check_url(url: str | None) -> None:
        check(url)
        _check_place(url or "")

    return check_url


def _check_networks(networks: Sequence[str]) -> None:
    for network in networks:
        try:
            ip_network(network.strip())
        except ValueError:
            raise ValidationError("must be networks like 10.0.0.0/8, separated by commas") from None


def _check_archive(url: str | None) -> None:
    scheme = urlsplit(url or "").scheme
    if url is None:
        return
    if scheme == "file" and not urlsplit(url).path.startswith("/"):
        raise ValidationError("must be like file:///srv/archive, with the whole path of the directory")
    if not scheme:
        raise ValidationError("must be a URL like file:///srv/archive or s3://bucket/rookery")


WEB = ("http://", "https://")
MAIL_SERVERS = ("smtps://", "smtp://", "smtp+plain://")
_check_prefix = _check(PREFIX.fullmatch, "must be 1 to 64 letters, digits, colons, dots, hyphens and underscores")
_check_domain = _check(DOMAIN.fullmatch, "must be a domain name, such as mail.example.org")
_check_contact = _check(lambda text: text.startswith(("mailto:", "https://")), "must begin with mailto: or https://")
_check_guard = _check(
    lambda place: place.startswith("/") or urlsplit(place).scheme,
    "must be the whole path of a directory, or a URL like s3://bucket/rookery",
)
_check_public_url = _check(PUBLIC_URL.fullmatch, "must be a URL like https://live.example, without a query")
_check_smtp = _check_url(
    MAIL_SERVERS, "must be like smtps://user:password@host, smtp://host:587 or smtp+plain://127.0.0.1:25"
)
_check_otlp = _check_url(WEB, "must be like http://127.0.0.1:4318, without the path /v1/traces")
_check_timestamp_service = _check_url(WEB, "must be like https://timestamps.example/tsr")
