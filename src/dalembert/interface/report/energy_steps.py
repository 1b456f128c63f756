"""v = v_R + v_t, K₂ + K₁ + K₀, σ_R, K̇₂ + σ_R = 𝒫, E_Z: the way to the energy integrals, step by
step.

Every quantity is the one from which the verdicts were decided.

Source: Mit22 34.1–34.10.
"""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.energy_integrals import EnergyIntegral, EnergyIntegrals
from dalembert.interface.report.derivation_steps import (
    Level,
    NumberedStep,
    SystemSymbols,
    numbered_blocks,
    quantities,
)
from dalembert.interface.report.document_blocks import Block, Heading
from dalembert.interface.report.formula_writer import FormulaWriter
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.spatial_fields import (
    spring_forces,
    unlocated_potential,
    weights,
)
from dalembert.mechanics.principles.derivation import Step, StepItem
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients
from dalembert.symbolic.algebra.formula import (
    Equation,
    Formula,
    Rate,
    Symbol,
)
from dalembert.symbolic.algebra.printing.formula_layout import formula_text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column

v, w, v_R, v_t, w_R, w_t = (
    Symbol("v"),
    Symbol("ω"),
    Symbol("v", ("R",)),
    Symbol("v", ("t",)),
    Symbol("ω", ("R",)),
    Symbol("ω", ("t",)),
)
K2, K1, K0, sigma, sigma_R, power, general_power, U_general, P_nc = (
    Symbol("K", ("2",)),
    Symbol("K", ("1",)),
    Symbol("K", ("0",)),
    Symbol("σ"),
    Symbol("σ", ("R",)),
    Symbol("P"),
    Symbol("𝒫"),
    Symbol("𝒰"),
    Symbol("𝒫", ("nc",)),
)
# the forces that enforce a motion are no declared load and have no name
ENFORCING = "the forces that enforce motions"


def energy_derivation(integrals: EnergyIntegrals, level: Level, frame: str = "") -> Iterator[Block]:
    """Every step from the velocities to the verdicts; `teach` adds the reasons."""
    of = SystemSymbols(integrals.energies.kin)
    writing = FormulaWriter(frame=frame).on(of.tape)
    yield Heading(2, f"{integrals.system}: how the energy integrals follow")
    parts = [
        NumberedStep(step.title, tuple(quantities(step, of, writing)), step.why)
        for step in energy_steps(integrals.energies, integrals.verdicts)
        if step.items
    ]
    yield from numbered_blocks(parts, level)


def energy_steps(E: Energies, verdicts: tuple[EnergyIntegral, ...]) -> tuple[Step, ...]:
    """The way from the velocities to the verdicts."""
    return (
        *_velocity_steps(E),
        *_kinetic_energy_steps(E),
        *_sigma_steps(E),
        *_power_steps(E),
        *_integral_steps(E),
        _verdict_step(verdicts),
    )


def _item(label: Formula, value: Scalar | Vector, of: str = "") -> StepItem:
    return StepItem(label, value if isinstance(value, Vector) else value.i, of)


# ---- velocities ----------------------------------------------------------------------------------


def _velocity_steps(E: Energies) -> Iterator[Step]:
    bodies = E.kin.system.bodies
    if not bodies:
        return
    yield Step(
        "Velocities with and without the speeds",
        Equation(v, v_R + v_t),
        tuple(
            _item(label, part, body.name)
            for body in bodies
            for label, part in zip((v_R, v_t), E.split_velocity(body.G), strict=True)
        ),
        "Mit22 (12)",
        "v_R contains the independent speeds, v_t is the value where all of them are zero: the "
        "velocity that prescribed motions and moving constraints give to the point.",
    )
    frames = [(body.name, body.frame) for body in bodies if body.frame is not None]
    yield Step(
        "Angular velocities with and without the speeds",
        Equation(w, w_R + w_t),
        tuple(
            _item(label, part, name)
            for name, frame in frames
            for label, part in zip((w_R, w_t), E.split_velocity(frame), strict=True)
        ),
        "Mit22 (32)–(34)",
        "The same for rotations.",
    )


