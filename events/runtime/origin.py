"""Where work comes from: the request that caused it, and its trace, carried by feed pointers and task headers.

A hint for operators in logs and spans: no event has it, nothing depends on it.
"""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple

from events.runtime import tracing

TASK_HEADER = "rookery_origin"

_work_fields: ContextVar[Mapping[str, str]] = ContextVar("work_fields", default=MappingProxyType({"request": ""}))
"""The origin of the work of this thread or greenlet: the id of the request (empty: unknown), fields of log lines."""


class Origin(NamedTuple):
    """The id of the request that caused something, and the traceparent of the span in which; empty: unknown."""

    request: str = ""
    trace: str = ""

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """Return the origin that was formatted as ``text``."""
        request, _, trace = text.partition(" ")
        return cls(request, trace)

    def __str__(self) -> str:
        """Return the origin as the feed and tasks carry it; empty when nothing is known."""
        return f"{self.request} {self.trace}" if self.trace else self.request


def current() -> Origin:
    """Return the origin of the present work of this thread or greenlet."""
    return Origin(_work_fields.get()["request"], tracing.traceparent())


def add_origin(_: object, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add to a log line (structlog) the request and the match that it is about, where they are known."""
    for name, value in _work_fields.get().items():
        if value:
            line.setdefault(name, value)
    return line


class _Work:
    """The block of ``request``; a class, since each event is handled in several such blocks."""

    __slots__ = ("_fields", "_token")

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields
        self._token: Token[Mapping[str, str]] | None = None

    def __enter__(self) -> None:
        self._token = _work_fields.set({**_work_fields.get(), **self._fields})

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._token is not None:
            _work_fields.reset(self._token)


def request(id: str, **fields: str) -> AbstractContextManager[None]:
    """Work for the request ``id`` while the block lasts: log lines name it, and ``fields``."""
    return _Work({"request": id, **fields})


def following(origins: Iterable[str], work: str, **fields: str) -> AbstractContextManager[None]:
    """Do ``work``, in a trace of its own with links to all ``origins`` (formatted), for the last of their requests."""
    texts = [text for text in origins if text]
    last = request(Origin.parse(texts[-1]).request if texts else "", **fields)
    return _traced(last, texts, work, fields) if tracing.is_on() else last


@contextmanager
def _traced(last: AbstractContextManager[None], texts: list[str], work: str, fields: dict[str, str]) -> Iterator[None]:
    links = [trace for text in dict.fromkeys(texts) if (trace := Origin.parse(text).trace)]
    with tracing.span(work, links=links, new_trace=True, **fields), last:
        yield
