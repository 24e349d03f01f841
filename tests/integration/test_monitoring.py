"""Alert rules and dashboard: every metric they name is in a real scrape, and what they ask for is explained."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from tests.support.callers import Caller
from tests.support.programs import UNPACKED
from tests.support.tables import table

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "deploy" / "monitoring"
DOCS = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
RULES = yaml.safe_load((MONITORING / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]
PANELS = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))["panels"]
SHOWN = [target["expr"] for panel in PANELS for target in panel["targets"]]
SEVERITIES = {"page", "ticket"}
PROMTOOL = shutil.which("promtool") or shutil.which("promtool", path=UNPACKED / "usr" / "bin")
judged = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed here: `make programs` says why")


@pytest.fixture
def scraped(app: Flask) -> set[str]:
    """Return the names of all series of a scrape, those without a value at the moment, too."""
    Caller(app).get("/matches?limit=none")  # a problem that is counted
    names = set()
    for family in text_string_to_metric_families(app.test_client().get("/metrics").text):
        ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        names |= {f"{family.name}{end}" for end in ends}
    return names


def named(expression: str) -> set[str]:
    """Return the metrics of Rookery in a PromQL expression."""
    return set(re.findall(r"\brookery_\w+", expression))


def test_every_metric_that_an_alert_or_a_panel_names_is_in_a_scrape(scraped: set[str]) -> None:
    expressions = [*SHOWN, *(rule["expr"] for rule in RULES)]
    assert all(named(expression) for expression in expressions)
    assert set().union(*map(named, expressions)) - scraped == set()


def test_every_metric_is_explained_to_operators(scraped: set[str]) -> None:
    families = {re.sub("_(bucket|sum|count)$", "", name) for name in scraped}
    assert {name for name in families if f"`{name}`" not in DOCS and f"`{name}{{" not in DOCS} == set()
    assert set(re.findall(r"`(rookery_\w+)", DOCS)) - families == set(), "metrics that there are not"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_has_happened_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in SEVERITIES
    notes = rule["annotations"]
    assert notes["summary"].endswith(".") or "{{" in notes["summary"]
    assert len(notes["action"].split()) >= 5
    assert notes["runbook"] == "docs/operators.md#alerts"
    assert f"`{rule['alert']}`" in DOCS
    assert "\n### Alerts\n" in DOCS


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@judged
def test_promtool_accepts_the_configuration_the_rules_and_what_the_dashboard_asks(tmp_path: Path) -> None:
    asked = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(SHOWN)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": asked}]}))
    for kind, path in (("config", MONITORING / "prometheus.yaml"), ("rules", tmp_path / "panels.yaml")):
        checked = subprocess.run([PROMTOOL, "check", kind, str(path)], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr


@judged
def test_alerts_fire_when_they_should_and_not_when_one_process_only_cannot_see(tmp_path: Path) -> None:
    cases = table(__file__, "series, one value a minute, and whether the alert fires at their end")
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)',
                    "eval_time": "45m",
                    "exp_samples": [{"value": int(fires)}],
                }
            ],
        }
        for alert, series, fires in cases
    ]
    path = tmp_path / "tests.yaml"
    path.write_text(yaml.safe_dump({"rule_files": [str(MONITORING / "alerts.yaml")], "tests": tests}))
    checked = subprocess.run([PROMTOOL, "test", "rules", str(path)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
