"""Fleet jobs done in the process of a test."""

from events.installation import Installation
from events.runtime.settings import Settings
from workers.fleet.kinds import REBUILD
from workers.fleet.rebuild import Rebuilt
from workers.fleet.work import run_here


def rebuild(settings: Settings) -> Rebuilt:
    """Rebuild all read models; return what was read."""
    total = Rebuilt()
    for rebuilt in run_here(Installation(settings), REBUILD, {}):
        total = total.plus(rebuilt)
    return total
