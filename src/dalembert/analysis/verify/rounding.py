"""0.667 → 2/3: the simplest fraction that a decimal rounds."""

from __future__ import annotations

from fractions import Fraction

from dalembert.analysis.verify.reading import Decimal

LARGEST_DENOMINATOR = 60


def round_to(decimal: Decimal) -> Fraction:
    """The fraction of the smallest denominator that gives the decimal when rounded; itself where
    there is none.
    """
    half = Fraction(1, 2 * 10**decimal.digits)
    if decimal.digits < 2:
        return decimal.value
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        numerator = round(decimal.value * denominator)
        candidate = Fraction(numerator, denominator)
        if abs(candidate - decimal.value) <= half:
            return candidate
    return decimal.value
