"""dalembert: analytical dynamics from one description.

Describe a mechanical system once; derive its equations of motion by every classical principle, prove that they
agree, and read the derivation.
"""

from dalembert.agreement.agreement import Agreement
from dalembert.agreement.comparison import Comparison, comparison
from dalembert.algebra.functions import acos, asin, atan, atan2, cos, cosh, exp, log, sign, sin, sinh, sqrt, tan, tanh
from dalembert.algebra.scalar import Scalar
from dalembert.api import agreement, compile, energy_integrals, forward_dynamics, simulate  # noqa: A004 - da.compile is the verb a user looks for
from dalembert.errors import BadDescription, BadExpression, DalembertError, DalembertWarning, IllPosed, NotApplicable, NotLinear
from dalembert.geometry.dyadic import Dyadic, box_inertia, cylinder_inertia, disk_inertia, inertia, rod_inertia, sphere_inertia
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.kinematics import Kinematics, kinematics
from dalembert.model.elements import Body
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

__all__ = [
    "Agreement",
    "BadDescription",
    "BadExpression",
    "Body",
    "Comparison",
    "DalembertError",
    "DalembertWarning",
    "Derivation",
    "Dyadic",
    "Frame",
    "IllPosed",
    "Kinematics",
    "NotApplicable",
    "NotLinear",
    "Point",
    "Scalar",
    "System",
    "Vector",
    "acos",
    "agreement",
    "asin",
    "atan",
    "atan2",
    "boltzmann_hamel",
    "box_inertia",
    "central_equation",
    "comparison",
    "compile",
    "cos",
    "cosh",
    "cylinder_inertia",
    "dalembert",
    "disk_inertia",
    "energy_integrals",
    "exp",
    "forward_dynamics",
    "gauss",
    "gibbs_appell",
    "hamilton",
    "inertia",
    "jourdain",
    "kane",
    "kinematics",
    "lagrange",
    "log",
    "maggi",
    "newton_euler",
    "recursive",
    "rod_inertia",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "sphere_inertia",
    "sqrt",
    "tan",
    "tanh",
]
