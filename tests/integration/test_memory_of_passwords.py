"""The memory of web processes does not grow with the threads that have hashed passwords."""

import os
import subprocess
import sys

MAX_GROWTH_BYTES = 30 * 1024 * 1024
"""Two hashes at once take 38 MiB, which must be returned when they are done."""

EACH_THREAD_HASHES = """
import resource
from threading import Thread
from events.people.passwords import Passwords

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

passwords = Passwords()
before = resident()
for _ in range(5):
    # All threads are alive at once, as in a web process, and each has an arena of the allocator.
    threads = [Thread(target=lambda: [passwords.hash("correct horse") for _ in range(4)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(resident() - before)
"""


def test_blocks_of_hashed_passwords_are_returned_to_the_system() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    printed = subprocess.run(
        [sys.executable, "-c", EACH_THREAD_HASHES], capture_output=True, check=True, text=True, env=environment
    ).stdout
    assert int(printed) < MAX_GROWTH_BYTES
