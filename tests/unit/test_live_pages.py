"""What the pages know of events without asking: a browser hears only the types that it names."""

import re
from pathlib import Path

from domain.match.event_types import TYPES

LIVE = Path(__file__).parents[2] / "api/pages/static/live.js"


def test_a_page_hears_of_every_type_of_event() -> None:
    listed = re.search(r"const EVENTS = \[(.*?)\];", LIVE.read_text(), re.DOTALL)
    assert listed is not None
    assert sorted(re.findall(r'"([a-z-]+)"', listed[1])) == sorted(TYPES)
