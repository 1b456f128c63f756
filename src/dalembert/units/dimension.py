"""kg^a m^b s^c: a dimension as the exponents of mass, length and time."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

# exponents of kg, m, s; an angle has none
Dimension = tuple[Fraction, Fraction, Fraction]

NONE: Final[Dimension] = (Fraction(0), Fraction(0), Fraction(0))
_BASE: Final = ("kg", "m", "s")


def dimension(kg: int = 0, m: int = 0, s: int = 0) -> Dimension:
    """kg^a m^b s^c"""
    return Fraction(kg), Fraction(m), Fraction(s)


MASS, LENGTH, TIME = dimension(kg=1), dimension(m=1), dimension(s=1)
FORCE, ENERGY = dimension(1, 1, -2), dimension(1, 2, -2)
# dimensions that have a name of their own; a torque is written N m, an energy J, so that neither is taken for the other
_NAMED: Final = {
    dimension(1, 1, -2): "N",
    dimension(1, 2, -2): "N m",
    dimension(1, 2, -3): "W",
    dimension(1, 0, -2): "N/m",
    dimension(1, 2, -1): "N m s",
    dimension(1, 0, -1): "N s/m",
    dimension(1, -1, -2): "Pa",
    dimension(1, 3, -2): "N m²",
}
_SMALL: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def unit_text(d: Dimension) -> str:
    """kg m²/s², or "" for what has no dimension."""
    if d in _NAMED:
        return _NAMED[d]
    over = " ".join(_power(b, e) for b, e in zip(_BASE, d, strict=True) if e > 0)
    under = " ".join(_power(b, -e) for b, e in zip(_BASE, d, strict=True) if e < 0)
    if not under:
        return over
    return f"{over or '1'}/{under}" if " " not in under else f"{over or '1'}/({under})"


def ascii_unit(d: Dimension) -> str:
    """kg*m**2/s**2, as it is typed."""
    over = "*".join(b if e == 1 else f"{b}**{e}" for b, e in zip(_BASE, d, strict=True) if e > 0)
    under = "".join(f"/{b}" if e == -1 else f"/{b}**{-e}" for b, e in zip(_BASE, d, strict=True) if e < 0)
    return (over or "1" if under else over) + under


def labelled(name: str, unit: str) -> str:
    """x [m], or the name alone where no unit is known."""
    return f"{name} [{unit}]" if unit else name


def words(d: Dimension) -> str:
    """The unit in a sentence, told apart from a symbol of that name: "[m]", or "no dimension"."""
    return f"[{unit_text(d)}]" if unit_text(d) else "no dimension"


def _power(base: str, e: Fraction) -> str:
    if e == 1:
        return base
    return base + str(e).translate(_SMALL) if e.denominator == 1 else f"{base}^({e})"
