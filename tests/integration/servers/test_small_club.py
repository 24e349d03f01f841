"""A small simulated year of a club: every check passes, and the audit finds faults."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from domain.contest.schedules import Form
from tests.simulation.club import FOUR_SEATS, Club, ClubYear
from tests.simulation.club_audit import audit_club, report
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from tests.support.tournaments import TWO_SEATS

pytestmark = pytest.mark.timeout(600)

PLANNED = (
    (5, 6, replace(TWO_SEATS, title="Two seats", most=6, at_once=2)),
    (8, 5, replace(FOUR_SEATS, title="Four seats", form=Form.PERFECT, most=5)),
)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClubYear]:
    directory: Path = tmp_path_factory.mktemp("club")
    server = RealServer(directory)
    yield Club(SteppedInstallation(server.url), 2, tournaments=PLANNED, least_days=0).play()
    server.close()


def test_all_that_must_hold_for_tournaments_seeks_and_notices_holds(year: ClubYear) -> None:
    made, findings = audit_club(year)
    assert findings == []
    assert made["lots, pairings and table follow from the bundle"] == 2
    assert made["every pairing is over"] == 20
    assert made["no match is started twice"] > 20
    text = "\n".join(report(year))
    assert "Four seats" in text
    assert "mails in a week" in text
    assert sum(year.mails.values()) > 100


def test_the_audit_finds_what_is_told_twice(year: ClubYear) -> None:
    _, findings = audit_club(year._replace(notices=[*year.notices, year.notices[0]], mails=Counter()))
    assert {finding.check for finding in findings} == {"nobody is told of a fact twice"}
