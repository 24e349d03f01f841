"""The live stream: server-sent events of one match, or of an account, in a process of its own under gunicorn's gevent.

The id of a message of a match is the version tag of its event: a client that was cut off sends the last one seen
(Last-Event-ID, or ?after=) and misses nothing, because everything in between comes from the store. One that has seen an
event which the store has lost gets the message ``reset``, which names the version from which the stream goes on. The
stream of an account begins with what awaits the player whenever it is opened.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from flask import Flask, Response, copy_current_request_context, request
from redis.client import PubSub

from api import health
from api.access import headers
from api.access.auth import current_person, redeem_ticket, require_person
from api.access.chats import may_read_chat
from api.access.limits import address
from api.access.matches import visible_match
from api.access.proxies import behind_proxies
from api.addresses import PREFIX
from api.http import problems
from api.http.conditions import EXAMPLE_TAG
from api.http.problems import Problem
from api.live import account_stream
from api.live.stream_hub import BLOCK_MS, MOST_OF_ONE_ADDRESS, MOST_STREAMS, Hub, Watcher
from api.services import EXTENSION, Services
from api.services import services as current_services
from events.private.chats import subscribe
from events.runtime.connections import blocking_client
from events.runtime.errors import StoreError
from events.runtime.logs import configure
from events.runtime.settings import Settings
from events.store.contract import EMPTY, VersionTag
from events.store.feed import FeedTail


def create_stream_app(settings: Settings, most: int = MOST_STREAMS, most_of_one: int = MOST_OF_ONE_ADDRESS) -> Flask:
    """Return the live stream as an app, for so many watchers. Nothing connects before the first one."""
    app = Flask("stream", static_folder=None)
    services = Services(settings)
    app.extensions[EXTENSION] = services
    headers.register(app)
    health.register(app)
    problems.register(app)
    app.after_request(_allow_page)

    def open_tail() -> FeedTail:
        return FeedTail(blocking_client(settings.redis_url, BLOCK_MS), settings.prefix, services.store.shards)

    def open_chats() -> PubSub:
        return subscribe(blocking_client(settings.redis_url, BLOCK_MS), settings.prefix)

    followers = account_stream.ConcernedPlayers(services)
    hub = Hub(services.store, open_tail, open_chats, most, most_of_one, followers)

    @app.get(f"{PREFIX}/matches/<match>/stream")
    def stream(match: str) -> Response:
        redeem_ticket()
        after = _after()
        state, person = visible_match(match).state, current_person()
        private, watcher = state.private, hub.enter(match, may_read_chat(state, person), address())

        @copy_current_request_context
        def welcome() -> bool:
            try:
                if private:
                    visible_match(match)
                return current_person() == person
            except Problem:
                return False  # the token was revoked, or the match is private and none of theirs any more
            except StoreError:
                return True  # nobody can tell, nor has any news: it is asked again when the store is back

        return _streamed(hub, match, watcher, hub.messages(match, after, watcher, welcome))

    @app.get(f"{PREFIX}/me/stream")
    def my_stream() -> Response:
        redeem_ticket()
        person = require_person()
        watcher = hub.enter_account(person.id, address())

        @copy_current_request_context
        def welcome() -> bool:
            try:
                return current_person() == person
            except Problem:
                return False
            except StoreError:
                return True

        @copy_current_request_context
        def awaiting() -> account_stream.Awaiting | None:
            try:
                return account_stream.awaiting_now(current_services(), person.id)
            except StoreError:
                return None

        return _streamed(hub, person.id, watcher, account_stream.messages(person.id, watcher, awaiting, welcome))

    return app


def _streamed(hub: Hub, name: str, watcher: Watcher, messages: Iterator[str]) -> Response:
    response = Response(messages, content_type="text/event-stream; charset=utf-8")
    response.headers["X-Accel-Buffering"] = "no"
    # Not the generator's business: one that nobody has begun to read does not notice that it is closed.
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
    """Let pages of this very host, with the scheme and port of ROOKERY_PAGE_URL, read the stream with their cookie.

    What another port of the host serves may be another site.
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


def __getattr__(name: str) -> Flask:
    """Make ``app`` when a server asks for it, so that importing this module needs no settings."""
    if name != "app":
        raise AttributeError(name)
    configure()
    settings = Settings.from_environment()
    return behind_proxies(create_stream_app(settings), settings.trusted_proxies)
