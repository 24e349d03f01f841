"""Jobs as a worker does them, with what it has connected to by itself."""

from api.services import Services
from tests.support.callers import Caller, settings_for
from tests.support.jobs import do_next_job
from tests.support.server import RealServer
from workers.tasks import TaskContext


def test_a_worker_makes_the_archive_that_was_asked_for(server: RealServer, services: Services, anna: Caller) -> None:
    assert anna.post("/me/archive").status_code == 202
    context = TaskContext(settings_for(server.url))
    assert do_next_job(context) == (anna.id, "archive")
    assert services.jobs.pending(anna.id) is None
    assert services.jobs.archive(anna.id) == anna.get("/me/archive").data
