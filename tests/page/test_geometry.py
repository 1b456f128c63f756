import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.kinematics_arrays import Poses, quaternions


@pytest.mark.parametrize(
    "name", ["rolling-disk", "spatial-chain", "two-wheeled-robot", "free-body-quaternion"]
)
def test_points_and_frames_are_those_of_the_expressions(name):
    # two routes: products of numbers frame by frame, and the tape's own expressions along N
    entry = gallery.entry(name)
    s = entry.build()
    run = da.simulate(s, 0.5, start=entry.start, inputs=entry.inputs, progress=False).at(
        np.linspace(0, 0.5, 7)
    )
    points = [b.G for b in s.bodies]
    poses = Poses(run, points)
    for P in points:
        np.testing.assert_allclose(poses.point(P), run[P - s.O], atol=1e-12)
    for b in s.bodies:
        axes = np.stack([run[axis] for axis in (b.frame.x, b.frame.y, b.frame.z)], axis=2)
        np.testing.assert_allclose(poses.frame(b.frame), axes, atol=1e-12)


def test_quaternions_turn_as_the_matrices_do_and_never_jump():
    angles = np.linspace(0, 12, 200)
    c, s, o, e = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    about_x = np.stack(
        [np.stack([e, o, o], 1), np.stack([o, c, -s], 1), np.stack([o, s, c], 1)], axis=1
    )
    tilt = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    R = about_x @ tilt
    q = quaternions(R)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-14)
    x, y, z, w = q.T
    columns = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=1)
    np.testing.assert_allclose(columns, R[:, :, 0], atol=1e-13)
    assert np.abs(np.diff(q, axis=0)).max() < 0.05
