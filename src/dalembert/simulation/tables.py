"""t, q, u in columns: for files and for other libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.ode.failures import MissingPackage, Unwritable

if TYPE_CHECKING:
    from dalembert.simulation.trajectory import Trajectory


def to_csv(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """One line of names, then one line for each time; 17 digits, so that reading gives the same numbers."""
    write_table(path, ("t", *run.names), np.column_stack([run.t, run.q, run.u]))


def write_table(path: str | os.PathLike[str], names: Sequence[str], table: Any) -> None:
    """Columns under their names; the file appears whole or not at all."""
    if not isinstance(path, str | os.PathLike):
        msg = f"a table is written to a file: give its name, not {path!r:.60}"
        raise Unwritable(msg)
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            # a pipe or a terminal is written to as it is
            _write(target, "w", names, table)
            return
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            _write(part, "x", names, table)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        msg = f"cannot write {os.fspath(path)}: {problem.strerror or problem}; the run is kept, write it somewhere else"
        raise Unwritable(msg) from problem


def _write(path: Path, mode: str, names: Sequence[str], table: Any) -> None:
    # a name with a comma in it is still one name
    header = ",".join(f'"{name}"' if "," in name else name for name in names)
    with path.open(mode, encoding="utf-8", newline="") as file:
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
