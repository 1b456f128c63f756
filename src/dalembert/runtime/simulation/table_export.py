"""t, q, u in columns: for files and for other libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import Unwritable, import_optional

if TYPE_CHECKING:
    from dalembert.runtime.simulation.trajectory import Trajectory


def write(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """t, q and u in columns, in the format that the ending names: .csv, .parquet, .mat, .h5,
    .hdf5 or .nc.
    """
    if str(path).lower().endswith(".csv"):
        check_table_format(path)
        to_csv(run, path)
        return
    write_columns(path, run.system.name, run.t, table_columns(run))


def to_csv(run: Trajectory, path: str | os.PathLike[str]) -> None:
    """Times, coordinates, speeds, sensitivities, contacts with 17 digits, a column for each; the
    file appears whole or not at all.

    Where units are given, a head says that of its column, x [m].
    """
    heads = [
        f"{name} [{unit}]" if (unit := run.system.unit(name)) else name
        for name in ("t", *run.names)
    ]
    more = _extra_columns(run)
    write_table(path, [*heads, *more], np.column_stack([run.t, run.y, *more.values()]))


def write_table(path: str | os.PathLike[str], names: Sequence[str], table: Any) -> None:
    """Columns under their names; the file appears whole or not at all."""
    from dalembert.foundation.atomic_write import atomic_replace

    # a name with a comma in it is still one name
    header = ",".join(f'"{name}"' if "," in name else name for name in names)
    with (
        atomic_replace(path, "the run is kept, write it somewhere else") as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        np.savetxt(file, table, fmt="%.17g", delimiter=",", header=header, comments="")


# ---- by the ending of the file -----------------------------------------------------------------


def check_table_format(path: str | os.PathLike[str]) -> None:
    """Refuse a file whose ending is no format for tables; a pipe or a terminal takes CSV."""
    from pathlib import Path

    from dalembert.foundation.atomic_write import check_extension

    place = Path(path) if isinstance(path, str | os.PathLike) else None
    if place is not None and (place.is_dir() or not place.exists() or place.is_file()):
        check_extension(place, tuple(WRITERS))


def write_columns(
    path: str | os.PathLike[str], title: str, t: Any, columns: Mapping[str, Any]
) -> None:
    """Columns over the times t as CSV, Parquet, MAT, HDF5 or NetCDF, by the ending of the file."""
    check_table_format(path)
    from pathlib import Path

    ending = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ".csv"
    WRITERS.get(ending, _csv)(path, title, t, columns)


# CSV files have no title
def _csv(path: Any, title: str, t: Any, columns: Mapping[str, Any]) -> None:  # noqa: ARG001
    write_table(path, ("t", *columns), np.column_stack([t, *columns.values()]))


def _parquet(path: Any, title: str, t: Any, columns: Mapping[str, Any]) -> None:
    from dalembert.foundation.atomic_write import atomic_replace

    arrow, parquet = import_optional("pyarrow", "this"), import_optional("pyarrow.parquet", "this")
    table = arrow.table({"t": t, **columns}).replace_schema_metadata({"system": title})
    with atomic_replace(path, _KEPT) as part:
        parquet.write_table(table, part)


def _mat(path: Any, title: str, t: Any, columns: Mapping[str, Any]) -> None:
    """MATLAB's names hold letters, digits and underscores: theta.dot becomes theta_dot."""
    from dalembert.foundation.atomic_write import atomic_replace

    named = {re.sub(r"\W", "_", name): x for name, x in {"t": t, **columns}.items()}
    if len(named) <= len(columns):
        msg = f"{os.fspath(path)}: two names of {title!r} are one for MATLAB; write another format"
        raise Unwritable(msg)
    savemat = import_optional("scipy.io", "this").savemat
    with atomic_replace(path, _KEPT) as part, part.open("wb") as file:
        savemat(file, {**named, "system": title}, long_field_names=True, oned_as="column")


def _hdf5(path: Any, title: str, t: Any, columns: Mapping[str, Any]) -> None:
    """HDF5 that is NetCDF as well."""
    from dalembert.foundation.atomic_write import atomic_replace

    package = import_optional("h5netcdf", "this")
    with atomic_replace(path, _KEPT) as part, package.File(part, "w") as file:
        file.dimensions = {"t": len(t)}
        file.attrs["system"] = title
        for name, x in {"t": t, **columns}.items():
            file.create_variable(name, ("t",), data=np.asarray(x, dtype=float))


_MODES: Final = {
    "off": -1.0,
    "open": 0.0,
    "closed": 1.0,
    "sticks": 2.0,
    "slips": 3.0,
    "slips +": 3.0,
    "slips −": -3.0,
}
_KEPT: Final = "the run is kept, write it somewhere else"
WRITERS: Final = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".mat": _mat,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".nc": _hdf5,
}


def to_pandas(run: Trajectory) -> Any:
    """A pandas data frame: coordinates and speeds in columns, indexed by the time."""
    package = import_optional("pandas", "this")
    return package.DataFrame(table_columns(run), index=package.Index(run.t.copy(), name="t"))


def to_xarray(run: Trajectory) -> Any:
    """An xarray dataset: coordinates and speeds as variables along the dimension t."""
    package = import_optional("xarray", "this")
    variables = {
        name: ("t", x, {"units": unit} if (unit := _unit(run, name)) else {})
        for name, x in table_columns(run).items()
    }
    return package.Dataset(variables, coords={"t": run.t.copy()}, attrs={"system": run.system.name})


def _unit(run: Trajectory, name: str) -> str:
    return run.system.unit(name) if name in run.names else ""


def table_columns(run: Trajectory) -> dict[str, Any]:
    """Coordinates, speeds, sensitivities and contacts, by name."""
    return dict(zip(run.names, run.y.T.copy(), strict=True)) | _extra_columns(run)


def _extra_columns(run: Trajectory) -> dict[str, Any]:
    """Sensitivities; the forces of contacts, and their modes as numbers: off −1, open 0,
    closed 1, sticks 2, slips ±3.
    """
    columns = dict(run.sensitivities.table()) if run.variation else {}
    for c in run.system.contacts if run.contact_modes is not None else ():
        columns |= {str(force.name): run[force] for force in c.forces}
        columns[f"mode of {c.name}"] = np.array([_MODES[text] for text in run.modes[c.name]])
    return columns
