"""Health checks for operators."""

import json
from collections.abc import Mapping

from flask import Flask, Response

from api.http.answers import instant, json_response
from api.http.problems import problem_of
from api.services import services
from events.runtime.errors import OtherStoreError, StoreError
from events.runtime.liveness import MAX_SILENCE_S
from events.runtime.wall_clock import rfc3339
from events.store.contract import WrongInstallationError, describe_offset
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

MAX_INCIDENTS = 5


def register(app: Flask) -> None:
    """Add /healthz and /readyz to ``app``."""
    app.add_url_rule("/healthz", "healthz", healthz)
    app.add_url_rule("/readyz", "readyz", readyz)


def healthz() -> Response:
    """Answer that the process is up."""
    return json_response({"status": "up"})


def readyz() -> Response:
    """Answer whether the process can work: its store responds and was installed as this process expects.

    It cannot while its own clock is wrong. It can while no process keeps the clocks of matches: ``clocks_kept_at`` is
    when one last did. ``impaired`` names the parts of the installation that do not work, each with the reason,
    ``provisional_outages`` the outages that an operator has yet to confirm (``rookery clocks``), and ``incidents`` what
    the installation has lost recently.
    """
    try:
        store, heartbeat = services().store, services().heartbeat
        installation = store.installation()
        if store.clock is not None:
            store.clock.refuse(store.clock.offset_ms())
        kept_at, provisional = instant(heartbeat.last_beat()), heartbeat.provisional()
        incidents = services().incidents.all()
        impaired = _impaired(services().liveness.ages_s()) | _wrong_clocks(heartbeat.offsets())
        if shortages := store.copies.shortages():
            impaired["replicas"] = "; ".join(shortages)
    except (WrongInstallationError, OtherStoreError) as error:
        return json_response({"status": "wrong-installation", "detail": str(error)}, 503)
    except StoreError as error:
        problem = problem_of(error)
        answer = {"status": problem.code, "detail": problem.detail, "impaired": _impaired_programs()}
        return json_response(answer, 503, problem.headers)
    return json_response(
        {
            "status": "ready",
            "installation": installation.id,
            "shards": installation.shards,
            "clocks_kept_at": kept_at,
            "impaired": impaired,
            "provisional_outages": [
                {"since": rfc3339(outage.since), "until": rfc3339(outage.until)} for outage in provisional
            ],
            "incidents": [
                {"at": instant(incident.at), "words": incident.words} for incident in incidents[-MAX_INCIDENTS:]
            ],
        }
    )


def _impaired(ages_s: Mapping[str, float]) -> dict[str, str]:
    silent = [f"{consumer} for {age:.0f} s" for consumer, age in ages_s.items() if age > MAX_SILENCE_S]
    impaired = {"relay": f"no progress: {', '.join(silent)}"} if silent else {}
    return impaired | _impaired_programs()


def _impaired_programs() -> dict[str, str]:
    """Return the report of the supervisor about its programs, if there is one."""
    path = services().settings.impairments_file
    if path is None:
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        return {"supervisor": f"its report cannot be read: {error}"}


def _wrong_clocks(offsets_ms: Mapping[str, int]) -> dict[str, str]:
    return {
        name: f"keeps no time: its clock is {describe_offset(offset)} the store's"
        for name, offset in offsets_ms.items()
        if abs(offset) > MAX_CLOCK_DIFFERENCE_MS
    }
