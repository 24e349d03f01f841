"""The live stream: server-sent events of one match, or of an account, in a process of its own under gunicorn's gevent.

The id of a message of a match is the version tag of its event: a client that was cut off sends the last one seen
(Last-Event-ID, or ?after=). One that has seen an event which the store has lost gets the message ``reset``.
"""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from flask import Flask, Response, copy_current_request_context, request
from redis.client import PubSub

from api import health, metrics
from api.access import headers, limits
from api.access.auth import current_person, redeem_ticket, require_person
from api.access.headers import behind_proxies
from api.access.limits import Limits, RateLimits, address
from api.access.matches import may_read_chat, visible_match
from api.access.read_limits import count_reads
from api.addresses import PREFIX
from api.http import problems
from api.http.conditions import EXAMPLE_TAG
from api.http.problems import Problem
from api.live import account_stream
from api.live.stream_hub import BLOCK_MS, Hub, Watcher
from api.services import EXTENSION, Services, services as current_services
from events.people.chats import subscribe
from events.people.person import Person
from events.runtime.connections import blocking_client
from events.runtime.errors import StoreError
from events.runtime.logs import configure
from events.runtime.settings import Settings
from events.store.contract import EMPTY, VersionTag
from events.store.feed import FeedTail

EVENTS_PER_READ = 20
"""The events with which a stream begins, by the number that counts as one read."""


def create_stream_app(settings: Settings) -> Flask:
    """Return the live stream as an app that nothing connects before the first watcher."""
    app = Flask("stream", static_folder=None)
    services = Services(settings)
    app.extensions[EXTENSION] = services
    headers.register_ids(app)
    headers.register_hosts(app)
    headers.register(app)
    health.register(app)
    limits.install(app, RateLimits(services.store.client, settings.prefix, Limits()))
    metrics.register(app)
    problems.register(app)
    app.after_request(_allow_page)

    def open_tail() -> FeedTail:
        return FeedTail(blocking_client(settings.redis_url, BLOCK_MS), settings.prefix, services.store.shards)

    def open_chats() -> PubSub:
        return subscribe(blocking_client(settings.redis_url, BLOCK_MS), settings.prefix)

    news = account_stream.AccountNews(services)
    hub = Hub(services.store, open_tail, open_chats, news)

    @app.get(f"{PREFIX}/matches/<match_id>/stream")
    def stream_match(match_id: str) -> Response:
        redeem_ticket()
        after = _after()
        (state, head, *_), person = visible_match(match_id), current_person()
        count_reads("reads", 1 + max(0, head.version - after.version) // EVENTS_PER_READ)
        private, watcher = state.private, hub.enter(match_id, may_read_chat(state, person), address())

        return _streamed(
            hub,
            match_id,
            watcher,
            hub.messages(match_id, after, watcher, _admission(person, match_id if private else None)),
        )

    @app.get(f"{PREFIX}/me/stream")
    def stream_account() -> Response:
        redeem_ticket()
        person = require_person()
        count_reads("reads")
        watcher = hub.enter_account(person.id, address())

        @copy_current_request_context
        def awaiting() -> account_stream.Awaiting | None:
            try:
                return account_stream.awaiting_matches(current_services(), person.id)
            except StoreError:
                return None

        return _streamed(
            hub, person.id, watcher, account_stream.messages(person.id, watcher, awaiting, _admission(person))
        )

    return app


def _admission(person: Person | None, private_match: str | None = None) -> Callable[[], bool]:
    """Return the function that tells whether ``person`` still asks, and still sees a match that is private."""

    @copy_current_request_context
    def is_admitted() -> bool:
        try:
            if private_match is not None:
                visible_match(private_match)
            return current_person() == person
        except Problem:
            return False  # the token was revoked, or the match is private and no longer visible
        except StoreError:
            return True  # unknown, and there are no news either: it is checked again when the store is back

    return is_admitted


def _streamed(hub: Hub, name: str, watcher: Watcher, messages: Iterator[str]) -> Response:
    response = Response(messages, content_type="text/event-stream; charset=utf-8")
    response.headers["X-Accel-Buffering"] = "no"
    # Not in the generator: one that has not been started does not notice that it is closed.
    response.call_on_close(lambda: hub.leave(name, watcher))
    return response


def _after() -> VersionTag:
    text = request.headers.get("Last-Event-ID") or request.args.get("after", "0")
    tag = EMPTY.tag if text == "0" else VersionTag.parse(text)
    if tag is None:
        reason = (
            f"must be 0 or an id of this stream, such as {EXAMPLE_TAG}: a version number alone does not tell which "
        )
        reason += "history it belongs to"
        raise Problem("invalid-fields", f"after {reason}.", {"after": [reason]})
    return tag


def _allow_page(response: Response) -> Response:
    """Let pages of this host, with the scheme and port of ROOKERY_PAGE_URL, read the stream with their cookie.

    Another port of the host may serve another site.
    """
    origin = request.headers.get("Origin")
    if origin is not None and origin.lower() == _page_origin():
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Last-Event-ID"
    response.headers.add("Vary", "Origin")
    return response


def _page_origin() -> str:
    page = urlsplit(current_services().settings.page_url)
    host = headers.without_port(request.host)
    return f"{page.scheme}://{host}:{page.port}".lower() if page.port else f"{page.scheme}://{host}".lower()


def create_app() -> Flask:
    """Return the live stream with the settings of the environment, for ``gunicorn "api.live.stream:create_app()"``."""
    configure()
    settings = Settings.from_environment()
    return behind_proxies(create_stream_app(settings), settings.trusted_proxies)
