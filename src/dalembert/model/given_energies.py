"""T, V, D and q: a system given by its energies alone, as many books do.

There are no bodies then, so nothing that asks for velocities of points applies: what is left is Lagrange's route in its forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dalembert.algebra.exact.field import all_zero
from dalembert.algebra.folds import gradient, symbols_of
from dalembert.algebra.parser import FUNCTIONS, parse
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadDescription
from dalembert.model.registry import Registry, refuse_accelerations, refuse_inputs, scalar

# a name that is no attribute and no function
_NAME: Final = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\w*\s*\()")


def texts(**given: str | None) -> list[str]:
    """T, V and D, each a text or nothing."""
    for what, text in given.items():
        if text is not None and not isinstance(text, str):
            msg = f"from_energies: give {what} as text, such as 'm*x.dot**2/2', not {type(text).__name__}"
            raise BadDescription(msg)
    return [text for text in given.values() if text is not None]


def other_names(s: Registry, written: Iterable[str], values: Iterable[str]) -> list[str]:
    """What stands in the texts and is not declared yet."""
    inside = dict.fromkeys([*values, *(name for text in written for name in _NAME.findall(text))])
    return [name for name in inside if name not in s.symbols and name not in ("t", "pi", "True", "and", "or", *FUNCTIONS)]


def kinetic_energy(s: Registry, T: str | Scalar) -> None:
    """T(q, q̇, t) of a system without bodies, of degree two in the rates at most."""
    if s.bodies:
        msg = f"kinetic energy: {s.bodies[0].name!r} has mass already; a system is given by its bodies or by its energies"
        raise BadDescription(msg)
    s.kinetic.append(_checked(s, _read(s, T) if isinstance(T, str) else scalar(s, T)))


def _read(s: Registry, text: str) -> Scalar:
    return parse(text, {n: x.scalar for n, x in s.symbols.items()} | {"t": s.t}, s.space.tape)


def _checked(s: Registry, T: Scalar) -> Scalar:
    tape = s.space.tape
    rates = [x.dot.i for x in s.q]
    refuse_accelerations(s, "T", (T.i,))
    refuse_inputs(s, "T", T)
    still = [x.name for x in s.q if x.dot.i not in symbols_of(tape, (T.i,))]
    if len(still) == len(rates):
        msg = f"T = {T} contains no rate; write rates as x.dot, as in 'm*x.dot**2/2'"
        raise BadDescription(msg)
    slopes = gradient(tape, {T.i: tape.one}, rates)
    second = [e for p in slopes for e in gradient(tape, {p: tape.one}, rates)]
    third = [e for m in second for e in gradient(tape, {m: tape.one}, rates)]
    if not all_zero(tape, third, "whether T is of degree two in the rates"):
        msg = f"T = {T} is not of degree two in the rates: it must be ½ q̇ᵀ M q̇ + B·q̇ + T₀ with M, B, T₀ of q and t"
        raise BadDescription(msg)
    return T
