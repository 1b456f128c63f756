"""Files that describe systems, and the engines that know them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalembert.errors import BadDescription
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import compile as native_dynamics

if TYPE_CHECKING:
    from dalembert.exchange.robots.crosscheck import CrossCheck


def load(path: str | Path, **options: Any) -> System:
    """The system that a file describes: a model (.toml, .json), URDF (.urdf) or MJCF (.xml).

    set       of a model: values of constants, {"m": 2, "k": "3 N/m"}, and n of a family; what its
              file says of runs is in s.settings

    and of URDF and MJCF
    base       "fixed" (a URDF's default) holds the root link, "free" gives it six degrees of
               freedom
    attitude   free and ball joints by a "quaternion" (default) or by three "angles" about z, y, x
    symbols    kinds of parameters that become named constants: mass, com, inertia, gravity,
               damping, stiffness, armature
    locked     joints to hold, {name: value}, or names alone, held at zero
    drives     joints of a URDF that get an input, by name, or "all"; an MJCF file names its own
    root       the folder that the file and all files it names must lie in (by default that of the
               file)
    meshes     True draws links by the meshes of the file (STL, OBJ, MSH inside root), coarser where
               they are very fine

    What a file says and equations of motion cannot (contacts, limits, dry friction, …) is listed in
    one warning.
    """
    suffix = Path(path).suffix.lower() if isinstance(path, str | Path) else ""
    if suffix in (".urdf", ".xml", ".mjcf"):
        from dalembert.exchange.robots.load_robot import load_robot

        return load_robot(path, **options)
    if suffix in (".toml", ".json"):
        from dalembert.exchange.modelfile.reader import load_model

        strange = next((option for option in options if option != "set"), None)
        if strange is not None:
            msg = f"load: a model file takes set={{...}}, not {strange}="
            raise BadDescription(msg)
        return load_model(path, **options)
    msg = (
        f"load: {str(path)!r} ends in {suffix or 'nothing'}; models (.toml, .json), URDF "
        f"(.urdf) "
        f"and MJCF (.xml) files can be read"
    )
    raise BadDescription(msg)


def crosscheck(system: System, *, states: int = 20, seed: int = 1) -> CrossCheck:
    """A loaded system against MuJoCo (and Pinocchio, for URDF where it is installed) at random
    states.

    Accelerations by native code, the mass matrix and the energies, with the largest relative
    differences. What was left out of the equations is switched off in the engines; the rows of
    equalities are held there as they are here.
    """
    from dalembert.exchange.robots.crosscheck import crosscheck as against_engines
    from dalembert.exchange.robots.crosscheck import origin_of

    origin = origin_of(system)
    return against_engines(system, native_dynamics(system), origin, states=states, seed=seed)
