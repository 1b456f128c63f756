"""A turned sign or a dropped term in anything that is displayed, in any printed formula, or
where a quantity is defined, is found.
"""

from dataclasses import replace
from functools import cache

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.agreement.agreement_table import agreement
from dalembert.mechanics.geometry.vector import Dyadic, Vector
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.spatial_fields import SpatialField
from dalembert.mechanics.kinetics.system_quantities import (
    Quantities,
    RateQuantities,
    SpeedQuantities,
)
from dalembert.mechanics.principles.derivation import Matrix
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix
from laws.printed import Reader
from laws.test_printed import WRITTEN_IN_QUANTITIES

DERIVE = {p.name: derive for p, derive in WRITTEN_IN_QUANTITIES}


def everything():
    """Weights, a spring, a potential without a place, drag, a force, a torque, a row, a
    prescribed motion and speeds of its own.
    """
    s = da.System("everything")
    x, y, theta, phi = s.coordinates("x y theta phi")
    m, J, k, l0, c, kappa, F, M = s.constants("m J k l0 c kappa F M")
    w = s.specified("w")
    s.gravity(9 * s.N.x + 2 * s.N.y)
    A = s.N.rotated(theta, s.N.z, "A")
    B = A.rotated(phi, A.x, "B")
    G = s.O.offset(x * s.N.x + y * s.N.y + w * s.N.z, "G")
    s.body("body", m, G, B, da.inertia(B, J, 2 * J, 3 * J, J / 5))
    tip = G.offset(2 * B.y + B.x, "tip")
    s.particle("end", 2 * m, tip)
    s.spring(k, tip, s.O, rest=l0)
    s.potential(kappa * theta**4 + kappa * x * y)
    s.dissipation(c * (x.dot + theta.dot) ** 2 / 2)
    s.force(F * A.x, tip)
    s.torque(M * A.z, B)
    s.speed("u_1", x.dot * da.cos(theta) + y.dot * da.sin(theta) + w)
    s.speed("u_2", theta.dot + phi.dot * x)
    s.speed("u_3", 2 * phi.dot)
    s.constrain(y.dot * da.cos(theta) - x.dot * da.sin(theta) + w.dot)
    return s


@cache
def derived(principle, name):
    return DERIVE[principle](everything() if name == "everything" else gallery.build(name))


# ---- in what is displayed -----------------------------------------------------------------------


def turned(d, value):
    """The same value with its sign turned; None where it vanishes."""
    t = d.tape
    if isinstance(value, int):
        return None if provably_zero(t, [value])[0] else t.neg(value)
    if isinstance(value, Vector):
        return None if all(provably_zero(t, value.components(d.kinematics.system.N))) else -value
    if not isinstance(value, Matrix):
        return None
    place = next(
        (
            (i, k)
            for i, row in enumerate(value.rows)
            for k, e in enumerate(row)
            if not provably_zero(t, [e])[0]
        ),
        None,
    )
    rows = tuple(
        tuple(t.neg(e) if (i, k) == place else e for k, e in enumerate(row))
        for i, row in enumerate(value.rows)
    )
    return None if place is None else replace(value, rows=rows)


def in_every_item(d):
    """(what, steps) with the sign of one item turned."""
    for n, step in enumerate(d.steps):
        for i, item in enumerate(step.items):
            wrong = turned(d, item.value)
            if wrong is not None and isinstance(d.quantities[n], Quantity):
                items = (*step.items[:i], replace(item, value=wrong), *step.items[i + 1 :])
                yield (
                    f"{step.title}, item {i + 1}",
                    (*d.steps[:n], replace(step, items=items), *d.steps[n + 1 :]),
                )


@pytest.mark.each_time(6)
@pytest.mark.parametrize("name", ["everything", "vehicle"])
@pytest.mark.parametrize("principle", DERIVE)
def test_a_turned_sign_in_any_displayed_quantity(principle, name):
    d = derived(principle, name)
    assert [] == Reader(d).broken()
    planted = list(in_every_item(d))
    assert len(planted) > 3
    assert [] == [what for what, steps in planted if not Reader(d, steps).broken()]


def test_a_turned_sign_in_the_resultants_of_a_spring_and_a_weight():
    d = derived("dalembert", "cart-and-bar")
    planted = list(in_every_item(d))
    assert any(what.startswith("Resultant moments") for what, _ in planted)
    assert [] == [what for what, steps in planted if not Reader(d, steps).broken()]


