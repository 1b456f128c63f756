"""The principles dalembert knows, in the order they are shown."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.principles.derivation import Derivation, Derive, Principle

if TYPE_CHECKING:
    PRINCIPLES: tuple[tuple[Principle, Derive], ...]

PRINCIPLE_NAMES: Final = (
    "kane",
    "newton-euler",
    "jourdain",
    "dalembert",
    "central-equation",
    "gibbs-appell",
    "gauss",
    "lagrange",
    "maggi",
    "boltzmann-hamel",
    "hamilton",
)


def load_principle(name: str) -> tuple[Principle, Derive]:
    """One of them, with what derives by it; the others stay closed."""
    section = name.replace("-", "_")
    module = import_module(f"dalembert.mechanics.principles.{section}")
    return module.PRINCIPLE, getattr(module, section)


def __getattr__(name: str) -> Any:
    """PRINCIPLES: all of them, opened when they are first asked for."""
    if name != "PRINCIPLES":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    principles = globals()[name] = tuple(map(load_principle, PRINCIPLE_NAMES))
    return principles


def derive_equations_of_motion(kin: Kinematics) -> Derivation:
    """The equations that are solved and run: Kane's, or Lagrange's where a system is given by
    its energies.
    """
    return load_principle("lagrange" if kin.system.given_kinetic_energies else "kane")[1](kin)
