"""Standard error on a disk without room, as an installation has it whose logs have filled the disk."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest


@contextmanager
def full_log() -> Iterator[None]:
    """Let every write to standard error fail until the block ends."""
    with io.TextIOWrapper(io.FileIO("/dev/full", "w"), write_through=True) as full:
        with pytest.raises(OSError, match="No space left"):
            full.write("it is really full\n")
        with mock.patch.object(sys, "stderr", full):
            yield
