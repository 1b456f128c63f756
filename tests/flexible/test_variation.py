"""Fields on the tape, their total derivatives, and integration by parts checked against the
definition of a variation.
"""

from fractions import Fraction

import pytest

from dalembert.analysis.flexible.hybrid.field_variation import (
    FieldDerivative,
    Fields,
    MemberIntegrals,
    vary_density,
)
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, Substitution
from dalembert.symbolic.algebra.formula import Symbol
from dalembert.symbolic.algebra.printing import latex, text
from dalembert.symbolic.algebra.printing.latex_notation import Latex
from dalembert.symbolic.algebra.printing.symbol_names import latex_name, unicode_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape


@pytest.fixture
def fields():
    t = Tape()
    return Fields(t, t.symbol("x"), ["v", "w"])


def scalar(fields, *jet, place=""):
    return Scalar(fields.tape, fields.symbol(*jet, place=place))


def test_names():
    assert ["v̈⁗", "v̇₁′", "v̇″(L)", "ψ′", "v⁽⁶⁾"] == [
        unicode_name(n) for n in ("v′′′′''", "v_1′'", "v′′(L)'", "psi′", "v′′′′′′")
    ]
    expected = [r"{\ddot{v}^{(4)}}", r"{\dot{v}_{1}'}", r"{\dot{v}''}(L)"]
    assert expected == [latex_name(n) for n in ("v′′′′''", "v_1′'", "v′′(L)'")]
    # what is no field is read as before
    assert "θ̈₁" == unicode_name("theta_1''")


def test_total_derivatives(fields):
    t = fields.tape
    v, v_x = scalar(fields, "v"), scalar(fields, "v", 1)
    x = Scalar(t, fields.x)
    assert (2 * x * v + x**2 * v_x).i == fields.D_x((x**2 * v).i)
    assert fields.symbol("v", 1, 1) == fields.D_x(fields.symbol("v", 0, 1)) == fields.D_t(v_x.i)
    mixed = [fields.D_x(fields.D_t(e.i)) for e in (v * v_x,)] + [
        fields.D_t(fields.D_x(e.i)) for e in (v * v_x,)
    ]
    assert provably_zero(t, [t.sub(*mixed)])[0]
    assert FieldDerivative("v", 2, 1) == fields.derivative_of(fields.symbol("v", 2, 1))
    assert fields.derivative_of(fields.x) is None


def test_values_at_a_place(fields):
    t = fields.tape
    L = t.symbol("L")
    e = Scalar(t, fields.x) * scalar(fields, "v", 2, 1)
    assert (Scalar(t, L) * scalar(fields, "v", 2, 1, place="L")).i == fields.at(e.i, "L", L)


def polynomial(t, field, coefficients):
    """v = Σ c_jk xʲ tᵏ as a node in x and t."""
    x, time = Scalar(t, t.names["x"]), Scalar(t, t.names["t"])
    total = Scalar(t, t.zero)
    for (j, k), c in coefficients.items():
        total = total + c * x**j * time**k
    return {field: total.i}


