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
    Least,
    Partial,
    Quotient,
    Rate,
    Size,
    Squared,
    Symbol,
    Total,
    Varied,
)  # fmt: skip

A, F, H, M, P, Q, S, T, U, V, W = map(Symbol, "AFHMPQSTUVW")
a, f, m, p, q, r, t, u, v = map(Symbol, "afmpqrtuv")
gamma, lam, mu, omega, theta, Phi = map(Symbol, "γλμωθΦ")
q_dot, q_ddot, p_dot, H_dot = Symbol("q", dots=1), Symbol("q", dots=2), Symbol("p", dots=1), Symbol("H", dots=1)
T_bar: Final = Symbol("T", bar=True)


def _of(letter: Symbol, *index: str) -> Symbol:
    """q̇_k: one of many."""
    return Symbol(letter.letter, index, (), letter.dots, letter.bar, letter.star)


KANE: Final = Equation(_of(F, "r") + Symbol("F", ("r",), star=True), ZERO)
NEWTON_EULER: Final = All((Equation(m * a, F + f), Equation(H_dot, M + mu)))
JOURDAIN: Final = Equation(Total((F - m * a).dot(Varied(v))) + Total((M - H_dot).dot(Varied(omega))), ZERO)
DALEMBERT: Final = Equation(Total((F - m * a).dot(Varied(r))) + Total((M - H_dot).dot(Varied(theta))), ZERO)
CENTRAL_EQUATION: Final = Equation(
    Rate(Total(m * v.dot(_of(r, "k")) + H.dot(_of(theta, "k"))))
    - Total(m * v.dot(Partial(v, _of(q, "k"))) + H.dot(Partial(omega, _of(q, "k")) + omega.cross(_of(theta, "k")))),
    _of(Q, "k") + Component(A.T * lam, "k"),
)
GIBBS_APPELL: Final = Equation(Partial(S, Symbol("u", ("r",), dots=1)), _of(U, "r"))
GAUSS: Final = Least(Total(HALF * m * Squared(Size(a - Quotient(F, m)))), Equation(A * q_ddot + gamma, ZERO))
LAGRANGE: Final = Equation(Rate(Partial(T, q_dot)) - Partial(T, q) + Partial(V, q), Q + A.T * lam)
MAGGI: Final = Equation(Total((Rate(Partial(T, _of(q_dot, "i"))) - Partial(T, _of(q, "i")) - _of(Q, "i")) * _of(Phi, "ij"), "i"), ZERO)
BOLTZMANN_HAMEL: Final = Equation(
    Rate(Partial(T_bar, _of(u, "r")))
    - Total(_of(Phi, "ir") * Partial(T_bar, _of(q, "i")), "i")
    + Total(_of(P, "s") * (Total(Symbol("γ", ("rk",), ("s",)) * _of(u, "k"), "k") + Symbol("γ", ("rt",), ("s",))), "s"),
    _of(U, "r"),
)
HAMILTON: Final = All((Equation(q_dot, Partial(H, p)), Equation(p_dot, -Partial(H, q) + Q + A.T * lam)))
EXTENDED_HAMILTON: Final = Equation(IntegralOver(Varied(T) - Varied(V) + Varied(W), t), ZERO)
