"""Whether equations of motion can be derived from a description, and by which methods.

A description without masses has none. One that is given by its energies has no velocities of
points, and a row that is not linear in the velocities has no virtual displacements of its own:
methods that need either are refused with the reason.
"""

from __future__ import annotations

from dalembert.errors import IllPosed, NotApplicable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System


def forked_kinematics(
    system: System | Kinematics, *, nonlinear: bool = False, energies: bool = False
) -> Kinematics:
    """A kinematics of its own for one derivation."""
    return applicable_kinematics(system, nonlinear=nonlinear, energies=energies).fork()


def applicable_kinematics(
    system: System | Kinematics, *, nonlinear: bool = False, energies: bool = False
) -> Kinematics:
    """The kinematics of a system that a principle can be applied to.

    `nonlinear` where the principle has a place for rows not linear in the rates, `energies` where T
    and V are all it asks for.
    """
    kin = system if isinstance(system, Kinematics) else kinematics(system)
    if kin.system.given_kinetic_energies and not energies:
        without = (
            "without bodies: there are no velocities of points, and made of T alone this "
            "would be Lagrange's equations in disguise"
        )
        msg = f"{kin.system.name!r} is given by its energies, {without}"
        raise NotApplicable(msg)
    if not kin.system.bodies and not kin.system.given_kinetic_energies:
        msg = (
            f"system {kin.system.name!r} has no masses, so nothing but its equilibrium can be "
            f"asked for: declare a particle or a body"
        )
        raise IllPosed(msg)
    if kin.nonlinear and not nonlinear:
        which = " and ".join(repr(row.name) for row in kin.nonlinear)
        msg = f"{which} is not linear in the velocities, as its virtual displacements must be"
        raise NotApplicable(msg)
    return kin
