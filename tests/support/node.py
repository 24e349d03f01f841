"""Node.js, which runs the scripts of the pages in tests; a package of the development environment brings it."""

import sysconfig
from pathlib import Path

NODE = str(Path(sysconfig.get_path("scripts")) / "node")
"""The program."""
