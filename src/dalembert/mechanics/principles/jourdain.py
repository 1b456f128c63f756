"""Σ (F − m a)·δv + (M − Ḣ)·δω = 0: Jourdain's principle.

Time and position are held, velocities varied. The virtual power is one scalar, linear in all n
variations δq̇; with δq̇ = W δu the coefficient of each independent δu_r vanishes.

Source: Bar00 (33)–(34), (42).
"""

from __future__ import annotations

from dalembert.foundation.suggestions import check_options
from dalembert.mechanics.equations.applicability import forked_kinematics
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff, equation, total
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.kinetics.virtual_displacements import variation_symbols
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles import texts
from dalembert.mechanics.principles.derivation import (
    Derivation,
    speed_derivation,
)
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.formula import Partial, Symbol, Variation

PRINCIPLE = texts.JOURDAIN
TEXTS = texts.JOURDAIN_STEPS


@check_options
def jourdain(system: System | Kinematics) -> Derivation:
    """Wᵀ ∂δP/∂δq̇ = 0: the coefficients of δu in the virtual power, δq̇ = W δu"""
    x = Quantities(forked_kinematics(system))
    dq = variation_symbols(x, x.qdot)
    dv = _variation(x, dq, x.rates.v).as_step(*TEXTS["dv"])
    dw = _variation(x, dq, x.rates.w).as_step(*TEXTS["dw"])
    a = x.speeds.a.as_step(*TEXTS["a"])
    Hdot = x.speeds.Hdot.as_step(*TEXTS["Hdot"])
    dP = _virtual_power(x, dq, dv, dw, a, Hdot).as_step(
        "Virtual power",
        "Bar00 (34)",
        "One scalar, linear in the variations of all rates."
        + " The constraint rows relate these variations." * bool(x.kin.rows),
    )
    coefficients = diff(dP, dq).as_step(*TEXTS["coefficients"])
    W, du = x.W, variation_symbols(x, x.u)
    admissible_variations = (
        (W @ du).with_symbol(dq.ref).with_parts(W, du, dq).as_step(*TEXTS["admissible_variations"])
    )
    statement = equation(W.T @ coefficients)
    displayed_statement = statement.with_parts(*statement.parts, admissible_variations)
    return speed_derivation(
        PRINCIPLE,
        x,
        (dv, dw, a, Hdot, dP, coefficients, admissible_variations),
        displayed_statement,
        negate=True,
    )


def _variation(x: Quantities, dq: Quantity, velocity: Quantity) -> Quantity:
    """δv = (∂v/∂q̇) δq̇"""
    vary = Derivative(x.tape, dict(zip(x.kin.qdot, dq.value, strict=True)).get)
    varied = velocity.value.map(lambda v: v.map(vary))
    return Quantity(
        Partial(velocity.ref, x.qdot.ref) * dq.ref,
        varied,
        (velocity, x.qdot, dq),
        symbol=Variation(velocity.ref),
    )


def _virtual_power(
    x: Quantities, dq: Quantity, dv: Quantity, dw: Quantity, a: Quantity, Hdot: Quantity
) -> Quantity:
    """δP = Σ F·δv + Σ M·δω − Σ m a·δv − Σ Ḣ·δω, less what loads known along the coordinates
    take: (∂D/∂q̇)·δq̇, (∂V/∂q)·δq̇
    """
    F, M, rates = x.speeds.forces, x.speeds.moments, x.rates
    power = total(F.dot(dv)) + total(M.dot(dw)) - total((x.m * a).dot(dv)) - total(Hdot.dot(dw))
    if x.kin.system.dissipations:
        power = power - x.in_speeds(diff(rates.dissipation, x.qdot)) @ dq
    if rates.unlocated_potential is not None:
        power = power - diff(rates.unlocated_potential, x.q) @ dq
    return power.with_symbol(Variation(Symbol("P")))
