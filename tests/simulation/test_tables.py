"""Trajectories in files: every format gives back the same numbers, and an unknown ending is
refused before anything runs.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from cli.running import run as command
from dalembert import gallery
from dalembert.runtime.simulation.table_export import WRITERS


@pytest.fixture(scope="module")
def run():
    return da.simulate(gallery.build("double-pendulum"), 1.0, start={"alpha": 1.0}, progress=False)


def read(path):
    if path.suffix == ".csv":
        table = np.genfromtxt(path, delimiter=",", names=True, deletechars="", replace_space=" ")
        return {name: table[name] for name in table.dtype.names}
    if path.suffix == ".parquet":
        parquet = pytest.importorskip(
            "pyarrow.parquet", reason="pyarrow is not installed (extra: export)"
        )
        return {
            name: np.array(column) for name, column in parquet.read_table(path).to_pydict().items()
        }
    if path.suffix == ".mat":
        from scipy.io import loadmat

        return {
            n.replace("_dot", ".dot"): x.ravel()
            for n, x in loadmat(path).items()
            if not n.startswith("__") and n != "system"
        }
    package = pytest.importorskip("h5netcdf", reason="h5netcdf is not installed (extra: export)")
    with package.File(path, "r") as file:
        return {name: np.array(v) for name, v in file.variables.items()}


@pytest.mark.parametrize("ending", WRITERS)
def test_what_is_written_is_what_is_read(run, tmp_path, ending):
    file = tmp_path / f"motion{ending}"
    if ending in (".h5", ".hdf5", ".nc"):
        pytest.importorskip("h5netcdf", reason="h5netcdf is not installed (extra: export)")
    if ending == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: export)")
    run.write(file)
    found = read(file)
    assert np.array_equal(found["t"], run.t)
    for k, name in enumerate(run.names):
        assert np.array_equal(found[name], np.column_stack([run.q, run.u])[:, k]), name


def test_an_unknown_ending_is_refused_with_the_known_ones(run, tmp_path):
    with pytest.raises(
        da.Unwritable, match=r"motion\.xlsx: .*\.csv, \.parquet, \.mat, \.h5, \.hdf5, \.nc"
    ):
        run.write(tmp_path / "motion.xlsx")
    done = command("simulate", "double-pendulum", "-o", str(tmp_path / "motion.xlsx"))
    assert done.exit_code == 2
    assert ".parquet" in done.stderr
    assert done.stdout == ""


def test_a_linear_model_in_a_table(tmp_path):
    model = da.linearize(gallery.build("cart-and-bar"), outputs=["theta"])
    model.to_csv(tmp_path / "model.csv")
    lines = (tmp_path / "model.csv").read_text().splitlines()
    assert lines[0] == ",x,theta,x.dot,theta.dot,F"
    numbers = np.array([[float(e) for e in line.split(",")[1:]] for line in lines[1:]])
    assert np.array_equal(numbers, np.block([[model.A, model.B], [model.C, model.D]]))
    assert [line.split(",")[0] for line in lines[1:]] == [
        "x.dot",
        "theta.dot",
        "x.dot.dot",
        "theta.dot.dot",
        "theta",
    ]


@pytest.mark.slow
def test_python_control_and_scipy_take_a_linear_model():
    pytest.importorskip("control", reason="python-control is not installed (extra: export)")
    model = da.linearize(gallery.build("cart-and-bar"), outputs=["theta"])
    system = model.control()
    assert (system.state_labels, system.input_labels, system.output_labels) == (
        list(model.states),
        list(model.inputs),
        ["theta"],
    )
    assert np.array_equal(system.A, model.A)
    assert np.allclose(
        np.sort_complex(system.poles()), np.sort_complex(model.eigenvalues), atol=1e-8
    )
    assert np.array_equal(model.state_space().B, model.B)
    # all states are the outputs where none is named; python-control takes no point there
    assert da.linearize(gallery.build("cart-and-bar")).control().output_labels == [
        "x",
        "theta",
        "x_dot",
        "theta_dot",
    ]
