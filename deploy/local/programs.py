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

    With ``mail`` there is a gateway for incoming mail. Opponents search in processes of their own, which can be killed
    when they take too long. One worker only takes the quick answers, so that these never wait for slow ones.
    """
    rookery = [sys.executable, "-m", "deploy.cli"]
    searching = ["--processes", str(opponents)]
    gateway = [*rookery, "gateway", "--bind", bind, "--port", str(ports.mail)]
    stream_worker = ["--worker-class", "deploy.production.stream_worker.StreamWorker", "--workers", "1"]
    stream_limits = ["--worker-connections", "5000", "--keep-alive", "30"]
    return [
        Program("relay", [*rookery, "relay"], beats=True),
        Program("worker", [*rookery, "work", Queue.DEFAULT], beats=True),
        Program("notices", [*rookery, "work", Queue.NOTICES], beats=True),
        Program("opponents-quick", [*rookery, "work", Queue.QUICK_OPPONENTS], beats=True),
        Program("opponents", [*rookery, "work", *searching, Queue.OPPONENTS, Queue.QUICK_OPPONENTS], beats=True),
        Program("fleet", [*rookery, "work", Queue.FLEET], beats=True),
        _web_program("api", var, bind, ports.api, ["--preload", "api.wsgi:create_app()"]),
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
