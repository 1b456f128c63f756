"""Formulas as trees, and what they look like in Unicode."""

import pytest

from dalembert.symbolic.algebra.formula import (
    HALF,
    ZERO,
    Component,
    Equation,
    Function,
    Inverse,
    Name,
    Negative,
    Partial,
    Product,
    Rate,
    Sum,
    Summation,
    Symbol,
    Variation,
    With,
)
from dalembert.symbolic.algebra.printing.formula_layout import formula_tree
from dalembert.symbolic.algebra.printing.print_tree import NamedSymbol as Shown
from dalembert.symbolic.algebra.printing.unicode_notation import Text

T, V, Q, A, lam, q, m, v, w, I, alpha, u, X = (Symbol(letter) for letter in "TVQAλqmvωIαuX")
qdot, F, r = Symbol("q", dots=1), Symbol("F", ("r",)), Symbol("r")
CASES = [
    (
        Equation(Rate(Partial(T, qdot)) - Partial(T, q) + Partial(V, q), Q + A.T * lam),
        "d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Aᵀλ",
    ),
    (
        Equation(T, Summation(HALF * m * v.dot(v)) + Summation(HALF * w.dot(I.dot(w)))),
        "T = Σ ½ m v·v + Σ ½ ω·I·ω",
    ),
    (Summation(alpha.dot(w.cross(I.dot(w))), "i"), "Σ_i α·(ω × I·ω)"),
    (Equation(F + Symbol("F", ("r",), star=True), ZERO), "F_r + F_r* = 0"),
    (Symbol("γ", ("1", "2"), ("3",)), "γ³₁₂"),
    (Symbol("γ", ("1", "12"), ("3",)), "γ³₁,₁₂"),
    (Symbol("γ", ("1", "t"), ("3",)), "γ³₁ₜ"),
    (Symbol("F", ("1",), star=True), "F₁*"),
    (Symbol("Q", (Name("x"),)), "Qₓ"),
    (Symbol("p", (Name("theta_1"),)), "p_θ₁"),
    (Partial(T, Name("theta_1'")), "∂T/∂θ̇₁"),
    (Component(A.T * lam, "k"), "(Aᵀλ)_k"),
    (With(T, (Equation(qdot, Symbol("Φ") * u + X),)), "T, with q̇ = Φ u + X"),
    (-(Q + V), "−(Q + V)"),
    (T - (Q - V), "T − Q + V"),
    ((Q - V) * T, "(Q − V) T"),
    (Rate(r), "dr/dt"),
    (Rate(m * v), "d/dt m v"),
    (Variation(Name("x'")), "δẋ"),
    (Function(Symbol("T", bar=True), (q, u)), "T̄(q, u)"),
    (Inverse(Symbol("Ψ")), "Ψ⁻¹"),
]


@pytest.mark.parametrize(("tree", "text"), CASES, ids=[text for _, text in CASES])
def test_in_unicode(tree, text):
    assert text == Text()(formula_tree(tree))


def test_symbols_of_the_model_are_written_as_they_are_displayed():
    assert "p_ϑ" == Text()(formula_tree(Symbol("p", (Name("th"),)), lambda name: Shown(name, "ϑ")))


def test_sums_and_products_are_flat():
    assert Sum((T, -V, Q)) == (T - V) + Q
    assert Product((m, T, V)) == m * (T * V)
    assert T == -Negative(T)
