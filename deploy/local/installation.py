"""An installation on one machine: server, API, live stream, relay and workers under one supervisor.

Everything persistent is below one directory, ``var``; with REDIS_URL set, the database is elsewhere.
"""

import fcntl
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from deploy.local import aof
from deploy.local.child import Program
from deploy.local.embedded import (
    ALWAYS,
    EVERYSEC,
    Binary,
    DataDirectory,
    EmbeddedError,
    copy_aside,
    find_binary,
    server_command,
)
from deploy.local.environment import (
    ENVIRONMENT_FILE,
    child_environment,
    format_exports,
    local_settings,
    store_environment,
)
from deploy.local.ports import (
    ALL_ADDRESSES,
    LOOPBACK,
    Ports,
    PortTakenError,
    accepts_connections,
    check_port_is_free,
    is_serving,
    reachable_host,
    responds_ok,
    url_host,
)
from deploy.local.private_files import KEYS_DIRECTORY, SERVER_SECRET, restrict_access, write_private
from deploy.local.process_lock import LeftoverProcessesError, acquire_process_lock
from deploy.local.programs import IMPAIRED_FILE, programs
from deploy.local.store_watch import StoreWatch
from deploy.local.supervisor import ChildError, SupervisionError, Supervisor
from events.runtime.connections import StoreClient, connect
from events.runtime.errors import StoreError
from events.runtime.keys import InstallationKeys
from events.runtime.settings import Settings
from events.runtime.topology import WrongTopologyError, read_topology
from events.store.archive.store import make_store
from events.store.high_water_mark import record_loss
from events.store.mark import MARK
from events.store.redis import RedisStore

MAX_START_S = 60.0
"""The time within which a part must answer; loading a long history takes the largest part of it."""

POLL_INTERVAL_S = 0.05
SHARDS = 4
"""Of a new embedded store. Relays look at each every second, and on one machine there is one relay to look."""

SERVER = "server"
LOCK_FILE = "lock"
PROCESS_LOCK_FILE = "processes-lock"


class InstallationError(Exception):
    """The installation cannot be started; the message gives the reason and the remedy."""


