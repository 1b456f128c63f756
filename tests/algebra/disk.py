"""Gre03, Example 4.2, typed from the book: the rolling disk's energy and equations, printed and
derived.
"""

from __future__ import annotations

from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution, gradient
from dalembert.symbolic.algebra.functions import cos, sin
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


def coordinates(tape: Tape, names: str) -> list[Scalar]:
    return [Scalar(tape, tape.moving_symbol(name)) for name in names.split()]


def constants(tape: Tape, names: str) -> list[Scalar]:
    return [Scalar(tape, tape.symbol(name)) for name in names.split()]


def lagrangian_operator(T: Scalar, q: Scalar) -> Scalar:
    """d/dt ∂T/∂q̇ − ∂T/∂q"""
    t = T.tape
    (momentum,) = gradient(t, {T.i: t.one}, [q.dot.i])
    (slope,) = gradient(t, {T.i: t.one}, [q.i])
    return Scalar(t, t.sub(Derivative(t, t.rate)(momentum), slope))


class RollingDisk:
    """The disk of mass m and radius r with Euler angles (φ, θ, ψ) and point of contact (x, y)."""

    def __init__(self) -> None:
        t = self.tape = Tape()
        self.q = phi, theta, psi, x, y = coordinates(t, "phi theta psi x y")
        self.parameters = m, _g, r = constants(t, "m g r")
        cp, sp, ct, st = cos(phi), sin(phi), cos(theta), sin(theta)
        # (4.41), (4.42), (4.43), (4.44)
        vx = x.dot - r * phi.dot * cp * ct + r * theta.dot * sp * st
        vy = y.dot - r * phi.dot * sp * ct - r * theta.dot * cp * st
        vz = r * theta.dot * ct
        I_a, I_t = m * r**2 / 2, m * r**2 / 4
        spin = I_a * (phi.dot * ct + psi.dot) ** 2 + I_t * (theta.dot**2 + (phi.dot * st) ** 2)
        self.energy = m * (vx**2 + vy**2 + vz**2) / 2 + spin / 2
        self.printed_energy = self._printed_energy()
        derived = [lagrangian_operator(self.energy, q) for q in self.q]
        printed = self._printed_operators()
        self.operators = {
            f"4.{n}": pair
            for n, pair in zip(range(46, 51), zip(printed, derived, strict=True), strict=True)
        }
        self.reduced = self._reduced(derived)

    def forms(self) -> list[RationalForm]:
        return normal_form(
            self.tape,
            [e.i for pair in (*self.operators.values(), *self.reduced.values()) for e in pair],
        )

    def _printed_energy(self) -> Scalar:
        """(4.45)"""
        phi, theta, psi, x, y = self.q
        m, _, r = self.parameters
        cp, sp, ct, st = cos(phi), sin(phi), cos(theta), sin(theta)
        return (
            m * (x.dot**2 + y.dot**2) / 2
            + m * r**2 * phi.dot**2 * (1 + 5 * ct**2) / 8
            + 5 * m * r**2 * theta.dot**2 / 8
            + m * r**2 * psi.dot**2 / 4
            + m * r**2 * phi.dot * psi.dot * ct / 2
            - m * r * x.dot * phi.dot * cp * ct
            + m * r * x.dot * theta.dot * sp * st
            - m * r * y.dot * phi.dot * sp * ct
            - m * r * y.dot * theta.dot * cp * st
        )

    def _printed_operators(self) -> list[Scalar]:
        """(4.46) to (4.50)"""
        phi, theta, psi, x, y = self.q
        m, _, r = self.parameters
        cp, sp, ct, st = cos(phi), sin(phi), cos(theta), sin(theta)
        p, o, s = phi.dot, theta.dot, psi.dot
        mr2 = m * r**2
        return [
            mr2 * p.dot * (1 + 5 * ct**2) / 4
            + mr2 * s.dot * ct / 2
            - m * r * x.dot.dot * cp * ct
            - m * r * y.dot.dot * sp * ct
            - 5 * mr2 * p * o * st * ct / 2
            - mr2 * o * s * st / 2,
            5 * mr2 * o.dot / 4
            + m * r * x.dot.dot * sp * st
            - m * r * y.dot.dot * cp * st
            + 5 * mr2 * p**2 * st * ct / 4
            + mr2 * p * s * st / 2,
            mr2 * s.dot / 2 + mr2 * p.dot * ct / 2 - mr2 * p * o * st / 2,
            m * x.dot.dot
            - m * r * p.dot * cp * ct
            + m * r * o.dot * sp * st
            + m * r * p**2 * sp * ct
            + m * r * o**2 * sp * ct
            + 2 * m * r * p * o * cp * st,
            m * y.dot.dot
            - m * r * p.dot * sp * ct
            - m * r * o.dot * cp * st
            - m * r * p**2 * cp * ct
            - m * r * o**2 * cp * ct
            + 2 * m * r * p * o * sp * st,
        ]

    def _reduced(self, operators: list[Scalar]) -> dict[str, tuple[Scalar, Scalar]]:
        """(4.57), (4.59), (4.60): columns of Φ (4.40), then ẍ and ÿ from (4.54), (4.55)."""
        phi, theta, psi, x, y = self.q
        m, g, r = self.parameters
        cp, sp, ct, st = cos(phi), sin(phi), cos(theta), sin(theta)
        p, o, s = phi.dot, theta.dot, psi.dot
        mr2 = m * r**2
        rows = [
            operators[0],
            operators[1] + m * g * r * ct,
            operators[2] - r * cp * operators[3] - r * sp * operators[4],
        ]
        x_dd, y_dd = r * (p * s * sp - s.dot * cp), -r * (s.dot * sp + p * s * cp)
        rewrite = Substitution(self.tape, {x.dot.dot.i: x_dd.i, y.dot.dot.i: y_dd.i})
        derived = [Scalar(self.tape, rewrite(e.i)) for e in rows]
        printed = [
            mr2 * p.dot * (1 + 5 * ct**2) / 4
            + 3 * mr2 * s.dot * ct / 2
            - 5 * mr2 * p * o * st * ct / 2
            - mr2 * o * s * st / 2,
            5 * mr2 * o.dot / 4
            + 5 * mr2 * p**2 * st * ct / 4
            + 3 * mr2 * p * s * st / 2
            + m * g * r * ct,
            3 * mr2 * s.dot / 2 + 3 * mr2 * p.dot * ct / 2 - 5 * mr2 * p * o * st / 2,
        ]
        return dict(zip(("4.57", "4.59", "4.60"), zip(printed, derived, strict=True), strict=True))