def test_integration_by_parts_is_the_variation_itself(fields):
    # d/dε ∫∫ℒ(v + ε δv) dx dt at ε = 0 for polynomials v, δv with δv = 0 at t = 0 and t = 1,
    # against ∫∫E δv + ends
    t = fields.tape
    time, L = t.symbol("t"), t.const(1)
    v, w, v_x, v_xx, v_t, v_xt = (
        scalar(fields, *j) for j in (("v",), ("w",), ("v", 1), ("v", 2), ("v", 0, 1), ("v", 1, 1))
    )
    density = (
        v_t**2 * (1 + Scalar(t, fields.x))
        + v_xt**2 * 3
        - v_xx**2 * v**2
        + w * v_x**2
        + v_xx * v_t * w
    )
    found = vary_density(fields, Quantity(Symbol("L"), density, symbol=Symbol("L")))
    own = polynomial(t, "v", {(2, 1): 1, (3, 0): 2, (0, 2): -1}) | polynomial(
        t, "w", {(1, 1): 4, (0, 0): 1}
    )
    # δv = (x² + 2x + 3) t (1 − t)
    change = {
        "v": polynomial(
            t,
            "v",
            {(j, k): c * s for j, c in ((0, 3), (1, 2), (2, 1)) for k, s in ((1, 1), (2, -1))},
        )["v"],
        "w": t.zero,
    }
    along = {"x": Derivative(t, {fields.x: t.one}.get), "t": Derivative(t, {time: t.one}.get)}

    def derived(e, i, j):
        for _ in range(i):
            e = along["x"](e)
        for _ in range(j):
            e = along["t"](e)
        return e

    def put_in(e):
        values = {}
        for i in range(6):
            for j in range(4):
                for name in ("v", "w"):
                    here = derived(own[name], i, j)
                    values[fields.symbol(name, i, j)] = here
                    for label, position in (("0", t.zero), ("L", L)):
                        values[fields.symbol(name, i, j, label)] = Substitution(
                            t, {fields.x: position}
                        )(here)
        return Substitution(t, values)(e)

    def integrated(e, over):
        """∫₀¹ e over one variable, of a polynomial."""
        total, factorial = t.zero, 1
        symbol = {"x": fields.x, "t": time}[over]
        for k in range(14):
            factorial = factorial * k if k else 1
            at_zero = Substitution(t, {symbol: t.zero})(e)
            total = t.add(total, t.mul(t.const(Fraction(1, factorial * (k + 1))), at_zero))
            e = along[over](e)
        return total

    direct = t.zero
    for i, jet in list(fields.jets((density.i,))):
        slope = Derivative(t, {i: t.one}.get)(density.i)
        direct = t.add(
            direct, t.mul(put_in(slope), derived(change[jet.field], jet.along, jet.dots))
        )
    expected = integrated(integrated(direct, "x"), "t")
    inside = integrated(t.mul(put_in((-found.domain["v"]).value.i), change["v"]), "x")
    for label, position, sign in (("0", t.zero, -1), ("L", L, 1)):
        for (name, order), B in found.boundary.items():
            varies = Substitution(t, {fields.x: position})(derived(change[name], order, 0))
            at = t.mul(t.const(sign), fields.at(B.value.i, label, position))
            inside = t.add(inside, t.mul(put_in(at), varies))
    got = integrated(inside, "t")
    assert t.value(expected) not in (None, 0)
    assert t.value(expected) == t.value(got)


def test_integrals_take_out_what_is_constant(fields):
    t = fields.tape
    L, a = t.symbol("L"), Scalar(t, t.moving_symbol("a"))
    whole = MemberIntegrals(fields, L)
    v, x = scalar(fields, "v"), Scalar(t, fields.x)
    e = Scalar(t, whole((a * v**2 + 3 * a * x**2 + 5 + a**2 * x * v).i))
    assert "a² ∫₀ᴸ x v dx + L³ a + a ∫₀ᴸ v² dx + 5 L" == text(e)
    assert {"∫₀ᴸ v² dx", "∫₀ᴸ x v dx"} == set(whole.by_name)
    assert r"\int_{0}^{L} x v\,dx" == Latex()(whole.by_name["∫₀ᴸ x v dx"].tree)
    # the same integral is the same symbol
    assert whole((v * x).i) == whole.by_name["∫₀ᴸ x v dx"].symbol
    assert t.zero == whole(t.zero)


def test_integrals_of_what_is_no_polynomial(fields):
    t = fields.tape
    whole = MemberIntegrals(fields, t.symbol("L"))
    e = t.div(t.one, t.add(t.one, t.mul(fields.symbol("v"), fields.symbol("v"))))
    assert "∫₀ᴸ (1/(1 + v²)) dx" == t.nodes[whole(e)][1]
    assert "∫₀ᴸ v cos x dx" == t.nodes[whole(t.mul(t.call("cos", fields.x), fields.symbol("v")))][1]
    assert latex(Scalar(t, fields.symbol("v", 2))) == "{v''}"
