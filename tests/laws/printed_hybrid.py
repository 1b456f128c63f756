"""The same for hybrid equations: fields at a section and at the ends, derivatives along a member,
integrals over it.

∫ f dx is read as the sum of f at nine sections with weights that integrate powers of x up to the
eighth exactly; the fields at each section are symbols of their own. What is shown with integrals in
it is read by the same sum.
"""

from fractions import Fraction
from functools import cached_property

from dalembert.mechanics.geometry.vector import Vector
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from laws.printed import Places, Reader

SECTIONS = 9


def weights():
    """∫₀¹ x^k dx = Σ w_i x_i^k for k < 9, by elimination in fractions"""
    nodes = [Fraction(i, SECTIONS - 1) for i in range(SECTIONS)]
    rows = [[x**k for x in nodes] + [Fraction(1, k + 1)] for k in range(SECTIONS)]
    for i in range(SECTIONS):
        pivot = next(r for r in range(i, SECTIONS) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for r in range(SECTIONS):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return list(zip(nodes, (row[-1] for row in rows), strict=True))


WEIGHTS = weights()


class HybridReader(Reader):
    """Hybrid equations as their reader has them."""

    def __init__(self, h, steps=None):
        self.h = h
        self.frames = {}
        super().__init__(_AsDerivation(h), steps)
        for c in h.continua.values():
            self.values[c.root_position.ref] = self.positions.r(c.member.at)
            self.frames[c.w.ref] = c.member.frame

    # ---- what is shown -------------------------------------------------------------------------

    def _shown(self, a, step):
        (first, *_) = step.items
        return (
            self.positions.in_N(first.value)
            if isinstance(a.value, Vector)
            else super()._shown(a, step)
        )

    @property
    def named(self):
        return [a for a in self.quantities if a.title or a.symbol is not None]

    def differences(self, a):
        if a.symbol in self.frames:
            return self._flat(self._of(a.formula).at(self.frames[a.symbol]), self.shown[id(a)])
        return [self.spread(e) for e in super().differences(a)]

    def _flat(self, a, b):
        # an equation of its own is a column with one entry
        return super()._flat([a] if isinstance(a, int) and isinstance(b, list) else a, b)

    @cached_property
    def spread(self):
        """Every integral as its sum."""
        new = {}
        for c in self.h.continua.values():
            new |= {
                found.symbol: self.integral(c, found.integrand)
                for found in c.integrals.by_name.values()
            }
        return Substitution(self.t, new)

    def integral(self, c, e):
        """L Σ w_i f(L x_i)"""
        t, L = self.t, Scalar(self.t, c.member.length.i)
        return sum(
            (
                (L * w * Scalar(t, self._there(c, e, f"section {i}", (L * x).i)))
                for i, (x, w) in enumerate(WEIGHTS)
            ),
            L * 0,
        ).i

    def _there(self, c, e, label, x):
        """An expression at one place of a member."""
        new = {i: c.fields.symbol(*jet, label) for i, jet in c.fields.jets([e])}
        return Substitution(self.t, new | {c.fields.x: x})(e)

    @cached_property
    def alive(self):
        """d/dt, with q̇ = Φ u + X where the speeds are variables."""
        known = self.defined.get(f.Symbol("q", dots=1))
        rates = {} if known is None else dict(zip(self.kin.q, known, strict=True))
        return Derivative(self.t, lambda i: rates.get(i, self.t.rate(i)))

    # ---- the tree --------------------------------------------------------------------------------

    def member(self, x):
        """The member whose x it is."""
        return next(c for c in self.h.continua.values() if c.stations[0].x.ref == x)

    def _of(self, tree):
        if isinstance(tree, f.Name):
            return self.t.names[tree.name]
        if isinstance(tree, f.Square):
            value = self(tree.of)
            return self.t.mul(value, value)
        if isinstance(tree, f.IntegralOver):
            c = self.member(tree.by)
            return self._each(lambda e: self.integral(c, e), self(tree.of))
        if isinstance(tree, f.Rate) and tree.by != f.TIME:
            c = self.member(tree.by)
            return Derivative(self.t, lambda i: self._slope(c, i))(self(tree.of))
        if isinstance(tree, f.Function) and tree.of in self.values:
            (place,) = tree.arguments
            (section,) = tree.of.below
            c = next(
                c
                for c in self.h.continua.values()
                if c.fields.derivative_of(self.t.names[section.name]) is not None
            )
            found = next(p for p in c.stations if p.x.ref == place)
            return self._there(c, self(tree.of), found.label, found.x.value.i)
        if isinstance(tree, f.Partial):
            return self._partial_of(
                self(tree.of) if tree.of not in self.defined else self.defined[tree.of],
                self(tree.by),
            )
        return super()._of(tree)

    def _dot(self, a, b):
        # gravity is the same at the bodies and along a member
        return super()._dot(
            a if isinstance(b, Places) or not isinstance(a, Places) else a.at(None), b
        )

    def _slope(self, c, i):
        jet = c.fields.derivative_of(i)
        return (
            self.t.one
            if i == c.fields.x
            else None
            if jet is None
            else c.fields.symbol(jet.field, jet.along + 1, jet.dots)
        )

    def _partial_of(self, of, by):
        if isinstance(of, Places):
            return self._slopes_of(of, by)
        if isinstance(of, tuple):
            # a vector
            return (
                self._slopes_of_vector(of, [by])[0]
                if isinstance(by, int)
                else self._slopes_of_vector(of, by)
            )
        return self._partial(of, by) if isinstance(by, int) else self._slopes_of(of, by)


class _AsDerivation:
    """What `Reader` asks of a derivation."""

    def __init__(self, h):
        self.kinematics, self.tape, self.quantities, self.steps = (
            h.kinematics,
            h.tape,
            h.quantities,
            h.steps,
        )
        self.statement = h.quantities[0]
