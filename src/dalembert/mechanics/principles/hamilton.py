"""q̇ = ∂H/∂p, ṗ = −∂H/∂q + Q + Aᵀλ: Hamilton's canonical equations.

H(q, p, q̇, μ) = p·q̇ − T(q, q̇) + V + μ·(A q̇ + b) is written with the rates in it. They and μ are
those that make H stationary, ∂H/∂q̇ = p − M q̇ − B + Aᵀμ = 0 and ∂H/∂μ = A q̇ + b = 0, which can be
solved where M alone is singular. Because H is stationary, ∂H/∂q at fixed p needs no derivative of
the rates: it is that at held q̇ and μ, and no inverse of M is formed. Along the motion p = ∂T/∂q̇,
so that μ = 0.

Legendre's transformation for systems with rows, as written out here; the available sources print
Lagrange's form only.
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    constraint_row_step,
    coordinate_derivation,
)
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.formula import Symbol
from dalembert.symbolic.algebra.sparse_matrix import Column

PRINCIPLE = texts.HAMILTON
TEXTS, ROW_TEXTS = texts.HAMILTON_STEPS, texts.HAMILTON_ROW_STEPS


@check_options
def hamilton(system: System | Kinematics) -> Derivation:
    """ṗ = −∂H/∂q + Q + Aᵀλ, with p = ∂T/∂q̇, μ = 0"""
    x = Quantities(forked_kinematics(system, energies=True))
    p = _momentum_symbols(x)
    rows = bool(x.kin.rows)
    text = {key: texts.reason_with_rows(step, rows=rows) for key, step in ROW_TEXTS.items()}
    T = x.rates.T.as_step(*text["T"])
    V = x.V.as_step(*TEXTS["V"])
    p_of_qdot = diff(T, x.qdot).with_letter("p").as_step(*TEXTS["p_of_qdot"])
    H = _hamiltonian(x, p, T, V).as_step(*text["H"])
    rates = equation(diff(H, x.qdot)).as_step(*TEXTS["rates"])
    H_p = diff(H, p).as_step(*TEXTS["H_p"])
    H_q = diff(H, x.q).as_step(*TEXTS["H_q"])
    Q = x.rates.Q.as_step(*TEXTS["Q"])
    second = equation(x.rates.d_dt(p), -H_q + Q + x.A.T @ x.lam)
    statement = second.substitute(x.tape, (p, p_of_qdot), *_zero_multipliers(x), rates=x.rates.rate)
    momentum_rates = _momentum_rates(x, H_q, Q).as_step(*text["momentum_rates"])
    shown = (T, V, p_of_qdot, H, rates, H_p, H_q, Q, *constraint_row_step(x), momentum_rates)
    return coordinate_derivation(
        PRINCIPLE, x, shown, statement.with_parts(*statement.parts, rates, H_p)
    )


def _momentum_rates(x: Quantities, H_q: Quantity, Q: Quantity) -> Quantity:
    """ṗ = −∂H/∂q + Q + Aᵀλ, with μ = 0"""
    right = -H_q + Q + x.A.T @ x.lam
    if x.kin.rows:
        right = right.substitute(x.tape, *_zero_multipliers(x))
    return right.with_letter("p", dots=1)


def _zero_multipliers(x: Quantities) -> list[tuple[Quantity, Quantity]]:
    """μ = 0, where there are rows."""
    n = len(x.kin.rows)
    return [(_mu(x), Quantity(f.ZERO, Column(x.tape, [x.tape.zero] * n)))] if n else []


def _momentum_symbols(x: Quantities) -> Quantity:
    names = [x.kin.name(q) for q in x.kin.q]
    return x.variables(Symbol("p"), [x.tape.private_symbol(f"p_{n}", moving=True) for n in names])


def _mu(x: Quantities) -> Quantity:
    """μ of the rows in H; zero along the motion."""
    numbers = x.rows.row_labels
    return x.variables(
        Symbol("μ"), [x.tape.private_symbol(f"mu_{j}") for j, _ in enumerate(numbers, 1)], numbers
    )


def _hamiltonian(x: Quantities, p: Quantity, T: Quantity, V: Quantity) -> Quantity:
    """H = p·q̇ − T + V + μ·(A q̇ + b)"""
    H = p @ x.qdot - T + V
    if x.kin.rows:
        (rows,) = x.rows.parts
        H = H + _mu(x) @ rows
    return H.with_letter("H")
