"""A real RabbitMQ for tests: one node with a name, ports, directories and a port mapper of its own, as this user."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from kombu.connection import Connection

from deploy.local.child import bound_to_parent
from tests.support.server import free_ports

STARTS_WITHIN_S = 60


def find_rabbitmq() -> Path | None:
    """Return the script that starts RabbitMQ; None where it is not installed.

    Not the one on the PATH, which changes to the user of the system's own RabbitMQ.
    """
    script = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    return script if script.exists() and shutil.which("erl") else None


class RabbitMQ:
    """A node that keeps its directory over kills and starts; it ends with the process of the tests at the latest."""

    def __init__(self, script: Path, directory: Path) -> None:
        self._script = script
        self.directory = directory
        self.port, self._epmd_port, self._distribution_port = free_ports(3)
        (directory / "enabled_plugins").write_text("[].\n")
        (directory / "rabbitmq.conf").write_text("log.console = false\nlog.file.level = warning\n")
        # Else the node asks name servers for the name of this machine, and waits for ten seconds where there are none.
        names = f'["localhost", "{socket.gethostname()}"]'
        (directory / "inetrc").write_text(f"{{lookup, [file]}}.\n{{host, {{127,0,0,1}}, {names}}}.\n")
        # Whatever the node would start in the background, and leave there, is a child of this process instead.
        command = ["epmd", "-address", "127.0.0.1", "-port", str(self._epmd_port)]
        self._epmd = subprocess.Popen(bound_to_parent(command), stdout=subprocess.DEVNULL)
        self.start()

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        """Start the node and wait until it answers."""
        environment = {
            **os.environ,
            "HOME": str(self.directory),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_NODENAME": f"rookery{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self.directory / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.directory / "log"),
            "RABBITMQ_CONF_ENV_FILE": str(self.directory / "none"),
            "RABBITMQ_CONFIG_FILE": str(self.directory / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
            "RABBITMQ_FEATURE_FLAGS": "quorum_queue",  # enabling what is not used takes seconds
            "ERL_INETRC": str(self.directory / "inetrc"),
            "ERL_CRASH_DUMP": str(self.directory / "erl_crash.dump"),  # else it is written where the tests run
            "RUNNING_UNDER_SYSTEMD": "true",  # the node replaces the script, and gets its signals
        }
        self._process = subprocess.Popen(
            bound_to_parent([str(self._script)]), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"RabbitMQ does not start; its logs are in {self.directory / 'log'}")
            time.sleep(0.1)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the node and its port mapper."""
        for process in (self._process, self._epmd):
            process.kill()
            process.wait()

    def _answers(self) -> bool:
        try:
            with (
                socket.create_connection(("127.0.0.1", self.port), 1),
                Connection(self.url, connect_timeout=2) as broker,
            ):
                broker.ensure_connection(max_retries=1)
        except OSError:
            return False
        return True