# ---- in printed formulas ------------------------------------------------------------------------


def variants(tree):
    """The formula with one sign turned or one term dropped."""
    if isinstance(tree, f.Sum):
        for i, term in enumerate(tree.terms):
            rest = (*tree.terms[:i], *tree.terms[i + 1 :])
            yield rest[0] if len(rest) == 1 else f.Sum(rest)
            yield f.Sum((*tree.terms[:i], -term, *tree.terms[i + 1 :]))
            yield from (
                f.Sum((*tree.terms[:i], inner, *tree.terms[i + 1 :])) for inner in variants(term)
            )
    elif isinstance(tree, f.Equation):
        yield from (replace(tree, left=left) for left in variants(tree.left))
        if tree.right != f.ZERO:
            yield replace(tree, right=-tree.right)
            yield from (replace(tree, right=right) for right in variants(tree.right))
    elif isinstance(tree, f.With | f.Component | f.Summation | f.Rate | f.Negative):
        if isinstance(tree, f.Negative):
            yield tree.of
        # what is summed over s is told term by term
        if not (isinstance(tree, f.Summation) and tree.over):
            yield from (replace(tree, of=of) for of in variants(tree.of))
    elif isinstance(tree, f.Product):
        for i, factor in enumerate(tree.factors):
            yield from (
                f.Product((*tree.factors[:i], inner, *tree.factors[i + 1 :]))
                for inner in variants(factor)
            )


def in_every_formula(d):
    for a in d.statement.dependencies:
        if a.title or a is d.statement:
            # Φ = Ψ⁻¹, γ and what the momenta carry are checked by what they say, not by their tree
            by_meaning = isinstance(a.formula, f.Inverse) or a.title in (
                "Hamel coefficients",
                "Terms of the momenta with Hamel coefficients",
            )
            if by_meaning:
                continue
            wrong = list(variants(a.formula))
            if not isinstance(a.formula, f.Equation | f.With):
                wrong.append(-a.formula)
            yield from ((a, tree) for tree in wrong)


@pytest.mark.parametrize("principle", DERIVE)
def test_a_turned_sign_or_a_dropped_term_in_any_printed_formula(principle):
    d = derived(principle, "everything")
    reader = Reader(d)
    planted = list(in_every_formula(d))
    assert len(planted) > 3
    missed = []
    for a, tree in planted:
        wrong = replace(a, rule=tree)
        reader.shown[id(wrong)] = reader.shown[id(a)]
        if reader.vanish(reader.differences(wrong)):
            missed.append((a.title, tree))
    assert [] == missed


# ---- where quantities are defined ---------------------------------------------------------------


def negative(value):
    """The value with its first part turned."""
    if isinstance(value, Scalar):
        return -value
    if isinstance(value, Column):
        return -value
    if isinstance(value, SparseMatrix):
        rows = [dict(row) for row in value.rows]
        i = next(i for i, row in enumerate(rows) if row)
        rows[i] = {k: value.tape.neg(a) for k, a in rows[i].items()}
        return SparseMatrix(value.tape, rows, value.width)
    assert isinstance(value, SpatialField)
    return value.map(lambda a: a.scale(-1) if isinstance(a, Dyadic) else -a)


DEFINED = [
    (RateQuantities, "T"),
    (Quantities, "V"),
    (RateQuantities, "Q"),
    (RateQuantities, "S"),
    (RateQuantities, "forces"),
    (RateQuantities, "forces_without_potential"),
    (RateQuantities, "moments"),
    (RateQuantities, "dissipation"),
    (RateQuantities, "unlocated_potential"),
    (Quantities, "W"),
    (Quantities, "A"),
    (Quantities, "m"),
    (Quantities, "inertia"),
    (RateQuantities, "H"),
    (RateQuantities, "alpha"),
    (SpeedQuantities, "a"),
]


@pytest.mark.parametrize(
    ("owner", "name"), DEFINED, ids=[f"{owner.__name__}.{name}" for owner, name in DEFINED]
)
def test_a_turned_sign_where_a_quantity_is_defined(owner, name, monkeypatch):
    right = vars(owner)[name].func

    def wrong(self):
        a = right(self)
        return replace(a, value=negative(a.value))

    monkeypatch.setattr(owner, name, property(wrong))
    # the sign of a row turns its multiplier and no motion: only the print tells
    assert not agreement(everything()).agree or any(
        Reader(derive(everything())).broken() for derive in DERIVE.values()
    )
