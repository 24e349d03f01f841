"""Programs that tests need and cannot find."""

import pytest

from tests.support.programs import find_program


def test_a_missing_program_is_named_with_how_to_install_it() -> None:
    with pytest.raises(FileNotFoundError, match=r"no-such-program .* `make programs`.*`apt-get install its-package`"):
        find_program(["no-such-program"], "its-package", path="/usr/sbin")