# ---- kinetic energies ----------------------------------------------------------------------------


def _kinetic_energy_steps(E: Energies) -> Iterator[Step]:
    given = not E.kin.system.bodies
    texts = (
        (K2, E.K2, "K₂ = ½ Σ m v_R·v_R + ½ Σ ω_R·I·ω_R", "The part of degree two in the speeds."),
        (K1, E.K1, "K₁ = Σ m v_t·v_R + Σ ω_t·I·ω_R", "The part of degree one."),
        (
            K0,
            E.K0,
            "K₀ = ½ Σ m v_t·v_t + ½ Σ ω_t·I·ω_t",
            "The part without speeds. The three add up to K, Mit22 (11).",
        ),
    )
    for (label, value, formula, why), degree in zip(texts, (2, 1, 0), strict=True):
        yield Step(
            f"Kinetic energy of degree {degree}",
            f"{formula_text(label)} by its degree in the speeds" if given else formula,
            (_item(label, value),),
            "Mit22 (11)" if given else "Mit22 (13)",
            why,
        )


# ---- σ_R and σ -----------------------------------------------------------------------------------


def _sigma_steps(E: Energies) -> Iterator[Step]:
    if not E.kin.system.bodies:
        yield Step(
            "Power of the prescribed motions along the speeds",
            Equation(sigma_R, general_power - Symbol("K", ("2",), dots=1)),
            (_item(sigma_R, E.sigma_R), _item(sigma, E.sigma)),
            "Mit22 (56)",
            "The system is given by its energies, so there are no bodies to sum over.",
        )
        return
    yield _rate_step(E)
    yield Step(
        "Inertial power of the prescribed motions along v_R",
        "σ_R = Σ m v_R·dv_t/dt + Σ ω_R·I·(ᴮdω_t/dt) + Σ ω_R·(ω_t × I·ω)",
        (_item(sigma_R, E.sigma_R),),
        "Mit22 (4), (29)",
        "For particles it is the first sum, (4). Summed over the particles of a rigid body, with "
        "v = v_G + ω × ρ, the same definition gives the other two, (29).",
    )
    yield Step(
        "The same along v",
        "σ = Σ m v·dv_t/dt + Σ ω·I·dω_t/dt",
        (_item(sigma, E.sigma),),
        "Mit22 (7), (30)",
        "With the whole velocity in place of v_R; σ = σ_R + dK₀/dt.",
    )


def _rate_step(E: Energies) -> Step:
    d_dt, items = E.kin.motion.derivative, list[StepItem]()
    for body in E.kin.system.bodies:
        items.append(_item(Rate(v_t), d_dt(E.split_velocity(body.G)[1]), body.name))
        if body.frame is not None:
            items.append(_item(Rate(w_t), d_dt(E.split_velocity(body.frame)[1]), body.name))
    return Step(
        "Rates of the parts without speeds",
        "dv_t/dt, dω_t/dt in N",
        tuple(items),
        "Mit22 (4), (29)–(30)",
        "Along the motion, so that coordinates inside v_t change too. In B: dω_t/dt − ω × ω_t.",
        sparse=True,
    )


# ---- powers --------------------------------------------------------------------------------------


def _power_steps(E: Energies) -> Iterator[Step]:
    powers = dict(load_powers(E))
    yield Step(
        "Power of every load, classical and generalized",
        "P = F·v + M·ω,   𝒫 = F·v_R + M·ω_R",
        tuple(
            _item(label, value, name)
            for name, pair in powers.items()
            for label, value in zip((power, general_power), pair, strict=True)
        ),
        "Mit22 (14)–(15), 34.7",
        "The two differ by F·v_t. The forces that enforce a prescribed motion have power, but "
        "none along the speeds.",
    )
    yield Step(
        "Generalized potential energy",
        "𝒰 = −∫ 𝒫_conservative dt",
        (_item(U_general, E.V),),
        "Mit22 (17)–(19)",
        "The terms of 𝒫 whose integral is a function of the configuration alone.",
    )
    yield Step(
        "Nonconservative generalized power",
        "𝒫_nc = 𝒫 − 𝒫_conservative",
        (_item(P_nc, E.P_nonconservative),),
        "Mit22 (18)",
        "All other terms.",
    )


