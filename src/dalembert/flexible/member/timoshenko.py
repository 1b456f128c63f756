"""v = cos βx, ψ = −b sin βx; v = cosh αx, ψ = a sinh αx: the characteristic equation of a beam whose sections turn by themselves.

Two equations of second order, even in v and odd in ψ or the other way round, have one quartic in r² for e^{rx}; the first of them says
how large ψ is beside v. Above ω² = kGA/ρI the argument α is imaginary, and cosh αL is a cosine.
"""

from __future__ import annotations

from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.printing.layout import naming
from dalembert.flexible.member.characteristic import Characteristic, CharacteristicEquation
from dalembert.flexible.member.characteristic_writing import DIFFERENCE, PRODUCT
from dalembert.flexible.member.small_motion import Form, Key, SmallMotion


def coupled(motion: SmallMotion) -> CharacteristicEquation | None:
    """The characteristic equation of two coupled fields; None where they are coupled in another way."""
    first, second = motion.fields
    pattern = {
        (equation, field): {i % 2 for name, i, _ in motion.equations[equation].coefficients if name == field}
        for equation in motion.fields
        for field in motion.fields
    }
    usual = pattern == {(first, first): {0}, (first, second): {1}, (second, first): {1}, (second, second): {0}}
    second_order = all(n == 2 for n in motion.order.values())
    return Coupled(motion, first).equation() if usual and second_order and motion.compression is None else None


class Coupled(Characteristic):
    """The solutions in pairs (v, ψ), with the amplitudes a and b of ψ beside v."""

    # above ω² = kGA/ρI sinh αL and cosh αL vanish like a sine and a cosine
    vanishing = ("sin", "cos", "sinh", "cosh")

    def __init__(self, motion: SmallMotion, name: str) -> None:
        super().__init__(motion, name, {})

    def _power(self, equation: str, field: str, i: int) -> int:
        """What multiplies rⁱ of one field in one equation."""
        t, total = self.tape, self.tape.zero
        for (name, order, j), c in self.motion.equations[equation].coefficients.items():
            if name == field and order == i:
                total = t.add(total, c) if j == 0 else t.sub(total, t.mul(c, t.mul(self.omega, self.omega)))
        return total

    def _solutions(self) -> list[tuple[str, int]]:
        t = self.tape
        v, psi = self.motion.fields
        # (p₂ r² + p₀)(s₂ r² + s₀) − q r · w r
        p2, p0, q = self._power(v, v, 2), self._power(v, v, 0), self._power(v, psi, 1)
        s2, s0, w = self._power(psi, psi, 2), self._power(psi, psi, 0), self._power(psi, v, 1)
        lead = t.mul(p2, s2)
        middle = t.sub(t.add(t.mul(p2, s0), t.mul(p0, s2)), t.mul(q, w))
        z, y = self._argument("β"), self._argument("α")
        beta, alpha = t.symbol("β"), t.symbol("α")
        self.a, self.b = t.private_symbol("a"), t.private_symbol("b")
        self.relations = [
            (DIFFERENCE, 0, z, t.div(middle, lead)),
            (PRODUCT, 0, z, t.neg(t.div(t.mul(p0, s0), lead))),
            (naming(t)(str(t.nodes[self.a][1])), 0, y, t.neg(t.div(t.add(t.mul(p2, t.mul(alpha, alpha)), p0), t.mul(q, alpha)))),
            (naming(t)(str(t.nodes[self.b][1])), 0, z, t.div(t.sub(p0, t.mul(p2, t.mul(beta, beta))), t.mul(q, beta))),
        ]
        return [("cos", z), ("sin", z), ("cosh", y), ("sinh", y)]

    def _square(self) -> int:
        return self.tape.mul(self.omega, self.omega)

    def _row(self, form: Form, side: int, square: int) -> list[int]:
        t = self.tape
        partner = {"cos": ("sin", t.neg(self.b)), "sin": ("cos", self.b), "cosh": ("sinh", self.a), "sinh": ("cosh", self.a)}
        shear, rest = self._without_shear(form)
        row = []
        for kind, z in self.solutions:
            total = t.mul(shear, self._sheared(kind, z, side))
            for key, c in rest.items():
                other, amplitude = (kind, t.one) if key[0] == self.name else partner[kind]
                value = t.mul(amplitude, self._value(other, z, key[1], side))
                total = t.add(total, t.mul(self._factor(key, c, square), value))
            row.append(total)
        return row

    def _without_shear(self, form: Form) -> tuple[int, dict[Key, int]]:
        """How often a condition holds the shear force q ψ + p₂ v′, and what else it holds."""
        t = self.tape
        v, psi = self.motion.fields
        p2, q = self._power(v, v, 2), self._power(v, psi, 1)
        found = form.coefficients.get((v, 1, 0)), form.coefficients.get((psi, 0, 0))
        for sign in (1, -1):
            k = t.const(sign)
            if None not in found and all(shown_zero(t, [t.sub(found[0] or 0, t.mul(k, p2)), t.sub(found[1] or 0, t.mul(k, q))])):
                return k, {key: c for key, c in form.coefficients.items() if key not in ((v, 1, 0), (psi, 0, 0))}
        return t.zero, form.coefficients

    def _sheared(self, kind: str, z: int, side: int) -> int:
        """q ψ + p₂ v′ = −p₀/r for e^{rx}, by the first equation."""
        t = self.tape
        p0 = self._power(self.name, self.name, 0)
        function, sign = {"cos": ("sin", -1), "sin": ("cos", 1), "cosh": ("sinh", -1), "sinh": ("cosh", -1)}[kind]
        size = t.mul(t.const(sign), t.div(t.mul(p0, self.L), z))
        return t.mul(size, t.call(function, z if side else t.zero))

    def _factors(self) -> list[int]:
        """α a + β b never vanishes either."""
        t = self.tape
        y, z = (t.names[f"{label}L"] for label in "αβ")
        return [*super()._factors(), t.add(t.mul(y, self.a), t.mul(z, self.b))]
