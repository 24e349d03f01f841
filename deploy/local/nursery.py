"""The nursery imports the product once, and forks each part of an installation when the supervisor asks for it.

A part is like ``python -m MODULE ARGUMENTS`` without the time and the memory of its imports. Started as ``python -m
deploy.local.nursery DESCRIPTOR``, a socket on which requests arrive (``deploy.local.forks``). It ends with the
supervisor, and the parts end with it.

Crash-safe: a fork has one thread only, every lock as it was at that moment, and all connections of the process. So
nothing here starts a thread, opens a socket, makes a client of the store or an application of Celery before the fork:
modules are imported, which does none of that, and the functions of the product are called in the parts alone.
"""

import ctypes
import gc
import json
import os
import runpy
import select
import socket
import sys
from contextlib import suppress
from importlib import import_module

from deploy.local.die_with_parent import bind_to_parent
from deploy.local.forks import NURSERY
from events.runtime.beats import DESCRIPTOR, INTERVAL_S

MODULES = (
    "api.live.stream", "api.wsgi", "celery.app.amqp", "celery.app.events", "celery.app.log", "celery.apps.worker",
    "celery.backends.base", "celery.concurrency.prefork", "celery.concurrency.thread", "celery.events.receiver",
    "celery.fixups.django", "celery.worker.components", "celery.worker.strategy", "deploy.cli.gateway",
    "deploy.cli.services", "deploy.production.stream_worker", "deploy.production.web_worker", "encodings.idna",
    "fsspec.implementations.local", "gunicorn.app.wsgiapp", "gunicorn.glogging", "kombu.pidbox",
    "kombu.transport.redis",
)  # fmt: skip
"""Modules that the parts import or load by name."""

MAX_REQUEST_BYTES = 1 << 20
MAX_DESCRIPTORS = 16
PR_SET_NAME = 15


class Nursery:
    """Forks parts for the sender of ``requests``, and reports how they have ended; ``beats`` is its pipe for beats."""

    def __init__(self, requests: socket.socket, beats: int) -> None:
        self._requests = requests
        self._beats = beats
        self._running: dict[int, tuple[int, socket.socket]] = {}
        """Process ids and reports by the descriptor that is ready when the process has ended."""

    def serve(self) -> None:
        """Fork and report until the sender of the requests has ended; in a part, do its work."""
        while True:
            os.write(self._beats, f"{os.getpid()} requests 0\n".encode())
            ready = select.poll()
            for descriptor in (self._requests.fileno(), *self._running):
                ready.register(descriptor, select.POLLIN)
            for descriptor, _ in ready.poll(1000 * INTERVAL_S):
                if descriptor in self._running:
                    self._report_end(descriptor)
                    continue
                request, descriptors, _, _ = socket.recv_fds(self._requests, MAX_REQUEST_BYTES, MAX_DESCRIPTORS)
                if not request:
                    return
                self._fork(request, descriptors)

    def _fork(self, request: bytes, descriptors: list[int]) -> None:
        nursery, pid = os.getpid(), os.fork()
        if not pid:
            bind_to_parent(nursery)
            for shared in (self._requests, *(report for _, report in self._running.values())):
                shared.close()
            for descriptor in (self._beats, *self._running):
                os.close(descriptor)
            report_start(descriptors[0])
            run_part(request, descriptors[1:])
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        self._running[os.pidfd_open(pid)] = pid, socket.socket(fileno=descriptors[0])

    def _report_end(self, end: int) -> None:
        pid, report = self._running.pop(end)
        os.close(end)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with report, suppress(OSError):
            report.send(str(status).encode())


def report_start(descriptor: int) -> None:
    """Report the process id of this part, and a descriptor that watches it; end it if it is no longer wanted.

    The part itself does so, before anything else: one that runs can be stopped.
    """
    end = os.pidfd_open(os.getpid())
    try:
        with socket.socket(fileno=descriptor) as report:
            socket.send_fds(report, [str(os.getpid()).encode()], [end])
    except OSError:
        os._exit(0)
    os.close(end)


def run_part(request: bytes, descriptors: list[int]) -> None:
    """Be the part of a request, with the ``descriptors`` of its log and its beats; does not return."""
    part = json.loads(request)
    os.setsid()
    name_process(part["name"])
    log, *beats = descriptors
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    del os.environ[DESCRIPTOR]
    os.environ.update(part["environment"])
    if beats:
        os.environ[DESCRIPTOR] = str(beats[0])
    module, *sys.argv[1:] = part["arguments"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit()


def name_process(name: str) -> None:
    """Let ``ps`` and ``top`` show this process as ``name``; its command line stays that of the nursery."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def main() -> None:
    """Import the modules of the parts, then serve."""
    name_process(NURSERY)
    gc.disable()
    for module in MODULES:
        import_module(module)
    import_module("deploy.production.stream_worker").remember_names()
    gc.collect()
    gc.freeze()  # a collection in a part would write to the pages that it shares with all others
    gc.enable()
    Nursery(socket.socket(fileno=int(sys.argv[1])), int(os.environ[DESCRIPTOR])).serve()


if __name__ == "__main__":
    main()
