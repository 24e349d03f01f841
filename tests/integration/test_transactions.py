"""Optimistic transactions on a real Redis."""

import pytest
from redis.client import Pipeline

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError, WriteContentionError
from events.runtime.transactions import transact


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
