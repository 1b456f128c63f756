"""What each principle says in general, as a formula: the heading over its derivation."""

from __future__ import annotations

from typing import Final

from dalembert.symbolic.algebra.formula import (
    HALF,
    ZERO,
    All,
    Component,
    Equation,
    IntegralOver,
    Magnitude,
    Minimum,
    Partial,
    Quotient,
    Rate,
    Square,
    Summation,
    Symbol,
    Variation,
)  # fmt: skip

A, F, H, M, P, Q, S, T, U, V, W = map(Symbol, "AFHMPQSTUVW")
a, f, m, p, q, r, t, u, v = map(Symbol, "afmpqrtuv")
gamma, lam, mu, omega, theta, Phi = map(Symbol, "γλμωθΦ")
q_dot, q_ddot, p_dot, H_dot = (
    Symbol("q", dots=1),
    Symbol("q", dots=2),
    Symbol("p", dots=1),
    Symbol("H", dots=1),
)
T_bar: Final = Symbol("T", bar=True)


def _with_index(letter: Symbol, *index: str) -> Symbol:
    """q̇_k: one of many."""
    return Symbol(letter.letter, index, (), letter.dots, letter.bar, letter.star)


KANE: Final = Equation(_with_index(F, "r") + Symbol("F", ("r",), star=True), ZERO)
NEWTON_EULER: Final = All((Equation(m * a, F + f), Equation(H_dot, M + mu)))
JOURDAIN: Final = Equation(
    Summation((F - m * a).dot(Variation(v))) + Summation((M - H_dot).dot(Variation(omega))), ZERO
)
DALEMBERT: Final = Equation(
    Summation((F - m * a).dot(Variation(r))) + Summation((M - H_dot).dot(Variation(theta))), ZERO
)
CENTRAL_EQUATION: Final = Equation(
    Rate(Summation(m * v.dot(_with_index(r, "k")) + H.dot(_with_index(theta, "k"))))
    - Summation(
        m * v.dot(Partial(v, _with_index(q, "k")))
        + H.dot(Partial(omega, _with_index(q, "k")) + omega.cross(_with_index(theta, "k")))
    ),
    _with_index(Q, "k") + Component(A.T * lam, "k"),
)
GIBBS_APPELL: Final = Equation(Partial(S, Symbol("u", ("r",), dots=1)), _with_index(U, "r"))
GAUSS: Final = Minimum(
    Summation(HALF * m * Square(Magnitude(a - Quotient(F, m)))), Equation(A * q_ddot + gamma, ZERO)
)
LAGRANGE: Final = Equation(Rate(Partial(T, q_dot)) - Partial(T, q) + Partial(V, q), Q + A.T * lam)
MAGGI: Final = Equation(
    Summation(
        (
            Rate(Partial(T, _with_index(q_dot, "i")))
            - Partial(T, _with_index(q, "i"))
            - _with_index(Q, "i")
        )
        * _with_index(Phi, "ij"),
        "i",
    ),
    ZERO,
)
BOLTZMANN_HAMEL: Final = Equation(
    Rate(Partial(T_bar, _with_index(u, "r")))
    - Summation(_with_index(Phi, "ir") * Partial(T_bar, _with_index(q, "i")), "i")
    + Summation(
        _with_index(P, "s")
        * (
            Summation(Symbol("γ", ("rk",), ("s",)) * _with_index(u, "k"), "k")
            + Symbol("γ", ("rt",), ("s",))
        ),
        "s",
    ),
    _with_index(U, "r"),
)
HAMILTON: Final = All(
    (Equation(q_dot, Partial(H, p)), Equation(p_dot, -Partial(H, q) + Q + A.T * lam))
)
EXTENDED_HAMILTON: Final = Equation(
    IntegralOver(Variation(T) - Variation(V) + Variation(W), t), ZERO
)
