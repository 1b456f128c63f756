import numpy as np
import pytest

import dalembert as da
from dalembert.interface.page.scene import build_scene

MASS = 3.0


def drawn(inertia, axes):
    s = da.System("Free body")
    x = s.coordinate("x")
    B = s.N.rotations(axes, *s.coordinates("a b c"[: 2 * len(axes) - 1]))[-1]
    s.body("body", MASS, s.O.offset(x * s.N.x), B, inertia(B))
    run = da.simulate(s, 0.1, start={"a": 0.3, "b.dot": 1.0}, progress=False)
    return build_scene(run).bodies[0].solid


def moments(solid):
    """The central moments of a homogeneous solid of that shape, in the frame of the body."""
    a, b, c = solid.sizes
    if solid.kind == "box":
        own = MASS / 3 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    elif solid.kind == "cylinder":
        across = MASS * (3 * a * a + (2 * c) ** 2) / 12
        own = np.array([across, across, MASS * a * a / 2])
    else:
        own = MASS / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    return solid.orientation @ np.diag(own) @ solid.orientation.T


@pytest.mark.parametrize(
    ("inertia", "kind", "near"),
    [
        (lambda B: da.inertia(B, 0.5, 0.7, 0.9, 0.05, -0.03, 0.02), "sphere", 1e-12),
        (lambda B: da.sphere_inertia(B, MASS, 0.4), "sphere", 1e-12),
        # what is drawn with some thickness has a little more inertia than what has none
        (lambda B: da.rod_inertia(B.y, MASS, 1.5), "cylinder", 0.01),
        (lambda B: da.disk_inertia(B.x, MASS, 0.5), "cylinder", 0.011),
        (lambda B: da.box_inertia(B, MASS, 0.3, 0.4, 0.5), "sphere", 1e-12),
    ],
)
def test_a_body_without_a_shape_is_drawn_with_its_own_inertia(inertia, kind, near):
    # nothing resists the spin of a rod about itself
    solid = drawn(inertia, "xyz" if kind != "cylinder" or near > 0.01 else "zx")
    assert solid.kind == kind
    assert solid.is_inferred
    s = da.System("Frame")
    a, b, c = s.coordinates("a b c")
    B = s.N.rotations("xyz", a, b, c)[-1]
    xx, yy, zz, xy, yz, xz = (_number(B, i) for i in inertia(B).to(B).entries())
    wanted = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    np.testing.assert_allclose(moments(solid), wanted, atol=near * np.abs(wanted).max() + 1e-12)


def _number(B, i):
    value = B.space.tape.value(i)
    assert value is not None
    return float(value)


def test_declared_shapes_are_drawn_as_they_are_declared():
    s = da.System("Shapes")
    x, y, z, q, w, p = s.coordinates("x y z q w p")
    B = s.N.rotations("zxy", q, w, p)[-1]
    G = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.box("box", G, B, 1, 0.2, 0.4, 0.6)
    s.sphere("ball", G, B, 1, 0.3)
    s.disk("disk", G, B, 1, 0.5, axis=B.x)
    s.cylinder("drum", G, B, 1, 0.2, 0.8, axis=B.y)
    solids = [b.solid for b in build_scene(da.simulate(s, 0.1, progress=False)).bodies]
    assert ["box", "sphere", "cylinder", "cylinder"] == [s.kind for s in solids]
    np.testing.assert_allclose(solids[0].sizes, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(solids[1].sizes, (0.3, 0.3, 0.3))
    assert 0.5 == solids[2].sizes[0]
    np.testing.assert_allclose(np.abs(solids[2].orientation[:, 2]), (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(solids[3].sizes, (0.2, 0.2, 0.4))
    assert not any(s.is_inferred for s in solids)
