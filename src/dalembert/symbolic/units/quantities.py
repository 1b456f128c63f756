"""Fifty centimetres, "50 cm", are 1/2 and m: dimensions kg^a m^b s^c, and numbers with units, read
by pint in exact fractions.

Offset units and Hz are refused: 20 °C is no multiple of a kelvin, and 50 Hz would be taken for 50
rad/s.
"""

from __future__ import annotations

import functools
import math
import re
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dalembert.errors import BadDescription, warn

# exponents of kg, m, s; an angle has none
Dimension = tuple[Fraction, Fraction, Fraction]

DIMENSIONLESS: Final[Dimension] = (Fraction(0), Fraction(0), Fraction(0))
_BASE: Final = ("kg", "m", "s")


def dimension(kg: int = 0, m: int = 0, s: int = 0) -> Dimension:
    """kg^a m^b s^c"""
    return Fraction(kg), Fraction(m), Fraction(s)


MASS, LENGTH, TIME = dimension(kg=1), dimension(m=1), dimension(s=1)
FORCE, ENERGY = dimension(1, 1, -2), dimension(1, 2, -2)
# dimensions that have a name of their own; a torque is written N m, an energy J, so that neither is
# taken for the other
_NAMED_UNITS: Final = {
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
    if d in _NAMED_UNITS:
        return _NAMED_UNITS[d]
    over = " ".join(_power(b, e) for b, e in zip(_BASE, d, strict=True) if e > 0)
    under = " ".join(_power(b, -e) for b, e in zip(_BASE, d, strict=True) if e < 0)
    if not under:
        return over
    return f"{over or '1'}/{under}" if " " not in under else f"{over or '1'}/({under})"


def ascii_unit(d: Dimension) -> str:
    """kg*m**2/s**2, as it is typed."""
    over = "*".join(b if e == 1 else f"{b}**{e}" for b, e in zip(_BASE, d, strict=True) if e > 0)
    under = "".join(
        f"/{b}" if e == -1 else f"/{b}**{-e}" for b, e in zip(_BASE, d, strict=True) if e < 0
    )
    return (over or "1" if under else over) + under


def label_with_unit(name: str, unit: str) -> str:
    """x [m], or the name alone where no unit is known."""
    return f"{name} [{unit}]" if unit else name


def dimension_text(d: Dimension) -> str:
    """The unit in a message, distinct from a symbol of that name: "[m]", or "no dimension"."""
    return f"[{unit_text(d)}]" if unit_text(d) else "no dimension"


def _power(base: str, e: Fraction) -> str:
    if e == 1:
        return base
    return base + str(e).translate(_SMALL) if e.denominator == 1 else f"{base}^({e})"


LONGEST: Final = 100
_MECHANICS: Final = {"[mass]": 0, "[length]": 1, "[time]": 2}
_NUMBER_AND_UNIT: Final = re.compile(
    r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?(?:\s*/\s*[0-9]+)?)\s*(.*?)\s*$",
    re.DOTALL,
)
# what a unit may be made of: names, products, quotients, integer powers
_UNIT: Final = re.compile(r"[A-Za-zµμΩ°%·*/^() 0-9.⁻⁰¹²³⁴⁵⁶⁷⁸⁹-]*$")
_DECIMAL_COMMA: Final = re.compile(r"\s*[-+]?\d+,\d+\s*\D*$")
_WORDS: Final = re.compile(r"[^\W\d_]+")
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


class UnitQuantity(NamedTuple):
    """A number in kg, m, s and rad, and its dimension."""

    value: Fraction
    dimension: Dimension


def has_unit(text: str) -> bool:
    """Whether a text is a number with something behind it."""
    opened = _NUMBER_AND_UNIT.match(text)
    return opened is not None and bool(opened[2]) and opened[2][0] not in "+-*/)"


