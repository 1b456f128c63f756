"""t, q, u in columns: for files and for other libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.files import replacing
from dalembert.ode.failures import MissingPackage

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory


def to_csv(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """One line of names, then one line for each time; 17 digits, so that reading gives the same numbers."""
    write_table(path, ("t", *run.names), np.column_stack([run.t, run.q, run.u]))


def write_table(path: str | os.PathLike[str], names: Sequence[str], table: Any) -> None:
    """Columns under their names; the file appears whole or not at all."""
    # a name with a comma in it is still one name
    header = ",".join(f'"{name}"' if "," in name else name for name in names)
    with replacing(path, "the run is kept, write it somewhere else") as part, part.open("w", encoding="utf-8", newline="") as file:
        np.savetxt(file, table, fmt="%.17g", delimiter=",", header=header, comments="")


def to_pandas(run: Trajectory) -> Any:
    """A pandas data frame indexed by t."""
    package = _imported("pandas")
    return package.DataFrame(_columns(run), index=package.Index(run.t.copy(), name="t"))


def to_xarray(run: Trajectory) -> Any:
    """An xarray dataset along t, with the name of the system."""
    package = _imported("xarray")
    variables = {name: ("t", x) for name, x in _columns(run).items()}
    return package.Dataset(variables, coords={"t": run.t.copy()}, attrs={"system": run.system.name})


def _columns(run: Trajectory) -> dict[str, Any]:
    return dict(zip(run.names, np.column_stack([run.q, run.u]).T.copy(), strict=True))


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as problem:
        msg = f"this needs {name}, which is not installed: pip install {name}"
        raise MissingPackage(msg) from problem
