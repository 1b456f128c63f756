"""What holds a system together, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.kinetics.reactions import Reactions


def reactions(system: System) -> Reactions:
    """The wrench in every joint and the force of every constraint row, as expressions."""
    from dalembert.kinetics.reactions import reactions as reactions_of

    return reactions_of(kinematics(system))
