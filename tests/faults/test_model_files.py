"""Model files: units of every run option are checked, and what is saved can be loaded."""

from __future__ import annotations

import pytest

import dalembert as da
from cli.running import run as command

PENDULUM = """name = "Pendulum"
gravity = "g"
constants = { m = "1 kg", l = "1 m", g = "9.81 m/s**2" }
pin.theta = "O"
rod.bar = { at = "theta", mass = "m", length = "l" }
[run]
start = { theta = "60 deg" }
"""


def written(folder, *lines):
    file = folder / "model.toml"
    file.write_text(PENDULUM + "\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "lines",
    [
        ['duration = "2 kg"'],
        ['duration = "2 s"', 't0 = "1 m"'],
        ['duration = "2 s"', 'max_step = "1 m"'],
        ['duration = "2 s"', 'rtol = "1 m"'],
    ],
    ids=["duration", "t0", "max_step", "rtol"],
)
def test_a_run_option_in_a_wrong_unit_is_refused(tmp_path, lines):
    file = written(tmp_path, *lines)
    with pytest.raises(da.DalembertError, match=r"model.toml:\d+"):
        da.load(file)


def test_a_run_option_in_another_unit_of_time_is_converted(tmp_path):
    s = da.load(written(tmp_path, 'duration = "2000 ms"', 't0 = "1 min"'))
    assert (2.0, 60.0) == (s.settings.run["duration"], s.settings.run["t0"])


def test_the_command_begins_when_the_file_says(tmp_path):
    done = command("simulate", str(written(tmp_path, "duration = 2", "t0 = 1")))
    assert "t = 1 … 3" in done.stdout


@pytest.mark.parametrize("kind", ["pin", "slide"])
def test_a_body_with_inertia_along_the_axes_of_a_joint_is_loaded_again(tmp_path, kind):
    s = da.System("Saved", gravity=9.81)
    joint = s.pin("theta", s.O) if kind == "pin" else s.slide("theta", s.O, s.N.x)
    s.body(
        "b",
        1,
        joint.offset(1 * joint.frame.x, "G"),
        joint.frame,
        da.inertia(joint.frame, 0.1, 0.2, 0.25),
    )
    file = tmp_path / "saved.toml"
    s.save(file)
    again = da.load(file)
    assert str(da.kane(s).equations) == str(da.kane(again).equations)


def rotor_with_a_beam(*, speeds_first):
    """A particle with a declared speed and a beam that is expanded after or before that."""
    s = da.System("Rotor")
    x = s.coordinate("x")
    s.particle("P", 2, s.O.offset(x * s.N.x, "P"))
    s.potential(x**2, name="spring")
    if speeds_first:
        s.speeds(w=2 * x.dot)
    beam = s.beam("beam", s.O, s.N.x, s.N.y, 2.0, 200.0, 1.5, right=s.end("free", mass=3.0))
    da.discretise(s, beam, 2)
    if not speeds_first:
        s.speeds(w=2 * x.dot)
    return s


def test_the_order_of_speeds_and_discretise_does_not_matter():
    first, second = (da.kinematics(rotor_with_a_beam(speeds_first=f)) for f in (True, False))
    assert sorted(map(first.name, first.u)) == sorted(map(second.name, second.u))
    a, b = (
        da.simulate(rotor_with_a_beam(speeds_first=f), 0.5, start={"x": 1.0, "v_1": 0.1})
        for f in (True, False)
    )
    assert pytest.approx(a["v_1"][-1], abs=1e-8) == b["v_1"][-1]
