"""A Celery application whose only task does nothing: the reference for the rebuild."""

import os

from celery import Celery

app = Celery("nothing", broker=os.environ["BROKER_URL"])
app.conf.update(task_ignore_result=True, worker_enable_remote_control=False, worker_send_task_events=False)


@app.task(name="nothing")  # type: ignore[untyped-decorator]
def nothing() -> None:
    """Do nothing."""
