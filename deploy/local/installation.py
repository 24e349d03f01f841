"""A whole installation on one machine: server, API, live stream, relay and workers under one supervisor.

Everything that lasts is below one directory, ``var``: the database in ``redis``, what the parts say in ``log``, and a
lock that keeps a second installation out. With REDIS_URL set, the database is elsewhere and no server is started.
"""

import fcntl
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from deploy.local import aof
from deploy.local.embedded import (
    ALWAYS,
    EVERYSEC,
    LOOPBACK,
    Binary,
    DataDirectory,
    EmbeddedError,
    copied_aside,
    find_binary,
    refuse_taken_port,
    server_command,
)
from deploy.local.leftovers import LeftoverProcesses, lock_processes
from deploy.local.ports import Ports, answers, bracketed, listens, pongs
from deploy.local.private_files import (
    ENVIRONMENT,
    KEY_FILE,
    KEYS,
    SERVER_SECRET,
    close_to_others,
    exports,
    write_private,
)
from deploy.local.store_watch import StoreWatch, record
from deploy.local.supervisor import MAX_SILENCE_S, ChildFailed, Program, SupervisionFailed, Supervisor
from deploy.local.watermark import MARK, Missing
from events.runtime.errors import StoreError
from events.runtime.settings import Settings, next_database, store_from
from events.store.redis import RedisStore

ROOT = Path(__file__).parents[2]
GUNICORN = ROOT / "deploy" / "production" / "gunicorn.conf.py"
READY_WITHIN = 60.0
"""Seconds that an installation may take until it answers; loading a long history is the longest part of it."""

SERVER = "server"
LOCK = "lock"
PROCESSES = "processes-lock"
IMPAIRED = "impaired.json"
"""Which parts do not work as they should, for ``/readyz``."""


class InstallationError(Exception):
    """The installation cannot be started; the message says why and what to do."""


