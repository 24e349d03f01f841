"""The kill switch of the service worker: it is replaced by one that removes itself and all that it keeps."""

import pytest

from api.app import create_app
from events.runtime.settings import Settings


@pytest.mark.parametrize(("is_on", "act"), [(True, "respondWith"), (False, "unregister()")])
def test_the_worker_is_served_uncached_and_replaced_where_it_is_switched_off(is_on: bool, act: str) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    settings = Settings(nowhere, nowhere, "rk:", "http://127.0.0.1:8001", False, shards=None, page_worker=is_on)
    served = create_app(settings).test_client().get("/service-worker.js")
    assert served.headers["Cache-Control"] == "no-cache"
    assert act in served.text
    assert ("respondWith" in served.text) is is_on
