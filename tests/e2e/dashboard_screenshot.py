"""Take a picture of the dashboard with real series: ``python -m tests.e2e.dashboard_screenshot [DIRECTORY [SECONDS]]``.

A real installation on a primary with two replicas and sentinels is played on, and a real Prometheus (Debian:
``prometheus``) scrapes it. One replica and then the relay are stopped for a while, so that there is something to see.
Grafana is in no package of Debian: the panels of ``dashboard.json`` are drawn here, in their places, from what
Prometheus answers to their own expressions.
"""

import http.cookiejar
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from deploy.local.child import bound_to_parent
from deploy.local.installation import LocalInstallation
from tests.e2e.png import shrunk
from tests.e2e.visitors import chromium
from tests.support.eventually import eventually
from tests.support.server import free_ports
from tests.support.topologies import Watched

MONITORING = Path(__file__).parents[2] / "deploy" / "monitoring"
SCRAPE_INTERVAL_S = 2
PLAYERS = 4
STOPPED_S = 20
"""How long a replica and the relay are stopped; the supervisor replaces the relay before."""

COLOURS = ("#3274d9", "#e0752d", "#56a64b", "#b877d9", "#e02f44", "#37872d", "#8f3bb8", "#c4162a")
COLUMN, ROW, GAP = 60, 34, 8
"""Pixels of a cell of the grid, and between panels."""


class Series(NamedTuple):
    """A line of a panel: its name, and its points as seconds since 1970 and value."""

    name: str
    points: list[tuple[float, float]]


