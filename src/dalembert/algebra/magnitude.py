"""How large an exact number may be: what has more digits was not measured and cannot be read."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeVar

from dalembert.errors import BadExpression

MOST_DIGITS: Final = 4000
_MOST_BITS: Final = int(MOST_DIGITS * math.log2(10))

Exact = TypeVar("Exact", int, Fraction, int | Fraction)


def checked_size(x: Exact) -> Exact:
    """The number itself, unless it has too many digits."""
    if x.numerator.bit_length() > _MOST_BITS or x.denominator.bit_length() > _MOST_BITS:
        digits = int(max(x.numerator.bit_length(), x.denominator.bit_length()) / math.log2(10))
        msg = f"a number of about {digits} digits: numbers are exact here, and may have at most {MOST_DIGITS}; round it, or give a float"
        raise BadExpression(msg)
    return x
