"""The principles dalembert knows, in the order they are shown."""

from __future__ import annotations

from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.principles import (
    boltzmann_hamel,
    central_equation,
    dalembert,
    gauss,
    gibbs_appell,
    hamilton,
    jourdain,
    kane,
    lagrange,
    maggi,
    newton_euler,
)
from dalembert.principles.base import Derivation, Derive, Principle

PRINCIPLES: tuple[tuple[Principle, Derive], ...] = (
    (kane.PRINCIPLE, kane.kane),
    (newton_euler.PRINCIPLE, newton_euler.newton_euler),
    (jourdain.PRINCIPLE, jourdain.jourdain),
    (dalembert.PRINCIPLE, dalembert.dalembert),
    (central_equation.PRINCIPLE, central_equation.central_equation),
    (gibbs_appell.PRINCIPLE, gibbs_appell.gibbs_appell),
    (gauss.PRINCIPLE, gauss.gauss),
    (lagrange.PRINCIPLE, lagrange.lagrange),
    (maggi.PRINCIPLE, maggi.maggi),
    (boltzmann_hamel.PRINCIPLE, boltzmann_hamel.boltzmann_hamel),
    (hamilton.PRINCIPLE, hamilton.hamilton),
)


def of_motion(kin: Kinematics) -> Derivation:
    """The equations that are solved and run: Kane's, or Lagrange's where a system is given by its energies."""
    return lagrange.lagrange(kin) if kin.system.kinetic else kane.kane(kin)
