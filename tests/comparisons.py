"""Exact comparison of a derivation with what a book prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from flint import arb

import dalembert as da
from dalembert.gallery import Printed
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.symbolic.algebra.arithmetic import evaluate_balls
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.scalar import as_node
from dalembert.symbolic.algebra.tape import Tape

PRINCIPLES = (da.kane, da.lagrange)


def in_speeds(kin: Kinematics, e: da.Scalar | str) -> int:
    """An expression in q, q̇ and q̈ with q̇ = W u + X and q̈ = W u̇ + c put in."""
    scalar = kin.system.expression(e) if isinstance(e, str) else e
    known = dict(zip(kin.qddot, kin.qddot_of_u, strict=True)) | dict(
        zip(kin.qdot, kin.qdot_of_u, strict=True)
    )
    return Substitution(kin.tape, known)(as_node(kin.tape, scalar))


def combination(d: da.Derivation, pairs: Sequence[tuple[int, str]]) -> int:
    """Σ k E over the equations of a derivation, numbered from 1."""
    t, s = d.tape, d.kinematics.system
    total = t.zero
    for number, k in pairs:
        total = t.add(
            total,
            t.mul(in_speeds(d.kinematics, s.expression(k)), d.equations.residuals[number - 1]),
        )
    return total


def differences(d: da.Derivation, printed: Sequence[Printed]) -> list[str]:
    """The labels of the printed results that do not hold exactly, which should be none."""
    t = d.tape
    nodes = [
        t.sub(in_speeds(d.kinematics, p.residual), combination(d, p.combination)) for p in printed
    ]
    return [p.label for p, zero in zip(printed, provably_zero(t, nodes), strict=True) if not zero]


def other_terms(d: da.Derivation, printed: Sequence[Printed]) -> list[str]:
    """The labels of the printed results whose normal form has other terms than ours, which
    should be none.
    """
    ours = normal_form(d.tape, [combination(d, p.combination) for p in printed])
    theirs = normal_form(d.tape, [in_speeds(d.kinematics, p.residual) for p in printed])
    return [p.label for p, a, b in zip(printed, ours, theirs, strict=True) if not a.same_terms(b)]


def equal(kin: Kinematics, actual: Sequence[int], expected: Sequence[str | int]) -> bool:
    """Whether nodes are identically what the texts say."""
    t, s = kin.tape, kin.system
    wanted = [as_node(t, s.expression(e)) if isinstance(e, str) else e for e in expected]
    return all(provably_zero(t, [t.sub(a, b) for a, b in zip(actual, wanted, strict=True)]))


def components(kin: Kinematics, v: Vector, frame: da.Frame) -> tuple[int, int, int]:
    """The components of a vector on the derivation's tape."""
    return v.on(kin.tape).components(frame)


def coefficients(kin: Kinematics, e: int, wrt: Sequence[int]) -> list[int]:
    """The row of coefficients of an expression that is linear in the symbols `wrt`."""
    row = LinearCoefficients(kin.tape, wrt)(e)[1]
    return [row.get(k, kin.tape.zero) for k in range(len(wrt))]


def without(d: da.Derivation, nodes: Sequence[int], *gone: str) -> list[int]:
    """The nodes with some symbols set to zero, and all multipliers too."""
    t = d.tape
    zeros = dict.fromkeys([*d.native.multipliers, *(t.names[name] for name in gone)], t.zero)
    return [Substitution(t, zeros)(i) for i in nodes]


def contains_zero(ball: arb) -> bool:
    """Is zero possible? If not, the number is certainly not zero."""
    return bool(ball.contains(0))


def vanish(
    tape: Tape, outs: Sequence[int], symbol_values: Mapping[int, Any], digits: int = 50
) -> list[bool | None]:
    """Whether each expression is zero at a state, as far as balls can tell.

    False: certainly not zero. True: zero to half of the digits at least. None: undecided, try more
    digits.
    """
    balls = evaluate_balls(tape, outs, symbol_values, digits)
    small = 10.0 ** -(digits // 2)
    return [
        None if contains_zero(x) and not x.abs_upper() < small else contains_zero(x) for x in balls
    ]
