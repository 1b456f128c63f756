"""Errors to plant: wrong variants of what the library computes."""

from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.quantity import total
from dalembert.mechanics.kinetics.quasi_velocities import QuasiVelocities
from dalembert.mechanics.kinetics.system_quantities import gibbs_function, kinetic_energy
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution

WHOLE_S, WHOLE_T = gibbs_function, kinetic_energy


def components_only(kin, P):
    """Σ v̇_i f_i: the acceleration without ω × v."""
    parts = kin.motion.v(P).parts.items()
    return Vector(kin.tape, {F: (kin.rate(x), kin.rate(y), kin.rate(z)) for F, (x, y, z) in parts})


def with_wrong_sign(of, a, w, alpha):
    """S with − α·(ω × I·ω)."""
    turned = total(alpha.dot(w.cross(of.inertia.dot(w))))
    return (WHOLE_S(of, a, w, alpha) - turned - turned).with_letter("S")


def only(part):
    """Ψ̇ − ∂u/∂q with only its part free of the speeds (γ dropped) or only its part linear in
    them (γ_t dropped).
    """
    whole = QuasiVelocities.transposition.func

    def transposition(full):
        t = full.kin.tape
        in_u = Substitution(t, dict(zip(full.kin.qdot, full.qdot, strict=True)))
        linear = LinearCoefficients(t, full.u)
        G = whole(full).map(in_u)
        free = G.map(linear.constant)
        return free if part == "time" else G - free

    return property(transposition)


def reduced(of, v, w):
    """T(q, W u(q̇) + X): the same value wherever the rows hold, another function."""
    kin = of.kin
    u_of_rates = Substitution(kin.tape, dict(zip(kin.u, kin.definitions, strict=True)))
    on_rows = Substitution(
        kin.tape, {x: u_of_rates(e) for x, e in zip(kin.qdot, kin.qdot_of_u, strict=True)}
    )
    return WHOLE_T(of, v, w).map(lambda tree: tree, on_rows).with_letter("T")
