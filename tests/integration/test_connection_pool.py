"""The connections of a client to a real server: few of them for many threads, which wait for one in use."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, Full
from typing import Any

import pytest

from events.runtime.clients import IdleConnections, StoreClient
from events.runtime.connections import connect
from events.runtime.errors import StoreUnavailableError
from tests.support.eventually import eventually
from tests.support.server import RealServer

CONNECTIONS = 2
THREADS = 12
COMMANDS = 200

Connected = Callable[..., StoreClient]


@pytest.fixture
def connected(server: RealServer) -> Iterator[Connected]:
    """Return what makes a client with CONNECTIONS connections at most."""
    clients: list[StoreClient] = []

    def make(wait_s: float = 60) -> StoreClient:
        clients.append(connect(f"{server.url}?max_connections={CONNECTIONS}&timeout={wait_s}"))
        return clients[-1]

    yield make
    for client in clients:
        client.connection_pool.disconnect()


def idle_connections(client: StoreClient) -> IdleConnections:
    pool: Any = client.connection_pool
    idle = pool.pool
    assert isinstance(idle, IdleConnections)
    return idle


def wait_for_waiting(client: StoreClient, number: int) -> None:
    eventually(lambda: idle_connections(client).waiting == number, f"{number} threads waiting for a connection")


def test_each_of_many_threads_gets_the_replies_to_its_own_commands(connected: Connected) -> None:
    client = connected()

    def ask(thread: int) -> bool:
        return all(client.echo(f"{thread}:{number}") == b"%d:%d" % (thread, number) for number in range(COMMANDS))

    with ThreadPoolExecutor(THREADS) as threads:
        assert all(threads.map(ask, range(THREADS)))
    idle = idle_connections(client)
    assert (len(idle.queue), len({id(connection) for connection in idle.queue})) == (CONNECTIONS, CONNECTIONS)
    assert idle.waiting == 0


def test_threads_that_wait_for_a_paused_server_are_all_served_when_it_goes_on(
    server: RealServer, connected: Connected
) -> None:
    client = connected()
    server.send(signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            try:
                asked: list[Future[bytes | str]] = [
                    threads.submit(client.echo, str(number)) for number in range(THREADS)
                ]
                wait_for_waiting(client, THREADS - CONNECTIONS)
                assert not any(future.done() for future in asked)
            finally:
                server.send(signal.SIGCONT)
            assert [future.result() for future in asked] == [b"%d" % number for number in range(THREADS)]
    finally:
        server.send(signal.SIGCONT)
    assert idle_connections(client).waiting == 0


def test_who_waits_too_long_for_a_connection_is_refused_and_takes_none(connected: Connected) -> None:
    client = connected(wait_s=0.05)
    pool = client.connection_pool
    held = [pool.get_connection() for _ in range(CONNECTIONS)]
    with pytest.raises(StoreUnavailableError, match=r"No connection available\."):
        client.ping()
    assert idle_connections(client).waiting == 0
    for connection in held:
        pool.release(connection)
    assert client.ping()
    assert len(idle_connections(client).queue) == CONNECTIONS


def test_a_connection_that_comes_back_wakes_one_that_waits() -> None:
    idle = IdleConnections(1)
    idle.put_nowait("the connection")
    assert idle.get(timeout=0) == "the connection"
    taken: list[object] = []
    threads = [threading.Thread(target=lambda: taken.append(idle.get(timeout=60))) for _ in range(3)]
    for thread in threads:
        thread.start()
    eventually(lambda: idle.waiting == len(threads), "three threads waiting")
    for number in range(1, len(threads) + 1):
        idle.put_nowait(number)
        eventually(lambda: len(taken) == number, f"{number} connections taken")  # noqa: B023 - waited for here
    assert taken == [1, 2, 3]


def test_no_connection_is_brought_back_twice() -> None:
    idle = IdleConnections(1)
    idle.put_nowait("the connection")
    with pytest.raises(Full):
        idle.put_nowait("the connection")
    assert idle.get(timeout=0) == "the connection"
    with pytest.raises(Empty):
        idle.get(timeout=0)
