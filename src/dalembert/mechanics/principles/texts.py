"""What each principle says, and what each step of its derivation is called, cites and explains.

A principle has its name, title, statement, source, family, approach and variables, and a sentence.
A step has a title, a source and a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.principles.derivation import Principle

StepText = tuple[str, str, str]
# a step whose reason says more where there are constraint rows, at the place {rows}
RowStepText = tuple[str, str, str, str]


def reason_with_rows(step: RowStepText, *, rows: bool) -> StepText:
    """The text of a step with or without what it says of constraint rows."""
    title, source, why, of_rows = step
    return title, source, why.format(rows=of_rows if rows else "")


NEWTON_EULER: Final = Principle(
    "newton-euler",
    "Newton–Euler equations",
    principle_statements.NEWTON_EULER,
    "Bar00 (14), Mei85 (7.24)",
    "free bodies",
    "vector",
    "q̇",
    "Every body is cut free. The reactions of its neighbours are unknowns, in addition to the "
    "applied loads.",
)
NEWTON_EULER_STEPS: Final[Mapping[str, StepText]] = {
    "accelerations": (
        "Accelerations from neighbour to neighbour",
        "Bar00 (14)",
        (
            "Relative to the body that carries it, a body accelerates only in the directions that "
            "its joint allows."
        ),
    ),
    "bodies": (
        "Bodies cut free",
        "Bar00 (14)",
        (
            "Force and moment balance of each body along its axes. A joint exerts opposite "
            "reactions on its two bodies."
        ),
    ),
    "joints": (
        "Joints",
        "Mei85 (7.18)",
        (
            "In the directions that it allows, a joint exerts only the loads declared in it. These "
            "equations complete the system."
        ),
    ),
    "reactions": (
        "Reactions",
        "Mei85 (7.24)",
        (
            "From the tips to the ground, the balances give every reaction. Inserted into the "
            "joint equations they give the equations of motion."
        ),
    ),
}

DALEMBERT: Final = Principle(
    "dalembert",
    "d'Alembert's principle",
    principle_statements.DALEMBERT,
    "Bar00 (13), (16); Mei85 (7.28)",
    "positions",
    "vector",
    "q̇",
    "Applied minus inertia forces do no work on any admissible virtual displacement: dynamics "
    "becomes statics with the inertia forces added.",
)
DALEMBERT_STEPS: Final[Mapping[str, StepText]] = {
    "r_k": (
        "Kinematic coefficients",
        "Bar00 (3), (15)",
        (
            "The direction in which each coordinate moves a point. Time is fixed, so r is "
            "differentiated by q alone."
        ),
    ),
    "theta_k": (
        "Kinematic coefficients of rotation",
        "Bar00 (15)",
        ("The axis about which each coordinate rotates a body, from how its axes change with q."),
    ),
    "a": ("Accelerations", "Bar00 (16)", "The positions differentiated twice."),
    "Hdot": (
        "Rates of the angular momenta",
        "Bar00 (16)",
        (
            "H about the mass centre along the axes of N, which do not change: its components "
            "are differentiated."
        ),
    ),
    "inertia": (
        "Inertia",
        "Bar00 (16)",
        "The rates of the momenta, projected on the kinematic coefficients.",
    ),
    "Q": (
        "Generalized forces",
        "Bar00 (17), Mei85 (7.41)",
        "The work of the applied loads for each unit of δq_k.",
    ),
    "virtual_displacements": (
        "Virtual displacements",
        "Mei85 (7.33)",
        (
            "Neighbouring positions at one instant: the displacements on which loads and inertia "
            "forces do work."
        ),
    ),
    "virtual_rotations": (
        "Virtual rotations",
        "Bar00 (15)",
        "The rotations on which the moments do work.",
    ),
    "resultant_forces": (
        "Resultant forces",
        "Mei85 (7.29), Bar00 (13)",
        (
            "The applied forces on each body: weights, springs and declared forces. Reactions "
            "do no virtual work and are left out."
        ),
    ),
    "resultant_moments": (
        "Resultant moments",
        "Mei85 (7.29), Bar00 (13)",
        "Applied moments, and the moments of the applied forces about the mass centre.",
    ),
}

JOURDAIN: Final = Principle(
    "jourdain",
    "Jourdain's principle",
    principle_statements.JOURDAIN,
    "Bar00 (34)",
    "velocities",
    "vector",
    "u",
    "Time and position are fixed and the velocities are varied in any way that the constraints "
    "allow: applied minus inertia forces have no power on the variation.",
)
JOURDAIN_STEPS: Final[Mapping[str, StepText]] = {
    "dv": (
        "Variations of the velocities",
        "Bar00 (33)",
        "Only the rates are varied; time and position are fixed.",
    ),
    "dw": (
        "Variations of the angular velocities",
        "Bar00 (33)",
        "The same for the rotation of each body.",
    ),
    "a": (
        "Accelerations",
        "Bar00 (34)",
        "The velocities of the mass centres, differentiated in N.",
    ),
    "Hdot": (
        "Rates of the angular momenta",
        "Bar00 (34)",
        "H = I·ω about the mass centre, differentiated in N.",
    ),
    "coefficients": (
        "Collected on the variations",
        "Bar00 (34)",
        "The factor of the variation of each rate.",
    ),
    "admissible_variations": (
        "Variations of the speeds",
        "Bar00 (42)",
        (
            "All variations, expressed through those of the independent speeds. These are "
            "arbitrary, so the coefficient of each must vanish."
        ),
    ),
}

KANE: Final = Principle(
    "kane",
    "Kane's equations",
    principle_statements.KANE,
    "Bar00 (29)–(30), Mar (11)",
    "velocities",
    "vector",
    "u",
    "Applied and inertia forces balance along the direction of motion of each independent speed. "
    "Reactions of ideal constraints have no power along these directions, so they do not enter.",
)
KANE_STEPS: Final[Mapping[str, StepText]] = {
    "v_t": (
        "Time-partial velocities",
        "Bar00 (27)",
        "The velocities when all speeds are zero: the part that prescribed motions impose.",
    ),
    "w_t": ("Time-partial angular velocities", "Bar00 (27)", "The same for rotations."),
    "F": (
        "Generalized active forces",
        "Bar00 (30)",
        (
            "The power of the applied loads per unit of each speed. A load perpendicular to all"
            " partial velocities drops out."
        ),
    ),
    "a": (
        "Accelerations",
        "Bar00 (29)",
        "The velocities of the mass centres, differentiated in N.",
    ),
    "Hdot": (
        "Rates of the angular momenta",
        "Bar00 (29)",
        ("H = I·ω about the mass centre, differentiated in the inertial frame: I α + ω × I ω."),
    ),
    "F_star": (
        "Generalized inertia forces",
        "Bar00 (29)",
        (
            "m a and Ḣ are projected on the partial velocities like the loads; no kinetic "
            "energy is differentiated."
        ),
    ),
    "v": (
        "Velocities",
        "Bar00 (27)",
        (
            "Every velocity is linear in the speeds. The factor of a speed is a direction in "
            "which the system can move."
        ),
    ),
    "w": (
        "Angular velocities",
        "Gre03 (4.42)",
        "How fast the axes of each body rotate. Angular velocities of nested frames add.",
    ),
    "v_r": (
        "Partial velocities",
        "Bar00 (26)",
        ("The factors of the speeds in the velocities: the direction that each speed affects."),
    ),
    "w_r": (
        "Partial angular velocities",
        "Bar00 (26)",
        ("The factors of the speeds in the angular velocities; moments are projected on them."),
    ),
}

LAGRANGE: Final = Principle(
    "lagrange",
    "Lagrange's equations",
    principle_statements.LAGRANGE,
    "Mei85 (7.44), Bar00 (35), Gre03 (4.14)",
    "kinetic energy",
    "scalar",
    "q̇",
    "Two scalar functions, T and V, contain all of the inertia and of the conservative loads. "
    "Differentiating them gives one equation for each coordinate.",
)
LAGRANGE_STEPS: Final[Mapping[str, StepText]] = {
    "V": (
        "Potential energy",
        "Mei85 (7.42)",
        "Weights and springs enter through V; their forces are not needed.",
    ),
    "p": (
        "Generalized momenta",
        "Mei85 (7.44)",
        (
            "T is quadratic in the rates, so the momenta are linear in them; the coefficients "
            "are the mass matrix."
        ),
    ),
    "p_dot": (
        "Their rates",
        "Mei85 (7.44)",
        (
            "The accelerations appear here, and terms from the change of the mass matrix along "
            "the motion."
        ),
    ),
    "T_q": (
        "Slopes of the kinetic energy",
        "Mei85 (7.44)",
        (
            "Partial derivatives at fixed rates. They are zero for a coordinate that T does not"
            " contain."
        ),
    ),
    "V_q": (
        "Slopes of the potential energy",
        "Mei85 (7.42), (7.44)",
        "The conservative generalized forces with reversed sign.",
    ),
    "Q": (
        "Generalized forces",
        "Mei85 (7.41)",
        "The virtual work of the loads without potential per unit of δq_k.",
    ),
    "L": (
        "Lagrangian",
        "Mei85 (7.45)",
        (
            "One function for inertia and conservative loads: V contains no rates, so the left "
            "side is d/dt ∂L/∂q̇ − ∂L/∂q."
        ),
    ),
    "kinetic_energy_of_translation": (
        "Kinetic energy of translation",
        "Gre03 (4.43)",
        (
            "Koenig's theorem: a body has the energy of its mass at the mass centre and the "
            "energy of its rotation about it."
        ),
    ),
    "kinetic_energy_of_rotation": (
        "Kinetic energy of rotation",
        "Gre03 (4.43)",
        "With the inertia about the mass centre.",
    ),
    "virtual_work": (
        "Virtual work",
        "Mei85 (7.40)",
        "The generalized forces are the coefficients of the virtual displacements.",
    ),
}

MAGGI: Final = Principle(
    "maggi",
    "Maggi's equations",
    principle_statements.MAGGI,
    "Gre03 (4.19), Bar00 (43)",
    "kinetic energy",
    "scalar",
    "u",
    "Lagrange's operators belong to the unconstrained system. Each of the first p columns of Φ is "
    "a motion that the constraints allow; constraint forces do no work along it and drop out.",
)
MAGGI_ROW_STEPS: Final[Mapping[str, RowStepText]] = {
    "u": (
        "All n speeds",
        "Gre03 (4.5)–(4.6)",
        "There are as many speeds as coordinates.{rows}",
        " The last ones are the constraint rows: speeds that are zero on every actual motion.",
    ),
    "Phi": (
        "Inverse",
        "Gre03 (4.8)",
        "Each column is the motion in which one speed is 1 and all others are 0.{rows}",
        " The first p columns satisfy the constraint rows: they are the virtual motions.",
    ),
    "T": (
        "Unconstrained kinetic energy",
        "Gre03 (4.43)",
        "In all rates.{rows}",
        (
            " The constraint rows are not inserted before T is differentiated: the terms that they "
            "remove have derivatives that count."
        ),
    ),
    "E": (
        "Lagrangian operators",
        "Gre03 (4.15)",
        "One for each coordinate{rows}.",
        ", as if there were no constraint",
    ),
    "Q": (
        "Generalized forces",
        "Gre03 (4.15)",
        "Of the applied loads alone.{rows}",
        " Constraint forces are left out, since the next step removes them.",
    ),
}
MAGGI_STEPS: Final[Mapping[str, StepText]] = {
    "Psi": (
        "Their coefficients",
        "Gre03 (4.5)–(4.6)",
        "One row for each speed, one column for each rate.",
    ),
    "printed": (
        "Maggi's equations",
        "Gre03 (4.19)",
        (
            "The operators summed along each admissible motion: one equation for each "
            "independent speed, still in the accelerations of all coordinates."
        ),
    ),
}

BOLTZMANN_HAMEL: Final = Principle(
    "boltzmann-hamel",
    "Boltzmann–Hamel equations",
    principle_statements.BOLTZMANN_HAMEL,
    "Bar00 (36)–(40)",
    "kinetic energy",
    "scalar",
    "u",
    "Lagrange's equations in speeds that need not be rates of coordinates. The Hamel "
    "coefficients γ measure the difference: they combine the momenta of all n speeds, including "
    "those that the constraints keep at zero.",
)
BOLTZMANN_HAMEL_STEPS: Final[Mapping[str, StepText]] = {
    "Gamma": (
        "Transpositional relations",
        "Bar00 (40)",
        (
            "The difference between the variation of each speed and the rate of its variation, "
            "along each admissible motion."
        ),
    ),
    "gamma": (
        "Hamel coefficients",
        "Bar00 (40)",
        (
            "They vanish where the speeds are rates of coordinates. All that are not listed are"
            " zero."
        ),
    ),
    "Psi": (
        "Their coefficients",
        "Gre03 (4.5)–(4.6)",
        "One row for each speed, one column for each rate.",
    ),
    "Phi": (
        "Inverse",
        "Gre03 (4.8)",
        "Each column is the motion in which one speed is 1 and all others are 0.",
    ),
    "qdot": ("Rates", "Gre03 (4.3)", "The inverse, with all n speeds."),
    "T_r": (
        "Slopes of the kinetic energy",
        "Bar00 (36)",
        ("Along the motion of each speed. With speeds along axes of the body they often vanish."),
    ),
    "Q": (
        "Generalized forces along the coordinates",
        "Bar00 (38)",
        "Of all applied loads; those with a potential by its slopes.",
    ),
    "U": (
        "Generalized forces",
        "Bar00 (38)",
        "The power of the applied loads per unit of each speed.",
    ),
}

CENTRAL_EQUATION: Final = Principle(
    "central-equation",
    "Central equation",
    principle_statements.CENTRAL_EQUATION,
    "Mei85 (7.35), Mar (12)",
    "momenta",
    "vector",
    "q̇",
    "The virtual work of the inertia forces as the rate of a momentum minus a term in the momenta: "
    "neither accelerations nor a kinetic energy are needed.",
)
CENTRAL_EQUATION_STEPS: Final[Mapping[str, StepText]] = {
    "p": ("Momenta", "Mar (12)", "The momentum vectors projected on the kinematic coefficients."),
    "c": (
        "Changes of velocity",
        "Mar (13)",
        "Because d r_k/dt = ∂v/∂q_k, the rate of the momentum minus this term is m a·r_k.",
    ),
    "Q": (
        "Generalized forces",
        "Mei85 (7.41)",
        ("The virtual work of all applied loads, including weights and springs, per unit of δq_k."),
    ),
}

GIBBS_APPELL: Final = Principle(
    "gibbs-appell",
    "Gibbs–Appell equations",
    principle_statements.GIBBS_APPELL,
    "Bar00 (31)–(32)",
    "accelerations",
    "scalar",
    "u",
    "The slope of the energy of acceleration along each independent u̇ is the generalized force "
    "along that speed.",
)
GIBBS_APPELL_STEPS: Final[Mapping[str, StepText]] = {
    "U": (
        "Generalized forces",
        "Bar00 (32)",
        "The coefficients of the speeds in the power of the applied loads.",
    ),
    "S_r": (
        "Slopes of S",
        "Bar00 (32)",
        (
            "S is quadratic in u̇, so each slope is linear in u̇; the coefficients are the mass"
            " matrix."
        ),
    ),
}

GAUSS: Final = Principle(
    "gauss",
    "Gauss's least constraint",
    principle_statements.GAUSS,
    "Bar00 §2, footnote 2",
    "accelerations",
    "both",
    "q̇",
    "Of all accelerations that the constraints allow, the true ones differ least, in the metric of "
    "the masses, from those of the same "
    "masses without constraints.",
)
GAUSS_STEPS: Final[Mapping[str, StepText]] = {
    "G": (
        "Gauss's constraint",
        "Bar00 §2",
        (
            "A quadratic function of the accelerations. Terms free of accelerations do not move"
            " its minimum and are left out."
        ),
    ),
}

HAMILTON: Final = Principle(
    "hamilton",
    "Hamilton's equations",
    principle_statements.HAMILTON,
    "after Mei85 (7.44)",
    "kinetic energy",
    "scalar",
    "q, p",
    "Coordinates and momenta are treated alike: 2n equations of the first order, all from one "
    "function "
    "H(q, p, t).",
)
HAMILTON_ROW_STEPS: Final[Mapping[str, RowStepText]] = {
    "T": (
        "Kinetic energy",
        "Gre03 (4.43)",
        "In the rates{rows}.",
        ", of the system without its constraint rows",
    ),
    "H": (
        "Hamiltonian",
        "",
        (
            "Legendre's transformation, with the rates left in it: in p alone it would contain the "
            "inverse of M, which need not exist.{rows}"
        ),
        (
            " μ keeps the rows while H is stationary in the rates. Along every motion p = ∂T/∂q̇, "
            "so μ = 0: it carries no force, unlike λ."
        ),
    ),
    "momentum_rates": (
        "Second half of the canonical equations",
        "",
        "Each momentum changes by the loads along its coordinate{rows}.",
        " and by the forces of the rows",
    ),
}
HAMILTON_STEPS: Final[Mapping[str, StepText]] = {
    "V": (
        "Potential energy",
        "Mei85 (7.42)",
        "Weights and springs enter through V; their forces are not needed.",
    ),
    "p_of_qdot": (
        "Momenta",
        "Mei85 (7.44)",
        (
            "They replace the rates as variables. T is quadratic in the rates, so the relation "
            "is linear and can be solved for them."
        ),
    ),
    "rates": (
        "Rates from momenta",
        "",
        (
            "H is stationary in the rates. This gives the rates for given momenta, and it "
            "allows H to be differentiated by q and p at fixed rates."
        ),
    ),
    "H_p": (
        "First half of the canonical equations",
        "",
        "q̇ = ∂H/∂p: the slope of H along each momentum is the rate itself.",
    ),
    "H_q": (
        "Slopes of the Hamiltonian",
        "",
        (
            "At fixed p, and at fixed rates, since H is stationary in them: the slope of V "
            "minus that of T."
        ),
    ),
    "Q": (
        "Generalized forces",
        "Mei85 (7.41)",
        "Of the loads without potential; the others are in H.",
    ),
}
