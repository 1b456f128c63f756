"""Save, load: the same equations in the field, the same start, the same motion to the bit, the
same file again.
"""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.exchange.modelfile.reader import read_model
from dalembert.exchange.modelfile.save import json_text, toml_text
from same_equations import equal

QUICK = (
    "double-pendulum",
    "rolling-disk",
    "cantilever",
    "slider-crank",
    "suslov",
    "flyball-governor",
    "bouncing-ball",
)


def sections(text):
    """The top of a file, then its sections in the opposite order."""
    first, *rest = re.split(r"\n(?=\[)", text)
    return "\n".join([first, *reversed(rest)])


def check(name, *, run=True):
    entry = gallery.entry(name)
    s = entry.build()
    text = toml_text(s)
    read = read_model(text, f"{name}.toml")
    assert equal(s, read)
    assert equal(s, read_model(json_text(s), f"{name}.json"))
    assert equal(s, read_model(sections(text), f"{name}.toml"))
    assert text == toml_text(read)
    if not run:
        return
    wish = {"start": entry.start, "inputs": entry.inputs, "events": entry.events, "progress": False}
    x, y = (da.simulate(system, min(1.0, entry.duration), **wish) for system in (s, read))
    assert np.array_equal(x.q[0], y.q[0])
    assert np.array_equal(x.u[0], y.u[0])
    assert np.array_equal(x.t, y.t)
    assert np.array_equal(x.q, y.q)
    assert np.array_equal(x.u, y.u)


@pytest.mark.parametrize("name", QUICK)
def test_some_of_the_gallery(name):
    check(name, run=name in QUICK[:2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("name", gallery.names())
def test_all_of_the_gallery(name):
    check(name)


def test_a_file_with_a_run_keeps_it(tmp_path):
    s = read_model(
        'gravity = 9.81\npin.theta = "O"\nrod.bar = { at = "theta", mass = 1, length = 1 }\nrun = '
        "{ duration = 3, start = { theta = 0.1 } }"
    )
    s.save(tmp_path / "m.toml")
    assert s.settings.run == da.load(tmp_path / "m.toml").settings.run


def test_what_is_a_program_is_not_written(tmp_path):
    s = gallery.build("double-pendulum")
    hidden = s.N.rotations("zx", s["alpha"], s["beta"])[0]
    assert hidden is not None
    kept = s.save(tmp_path / "m.toml")
    assert kept is None
    with pytest.raises(da.Unwritable):
        s.save(tmp_path / "m.yaml")


def test_a_robot_can_be_written(tmp_path):
    s = da.System("Arm", gravity=9.81)
    P = s.ball("a b c", s.O)
    Q = s.free("x y z e_0 e_1 e_2 e_3", s.weld(P))
    s.body("hand", 1, Q.offset(0.5 * Q.frame.x), Q.frame, da.inertia(Q.frame, 1, 1, 1, xy=0.1))
    s.save(tmp_path / "m.toml")
    assert equal(s, da.load(tmp_path / "m.toml"))


def test_a_verb_that_files_do_not_know_is_a_sentence(tmp_path):
    from dalembert.mechanics.geometry.declaration_log import record_declaration

    class Own(da.System):
        @record_declaration
        def shake(self, at, a):
            self.force(a * self.N.x, at)

    s = Own("Shaken")
    s.particle("bead", 1, s.slide("x", s.O))
    s.shake(s.bodies[0].G, 3)
    with pytest.raises(da.Unwritable, match=r"model files do not support shake\(…\)"):
        s.save(tmp_path / "m.toml")
    assert not list(tmp_path.iterdir())


def test_axes_by_their_letters(tmp_path):
    s = da.System("Letters")
    P = s.slide("x", s.pin("a", s.O, axis="y"), axis="z")
    s.disk("disk", P, P.frame.rotated(s["x"], "x"), 2, 0.5, "z")
    s.save(tmp_path / "m.toml")
    assert equal(s, da.load(tmp_path / "m.toml"))


def test_friction_that_is_viscous_alone(tmp_path):
    s = da.System("Sliders")
    s.particle("bead", 1, s.slide("x", s.O))
    for _ in range(2):
        s.friction(s["x"].dot, 0, normal=1, viscous=2)
    s.friction(s["x"].dot, 0.1, normal=1, viscous=2)
    s.save(tmp_path / "m.toml")
    assert equal(s, da.load(tmp_path / "m.toml"))
    assert ["friction 1", "friction 2", "friction 3"] == list(
        tomllib.loads((tmp_path / "m.toml").read_text())["friction"]
    )