def load_powers(E: Energies) -> Iterator[tuple[str, tuple[Scalar, Scalar]]]:
    """(name, (F·v + M·ω, F·v_R + M·ω_R)) of weights, springs, potentials, declared loads, and of
    the forces that enforce motions.
    """
    kin, sums = E.kin, dict[str, tuple[Scalar, Scalar]]()
    for name, F, P in (*weights(kin), *spring_forces(kin)):
        with_speeds, without = E.split_velocity(P)
        vector, (a, b) = kin.vector_in_speeds(F), sums.get(name, (0 * E.K, 0 * E.K))
        general = with_speeds @ vector
        sums[name] = a + general + without @ vector, b + general
    yield from sums.items()
    V = unlocated_potential(kin)
    if V is not None:
        yield "potentials", _potential_power(E, V)
    yield from E.load_powers.items()
    enforcing = E.P_in_by_vectors - E.classical.potential_rate_at_rest
    if not provably_zero(E.t, [enforcing.i])[0]:
        yield ENFORCING, (enforcing, 0 * E.K)


def _potential_power(E: Energies, V: Scalar) -> tuple[Scalar, Scalar]:
    """−V̇ at fixed time dependence, and −V_q·W u"""
    t, kin = E.t, E.kin
    slopes = LinearCoefficients(t, kin.u)(E.rate(V).i)[1]
    along = [kin.scalar(slopes.get(r, t.zero)) for r in range(kin.n_u)]
    general = -(Column(t, [e.i for e in along]) @ Column(t, kin.u))
    return E.classical.potential_rate_at_rest - E.rate(V), general


# ---- the integrals -------------------------------------------------------------------------------


def _integral_steps(E: Energies) -> Iterator[Step]:
    K2_dot = Symbol("K", ("2",), dots=1)
    yield Step(
        "Balance of power along the speeds",
        Equation(K2_dot + sigma_R, general_power),
        (_item(K2_dot, E.rate(E.K2)), _item(sigma_R, E.sigma_R), _item(general_power, E.P)),
        "Mit22 (46)–(56)",
        "F = m a of every particle multiplied by v_R: the part with dv_R/dt is the rate of K₂, the "
        "part with dv_t/dt is σ_R. The identity is proved with the equations of motion.",
    )
    yield Step(
        "The integral that always exists",
        "E_Z = K₂ + 𝒰 + Z,   Ż = σ_R − 𝒫_nc",
        (_item(Symbol("E"), E.E), _item(Rate(Symbol("Z")), E.Z_dot)),
        "Mit22 (2)–(3), (57)–(58)",
        "The balance integrated over time; Z collects what is neither in K₂ nor in 𝒰.",
    )
    labels = (Symbol("P", ("i",)), Symbol("P", ("ii",)), Symbol("P", ("iii",)))
    changing, loads, _ = E.classical.conditions
    yield Step(
        "Potential energy",
        "d/dt (K + U) = P_i + P_ii + P_iii",
        tuple(
            _item(label, value)
            for label, value in zip(
                labels, (changing, loads, E.P_in_by_vectors - changing), strict=True
            )
        ),
        "Mit22 34.2, 34.7",
        "(i) the rate of V at fixed positions, (ii) the power of loads without a potential, "
        "(iii) the power of the forces that enforce prescribed motions. U exists where all three "
        "vanish on every motion.",
    )


def _verdict_step(verdicts: tuple[EnergyIntegral, ...]) -> Step:
    return Step(
        "Which integrals are constant",
        "dI/dt = 0 on every motion",
        # Mit22 (9) and (10) call both sums C
        tuple(
            StepItem(
                Symbol("C") if x.left == x.formula else x.left,
                f"{formula_text(x.formula)}: {x.statement}",
            )
            for x in verdicts
        ),
        "Mit22 34.1",
        "Decided with the accelerations of the equations of motion, not with the table's "
        "sufficient conditions.",
    )
