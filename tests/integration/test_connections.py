"""Connections to the store: few, shared, and waited for."""

import threading

from events.runtime.connections import MAX_CONNECTIONS, connect
from tests.support.server import RealServer


def test_who_finds_all_connections_in_use_waits_for_one(server: RealServer) -> None:
    client = connect(server.url)
    held = [client.connection_pool.get_connection() for _ in range(MAX_CONNECTIONS)]
    answers: list[object] = []
    waiting = threading.Thread(target=lambda: answers.append(client.ping()))
    waiting.start()
    assert not answers
    client.connection_pool.release(held.pop())
    waiting.join()
    assert answers == [True]
    client.connection_pool.disconnect()
