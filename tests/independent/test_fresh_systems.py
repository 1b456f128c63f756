"""Some of the fresh systems of `fresh_systems.py`, with one that was refused: all speeds of a
quaternion frame can be given to a stiff run.
"""

import pytest

from independent.comparison import TOLERANCE
from independent.fresh_systems import attempted


@pytest.mark.parametrize("k", [1009, *range(2, 40, 8), *range(3, 43, 4)])
def test_a_fresh_system_agrees_with_its_reference(k):
    line = attempted(k)
    assert "crash" not in line, line
    assert "refused" not in line, line
    assert {} == {what: x for what, x in line["worst"].items() if not x <= TOLERANCE}