class LocalInstallation:
    """One running Rookery. A context manager: it is ready inside the ``with`` block and stopped after it."""

    def __init__(
        self,
        var: Path,
        ports: Ports | None = None,
        bind: str = LOOPBACK,
        opponents: int = 1,
        embedded: bool | None = None,
        on_message: Callable[[str], None] = lambda _: None,
        fsync: str = ALWAYS,
        accept_loss: bool = False,
    ) -> None:
        """Describe an installation below ``var``; nothing is started yet. Raises InstallationError for a bad setting.

        ``ports`` None means free ones. ``embedded`` True runs a server here, whatever REDIS_URL and BROKER_URL name;
        None runs one unless REDIS_URL is set. ``fsync`` is when it flushes a write: ``embedded.ALWAYS`` before it
        acknowledges it, EVERYSEC afterwards. ``accept_loss`` starts a store that has lost more than a power cut may
        take.
        """
        self.compiled: Path | None = None
        """The build of the domain that the processes import from the start on, None for the sources."""
        self.var = var.resolve()
        self.ports = ports or Ports.free()
        self._bind = bind
        self._opponents = opponents
        self._on_message = on_message
        self._password = secrets.token_urlsafe(32)
        try:
            self.settings, self._embedded = local_settings(
                self.var, self.ports, self._url_host, self._password, embedded
            )
        except ValueError as error:
            raise InstallationError(f"the settings in the environment cannot be read: {error}") from error
        self._lock: int | None = None
        self._process_lock: int | None = None
        self._directory: DataDirectory | None = None
        self._fsync = fsync
        self._accept_loss = accept_loss
        self._watch: StoreWatch | None = None
        self._failed = threading.Event()
        self._failure = ""
        self._supervisor: Supervisor | None = None

    @property
    def url(self) -> str:
        """The address of the pages and the API, without a trailing slash."""
        return f"http://{self._url_host}:{self.ports.api}"

    @property
    def stream_url(self) -> str:
        """The address of the live stream process, without a trailing slash."""
        return f"http://{self._url_host}:{self.ports.stream}"

    def start(self) -> None:
        """Start everything and wait until it answers; raises InstallationError, with everything stopped again."""
        try:
            self._claim()
            self._supervisor = Supervisor(self.var / "log", self._message, self._write_impaired)
            threading.Thread(target=self._watch_supervisor, args=[self._supervisor], daemon=True).start()
            self._start_nursery(self._supervisor)
            self._start_store()
            self._start_programs()
        except (
            ChildError,
            EmbeddedError,
            LeftoverProcessesError,
            OSError,
            PortTakenError,
            StoreError,
            SupervisionError,
        ) as error:
            self.stop()
            raise InstallationError(str(error)) from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything: all parts at the same time, the server last.

        Crash-safe: no part waits for another one. Work that requests have stored is done after the next start.
        """
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.stop([name for name in supervisor.names() if name != SERVER])
            if self._watch is not None:
                self._watch.stop()
            supervisor.stop((SERVER,))
            supervisor.close()
            (self.var / ENVIRONMENT_FILE).unlink(missing_ok=True)
        self._watch = None
        if self._directory is not None:
            self._directory.release()
            self._directory = None
        for lock in (self._process_lock, self._lock):
            if lock is not None:
                os.close(lock)
        self._process_lock = self._lock = None

    @contextmanager
    def store_alone(self, fill: Callable[[Settings], None]) -> Iterator[None]:
        """Run nothing but the embedded server in the ``with`` block, after ``fill`` has filled it.

        Raises InstallationError, and as ``fill``. Crash-safe: the directory belongs to an installation only when
        ``fill`` is done.
        """
        try:
            self._claim()
            self._supervisor = Supervisor(self.var / "log", self._message, self._write_impaired)
            threading.Thread(target=self._watch_supervisor, args=[self._supervisor], daemon=True).start()
            self._start_server()
            with connect(self.settings.redis_url) as client:
                self._await("the server", SERVER, lambda: is_serving(client))
                fill(self.settings)
                if self._directory is not None:
                    self._bind_directory(client, self._directory)
            self._write_environment()
            yield
        except (ChildError, EmbeddedError, LeftoverProcessesError, OSError, PortTakenError, SupervisionError) as error:
            raise InstallationError(str(error)) from error
        finally:
            self.stop()

    def wait(self) -> None:
        """Block until the installation can no longer run; raises InstallationError with the reason."""
        self._failed.wait()
        raise InstallationError(self._failure)

    def __enter__(self) -> Self:
        """Start the installation."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the installation."""
        self.stop()

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor of the parts; raises InstallationError while the installation is not running."""
        if self._supervisor is None:
            raise InstallationError("the installation is not running")
        return self._supervisor

    @property
    def _locks(self) -> tuple[int, ...]:
        return () if self._process_lock is None else (self._process_lock,)

    @property
    def _local_host(self) -> str:
        return LOOPBACK if self._bind in ALL_ADDRESSES else self._bind

    @property
    def _url_host(self) -> str:
        return url_host(reachable_host(self._bind))

    def _claim(self) -> None:
        """Take the directory and check that the ports are free."""
        restrict_access(self.var)
        self._lock = os.open(self.var / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InstallationError(f"{self.var} is in use: {self._describe_lock_holder()}") from None
        os.truncate(self._lock, 0)
        os.pwrite(self._lock, json.dumps({"process": os.getpid(), "url": self.url}).encode(), 0)
        self._write_impaired({})
        self._process_lock = acquire_process_lock(self.var / PROCESS_LOCK_FILE, self._message)
        check_port_is_free(self.ports.api, "the API", "--port", self._bind)
        check_port_is_free(self.ports.stream, "the live stream", "--stream-port", self._bind)
        if self.settings.mail is not None:
            check_port_is_free(self.ports.mail, "incoming mail", "--mail-port", self._bind)

    def _describe_lock_holder(self) -> str:
        try:
            holder = json.loads((self.var / LOCK_FILE).read_text())
            return f"Rookery is already running there (process {holder['process']}, {holder['url']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "Rookery is starting or stopping there"

    def _start_nursery(self, supervisor: Supervisor) -> None:
        """Let the parts be imported while the store starts."""
        supervisor.start_nursery(child_environment(self.settings, self.compiled), self._locks)

    def _start_store(self) -> None:
        """Start the embedded server, if it is the store, with its high-water mark, and wait for the store."""
        if self._embedded:
            self._start_server()
        self._write_environment()
        with connect(self.settings.redis_url) as client:
            what = "the server" if self._embedded else "the server at REDIS_URL"
            self._await(what, SERVER, lambda: self._is_serving(client))
            if self._directory is not None:
                self._bind_directory(client, self._directory)
        store = make_store(self.settings)
        store.installation()
        if self._directory is not None:
            self._watch = self._make_watch(store, self._directory.path)
            self._check_loss(store, self._watch, self._directory.path)
            self._watch.start()

    def _write_environment(self) -> None:
        """Write the variables by which a shell reaches the store and its high-water mark."""
        exports = store_environment(self.settings._replace(mark_file=self.settings.mark_file or self.var / MARK))
        write_private(self.var / ENVIRONMENT_FILE, format_exports(exports))

    def _is_serving(self, client: StoreClient) -> bool:
        """Return whether the store answers; raises InstallationError when its URL names servers of another kind."""
        if self._embedded:
            return is_serving(client)
        try:
            warning = read_topology(client).cannot_move_slots
        except WrongTopologyError as error:
            raise InstallationError(f"REDIS_URL cannot be used: {error}") from error
        except StoreError:
            return False
        if not is_serving(client):
            return False
        if warning:
            self._message(warning)
        return True

    def _start_server(self) -> None:
        binary = find_binary()
        check_port_is_free(self.ports.server, "the embedded server", "--server-port")
        self._directory = DataDirectory(self.var / "redis", binary)
        self._repair_log_tails(self._directory, binary)
        secret = self.var / KEYS_DIRECTORY / SERVER_SECRET
        write_private(secret, f"requirepass {self._password}\n")
        mark = self.var / MARK
        command = server_command(binary, self._directory, self.ports.server, self._fsync, mark, secret)
        self._message(f"Starting the embedded server ({binary}), which loads all stored matches")
        self._start([Program(SERVER, command, grace_s=20.0, pass_fds=(self._directory.lock,))])

    def _repair_log_tails(self, directory: DataDirectory, binary: Binary) -> None:
        """Truncate the remains of a power cut at the end of the files; refuse files that are damaged before that."""
        try:
            for message in aof.repair_tails(directory.path, str(binary.path), self.var / MARK):
                self._message(message)
        except aof.DamagedFileError as error:
            raise InstallationError(
                f"{error}. Nothing was changed. `rookery store repair --var {self.var}` keeps a copy and continues "
                "with what precedes the damage; or restore a backup (docs/operators.md)"
            ) from error

    def _bind_directory(self, client: StoreClient, directory: DataDirectory) -> None:
        settings = self.settings
        recorded = client.hget(InstallationKeys(settings.prefix).installation, "id")
        directory.bind_to(None if recorded is None else recorded.decode())
        shards = settings.shards or (SHARDS if recorded is None else None)
        directory.bind_to(RedisStore(client, settings.prefix, shards).installation().id)

    def _make_watch(self, store: RedisStore, directory: Path) -> StoreWatch:
        return StoreWatch(
            store,
            self.var / MARK,
            self._message,
            directory,
            behind=self._fsync == EVERYSEC,
            on_loss=lambda missing: self._fail(f"the running store has lost what was on the disk: {missing.summary()}"),
            on_hang=self._kill_server,
        )

    def _check_loss(self, store: RedisStore, watch: StoreWatch, directory: Path) -> None:
        """Compare the store with its high-water mark and record the missing events.

        Crash-safe: the loss is recorded before a new mark is taken; after a crash in between it is found again.
        """
        missing = watch.find_missing()
        if missing is None:
            return
        report = "\n".join([missing.summary(), *missing.lines()])
        if missing.flushed and not self._accept_loss:
            raise InstallationError(
                f"{report}\nThis was on the disk: a power cut does not take it. Nothing was changed. Restore a backup "
                "(docs/operators.md), or continue without these events: rookery up --accept-loss"
            )
        if missing.flushed:
            self._message(f"the files were copied as they are to {copy_aside(directory, self.var)}")
        record_loss(store, missing)
        self._message(f"{report}\nThe players of these matches are notified; `rookery incidents` lists it.")

    def _start_programs(self) -> None:
        self._message("Starting the API, the live stream, the relay and the workers: this takes longest the first time")
        self._start(programs(self.var, self.ports, self._bind, self._opponents, self.settings.mail is not None))
        self._await("the API", "api", lambda: responds_ok(f"http://{self._url_host}:{self.ports.api}/readyz"))
        self._await("the live stream", "stream", lambda: accepts_connections(self._local_host, self.ports.stream))

    def _start(self, programs: list[Program]) -> None:
        programs = [program._replace(pass_fds=(*program.pass_fds, *self._locks)) for program in programs]
        self.supervisor.start(programs, child_environment(self.settings, self.compiled))

    def _await(self, what: str, part: str, is_ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + MAX_START_S
        while not is_ready():
            self.supervisor.raise_if_failing()
            if time.monotonic() > deadline:
                log = self.supervisor.log_tail(part)
                raise InstallationError(
                    f"{what} does not answer within {MAX_START_S:.0f} s. The end of its log:\n{log}"
                )
            time.sleep(POLL_INTERVAL_S)

    def _message(self, text: str) -> None:
        with suppress(Exception):  # a failing listener must not stop the installation
            self._on_message(text)

    def _write_impaired(self, impaired: Mapping[str, str]) -> None:
        """Tell the API which parts are impaired."""
        fresh = self.var / f"{IMPAIRED_FILE}.new"
        fresh.write_text(json.dumps(dict(impaired)))
        fresh.replace(self.var / IMPAIRED_FILE)

    def _watch_supervisor(self, supervisor: Supervisor) -> None:
        try:
            supervisor.wait()
        except SupervisionError as error:
            self._fail(str(error))

    def _kill_server(self) -> None:
        if self._embedded:
            self._message("the server does not answer: killing it")
            self.supervisor.kill(SERVER)

    def _fail(self, reason: str) -> None:
        self._failure = reason
        self._failed.set()
