"""dalembert: analytical dynamics from one description.

Describe a mechanical system once; derive its equations of motion by every classical principle, prove that they
agree, and read the derivation.
"""

from typing import TYPE_CHECKING, Any

from dalembert.agreement.agreement_table import Agreement
from dalembert.agreement.comparison import Comparison, comparison
from dalembert.algebra.functions import acos, asin, atan, atan2, cos, cosh, exp, log, sign, sin, sinh, sqrt, tan, tanh
from dalembert.algebra.scalar import Scalar
from dalembert.api import (
    agreement,
    compile,  # noqa: A004 - da.compile is the verb a user looks for
    energy_integrals,
    forward_dynamics,
    reactions,
    routh,
    simulate,
    symmetry,
)
from dalembert.errors import BadDescription, BadExpression, DalembertError, DalembertWarning, IllPosed, NotApplicable, NotLinear
from dalembert.geometry.contact import ellipsoid_contact, ring_contact
from dalembert.geometry.dyadic import Dyadic, box_inertia, cylinder_inertia, disk_inertia, inertia, rod_inertia, sphere_inertia
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.model.elements import Body, Shape
from dalembert.model.system import System
from dalembert.principles.base import Derivation
from dalembert.principles.boltzmann_hamel import boltzmann_hamel
from dalembert.principles.central_equation import central_equation
from dalembert.principles.dalembert import dalembert
from dalembert.principles.gauss import gauss
from dalembert.principles.gibbs_appell import gibbs_appell
from dalembert.principles.hamilton import hamilton
from dalembert.principles.jourdain import jourdain
from dalembert.principles.kane import kane
from dalembert.principles.lagrange import lagrange
from dalembert.principles.maggi import maggi
from dalembert.principles.newton_euler import newton_euler
from dalembert.principles.recursive import recursive

if TYPE_CHECKING:
    from dalembert.constraint_analysis.analysis import ConstraintAnalysis, constraints
    from dalembert.flexible.expansion.discretise import discretise
    from dalembert.flexible.expansion.discretised import Discretised
    from dalembert.flexible.hybrid.extended_hamilton import extended_hamilton
    from dalembert.flexible.hybrid.galerkin import galerkin
    from dalembert.flexible.modes.buckling import member_buckling
    from dalembert.flexible.modes.deflection import member_deflection
    from dalembert.flexible.modes.natural_modes import member_modes
    from dalembert.linear.linearize import linearize, linearize_along
    from dalembert.linear.locus import root_locus
    from dalembert.linear.model import LinearModel
    from dalembert.linear.sensitivity import model_sensitivity, sensitivity
    from dalembert.page.animation import animate
    from dalembert.page.report import write_report
    from dalembert.simulation.events.event import event, impact
    from dalembert.simulation.trajectory import Trajectory
    from dalembert.statics.balance import NoEquilibrium
    from dalembert.statics.continuation import continuation
    from dalembert.statics.equilibrium import Equilibrium, equilibria, equilibrium
    from dalembert.statics.principles import stationary_potential, virtual_work

__all__ = [
    "Agreement",
    "BadDescription",
    "BadExpression",
    "Body",
    "Comparison",
    "ConstraintAnalysis",
    "DalembertError",
    "DalembertWarning",
    "Derivation",
    "Discretised",
    "Dyadic",
    "Equilibrium",
    "Frame",
    "IllPosed",
    "Kinematics",
    "LinearModel",
    "NoEquilibrium",
    "NotApplicable",
    "NotLinear",
    "Point",
    "Scalar",
    "Shape",
    "System",
    "Trajectory",
    "Vector",
    "acos",
    "agreement",
    "animate",
    "asin",
    "atan",
    "atan2",
    "boltzmann_hamel",
    "box_inertia",
    "central_equation",
    "comparison",
    "compile",
    "constraints",
    "continuation",
    "cos",
    "cosh",
    "cylinder_inertia",
    "dalembert",
    "discretise",
    "disk_inertia",
    "ellipsoid_contact",
    "energy_integrals",
    "equilibria",
    "equilibrium",
    "event",
    "exp",
    "extended_hamilton",
    "forward_dynamics",
    "galerkin",
    "gauss",
    "gibbs_appell",
    "hamilton",
    "impact",
    "inertia",
    "jourdain",
    "kane",
    "kinematics",
    "lagrange",
    "linearize",
    "linearize_along",
    "log",
    "maggi",
    "member_buckling",
    "member_deflection",
    "member_modes",
    "model_sensitivity",
    "newton_euler",
    "reactions",
    "recursive",
    "ring_contact",
    "rod_inertia",
    "root_locus",
    "routh",
    "sensitivity",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "sphere_inertia",
    "sqrt",
    "stationary_potential",
    "symmetry",
    "tan",
    "tanh",
    "virtual_work",
    "write_report",
]

# chapters that need numpy are opened when first asked for
_LATER = {
    "ConstraintAnalysis": "dalembert.constraint_analysis.analysis",
    "Discretised": "dalembert.flexible.expansion.discretised",
    "Equilibrium": "dalembert.statics.equilibrium",
    "LinearModel": "dalembert.linear.model",
    "NoEquilibrium": "dalembert.statics.balance",
    "Trajectory": "dalembert.simulation.trajectory",
    "constraints": "dalembert.constraint_analysis.analysis",
    "animate": "dalembert.page.animation",
    "continuation": "dalembert.statics.continuation",
    "discretise": "dalembert.flexible.expansion.discretise",
    "equilibria": "dalembert.statics.equilibrium",
    "equilibrium": "dalembert.statics.equilibrium",
    "event": "dalembert.simulation.events.event",
    "extended_hamilton": "dalembert.flexible.hybrid.extended_hamilton",
    "galerkin": "dalembert.flexible.hybrid.galerkin",
    "impact": "dalembert.simulation.events.event",
    "linearize": "dalembert.linear.linearize",
    "linearize_along": "dalembert.linear.linearize",
    "member_buckling": "dalembert.flexible.modes.buckling",
    "member_deflection": "dalembert.flexible.modes.deflection",
    "member_modes": "dalembert.flexible.modes.natural_modes",
    "model_sensitivity": "dalembert.linear.sensitivity",
    "root_locus": "dalembert.linear.locus",
    "sensitivity": "dalembert.linear.sensitivity",
    "stationary_potential": "dalembert.statics.principles",
    "virtual_work": "dalembert.statics.principles",
    "write_report": "dalembert.page.report",
}


def __getattr__(name: str) -> Any:
    """A public name whose chapter is not open yet."""
    if name not in _LATER:
        msg = f"module 'dalembert' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
