"""Processes of this machine, seen from outside."""

from pathlib import Path


def alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and waits to be asked how does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processes_below(parent: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [parent]
    while waiting:
        waiting += (below := children.get(waiting.pop(), []))
        found += below
    return found