class Player:
    """A person who plays over the API."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(jar)
        self.ask("POST", "/players", {"name": name, "password": f"the secret of {name}"})

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer of the API; raises OSError where it refuses."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._url}/api/v1{path}", content, headers, method=method)  # noqa: S310
        with self._opener.open(request, timeout=10) as answer:
            return json.load(answer)

    def play(self, stop: threading.Event, seed: int) -> None:
        """Play matches against opponents until ``stop`` is set."""
        chance, matches = Random(seed), list[str]()
        while not stop.wait(chance.uniform(0.2, 1.0)):
            with suppress(OSError):
                if len(matches) < 6:
                    seats = [{"kind": "me"}, {"kind": "opponent", "level": chance.choice([1, 2, 3, 5])}]
                    game = {"game": "bashni", "setup": "start", "seats": seats}
                    matches.append(str(self.ask("POST", "/matches", game)["id"]))
                match_id = chance.choice(matches)
                moves = self.ask("GET", f"/matches/{match_id}/legal-moves")["legal_moves"]
                move = chance.choice(moves) if moves and chance.random() > 0.05 else "nonsense"
                self.ask("POST", f"/matches/{match_id}/moves", {"move": move})


class Prometheus:
    """A real Prometheus that scrapes the web servers at ``targets``."""

    def __init__(self, directory: Path, targets: Sequence[str]) -> None:
        config = yaml.safe_load((MONITORING / "prometheus.yaml").read_text(encoding="utf-8"))
        config["global"] = dict.fromkeys(config["global"], f"{SCRAPE_INTERVAL_S}s")
        config["rule_files"] = [str(MONITORING / "alerts.yaml")]
        for job, target in zip(config["scrape_configs"][0]["static_configs"], targets, strict=True):
            job["targets"] = [target.removeprefix("http://")]
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
        (port,) = free_ports(1)
        self._url = f"http://127.0.0.1:{port}/api/v1"
        program = shutil.which("prometheus") or "prometheus"
        places = [f"--config.file={directory}/prometheus.yaml", f"--storage.tsdb.path={directory}/series"]
        command = [program, *places, f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
        self.child = subprocess.Popen(bound_to_parent(command))

    def ask(self, path: str, **parameters: object) -> Any:
        """Return what Prometheus answers; None while it does not."""
        try:
            address = f"{self._url}/{path}?{urllib.parse.urlencode(parameters)}"
            with urllib.request.urlopen(address) as answer:  # noqa: S310
                return json.load(answer)["data"]
        except OSError:
            return None

    def series(self, expression: str, legend: str, since: float, until: float) -> list[Series]:
        """Return the lines that ``expression`` makes, named as ``legend`` says."""
        found = self.ask("query_range", query=expression, start=since, end=until, step=SCRAPE_INTERVAL_S)
        lines = []
        for line in found["result"]:
            name = legend
            for label, value in line["metric"].items():
                name = name.replace(f"{{{{{label}}}}}", value)
            points = [(float(at), float(value)) for at, value in line["values"] if value not in ("NaN", "+Inf")]
            lines.append(Series(name, points))
        return lines


@contextmanager
def traffic(url: str) -> Iterator[None]:
    """Let people play while the block lasts."""
    stop = threading.Event()
    players = [Player(url, f"player{number}") for number in range(PLAYERS)]
    threads = [threading.Thread(target=player.play, args=[stop, seed]) for seed, player in enumerate(players)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def take(directory: Path, seconds: float) -> None:
    """Play for ``seconds``, and take the picture; what fires meanwhile is printed."""
    with tempfile.TemporaryDirectory() as place, Watched(Path(place) / "store") as store:
        os.environ["REDIS_URL"] = store.url
        with LocalInstallation(Path(place) / "var") as installation:
            prometheus = Prometheus(Path(place), [installation.url, installation.stream_url])
            try:
                eventually(lambda: prometheus.ask("targets"), "Prometheus")
                since = time.time()
                with traffic(installation.url):
                    disturb(store, seconds, prometheus)
                page = draw(prometheus, since, time.time())
            finally:
                prometheus.child.terminate()
                prometheus.child.wait()
    with chromium() as browser:
        shown = browser.new_page(viewport={"width": 24 * COLUMN + GAP, "height": 800})
        shown.set_content(page)
        (directory / "dashboard.png").write_bytes(shrunk(shown.screenshot(full_page=True)))


def disturb(store: Watched, seconds: float, prometheus: Prometheus) -> None:
    """Stop a replica, then the relay; about ``seconds`` in all."""
    replica = next(number for number in range(len(store.servers)) if number != store.primary())
    time.sleep(seconds / 4)
    store.pause(replica)
    time.sleep(STOPPED_S)
    tell_alerts(prometheus)
    store.resume(replica)
    time.sleep(seconds / 4)
    stop_relay(store.url)
    time.sleep(STOPPED_S)
    tell_alerts(prometheus)
    time.sleep(seconds / 4)


def tell_alerts(prometheus: Prometheus) -> None:
    """Print the alerts that fire, or that would soon."""
    alerts = prometheus.ask("alerts")["alerts"]
    print("alerts:", sorted({f"{each['labels']['alertname']} {each['state']}" for each in alerts}))


def stop_relay(store_url: str) -> None:
    """Stop the relays of the store."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"relay" in words and store_url.encode() in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGSTOP)


