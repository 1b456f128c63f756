"""v = cos βx, ψ = −b sin βx; v = cosh αx, ψ = a sinh αx: the characteristic equation of a beam
whose sections turn by themselves.

Two equations of second order, even in v and odd in ψ or the other way round, have one quartic in r²
for e^{rx}; the first of them says the ratio of ψ to v. Above ω² = kGA/ρI the argument α is
imaginary, and cosh αL is a cosine.
"""

from __future__ import annotations

from dalembert.analysis.flexible.linear_vibration.characteristic_equation import (
    DIFFERENCE,
    PRODUCT,
    CharacteristicEquation,
    CharacteristicSolver,
)
from dalembert.analysis.flexible.linear_vibration.linearization import (
    Key,
    LinearForm,
    LinearMemberEquations,
)
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.printing.term_layout import symbol_namer
from dalembert.symbolic.algebra.scalar import Scalar, apply


def timoshenko_characteristic(motion: LinearMemberEquations) -> CharacteristicEquation | None:
    """The characteristic equation of two coupled fields; None where they are coupled in another
    way.
    """
    first, second = motion.fields
    pattern = {
        (equation, field): {
            i % 2 for name, i, _ in motion.equations[equation].coefficients if name == field
        }
        for equation in motion.fields
        for field in motion.fields
    }
    usual = pattern == {
        (first, first): {0},
        (first, second): {1},
        (second, first): {1},
        (second, second): {0},
    }
    second_order = all(n == 2 for n in motion.order.values())
    return (
        TimoshenkoSolver(motion, first).equation()
        if usual and second_order and motion.compression is None
        else None
    )


class TimoshenkoSolver(CharacteristicSolver):
    """The solutions in pairs (v, ψ), with the amplitudes a and b of ψ relative to v."""

    # above ω² = kGA/ρI sinh αL and cosh αL vanish like a sine and a cosine
    functions_with_zeros = ("sin", "cos", "sinh", "cosh")

    def _solutions(self) -> list[tuple[str, Scalar]]:
        t = self.tape
        v, psi = self.motion.fields
        # (p₂ r² + p₀)(s₂ r² + s₀) − q r · w r
        c = self._coefficient
        p2, p0, q = c(2), c(0), c(1, v, psi)
        s2, s0, w = c(2, psi, psi), c(0, psi, psi), c(1, psi, v)
        lead, middle = p2 * s2, p2 * s0 + p0 * s2 - q * w
        z, y = self._argument("β"), self._argument("α")
        beta, alpha = self.scalar(t.symbol("β")), self.scalar(t.symbol("α"))
        self.a, self.b = self.scalar(t.private_symbol("a")), self.scalar(t.private_symbol("b"))
        self.relations = [
            (DIFFERENCE, 0, z, middle / lead),
            (PRODUCT, 0, z, -(p0 * s0 / lead)),
            (symbol_namer(t)(str(self.a.name)), 0, y, -((p2 * alpha**2 + p0) / (q * alpha))),
            (symbol_namer(t)(str(self.b.name)), 0, z, (p0 - p2 * beta**2) / (q * beta)),
        ]
        return [("cos", z), ("sin", z), ("cosh", y), ("sinh", y)]

    def _frequency_squared(self) -> Scalar:
        return self.square

    def _row(self, form: LinearForm, side: int, square: Scalar) -> list[Scalar]:
        partner = {
            "cos": ("sin", -self.b),
            "sin": ("cos", self.b),
            "cosh": ("sinh", self.a),
            "sinh": ("cosh", self.a),
        }
        shear, rest = self._split_shear_force(form)
        row = []
        for kind, z in self.solutions:
            entry = shear * self._shear_force(kind, z, side)
            for key, c in rest.items():
                other, amplitude = (kind, 1) if key[0] == self.name else partner[kind]
                entry += self._factor(key, self.scalar(c), square) * (
                    amplitude * self._value(other, z, key[1], side)
                )
            row.append(entry)
        return row

    def _split_shear_force(self, form: LinearForm) -> tuple[int, dict[Key, int]]:
        """How often a condition holds the shear force q ψ + p₂ v′, and what else it holds."""
        v, psi = self.motion.fields
        p2, q = self._coefficient(2), self._coefficient(1, v, psi)
        at_v, at_psi = form.coefficients.get((v, 1, 0)), form.coefficients.get((psi, 0, 0))
        if at_v is not None and at_psi is not None:
            for sign in (1, -1):
                if all(
                    provably_zero(
                        self.tape,
                        [(self.scalar(at_v) - sign * p2).i, (self.scalar(at_psi) - sign * q).i],
                    )
                ):
                    return sign, {
                        key: c
                        for key, c in form.coefficients.items()
                        if key not in ((v, 1, 0), (psi, 0, 0))
                    }
        return 0, form.coefficients

    def _shear_force(self, kind: str, z: Scalar, side: int) -> Scalar:
        """q ψ + p₂ v′ = −p₀/r for e^{rx}, by the first equation."""
        p0 = self._coefficient(0)
        function, sign = {
            "cos": ("sin", -1),
            "sin": ("cos", 1),
            "cosh": ("sinh", -1),
            "sinh": ("cosh", -1),
        }[kind]
        return sign * (p0 * self.L / z) * apply(function, z if side else self.none)

    def _nonzero_factors(self) -> list[Scalar]:
        """α a + β b never vanishes either."""
        y, z = self._alpha_beta()
        return [*super()._nonzero_factors(), y * self.a + z * self.b]
