"""A joint of the tree and the same joint closed by rows: the wrench by the balances of free
bodies, and by multipliers.
"""

import numpy as np
import pytest

import dalembert as da

FINE = {"rtol": 1e-11, "atol": 1e-11, "progress": False}
TIMES = np.linspace(0, 0.3, 4)
RATES = {
    "pin": {"b.dot": 2.0},
    "ball": {"b.dot": 1.0, "c.dot": 0.5, "d.dot": -1.0},
    "slide": {"b.dot": 1.0},
    "cylinder": {"b.dot": 1.0, "c.dot": 2.0},
    "universal": {"b.dot": 1.0, "c.dot": 1.5},
}


def inertia(B):
    return da.inertia(B, 0.3, 0.5, 0.4, xy=0.05, yz=-0.02)


def arm(name):
    """A swinging arm, about whose bearing's axis a second body will hang at its end."""
    s = da.System(name, gravity=9.81)
    hinge = s.pin("a", s.O, s.N.x)
    A = hinge.frame
    s.body("arm", 2, hinge.offset(-0.5 * A.y), A, inertia(A))
    return s, A, hinge.offset(-A.y, "end", A)


def tree(kind):
    s, A, end = arm("tree")
    joints = {
        "pin": lambda: s.pin("b", end, A.z),
        "ball": lambda: s.ball("b c d", end),
        "slide": lambda: s.slide("b", end, A.x),
        "cylinder": lambda: s.pin("c", s.slide("b", end, A.z), A.z),
        "universal": lambda: s.universal("b c", end),
    }
    joint = joints[kind]()
    B = joint.frame
    s.body("load", 1.5, joint.offset(0.3 * B.x - 0.4 * B.y + 0.2 * B.z, "G", B), B, inertia(B))
    return s


def closed(kind):
    s, A, end = arm("closed")
    G = s.free("x y z p q r")
    B = G.frame
    s.body("load", 1.5, G, B, inertia(B))
    hook = G.offset(-0.3 * B.x + 0.4 * B.y - 0.2 * B.z, "hook", B)
    axes = {"universal": (B.y, A.x), "slide": (A.x, None), "cylinder": (A.z, B.z)}.get(
        kind, (None, None)
    )
    first, second = (end, hook) if kind in ("slide", "cylinder") else (hook, end)
    s.close(first, second, kind, *axes, name="joint")
    return s


def start_like(run, s):
    """Where the load of another run is, and how it moves."""
    load, N = run.system.bodies[1], s.N
    R = np.stack([run[axis][0] for axis in (load.frame.x, load.frame.y, load.frame.z)], axis=-1)
    angles = np.arctan2(R[1, 0], R[0, 0]), -np.arcsin(R[2, 0]), np.arctan2(R[2, 1], R[2, 2])
    place, v, w = run[load.G - run.system.O][0], run[load.G.v][0], run[load.frame.w][0]
    turning = s.bodies[1].frame.w
    spin = {turning @ axis: x for axis, x in zip((N.x, N.y, N.z), w, strict=True)}
    names = ("x", "y", "z", "p", "q", "r", "x.dot", "y.dot", "z.dot")
    return {"a": 0.3, "a.dot": 1.0, **dict(zip(names, (*place, *angles, *v), strict=True)), **spin}


@pytest.mark.each_time(2)
@pytest.mark.parametrize("kind", RATES)
def test_the_same_wrench_by_two_routes(kind):
    first = da.simulate(tree(kind), 0.3, start={"a": 0.3, "a.dot": 1.0, **RATES[kind]}, **FINE)
    other = closed(kind)
    second = da.simulate(other, 0.3, start=start_like(first, other), **FINE)
    by_balance, by_rows = first.at(TIMES).reactions, second.at(TIMES).reactions
    joint, rows = list(by_balance.joints.values())[-1], by_rows["joint"]
    assert {"arm", "load"} == {rows.on, rows.against}
    sign = 1 if rows.on == "load" else -1
    size = np.abs(joint.force).max()
    assert np.abs(joint.force - sign * rows.force).max() < 1e-9 * size
    moment = joint.moment + np.cross(joint.at - rows.at, joint.force)
    assert np.abs(moment - sign * rows.moment).max() < 1e-9 * size
    # and so the arm's own bearing, which carries both
    for what in ("force", "moment"):
        assert (
            np.abs(getattr(by_balance["a"], what) - getattr(by_rows["a"], what)).max() < 1e-9 * size
        )


def test_a_row_that_may_hold_one_body_or_another_is_not_placed_by_guessing():
    s, _, end = arm("by hand")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z, "P")
    s.particle("bob", 1, P)
    # the end of the arm stays in the plane x = 0, as O does
    for axis, name in ((s.N.x, "x"), (s.N.y, "y"), (s.N.z, "z")):
        s.constrain((P - end) @ axis, f"hook {name}")
    found = da.simulate(s, 0.1, start={"a": 0.3}, progress=False).reactions
    assert {} == found.joints
    assert "it is not known on which bodies 'hook x' acts" in found.why_no_joints
    assert ("bob", "arm") == (found.rows["hook y"].on, found.rows["hook y"].against)
