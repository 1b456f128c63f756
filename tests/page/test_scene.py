import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.data_blocks import data_block, scene_data
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene, svg


def run_of(name, duration=None):
    entry = gallery.entry(name)
    return da.simulate(
        entry.build(),
        duration or entry.duration,
        start=entry.start,
        inputs=entry.inputs,
        progress=False,
    )


@pytest.mark.each_time(10)
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("name", gallery.names())
def test_every_system_of_the_gallery_can_be_drawn(name):
    drawn = build_scene(sample_frames(run_of(name, 0.4), 31))
    assert drawn.bodies or drawn.curves
    for body in drawn.bodies:
        assert np.isfinite(body.r).all()
        assert min(body.solid.sizes) > 0
        np.testing.assert_allclose(np.linalg.det(body.R), 1, atol=1e-9)
    assert drawn.view.far >= drawn.view.near / 1.7 > 0
    made = draw_scene(drawn, 0, 480, 300)
    inside = [
        f
        for f in made.faces
        if f.fill is not None and (f.points > -60).all() and (f.points < 540).all()
    ]
    assert inside, "nothing is in the picture"
    assert svg(made).startswith("<svg")
    data_block("scene", scene_data(drawn))


def test_a_pendulum_hangs_on_a_link_from_a_fixed_joint():
    drawn = build_scene(sample_frames(run_of("simple-pendulum")))
    (link,) = drawn.lines
    ends = drawn.points[link.a], drawn.points[link.b]
    assert ["O", "P"] == [p.name for p in ends]
    assert ends[0].fixed
    assert ends[0].joint
    np.testing.assert_allclose(np.linalg.norm(ends[1].r, axis=1), 1.0, rtol=1e-9)
    assert not drawn.view.follow
    # up in the picture is up in the world, and the eye looks along z
    np.testing.assert_allclose(drawn.view.axes[2], (0, 1, 0))


def test_the_eye_follows_what_travels_and_finds_the_floor():
    drawn = build_scene(sample_frames(run_of("rolling-disk")))
    assert drawn.view.follow
    assert 0.0 == pytest.approx(drawn.view.ground)
    # the point of contact is on the floor, and the disk as drawn touches it within its thickness
    disk = drawn.bodies[0]
    lowest = disk.r[:, 2] - disk.solid.sizes[0] * np.hypot(disk.R[:, 2, 0], disk.R[:, 2, 1])
    np.testing.assert_allclose(lowest, 0, atol=1e-9)


def test_springs_and_dampers_join_their_points_and_forces_are_arrows():
    s = da.System("Oscillator", gravity=9.81)
    (x,) = s.coordinates("x")
    P = s.O.offset(-x * s.N.y, "P")
    s.particle("mass", 2, P)
    s.spring(30, s.O, P, rest=0.5)
    s.damper(0.4, s.O, P)
    drawn = build_scene(da.simulate(s, 1, start={"x": 1.2}, progress=False))
    assert ["spring", "damper"] == [line.kind for line in drawn.lines]
    weight = next(a for a in drawn.arrows if a.kind == "weight")
    np.testing.assert_allclose(weight.vector, [[0, -2 * 9.81, 0]] * len(drawn.t))
    assert {"load"} == {a.kind for a in drawn.arrows if a.name.startswith("damper")}
    assert 1 == len(drawn.rails)


def test_two_masses_held_apart_by_a_constraint_are_linked():
    assert [("link",)] == [
        (line.kind,) for line in build_scene(sample_frames(run_of("dumbbell"))).lines
    ]


def test_a_rope_that_is_hauled_in_is_drawn_and_a_coordinate_alone_is_not():
    s = da.System("crane", gravity=9.81)
    x, theta, l = s.coordinates("x theta l")
    trolley = s.O.offset(x * s.N.x, "trolley", s.N)
    load = trolley.offset(-l * s.N.rotated(theta, s.N.z, "B").y, "load")
    s.particle("trolley", 2, trolley)
    s.particle("load", 1, load)
    drawn = build_scene(
        sample_frames(
            da.simulate(s, 0.5, start={"l": 1, "theta.dot": 1, "x.dot": 1}, progress=False)
        )
    )
    assert [("rope", "trolley", "load")] == [
        (line.kind, drawn.points[line.a].name, drawn.points[line.b].name) for line in drawn.lines
    ]
