"""The round trips to the store that this thread makes."""

import threading
from typing import Any

import pytest
from redis.connection import Connection


def record_round_trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one entry with each round trip: the number of commands that this thread sends."""
    counts: list[int] = []
    send, thread = Connection.send_packed_command, threading.current_thread()

    def sending(connection: Connection, command: Any, check_health: bool = True) -> None:
        packed: bytes = command if isinstance(command, bytes) else b"".join(command)
        if threading.current_thread() is thread:
            counts.append(1 + packed.count(b"\r\n*"))
        send(connection, command, check_health)

    monkeypatch.setattr(Connection, "send_packed_command", sending)
    return counts
