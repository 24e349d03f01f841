"""The round trips to the store that this thread makes."""

import threading
from typing import Any

import pytest
from redis.connection import Connection


def record_round_trips(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that grows by one entry with each round trip: what this thread sends."""
    sent: list[bytes] = []
    send, thread = Connection.send_packed_command, threading.current_thread()

    def sending(connection: Connection, command: Any, check_health: bool = True) -> None:
        packed: bytes = command if isinstance(command, bytes) else b"".join(command)
        if threading.current_thread() is thread:
            sent.append(packed)
        send(connection, command, check_health)

    monkeypatch.setattr(Connection, "send_packed_command", sending)
    return sent
