"""The programs of an installation, beside the embedded server."""

import sys
from pathlib import Path

from deploy.local.child import Program
from deploy.local.environment import ROOT
from deploy.local.ports import Ports, url_host
from events.runtime.queues import Queue

GUNICORN = ROOT / "deploy" / "production" / "gunicorn.conf.py"
IMPAIRED_FILE = "impaired.json"
"""Which parts are impaired, for ``/readyz``."""


def programs(var: Path, ports: Ports, bind: str, opponents: int, mail: bool) -> list[Program]:
    """Return the programs, in the order in which they start; ``opponents`` processes search for the opponents' moves.

    One worker does all short tasks, in threads. Opponents search in processes of their own, which can be killed when
    they take too long, from the first match against one whose answers are not quick; searches of minutes, and jobs over
    all matches or for people, run apart, too, when there is one. With ``mail`` there is a gateway for incoming mail.
    """
    rookery = [sys.executable, "-m", "deploy.cli"]
    short = [Queue.DEFAULT, Queue.NOTICES, Queue.QUICK_OPPONENTS]
    searching = ["--processes", str(opponents), Queue.OPPONENTS, Queue.QUICK_OPPONENTS]
    gateway = [*rookery, "gateway", "--bind", bind, "--port", str(ports.mail)]
    stream_worker = ["--worker-class", "deploy.production.stream_worker.StreamWorker", "--workers", "1"]
    stream_limits = ["--worker-connections", "5000", "--keep-alive", "30"]
    return [
        Program("relay", [*rookery, "relay"], beats=True),
        Program("worker", [*rookery, "work", *short], beats=True),
        Program(Queue.OPPONENTS, [*rookery, "work", *searching], beats=True, on_demand=True),
        Program(Queue.LONG_OPPONENTS, [*rookery, "work", Queue.LONG_OPPONENTS], beats=True, on_demand=True),
        Program(Queue.FLEET, [*rookery, "work", Queue.FLEET], beats=True, on_demand=True),
        _web_program("api", var, bind, ports.api, ["--workers", "1", "--preload", "api.wsgi:create_app()"]),
        _web_program(
            "stream", var, bind, ports.stream, [*stream_worker, *stream_limits, "api.live.stream:create_app()"]
        ),
        *([Program("gateway", gateway, beats=True)] if mail else []),
    ]


def _web_program(name: str, var: Path, bind: str, port: int, options: list[str]) -> Program:
    command = [sys.executable, "-m", "gunicorn", "--config", str(GUNICORN), "--chdir", str(ROOT)]
    environment = {
        "PROMETHEUS_MULTIPROC_DIR": str(var / "metrics" / name),
        "ROOKERY_IMPAIRED": str(var / IMPAIRED_FILE),
    }
    return Program(name, [*command, "--bind", f"{url_host(bind)}:{port}", *options], environment, beats=True)
