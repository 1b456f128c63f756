import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.body_shapes import bar_outline, body_fixed_points
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.svg_drawing import draw_scene


def drawn(name, duration):
    entry = gallery.entry(name)
    return build_scene(
        sample_frames(
            da.simulate(
                entry.build(), duration, start=entry.start, inputs=entry.inputs, progress=False
            ),
            21,
        ),
        arrows=False,
    )


def lengths(made):
    return sorted(np.linalg.norm(made.bars[:, 1] - made.bars[:, 0], axis=1))


def test_points_of_a_line_are_one_bar():
    made = bar_outline(np.array([[0.0, 0, 0], [2, 0, 0], [0.5, 0, 0], [2, 0, 0]]))
    assert [2] == lengths(made)
    assert not len(made.plate)


def test_points_of_a_plane_are_the_edge_of_a_plate():
    corners = [[0.0, 0, 1], [4, 0, 1], [0, 3, 1], [1, 1, 1], [2, 0, 1]]
    made = bar_outline(np.array(corners))
    np.testing.assert_allclose(lengths(made), (3, 4, 5))
    assert {(0, 0, 1), (4, 0, 1), (0, 3, 1)} == {tuple(p) for p in made.plate}


def test_points_in_space_are_the_shortest_net():
    made = bar_outline(np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]))
    np.testing.assert_allclose(lengths(made), (1, 2, 3))


def test_a_single_point_has_no_outline():
    assert bar_outline(np.zeros((2, 3))) is None


def test_points_are_attached_by_the_description_not_by_the_motion():
    s = da.System("Arm", gravity=9.81)
    q, x = s.coordinates("q x")
    l = s.constant("l", 2)
    B = s.N.rotated(q, s.N.z, "B")
    G = s.O.offset(l / 2 * B.x, "G")
    tip, bead, beside = (
        s.O.offset(l * B.x, "tip"),
        s.O.offset(x * B.x, "bead"),
        s.O.offset(s.N.x, "beside"),
    )
    assert [G, s.O, tip] == body_fixed_points(G, B, [tip, bead, beside, s.O])


@pytest.fixture(scope="module")
def squeezer():
    return drawn("andrews-squeezer", 0.01)


def test_the_links_of_the_squeezer_are_bars_between_its_joints(squeezer):
    assert all(b.outline is not None for b in squeezer.bodies)
    # nothing but the spring is left of the lines
    assert ["spring"] == [line.kind for line in squeezer.lines]
    place = {p.name: p.r for p in squeezer.points}
    K3 = squeezer.bodies[2]
    for k in (0, 10, 20):
        corners = K3.r[k] + K3.outline.plate @ K3.frame[k].T
        for name in ("B", "D", "joint"):
            assert min(np.linalg.norm(corners - place[name][k], axis=1)) < 1e-8
    # the crank: r = 7 mm
    np.testing.assert_allclose(lengths(squeezer.bodies[0].outline), 0.007)


def test_a_top_on_its_tip_keeps_the_ellipsoid_of_its_inertia():
    (top,) = drawn("lagrange-top", 0.1).bodies
    assert top.outline is None
    assert top.solid.is_inferred


@pytest.mark.parametrize(
    ("name", "duration"),
    [("vehicle", 3.0), ("andrews-squeezer", 0.01), ("snakeboard", 3.0), ("cantilever", 0.5)],
)
def test_nothing_of_the_bodies_leaves_the_picture(name, duration):
    made = drawn(name, duration)
    for k in (0, 10, 20):
        bodies = [
            f for f in draw_scene(made, k, 480, 300).faces if f.fill is not None or f.width > 3
        ]
        points = np.concatenate([f.points for f in bodies])
        assert points.min() >= 0
        assert (points <= (480, 300)).all()
