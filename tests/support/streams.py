"""The live stream as a process of its own, and those who watch it over the network."""

import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from deploy.local.child import bound_to_parent
from tests.support.callers import Caller
from tests.support.eventually import DEADLINE_S

ROOT = Path(__file__).parents[2]


class Told(NamedTuple):
    id: str
    event: str
    data: Any


class StreamProcess:
    """gunicorn with the live stream; it ends with the process of the tests at the latest."""

    def __init__(self, redis_url: str, keepalive_s: int = 30, grace_s: int = 1) -> None:
        # The socket is made here: a port that was only looked for might be somebody else's by the time it is needed.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            command = [
                sys.executable, "-m", "gunicorn", "--worker-class", "deploy.production.stream_worker.StreamWorker",
            ]  # fmt: skip
            command += ["--workers", "1", "--worker-connections", "5000", "--keep-alive", str(keepalive_s)]
            command += ["--bind", f"fd://{listener.fileno()}", "--graceful-timeout", str(grace_s)]
            self.process = subprocess.Popen(
                bound_to_parent(
                    [*command, "--log-level", "warning", "--no-control-socket", "api.live.stream:create_app()"]
                ),
                env={**os.environ, "REDIS_URL": redis_url, "PYTHONPATH": str(ROOT)},
                cwd=ROOT,
                pass_fds=[listener.fileno()],
            )
        # How long a start takes depends on what else the machine does: nobody is to count it as the time of an answer.
        with socket.create_connection(("127.0.0.1", self.port)) as starting:
            starting.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert starting.recv(1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


class Watching:
    def __init__(self, port: int, match_id: str, query: str = "", **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request("GET", f"/api/v1/matches/{match_id}/stream{query}", headers=fields)
        self.answer = self.connection.getresponse()

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()
        self.connection.close()

    def version(self) -> int:
        return int(self.next().id.partition("-")[0])

    def next(self) -> Told:
        """Return the next event of the match; all else is passed over."""
        while "id" not in (fields := self._message()):
            pass
        return Told(fields["id"], fields["event"], json.loads(fields["data"]))

    def news(self) -> tuple[str, Any]:
        """Return kind and content of the next message, which must be no event of the match."""
        fields = self._message()
        assert "id" not in fields
        return fields["event"], json.loads(fields["data"])

    def _message(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        while True:
            line = self.answer.readline().decode()
            if not line:
                raise EOFError("the stream has ended")
            if line == "\n" and "data" in fields:
                return fields
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value


def seen(who: Caller, match_id: str) -> str:
    return str(who.get(f"/matches/{match_id}").json["version_tag"])
