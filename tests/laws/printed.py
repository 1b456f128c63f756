"""What a reader gets, evaluated: every printed formula with the printed quantities in it.

Written without the operators that made them: vectors in components along N, derivatives one symbol
at a time, sums term by term.
"""

from dataclasses import replace
from functools import cached_property, singledispatchmethod

from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.kinematics.position_kinematics import PositionKinematics
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import (
    DeclaredTotal,
    SpatialField,
    VelocityPartials,
)
from dalembert.mechanics.principles.derivation import displayed_locations
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.printing.formula_layout import formula_text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix

FORCE, MOMENT = f.Symbol("F", ("i",)), f.Symbol("M", ("Ci",))


class Places:
    """A value for each place: `at(X)`; `over` are the places that a sum runs over."""

    def __init__(self, at, over=None):
        self.at, self.over = at, over


class Reader:
    """A derivation as its reader has it: symbols stand for what the steps show."""

    def __init__(self, d, steps=None):
        self.d, self.kin, self.t = d, d.kinematics, d.tape
        self.positions = PositionKinematics(self.kin)
        self.N = self.kin.system.N
        told = [a for a in d.quantities if isinstance(a, Quantity)]
        self.quantities = list(
            {id(a): a for b in (d.statement, *told) for a in b.dependencies}.values()
        )
        shown = dict(zip(map(id, d.quantities), d.steps if steps is None else steps, strict=True))
        self.values = {}
        self.shown = {}
        for a in self.quantities:
            value = self._shown(a, shown[id(a)]) if id(a) in shown else self._value(a.value)
            self.shown[id(a)] = value
            # what is shown comes before what only stands in other formulas
            if a.symbol is not None and (id(a) in shown or a.symbol not in self.values):
                self.values[a.symbol] = value
        # u stands for all n speeds where they live, the independent ones first
        columns = sorted((a for a in self.quantities if a.is_variable), key=lambda a: len(a.value))
        self.variables = {a.symbol: a.value.nodes for a in columns}
        self.defined = {
            a.symbol: self.shown[id(a)]
            for a in self.quantities
            if a.symbol in self.variables and not a.is_variable
        }
        self.values |= {symbol: list(nodes) for symbol, nodes in self.variables.items()}
        self.values |= {
            f.Symbol("r"): Places(self.positions.r),
            f.Symbol("R"): Places(self.positions.R),
        }
        if self.kin.system.gravity_field is not None:
            g = self.positions.in_N(self.kin.system.gravity_field.g)
            self.values[f.Symbol("g")] = Places(lambda X: g)

    # ---- what is shown -------------------------------------------------------------------------

    def _value(self, value):
        """A value of the library in components."""
        if isinstance(value, Scalar):
            return value.i
        if isinstance(value, Column):
            return list(value.nodes)
        if isinstance(value, SparseMatrix):
            return [list(row) for row in value.dense()]
        if isinstance(value, VelocityPartials):
            return Places(lambda X: self._slopes(value, X), value.of_field.support)
        if isinstance(value, SpatialField):
            return Places(lambda X: self._value(value(X)), value.support)
        if isinstance(value, Vector):
            return self.positions.in_N(value)
        if isinstance(value, Dyadic):
            R = self.positions.R(value.frame)
            return self._times(self._times(R, value.rows), list(zip(*R, strict=True)))
        return value

    def _slopes(self, value, X):
        zero = (self.t.zero,) * 3
        parts = {k: self.positions.in_N(v) for k, v in value(X).items()}
        return [parts.get(k, zero) for k in range(len(value.by))]

    def _shown(self, a, step):
        """The items of a step in the shape of the quantity that they show."""
        items, value = [item.value for item in step.items], a.value
        if isinstance(value, Scalar):
            return items[0]
        if isinstance(value, Column):
            return list(items)
        if isinstance(value, SparseMatrix):
            return [list(row) for row in items[0].rows]
        zero, rest = (self.t.zero,) * 3, iter(items)
        if isinstance(value, VelocityPartials):
            found = {}
            for X in displayed_locations(self.kin, value):
                parts = {k: self.positions.in_N(next(rest)) for k in value(X)}
                found[X] = [parts.get(k, zero) for k in range(len(value.by))]
            return Places(found.__getitem__, value.of_field.support)
        found = {
            X: item if isinstance(item := next(rest), int) else self.positions.in_N(item)
            for X in displayed_locations(self.kin, value)
        }
        return Places(lambda X: found[X] if X in found else self._value(value(X)), value.support)

    @property
    def named(self):
        """Every quantity that has a symbol or a step, and the statement: what has a formula of
        its own in the print.
        """
        return [
            a for a in self.quantities if a.title or a.symbol is not None or a is self.d.statement
        ]

    def broken(self):
        """The titles or symbols of those whose formula does not give what is shown."""
        return [
            a.title or formula_text(a.ref)
            for a in self.named
            if not self.vanish(self.differences(a))
        ]

    # ---- checks --------------------------------------------------------------------------------

    def differences(self, a):
        """The nodes that vanish where the formula of a quantity gives what is shown of it."""
        shown = self.shown[id(a)]
        if a.formula == a.symbol:
            return []
        if isinstance(a.formula, f.Inverse):
            product = self._times(self(a.formula.of), shown)
            return [
                self.t.sub(x, self.t.one if i == k else self.t.zero)
                for i, row in enumerate(product)
                for k, x in enumerate(row)
            ]
        if a.symbol == f.Symbol("γ", ("r", "k"), ("s",)):
            return self._hamel(a, shown)
        if (
            a.row_labels
            and isinstance(a.row_labels[0], str)
            and a.row_labels[0].startswith("from P")
        ):
            return self._carried(shown)
        if a.symbol in (FORCE, MOMENT):
            return self._resultants()
        if not shown and isinstance(shown, list):
            return []
        value = self(a.formula)
        if (
            isinstance(value, list)
            and a.symbol is not None
            and getattr(a.symbol, "below", ()) == ("r",)
        ):
            value = value[: self.kin.n_u]
        if isinstance(shown, Places):
            return [
                e
                for X in displayed_locations(self.kin, a.value)
                for e in self._flat(value.at(X), shown.at(X))
            ]
        return self._flat(value, shown)

    def _flat(self, a, b):
        """All differences of two values of one shape."""
        if isinstance(a, int) and isinstance(b, int):
            return [self.t.sub(a, b)]
        assert len(a) == len(b)
        return [e for x, y in zip(a, b, strict=True) for e in self._flat(x, y)]

    def _hamel(self, a, shown):
        """γ^s_rk = ∂Γ_sr/∂u_k, γ^s_rt = Γ_sr at rest; what is not listed vanishes."""
        Gamma, u = self.values[f.Symbol("Γ")], self.values[f.Symbol("u")]
        listed = {(i.above[0], *i.below): x for i, x in zip(a.row_labels, shown, strict=True)}
        still = Substitution(self.t, dict.fromkeys(u, self.t.zero))
        found = []
        for s, row in enumerate(Gamma):
            for r, x in enumerate(row):
                for k, by in enumerate(u):
                    found.append(
                        self.t.sub(
                            self._partial(x, by),
                            listed.get((str(s + 1), str(r + 1), str(k + 1)), self.t.zero),
                        )
                    )
                found.append(
                    self.t.sub(still(x), listed.get((str(s + 1), str(r + 1), "t"), self.t.zero))
                )
        return found

    def _resultants(self):
        """Σ F_i·r_k + Σ M_Ci·θ_k = Q_k, all applied loads reduced to the mass centres."""
        F, M = self.values[FORCE], self.values[MOMENT]
        if not F.over and not M.over:
            # a load without a place: nothing is shown
            return []
        r_k, theta_k = (self.values[f.Symbol(x, ("k",))] for x in "rθ")
        work = [self.t.neg(Q) for Q in self.values[f.Symbol("Q", ("k",))]]
        centre = {b.frame or b.G: b.G for b in self.kin.system.bodies}
        for load, slopes, places in (
            (F, r_k, [(X, centre[X]) for X in F.over]),
            (M, theta_k, [(X, X) for X in M.over]),
        ):
            for X, place in places:
                along = [self._dots(load.at(X), move) for move in slopes.at(place)]
                work = [self.t.add(w, e) for w, e in zip(work, along, strict=True)]
        return work

    def _carried(self, shown):
        P, Gamma = self.values[f.Symbol("P", ("s",))], self.values[f.Symbol("Γ")]
        held = self.variables.get(f.Symbol("u", ("D",)), ())
        imposed = Substitution(self.t, dict.fromkeys(held, self.t.zero))
        n = len(P)
        return [
            self.t.sub(self.t.mul(P[s], imposed(Gamma[s][r])), shown[r * n + s])
            for r in range(len(shown) // n)
            for s in range(n)
        ]

    @cached_property
    def closing(self):
        """q̇ and q̈ in the speeds, where the derivation is written in them."""
        in_u = next(
            (a for a in self.quantities if a.symbol == f.Symbol("q", dots=1) and not a.is_variable),
            None,
        )
        if in_u is None:
            return None
        rate = Derivative(
            self.t, lambda i: dict(zip(self.kin.q, in_u.value, strict=True)).get(i, self.t.rate(i))
        )
        new = dict(zip(self.kin.qdot, in_u.value, strict=True)) | {
            x: rate(e) for x, e in zip(self.kin.qddot, in_u.value, strict=True)
        }
        return Substitution(self.t, new)

    @cached_property
    def alive(self):
        """d/dt where q̇ = Φ u + X with all n speeds alive."""
        known = (
            self.defined.get(f.Symbol("q", dots=1))
            if f.Symbol("T", bar=True) in self.values
            else None
        )
        if known is None:
            return None
        rates = dict(zip(self.kin.q, known, strict=True))
        return Derivative(self.t, lambda i: rates.get(i, self.t.rate(i)))

    def vanish(self, nodes):
        """Whether all of the nodes are zero, along the motion where the derivation is written in
        speeds.
        """
        found = provably_zero(self.t, nodes)
        if all(found) or self.closing is None:
            return all(found)
        return all(
            provably_zero(
                self.t,
                [
                    self.closing(self.closing(e))
                    for e, zero in zip(nodes, found, strict=True)
                    if not zero
                ],
            )
        )

    # ---- small algebra ---------------------------------------------------------------------------

    def _sum(self, nodes):
        total = self.t.zero
        for e in nodes:
            total = self.t.add(total, e)
        return total

    def _dots(self, a, b):
        return self._sum(self.t.mul(x, y) for x, y in zip(a, b, strict=True))

    def _times(self, A, B):
        """Of matrices, or of a matrix and a column."""
        if not B or isinstance(B[0], int):
            return [self._dots(row, B[: len(row)]) for row in A]
        return [[self._dots(row, column) for column in zip(*B, strict=True)] for row in A]

    def _each(self, rule, *values):
        """One rule for every number of values of one shape."""
        if a_row_short(values):
            values = [v[: min(map(len, values))] for v in values]
        if isinstance(values[0], Places):
            over = next((v.over for v in values if v.over is not None), None)
            return Places(lambda X: self._each(rule, *(v.at(X) for v in values)), over)
        if isinstance(values[0], int):
            return rule(*values)
        return [self._each(rule, *parts) for parts in zip(*values, strict=True)]

    def _partial(self, e, x):
        return Derivative(self.t, lambda i: self.t.one if i == x else None)(e)

    def _slopes_of(self, value, wrt):
        """∂value/∂x for every x, innermost index last but for vectors, whose slopes are vectors."""
        if isinstance(value, Places):
            return Places(lambda X: self._slopes_of_vector(value.at(X), wrt), value.over)
        if isinstance(value, int):
            return [self._partial(value, x) for x in wrt]
        return [self._slopes_of(e, wrt) for e in value]

    def _slopes_of_vector(self, value, wrt):
        return [
            self._each(
                lambda e, x=x: self._partial(e, x),
                [list(r) if not isinstance(r, int) else r for r in value],
            )
            for x in wrt
        ]

    # ---- the tree --------------------------------------------------------------------------------

    def __call__(self, tree):
        """The value of a formula."""
        known = tree in self.values and getattr(tree, "below", ()) != ("I",)
        return self.values[tree] if known else self._of(tree)

    @singledispatchmethod
    def _of(self, tree):
        raise TypeError(tree)

    @_of.register
    def _(self, tree: f.Number):
        return self.t.const(tree.value)

    @_of.register
    def _(self, tree: f.Symbol):
        value = self.values[replace(tree, below=())]
        # Φ_I: the columns of the independent speeds
        return [row[: self.kin.n_u] for row in value] if tree.below == ("I",) else value

    @_of.register
    def _(self, tree: f.Negative):
        return self._each(self.t.neg, self(tree.of))

    @_of.register
    def _(self, tree: f.Sum):
        total = self(tree.terms[0])
        for term in tree.terms[1:]:
            total = self._each(self.t.add, total, self(term))
        return total

    @_of.register
    def _(self, tree: f.Product):
        total = self(tree.factors[0])
        if isinstance(total, Places) and isinstance(tree.factors[0], f.Partial):
            # (∂v/∂q̇) δq̇ = Σ_k ∂v/∂q̇_k δq̇_k
            (column,) = map(self, tree.factors[1:])
            return Places(
                lambda X: self._times(list(zip(*total.at(X), strict=True)), column), total.over
            )
        for factor in tree.factors[1:]:
            total = self._product(total, self(factor))
        return total

    def _product(self, a, b):
        if isinstance(a, Places) or isinstance(b, Places):
            A, B = (x if isinstance(x, Places) else Places(lambda X, x=x: x) for x in (a, b))
            return Places(
                lambda X: self._product(A.at(X), B.at(X)), A.over if A.over is not None else B.over
            )
        if isinstance(a, int):
            return self._each(lambda x: self.t.mul(a, x), b)
        return self._times(a, b) if a else []

    @_of.register
    def _(self, tree: f.Dot):
        return self._dot(self(tree.left), self(tree.right))

    def _dot(self, a, b):
        if isinstance(a, Places):
            return Places(
                lambda X: self._dot(a.at(X), b.at(X)), a.over if a.over is not None else b.over
            )
        if a and isinstance(a[0], list | tuple):
            # a dyadic and a vector, or partial velocities and a vector
            return [self._dots(row, b) for row in a]
        return (
            [self._dots(a, row) for row in b]
            if b and isinstance(b[0], list | tuple)
            else self._dots(a, b)
        )

    @_of.register
    def _(self, tree: f.Cross):
        t = self.t

        def cross(a, b):
            turns = ((1, 2), (2, 0), (0, 1))
            return [t.sub(t.mul(a[i], b[k]), t.mul(a[k], b[i])) for i, k in turns]

        a, b = self(tree.left), self(tree.right)
        return Places(lambda X: cross(a.at(X), b.at(X)), a.over if a.over is not None else b.over)

    @_of.register
    def _(self, tree: f.Partial):
        # ∂u/∂q̇ of speeds that are symbols elsewhere: of their definitions
        of = self.defined[tree.of] if tree.of in self.defined else self(tree.of)
        return self._slopes_of(of, self(tree.by))

    @_of.register
    def _(self, tree: f.Rate):
        return self._each(self._rate_with({}) if self.alive is None else self.alive, self(tree.of))

    @_of.register
    def _(self, tree: f.Transpose):
        value = self(tree.of)
        if isinstance(value, Places):
            return Places(
                lambda X: [list(row) for row in zip(*value.at(X), strict=True)], value.over
            )
        # a matrix without rows still has its columns
        return (
            [list(row) for row in zip(*value, strict=True)] if value else [[] for _ in self.kin.q]
        )

    @_of.register
    def _(self, tree: f.Summation):
        if tree.over == "s":
            terms, n = self._told_terms(tree.of), len(self.values[f.Symbol("P", ("s",))])
            return [self._sum(terms[k : k + n]) for k in range(0, len(terms), n)]
        if tree.over == "k":
            return self._along_displacements(*tree.of.factors)
        value = self(tree.of)
        if isinstance(value, DeclaredTotal):
            return self._sum(self.kin.in_rates(p.V.i) for p in self.kin.system.potentials)
        found = [value.at(X) for X in value.over]
        if not found:
            return self._nothing(tree.of)
        total = found[0]
        for each in found[1:]:
            total = self._each(self.t.add, total, each)
        return total

    def _along_displacements(self, slopes, _):
        """Σ_k r_k δq_k at every place."""
        moves, dq = self(slopes), self.values[f.Variation(f.Symbol("q"))]
        return Places(
            lambda X: [self._dots(c, dq) for c in zip(*moves.at(X), strict=True)], moves.over
        )

    def _told_terms(self, tree):
        """The terms P_s Γ_sr as they are listed, equation after equation."""
        return next(self.shown[id(a)] for a in self.quantities if a.formula == tree)

    def _nothing(self, tree):
        """Σ over no place: zero, or a column of zeros."""
        slopes = [x.by for x in parts(tree) if isinstance(x, f.Partial)]
        slopes += [
            f.Symbol("q" if "k" in x.below else "u")
            for x in parts(tree)
            if isinstance(x, f.Symbol) and x.below
        ]
        return [self.t.zero for _ in self(slopes[0])] if slopes else self.t.zero

    @_of.register
    def _(self, tree: f.Component):
        return self(tree.of)

    @_of.register
    def _(self, tree: f.Function):
        (inside,) = tree.arguments
        rate, _ = inside.factors
        R = self(f.Symbol("R"))
        moved = self(rate)

        def axial(dR, R):
            if isinstance(dR[0][0], list | tuple):
                return [axial(each, R) for each in dR]
            spin = self._times(dR, [list(row) for row in zip(*R, strict=True)])
            return spin[2][1], spin[0][2], spin[1][0]

        return Places(lambda X: axial(moved.at(X), R.at(X)))

    @_of.register
    def _(self, tree: f.Equation):
        left = self(tree.left)
        return left if tree.right == f.ZERO else self._each(self.t.sub, left, self(tree.right))

    @_of.register
    def _(self, tree: f.With):
        new, t = {}, self.t
        for given in tree.given:
            nodes = self.variables[given.left]
            values = [t.zero] * len(nodes) if given.right == f.ZERO else self(given.right)
            rate = self._rate_with(dict(zip(nodes, values, strict=True)))
            for x, e in zip(nodes, values, strict=True):
                new[x] = e
                if t.rates.get(x) is not None:
                    new[t.rates[x]] = rate(e)
        inserted = Substitution(t, new)
        return self._each(inserted, self(tree.of))

    def _rate_with(self, known):
        """d/dt with q̇ = W u + X inserted, every other rate a symbol."""
        return Derivative(self.t, lambda i: known.get(self.t.rate(i), self.t.rate(i)))


def a_row_short(values):
    """Columns of different length: A q̇ of all rows and b of those that are linear in the rates,
    which come first.
    """
    return all(isinstance(v, list) for v in values) and len({len(v) for v in values}) > 1


def parts(tree):
    """A formula and everything in it."""
    yield tree
    for name in tree.__dataclass_fields__:
        inside = getattr(tree, name)
        for part in inside if isinstance(inside, tuple) else (inside,):
            if isinstance(part, f.Formula):
                yield from parts(part)