def draw(prometheus: Prometheus, since: float, until: float) -> str:
    """Return the dashboard as a page."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    cards = []
    for panel in dashboard["panels"]:
        lines = []
        for target in panel["targets"]:
            lines += prometheus.series(target["expr"], target["legendFormat"], since, until)
        cards.append(_card(panel, [line for line in lines if line.points], since, until))
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"]) * ROW + 3 * ROW
    version = prometheus.ask("status/buildinfo")["version"]
    told = (
        f"The panels of deploy/monitoring/dashboard.json, drawn without Grafana from {until - since:.0f} s of "
        f"Prometheus {version}; first a replica was stopped for {STOPPED_S} s, "
        "then the relay until the supervisor replaced it."
    )
    heading = f"<h1>{escape(dashboard['title'])}</h1><p>{escape(told)}</p>"
    return f"<style>{_STYLE}</style><body style='height:{height}px'>{heading}{''.join(cards)}"


_STYLE = """
body { background: #f4f5f5; font: 12px sans-serif; margin: 0; position: relative }
h1 { font-size: 20px; margin: 8px 8px 2px } p { margin: 0 8px; color: #555 }
section { position: absolute; background: #fff; border: 1px solid #ddd; box-sizing: border-box; overflow: hidden }
h2 { font-size: 13px; margin: 6px 8px } h2 small { color: #777; font-weight: normal }
.value { font-size: 38px; text-align: center; padding-top: 12px } .legend { padding: 0 8px; line-height: 1.4 }
svg text { font: 10px sans-serif; fill: #555 }
"""


def _card(panel: dict[str, Any], lines: Sequence[Series], since: float, until: float) -> str:
    place, unit = panel["gridPos"], panel["fieldConfig"]["defaults"]["unit"]
    width, height = place["w"] * COLUMN - GAP, place["h"] * ROW - GAP
    style = f"left:{place['x'] * COLUMN + GAP}px;top:{place['y'] * ROW + 2 * ROW}px;width:{width}px;height:{height}px"
    if not lines:
        content = "<p>No value yet</p>"
    elif panel["type"] == "stat":
        content = f"<div class=value>{_format(lines[0].points[-1][1], unit)}</div>"
    else:
        content = _plot(lines, unit, (since, until), (width, height - 70)) + _legend(lines)
    title = f"{escape(panel['title'])} <small>{escape(panel['description'])}</small>"
    return f"<section style='{style}'><h2>{title}</h2>{content}</section>"


def _plot(lines: Sequence[Series], unit: str, span: tuple[float, float], size: tuple[int, int]) -> str:
    (since, until), (width, height), left = span, size, 64
    values = [value for line in lines for _, value in line.points]
    low, high = min(0.0, *values), max(values)
    high = high if high > low else low + 1

    def x(at: float) -> float:
        return left + (at - since) / (until - since) * (width - left - 10)

    def y(value: float) -> float:
        return height - 16 - (value - low) / (high - low) * (height - 26)

    drawn = []
    for share in (0, 0.5, 1):
        value = low + share * (high - low)
        drawn.append(f"<line x1={left} x2={width - 10} y1={y(value)} y2={y(value)} stroke='#eee'/>")
        drawn.append(f"<text x={left - 4} y={y(value) + 3} text-anchor=end>{_format(value, unit)}</text>")
        at = since + share * (until - since)
        clock = time.strftime("%H:%M:%S", time.gmtime(at))
        drawn.append(
            f"<text x={x(at)} y={height - 3} text-anchor={('start', 'middle', 'end')[int(2 * share)]}>{clock}</text>"
        )
    for number, line in enumerate(lines):
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in line.points)
        drawn.append(
            f"<polyline fill=none stroke-width=1.5 stroke='{COLOURS[number % len(COLOURS)]}' points='{points}'/>"
        )
    return f"<svg width={width} height={height}>{''.join(drawn)}</svg>"


def _legend(lines: Sequence[Series]) -> str:
    named = [
        f"<span style='color:{COLOURS[number % len(COLOURS)]}'>&#9644;</span> {escape(line.name)}"
        for number, line in enumerate(lines)
    ]
    return f"<div class=legend>{' &nbsp; '.join(named)}</div>"


def _format(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB" if value >= 2**20 else f"{value / 2**10:.1f} KiB"
    if unit == "percentunit":
        return f"{value:.0%}"
    if unit in ("s", "none"):
        return f"{value * 1000:.0f} ms" if abs(value) < 1 else f"{value:.1f} s"
    return f"{value:.3g}"


if __name__ == "__main__":
    asked = sys.argv[1:]
    take(Path(asked[0] if asked else "docs/screenshots"), float(asked[1]) if len(asked) > 1 else 240)