def parse_quantity(text: str) -> UnitQuantity:
    """The number and the dimension that a text such as "3 N/m" means."""
    if _DECIMAL_COMMA.match(text):
        msg = (
            f"{text!r:.60}: decimals are written with a point, "
            f"{text.strip().replace(',', '.', 1)!r:.60}"
        )
        raise BadDescription(msg)
    opened = _NUMBER_AND_UNIT.match(text) if len(text) <= LONGEST else None
    if opened is None:
        msg = f"{text!r:.60} is no number with a unit; write it as '3 N/m'"
        raise BadDescription(msg)
    over, _, under = opened[1].replace(" ", "").partition("/")
    if under and not int(under):
        msg = f"{text!r:.60}: division by zero"
        raise BadDescription(msg)
    number = Fraction(over) / int(under or 1)
    factor, dimension = parse_unit(opened[2])
    return UnitQuantity(number * factor, dimension)


def parse_number(text: str, wanted: Dimension | None, what: str) -> float:
    """The number of a text such as "30 deg", which must have the dimension that is wanted, where
    that is known.
    """
    parsed_quantity = parse_quantity(text)
    if wanted is not None and parsed_quantity.dimension != wanted:
        msg = (
            f"{what}: {text!r:.60} has {dimension_text(parsed_quantity.dimension)}, but "
            f"{dimension_text(wanted)} is needed"
        )
        raise BadDescription(msg)
    return float(parsed_quantity.value)


@functools.lru_cache(maxsize=512)
def parse_unit(text: str) -> tuple[Fraction, Dimension]:
    """How many kg^a m^b s^c a unit is, and (a, b, c)."""
    _check_unit_text(text)
    pint, registry = _registry()
    try:
        q = registry.Quantity(
            Fraction(1),
            registry.parse_units(
                re.sub(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + m[0].translate(_RAISED), text)
            ),
        )
        # pint has no public word for it
        base = q.to_base_units() if q._is_multiplicative else None  # noqa: SLF001
    except Exception as problem:  # noqa: BLE001 - whatever pint refuses is refused
        why = (
            "it is not known"
            if isinstance(problem, pint.errors.UndefinedUnitError)
            else "it cannot be read"
        )
        msg = f"unit {text!r:.60}: {why}; write it as 'N/m' or 'kg*m**2'"
        raise BadDescription(msg) from None
    if base is None:
        msg = f"{text!r:.60} has a zero of its own, so it is no unit to multiply with; give kelvins"
        raise BadDescription(msg)
    exponents = [Fraction(0)] * 3
    for name, power in base.dimensionality.items():
        if name not in _MECHANICS:
            msg = (
                f"unit {text!r:.60}: {name.strip('[]')} is no dimension of mechanics; masses, "
                f"lengths, times and angles are"
            )
            raise BadDescription(msg)
        exponents[_MECHANICS[name]] = Fraction(power).limit_denominator(12)
    return Fraction(base.magnitude), (exponents[0], exponents[1], exponents[2])


def _check_unit_text(text: str) -> None:
    if len(text) > LONGEST or not _UNIT.match(text) or re.search(r"\d{3}|\*\*\s*\*|\^\s*\^", text):
        msg = f"unit {text!r:.60}: it cannot be read; write it as 'N/m' or 'kg*m**2'"
        raise BadDescription(msg)
    if any(word.lower().endswith(("hz", "hertz")) for word in _WORDS.findall(text)):
        msg = f"unit {text!r:.60}: Hz may count turns or radians; write 1/s, rad/s or rpm"
        raise BadDescription(msg)


@functools.cache
def _registry() -> tuple[Any, Any]:
    try:
        import pint
    except ImportError:
        msg = (
            "units are read by pint, which is not installed; pip install dalembert[units], or "
            "give plain numbers"
        )
        raise BadDescription(msg) from None
    return pint, pint.UnitRegistry(
        non_int_type=Fraction, autoconvert_offset_to_baseunit=False, cache_folder=None
    )


# angles as people name them in degrees, all far beyond what a start in radians is
COMMON_DEGREES: Final = frozenset({30, 45, 60, 90, 120, 135, 150, 180, 270, 360})


def warn_if_degrees(name: str, value: Any) -> None:
    """A word about an angle that looks like degrees: it is in radians."""
    warn(
        f"{name} = {value:g} is in radians, {float(abs(value)) / math.tau:.3g} turns; {value:g} "
        f'degrees are written "{value:g} deg"'
    )
