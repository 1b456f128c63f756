"""T = ½ Σ m v·v + ½ Σ ω·I·ω   (Koenig)"""

from __future__ import annotations

from collections.abc import Callable

from dalembert.algebra.formula import Symbol
from dalembert.algebra.scalar import Scalar
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics import quantities
from dalembert.kinetics.fields import PlaceField, kinetic
from dalembert.kinetics.quantity import Quantity


def kinetic_energy(kin: Kinematics, v: Callable[[Point], Vector], w: Callable[[Frame], Vector]) -> Scalar:
    """T = ½ Σ m v·v + ½ Σ ω·I·ω

    In whatever velocity variables v and w are written: q̇ for Lagrange, u for the energy integrals.

    Source: Gre03 (4.43).
    """
    declared = kinetic(kin)
    if declared is not None:
        return kin.scalar(kin.in_speeds(declared) if v == kin.v else declared)
    of, t = quantities.Quantities(kin), kin.tape
    velocity = Quantity(Symbol("v"), PlaceField(t, v))
    turning = of.rates.along_inertia(Quantity(Symbol("ω"), PlaceField(t, w)))
    T: Scalar = quantities.kinetic_energy(of, velocity, turning).value
    return T
