"""Events for tests of the store, which does not care what they mean."""

from collections.abc import Iterable

from events.store.contract import Appended, EventStore, Request
from events.store.envelope import Draft


def draft(number: int = 1, **content: object) -> Draft:
    """Return the draft of an event, told apart from others by ``number``."""
    return Draft(
        "move-submitted", 1, 1_700_000_000_000 + number, "alice",
        content or {"seat": 0, "ply": number, "move": f"a{number}"},
    )  # fmt: skip


def drafts(count: int) -> list[Draft]:
    """Return ``count`` drafts."""
    return [draft(number) for number in range(1, count + 1)]


def request(key: object) -> Request:
    return Request(str(key), f"content of {key}")


def grown(store: EventStore, stream: str, sizes: Iterable[int]) -> list[Appended]:
    """Append to ``stream`` as many times as there are ``sizes``, that many events each, and return what was written."""
    appends: list[Appended] = []
    head = store.head(stream)
    for size in sizes:
        appended = store.append(stream, head, drafts(size), request(f"{head.version}+{size}"))
        head = appended.head
        appends.append(appended)
    return appends