class Installation:
    """One running Rookery. A context manager: it is ready inside the ``with`` and stopped in good order after it."""

    def __init__(
        self,
        var: Path,
        ports: Ports | None = None,
        bind: str = LOOPBACK,
        opponents: int = 1,
        embedded: bool | None = None,
        say: Callable[[str], None] = lambda _: None,
        fsync: str = ALWAYS,
        accept_loss: bool = False,
        max_silence_s: float = MAX_SILENCE_S,
    ) -> None:
        """Describe an installation below ``var``; nothing is started yet.

        ``ports`` None means free ones. ``opponents`` is how many processes think for the opponents. ``embedded`` says
        whether a server is started here, whatever REDIS_URL and BROKER_URL say; None: unless REDIS_URL is set.
        ``say`` hears of what a person who watches the installation wants to know. ``fsync`` says when the embedded
        server flushes a write, ``embedded.ALWAYS`` before it acknowledges it or EVERYSEC behind. ``accept_loss``
        starts a store that has lost more than a power cut may take. A part that makes no progress for
        ``max_silence_s`` is ended and started again. Raises InstallationError when a setting cannot be read.
        """
        self.var = var.resolve()
        self.ports = ports or Ports.free()
        self.bind = bind
        self._opponents = opponents
        self._tell = say
        self._max_silence_s = max_silence_s
        self._password = secrets.token_urlsafe(32)
        self._embedded = "REDIS_URL" not in os.environ if embedded is None else embedded
        self.settings = self._settle_settings(own_broker=embedded is True or "BROKER_URL" not in os.environ)
        self._lock: int | None = None
        self._processes: int | None = None
        self._directory: DataDirectory | None = None
        self._fsync = fsync
        self._accept_loss = accept_loss
        self._watch: StoreWatch | None = None
        self._ended = threading.Event()
        self._fault = ""
        self._supervisor: Supervisor | None = None

    @property
    def url(self) -> str:
        """The address of the pages and the API, without a slash at the end."""
        return f"http://{self._visible_host}:{self.ports.api}"

    @property
    def stream_url(self) -> str:
        """The address of the live stream process, without a slash at the end."""
        return f"http://{self._visible_host}:{self.ports.stream}"

    def start(self) -> None:
        """Start everything and wait until it answers.

        Raises InstallationError, with everything stopped again, when it cannot be started.
        """
        try:
            self._claim()
            self._supervisor = Supervisor(self.var / "log", self._say, self._report, self._max_silence_s)
            threading.Thread(target=self._notice_failure, args=[self._supervisor], daemon=True).start()
            self._start_server()
            self._serve()
        except (EmbeddedError, LeftoverProcesses, ChildFailed, SupervisionFailed, StoreError, OSError) as error:
            self.stop()
            raise InstallationError(str(error)) from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything: all parts at the same time, and the server last.

        Crash-safe: no part waits for another one. What a request has stored is followed up after the next start.
        """
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.stop([name for name in supervisor.names() if name != SERVER])
            if self._watch is not None:
                self._watch.stop()
            supervisor.stop((SERVER,))
            supervisor.close()
            (self.var / ENVIRONMENT).unlink(missing_ok=True)
        self._watch = None
        if self._directory is not None:
            self._directory.release()
            self._directory = None
        for lock in (self._processes, self._lock):
            if lock is not None:
                os.close(lock)
        self._processes = self._lock = None

    def __enter__(self) -> Self:
        """Start the installation."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the installation."""
        self.stop()

    def names(self) -> tuple[str, ...]:
        """Return the names of the running parts."""
        return self._running.names()

    def pid(self, name: str) -> int | None:
        """Return the process id of a part, or None while it is down."""
        return self._running.pid(name)

    def restarts(self, name: str) -> int:
        """Return how often a part has been started again."""
        return self._running.restarts(name)

    def kill(self, name: str, number: int = signal.SIGKILL) -> bool:
        """Send a signal to a part and all its processes; return whether it was there to get it."""
        return self._running.kill(name, number)

    def _settle_settings(self, own_broker: bool) -> Settings:
        try:
            settings = Settings.from_environment()
        except ValueError as error:
            raise InstallationError(f"the settings in the environment cannot be read: {error}") from error
        if self._embedded:
            redis_url = f"redis://:{self._password}@{LOOPBACK}:{self.ports.server}/0"
            key_file = settings.key_file or self.var / KEYS / KEY_FILE
            settings = settings._replace(redis_url=redis_url, key_file=key_file)
            if own_broker:
                settings = settings._replace(broker_url=next_database(redis_url))
        if "ROOKERY_STREAM_URL" not in os.environ:
            settings = settings._replace(stream_url=self.stream_url)
        if "ROOKERY_PAGE_URL" not in os.environ:
            settings = settings._replace(page_url=self.url)
        return settings

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self._store_environment(),
            "ROOKERY_STREAM_URL": self.settings.stream_url,
            "ROOKERY_PAGE_URL": self.settings.page_url,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
            "PYTHONUNBUFFERED": "1",
        }

    def _store_environment(self) -> dict[str, str]:
        """Return the environment that programs need to reach the store."""
        settings = self.settings
        keys = {} if settings.key_file is None else {"ROOKERY_KEY_FILE": str(settings.key_file)}
        store = {"REDIS_URL": settings.redis_url, "BROKER_URL": settings.broker_url}
        return {**store, "ROOKERY_PREFIX": settings.prefix, **keys}

    @property
    def _running(self) -> Supervisor:
        if self._supervisor is None:
            raise InstallationError("the installation is not running")
        return self._supervisor

    @property
    def _local_host(self) -> str:
        return LOOPBACK if self.bind in ("0.0.0.0", "::") else self.bind  # noqa: S104

    @property
    def _visible_host(self) -> str:
        return bracketed(self._local_host)

    def _claim(self) -> None:
        close_to_others(self.var)
        self._lock = os.open(self.var / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InstallationError(f"{self.var} is in use: {self._holder()}") from None
        os.truncate(self._lock, 0)
        os.pwrite(self._lock, json.dumps({"process": os.getpid(), "url": self.url}).encode(), 0)
        self._report({})
        self._processes = lock_processes(self.var / PROCESSES, self._say)
        refuse_taken_port(self.ports.api, "the API", "--port", self.bind)
        refuse_taken_port(self.ports.stream, "the live stream", "--stream-port", self.bind)

    def _holder(self) -> str:
        try:
            holder = json.loads((self.var / LOCK).read_text())
            return f"Rookery runs there already (process {holder['process']}, {holder['url']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "Rookery is starting or stopping there"

    def _start_server(self) -> None:
        client = redis.Redis.from_url(self.settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
        if self._embedded:
            binary = find_binary()
            refuse_taken_port(self.ports.server, "the embedded server", "--server-port")
            self._directory = DataDirectory(self.var / "redis", binary)
            self._make_readable(self._directory, binary)
            secret = self.var / KEYS / SERVER_SECRET
            write_private(secret, f"requirepass {self._password}\n")
            mark = self.var / MARK
            command = server_command(binary, self._directory, self.ports.server, self._fsync, mark, secret)
            program = Program(SERVER, command, grace=20.0, pass_fds=(self._directory.lock,))
            self._say(f"Starting the embedded server ({binary}), which reads all that is kept")
            self._start([program])
        write_private(self.var / ENVIRONMENT, exports(self._store_environment()))
        with client:
            what = "the server" if self._embedded else "the server at REDIS_URL"
            self._await(what, SERVER, lambda: pongs(client))
            if self._directory is not None:
                self._settle(client, self._directory)
        self._start_watch()

    def _make_readable(self, directory: DataDirectory, binary: Binary) -> None:
        """Cut off what a power cut has left at the end of the files; refuse to go on when they are damaged before."""
        try:
            for words in aof.prepare(directory.path, str(binary.path), self.var / MARK):
                self._say(words)
        except aof.DamagedFile as error:
            raise InstallationError(
                f"{error}. Nothing was changed. `rookery store repair --var {self.var}` keeps a copy and goes on with "
                "what stands before the damage; or put a backup back (deploy/README.md)"
            ) from error

    def _start_watch(self) -> None:
        """Compare the store with its high-water mark, and keep the mark from now on.

        Crash-safe: what is missing is recorded before a new mark is taken; killed in between, it is found again.
        """
        store = store_from(self.settings)
        directory = self._directory.path if self._directory is not None else None
        watch = StoreWatch(
            store, self.var / MARK, self._say, directory, self._fsync == EVERYSEC, self._end, self._restart_server
        )
        self._watch = watch
        missing = watch.missing()
        if missing is not None:
            said = "\n".join([missing.summary(), *missing.lines()])
            if missing.flushed and not self._accept_loss:
                raise InstallationError(
                    f"{said}\nThis was on the disk: a power cut does not take it. Nothing was changed. Put a backup "
                    "back (deploy/README.md), or go on without these events: rookery up --accept-loss"
                )
            if missing.flushed and self._directory is not None:
                self._say(f"the files as they are were copied to {copied_aside(self._directory.path, self.var)}")
            record(store, missing)
            self._say(f"{said}\nThe players of these matches are notified; `rookery incidents` lists it.")
        watch.start()

    def _start(self, programs: list[Program]) -> None:
        held = () if self._processes is None else (self._processes,)
        programs = [program._replace(pass_fds=(*program.pass_fds, *held)) for program in programs]
        self._running.start(programs, self._environment())

    def _say(self, words: str) -> None:
        with suppress(Exception):  # a failing listener must not stop the installation
            self._tell(words)

    def _report(self, impaired: Mapping[str, str]) -> None:
        """Let the API know which parts do not work as they should."""
        fresh = self.var / f"{IMPAIRED}.new"
        fresh.write_text(json.dumps(dict(impaired)))
        fresh.replace(self.var / IMPAIRED)

    def _notice_failure(self, supervisor: Supervisor) -> None:
        try:
            supervisor.wait()
        except SupervisionFailed as error:
            self._fault = str(error)
            self._ended.set()

    def _restart_server(self) -> None:
        if self._embedded:
            self._say("the server does not answer: it is killed")
            self._running.kill(SERVER)

    def _end(self, missing: Missing) -> None:
        self._fault = f"the running store has lost what was on the disk: {missing.summary()}"
        self._ended.set()

    def wait(self) -> None:
        """Wait until the installation can no longer run; raises InstallationError with the reason."""
        self._ended.wait()
        raise InstallationError(self._fault)

    def _settle(self, client: "redis.Redis", directory: DataDirectory) -> None:
        settings = self.settings
        recorded: Any = client.hget(f"{settings.prefix}rookery", "id")
        directory.settle(recorded.decode() if recorded is not None else None)
        directory.settle(RedisStore(client, settings.prefix, settings.shards).installation().id)

    def _serve(self) -> None:
        self._say("Starting the API, the live stream, the relay and the workers: the first time this takes longest")
        self._start(self._programs())
        self._await("the API", "api", lambda: answers(f"http://{self._local_host}:{self.ports.api}/readyz"))
        self._await("the live stream", "stream", lambda: listens(self._local_host, self.ports.stream))

    def _programs(self) -> list[Program]:
        rookery = [sys.executable, "-m", "deploy.cli"]
        quick, slow = "opponents-quick", "opponents"
        # Opponents think in processes of their own, which can be ended when they take too long. One of them is kept for
        # the answers that cost little: they never wait for one that costs much.
        thinking = ["--processes", str(self._opponents)]
        live = ["--worker-class", "deploy.production.stream_worker.StreamWorker", "--workers", "1"]
        live += ["--worker-connections", "5000", "--keep-alive", "30"]
        return [
            Program("relay", [*rookery, "relay"], beats=True),
            Program("worker", [*rookery, "work", "default"], beats=True),
            Program("opponents-quick", [*rookery, "work", quick], beats=True),
            Program("opponents", [*rookery, "work", *thinking, slow, quick], beats=True),
            self._served("api", ["--preload"], self.ports.api),
            self._served("stream", live, self.ports.stream),
        ]

    def _served(self, name: str, options: list[str], port: int) -> Program:
        application = {"api": "api.wsgi:app", "stream": "api.live.stream:app"}[name]
        command = [sys.executable, "-m", "gunicorn", "--config", str(GUNICORN), "--chdir", str(ROOT), *options]
        command += ["--bind", f"{bracketed(self.bind)}:{port}", application]
        environment = {
            "PROMETHEUS_MULTIPROC_DIR": str(self.var / "metrics" / name),
            "ROOKERY_IMPAIRED": str(self.var / IMPAIRED),
        }
        return Program(name, command, environment, beats=True)

    def _await(self, what: str, part: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not ready():
            self._running.refuse_failing()
            if time.monotonic() > deadline:
                log = self._running.last_words(part)
                raise InstallationError(
                    f"{what} does not answer within {READY_WITHIN:.0f} s. The end of its log:\n{log}"
                )
            time.sleep(0.05)
