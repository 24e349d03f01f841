"""Names that the parts of an installation share: consumer groups of the feed, queues of the broker."""

from enum import StrEnum


class ConsumerGroup(StrEnum):
    """A consumer group of the feed: each gets every event once."""

    PROJECTIONS = "projections"
    TASKS = "tasks"
    EFFECTS = "effects"


class Queue(StrEnum):
    """A queue of Celery, named after the prefix of the installation in the broker."""

    DEFAULT = "default"
    QUICK_OPPONENTS = "opponents-quick"
    OPPONENTS = "opponents"
    LONG_OPPONENTS = "opponents-long"
    NOTICES = "notices"
    FLEET = "fleet"

    def name_in_broker(self, prefix: str) -> str:
        """Return the name of the queue in the broker of the installation with the key ``prefix``."""
        return f"{prefix}{self}"
