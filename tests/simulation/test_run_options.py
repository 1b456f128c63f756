"""The options of a run are declared once; signatures, files and command lines read them."""

from dataclasses import fields
from inspect import signature

import pytest

import dalembert as da
from dalembert.cli import simulate as command
from dalembert.runtime.simulation.run_options import RunOptions, SimulationKeywords

# set by energy_tolerance= and relative_energy_tolerance=
COMPUTED = {"budget"}
OF_RUNS = {"at", "progress", "integrator", "stabilize", "baumgarte_rate", "events"}


def test_every_option_is_a_keyword_and_a_field():
    assert {f.name for f in fields(RunOptions)} - COMPUTED == set(
        SimulationKeywords.__annotations__
    )


@pytest.mark.parametrize(
    ("verb", "missing"),
    [
        (da.simulate, set()),
        (da.ensemble, {"sensitivities"}),
        (
            da.lyapunov,
            {
                "sensitivities",
                "at",
                "progress",
                "integrator",
                "stabilize",
                "baumgarte_rate",
                "events",
            },
        ),
    ],
)
def test_signatures_show_every_option_with_its_default(verb, missing):
    shown = signature(verb).parameters
    for f in fields(RunOptions):
        if f.name in COMPUTED | missing:
            assert f.name not in shown
        elif f.name not in ("start", "guess", "values", "inputs"):
            assert f.default == shown[f.name].default
        else:
            assert shown[f.name].default is None


def test_the_command_line_overrides_the_file(tmp_path, monkeypatch):
    """Also where it gives what would be the default without the file."""
    file = tmp_path / "pendulum.toml"
    pendulum().save(file)
    file.write_text(
        file.read_text() + '\n[run]\nduration = 1\nrtol = 1e-4\nintegrator = "taylor"\n'
    )
    options = []

    def record(system, length, **given):
        options.append(given)
        return da.simulate(system, length, **given)

    monkeypatch.setattr(command, "run_of", record)
    command.simulate(str(file))
    command.simulate(str(file), rtol=1e-9, integrator="native")
    assert (1e-4, "taylor") == (options[0]["rtol"], options[0]["integrator"])
    assert (1e-9, "native") == (options[1]["rtol"], options[1]["integrator"])


def pendulum():
    s = da.System("Pendulum", gravity=9.81)
    theta = s.coordinate("theta")
    s.particle("bob", 1, s.O.offset(-s.constant("l", 1) * s.N.rotated(theta, s.N.z).y))
    return s
