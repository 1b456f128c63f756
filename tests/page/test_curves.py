import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.data_blocks import scene_data
from dalembert.interface.page.kinematics_arrays import Poses
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import COLOURS, METAL, draw_scene

FLEXIBLE = (
    "beam-on-ball-joint",
    "beam-with-tip-mass",
    "cantilever",
    "flexible-pendulum",
    "flexible-slider-crank",
    "hanging-chain",
    "pinned-beam",
    "rotating-beam",
    "spin-up-beam",
)


def run_of(name, duration=0.3):
    entry = gallery.entry(name)
    return sample_frames(
        da.simulate(
            entry.build(), duration, start=entry.start, inputs=entry.inputs, progress=False
        ),
        21,
    )


def is_slice(body, system):
    return body.name.rpartition(" ")[0] in system.members


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("name", FLEXIBLE)
def test_a_member_is_one_curve_and_its_slices_are_not_drawn(name):
    run = run_of(name)
    drawn = build_scene(run, arrows=False)
    assert list(run.system.members) == [c.name for c in drawn.curves]
    assert [b.name for b in run.system.bodies if not is_slice(b, run.system)] == [
        b.name for b in drawn.bodies
    ]
    # links would cross the curve, rails would show the way of a slice
    assert not drawn.lines
    assert not drawn.rails
    (member,) = run.system.members.values()
    root = Poses(run, [member.at]).point(member.at)
    np.testing.assert_allclose(drawn.curves[0].r[0], root, atol=1e-12)
    (curve,) = scene_data(drawn)["curves"]
    assert len(drawn.curves[0].r) == len(curve["r"])


@pytest.mark.parametrize("name", ["cantilever", "pinned-beam", "beam-with-tip-mass"])
def test_the_curve_goes_through_the_slices(name):
    """Route two: the polynomial in x through the places of the slices, which are points of the
    system by themselves.
    """
    run = run_of(name)
    (curve,) = build_scene(run, arrows=False).curves
    cut = [b.G for b in run.system.bodies if is_slice(b, run.system)]
    poses = Poses(run, cut)
    slices = np.stack([poses.point(G) for G in cut])
    assert np.abs(slices[:, :, 1:]).max() > 1e-4
    for k in (0, 7, 20):
        for axis in (1, 2):
            through = np.polynomial.Polynomial.fit(
                slices[:, k, 0], slices[:, k, axis], len(cut) - 1
            )
            np.testing.assert_allclose(curve.r[:, k, axis], through(curve.r[:, k, 0]), atol=1e-9)


def test_what_sits_on_the_end_of_a_member_stays_there():
    drawn = build_scene(run_of("beam-with-tip-mass"), arrows=False)
    (mass,), (curve,) = drawn.bodies, drawn.curves
    assert "right end of beam" == mass.name
    np.testing.assert_allclose(curve.r[-1], mass.r, atol=1e-12)


def test_a_member_is_drawn_in_one_colour_from_its_support():
    drawn = build_scene(run_of("cantilever"), arrows=False)
    (curve,) = drawn.curves
    made = draw_scene(drawn, 5)
    pieces = [f for f in made.faces if f.fill is None]
    assert len(curve.r) - 1 == len(pieces)
    assert {COLOURS[0]} == {f.stroke for f in pieces}
    # the support, and nothing else
    assert {METAL} == {f.fill for f in made.faces if f.fill is not None}
    assert [(p.name, p.fixed) for p in drawn.points if p.joint] == [("O", True)]
    assert ["tip of beam"] == [drawn.points[k].name for k in drawn.tips]
    # slices are not called by name
    assert {"O", "tip of beam"} == {p["name"] for p in scene_data(drawn)["places"] if p["named"]}


def test_a_shaft_that_only_twists_is_one_curve():
    s = da.System("Shaft")
    q = s.coordinate("q")
    B = s.N.rotated(q, s.N.z, "B")
    da.discretise(s, s.shaft("shaft", s.O, B.x, 1, 2, 0.1, density=1), 2)
    drawn = build_scene(
        da.simulate(s, 0.3, start={"phi_1": 0.2, "q'": 1}, progress=False), arrows=False
    )
    assert ["shaft"] == [c.name for c in drawn.curves]
    assert not drawn.lines
    assert not drawn.bodies


def test_the_eye_follows_a_member_that_is_thrown():
    s = da.System("Thrown beam", gravity=9.81)
    x, y = s.coordinates("x y")
    da.discretise(
        s, s.beam("beam", s.O.offset(x * s.N.x + y * s.N.y, "P"), s.N.x, s.N.y, 1, 2, 0.3), 2
    )
    drawn = build_scene(
        sample_frames(da.simulate(s, 2, start={"x'": 9, "y'": 9, "v_1": 0.1}, progress=False), 21),
        arrows=False,
    )
    assert drawn.view.follow
    for k in (0, 10, 20):
        points = np.concatenate(
            [
                f.points
                for f in draw_scene(drawn, k, 480, 300).faces
                if f.width > 1 and f.fill is None
            ]
        )
        assert points.min() >= 0
        assert (points <= (480, 300)).all()
