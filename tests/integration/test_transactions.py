"""Optimistic transactions, connections and late replies on a real Redis."""

import signal
from functools import partial

import pytest
from redis.client import Pipeline

from events.runtime import connections
from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreUnavailableError, WriteContentionError
from events.runtime.transactions import transact
from tests.support.pauses import check_lost_watch, check_messages, check_replies
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation


def test_a_change_that_another_client_overtakes_is_made_on_what_is_there_then(redis: StoreClient) -> None:
    seen = []

    def double(pipeline: Pipeline) -> int:
        number = int(pipeline.get("number") or 0)
        seen.append(number)
        if len(seen) == 1:
            redis.set("number", 21)
        pipeline.multi()
        pipeline.set("number", 2 * number)
        return number

    redis.set("number", 1)
    assert transact(redis, ["number"], double) == 21
    assert (seen, redis.get("number")) == ([1, 21], b"42")


def test_a_change_that_queues_nothing_writes_nothing(redis: StoreClient) -> None:
    def look(pipeline: Pipeline) -> bytes | str | None:
        found = pipeline.get("word")
        redis.set("word", "later")
        return found

    redis.set("word", "first")
    assert transact(redis, ["word"], look) == b"first"


def test_a_change_that_is_overtaken_every_time_is_given_up(redis: StoreClient) -> None:
    calls = []

    def overtaken(pipeline: Pipeline) -> None:
        calls.append(redis.incr("number"))
        pipeline.multi()
        pipeline.set("other", 1)

    with pytest.raises(WriteContentionError):
        transact(redis, ["number"], overtaken, attempts=3)
    assert (calls, redis.exists("other")) == ([1, 2, 3], 0)
    assert issubclass(WriteContentionError, StoreUnavailableError)


def test_an_error_in_a_change_ends_it(redis: StoreClient) -> None:
    def failing(pipeline: Pipeline) -> None:
        pipeline.multi()
        pipeline.set("number", 1)
        raise LookupError

    with pytest.raises(LookupError):
        transact(redis, ["number"], failing)
    assert not redis.exists("number")


def test_late_replies_of_a_server_answer_nothing_else(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 1.0)
    client = connect(server.url)
    check_replies(client, partial(server.send, signal.SIGSTOP), partial(server.send, signal.SIGCONT))


def test_late_replies_of_a_broker_that_hung_answer_no_other_command(server: RealServer) -> None:
    settings = SteppedInstallation(server.url).settings
    check_messages(settings, partial(server.send, signal.SIGSTOP), partial(server.send, signal.SIGCONT))


def test_a_watch_that_a_broken_connection_takes_away_is_noticed(server: RealServer) -> None:
    admin = server.client()
    check_lost_watch(
        connect(server.url), connect(server.url), partial(admin.client_kill_filter, _type="normal", skipme=True)
    )
