"""Where rows take hold: recognised from the description, exactly, or not claimed at all."""

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinetics.constraint_actions import (
    ConstraintAction,
    reaction_rows,
    row_actions,
)
from dalembert.mechanics.kinetics.rigid_groups import RigidGroups
from dalembert.symbolic.algebra.exact.zero_test import provably_zero


def actions(s):
    kin = da.kinematics(s).fork()
    return dict(
        zip([row.name for row in reaction_rows(kin)], row_actions(RigidGroups(kin)), strict=True)
    )


def names(action):
    labels = [group.label(P) for group, P, _ in action.forces] + [
        group.label() for group, _ in action.moments
    ]
    return [None if label == "the ground" else label for label in labels]


def two_bodies():
    s = da.System("Two bodies")
    frames, points = [], []
    for k in "AB":
        G = s.free(" ".join(f"{x}_{k}" for x in ("x", "y", "z", "p", "q", "r")))
        s.body(k, 1, G, G.frame, da.inertia(G.frame, 1, 2, 2.5))
        frames.append(G.frame)
        points.append(G.offset(0.3 * G.frame.x - 0.1 * G.frame.z, f"P{k}", G.frame))
    return s, frames, points


def zero(v, s):
    return all(provably_zero(v.tape, list(v.components(s.N))))


@pytest.mark.parametrize("k", [1, -1, 2, da.sqrt])
def test_the_distance_of_two_points(k):
    s, _, (P, Q) = two_bodies()
    r = P - Q
    s.constrain(k(r @ r) - 2 if callable(k) else k * (r @ r - 4), "rod")
    found = actions(s)["rod"]
    (first, at, force), (second, other, opposite) = found.forces
    assert ({"A", "B"}, {P, Q}) == ({first.label(), second.label()}, {at, other})
    # r/|r| where |r| − l = 0 was declared, else 2 k r
    expected = r / da.sqrt(r @ r) if callable(k) else r * (2 * k)
    assert zero(force - expected if at is P else force + expected, s)
    assert zero(force + opposite, s)


def test_a_gap_along_an_axis_of_either_body_brings_the_moment_of_its_arm():
    s, (A, _), (P, Q) = two_bodies()
    s.constrain((P - Q) @ A.y, "slot")
    found = actions(s)["slot"]
    # n at P, −n at Q and n × (r_P − r_Q) on the body of the axis
    assert ["A", "B", "A"] == names(found)


def test_axes_at_right_angles_and_relative_spins():
    s, (A, B), _ = two_bodies()
    s.constrain(A.x @ B.y, "right angle")
    s.constrain((A.w - B.w) @ A.z, "no relative spin")
    s.constrain(B.w @ s.N.x, "no roll")
    found = actions(s)
    for name, expected in (
        ("right angle", {"A", "B"}),
        ("no relative spin", {"A", "B"}),
        ("no roll", {"B", None}),
    ):
        assert () == found[name].forces
        assert expected == set(names(found[name]))


def test_a_relation_of_coordinates_acts_in_the_joints():
    s = da.System("Gears")
    for name in ("alpha", "beta"):
        at = s.pin(name, s.O)
        s.body(name, 1, at, at.frame, da.inertia(at.frame, 0, 0, 1))
    s.gear(s["alpha"], s["beta"], -2)
    (gear,) = actions(s).values()
    assert ConstraintAction() == gear
    assert gear.body_pair is None


def test_a_closure_of_two_sliders_holds_the_sliders_and_not_their_joints():
    s = da.System("Sliders")
    ends = []
    for name in ("x1", "x2"):
        P = s.slide(name, s.O)
        s.particle(name, 1, P)
        ends.append(P)
    s.coincide(*ends, "link")
    (link,) = actions(s).values()
    assert {"x1", "x2"} == set(names(link))


def test_a_closure_seen_from_a_third_frame():
    s, _, (P, Q) = two_bodies()
    third = s.N.rotated(s.coordinate("turn"), s.N.z)
    s.body("C", 1, s.O, third, da.inertia(third, 0, 0, 1))
    s.coincide(P, Q, "pin", seen=third)
    for action in actions(s).values():
        # n × (r_P − r_Q) on the third body vanishes where the pin holds
        assert {"A", "B"} <= set(names(action))


def test_a_drive_of_a_joint_that_carries_several_bodies_acts_in_the_joint():
    s = da.System("Cart")
    at = s.slide("x", s.O)
    s.particle("cart", 1, at)
    s.rod("rod", s.pin("theta", at), mass=1, length=1)
    s.constrain(s["x"] - da.sin(s.t), "drive")
    assert ConstraintAction() == actions(s)["drive"]


def test_a_coordinate_of_a_free_point_acts_at_the_point():
    s = da.System("Bead")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("bead", 1, P)
    s.constrain(y - 1, "wire")
    found = actions(s)["wire"]
    assert ["bead", None] == names(found)
    assert P is found.forces[0][1]


@pytest.mark.parametrize(
    "phi",
    [lambda x, y, z: z - x**2 - 2 * y**2, lambda x, y, z: z - x, lambda x, y, z: x * y * z - 1],
)
def test_a_surface_holds_a_free_particle_along_its_normal(phi):
    s = da.System("Bead")
    q = s.coordinates("x y z")
    P = s.O.offset(q[0] * s.N.x + q[1] * s.N.y + q[2] * s.N.z)
    s.particle("bead", 1, P)
    s.constrain(phi(*q), "surface")
    (surface,) = actions(s).values()
    assert ("bead", "the ground") == surface.body_pair
    (_, at, force), _ = surface.forces
    assert at is P
    slopes = [phi(*q).sympy().diff(x.sympy()) for x in q]
    normal = [s.expression(str(e)) for e in slopes]
    assert zero(force - (normal[0] * s.N.x + normal[1] * s.N.y + normal[2] * s.N.z), s)


def test_any_row_on_one_free_body_is_a_force_and_a_moment():
    s = da.System("Body")
    G = s.free("x y z p q r")
    body = s.body("body", 1, G, G.frame, da.inertia(G.frame, 1, 2, 2.5))
    s.constrain(
        s["x"].dot * s["y"] + da.sin(s["p"]) * s["q"].dot + s["r"].dot * s["z"], "row", on=body
    )
    (action,) = actions(s).values()
    assert not action.unknown_reason
    assert ["body", None, "body", None] == names(action)


def test_what_the_description_does_not_show_is_not_claimed():
    s = da.System("Two beads")
    x, y = s.coordinates("x y")
    s.particle("first", 1, s.O.offset(x * s.N.x))
    s.particle("second", 1, s.O.offset(y * s.N.y))
    s.constrain(y - x**2, "cam")
    (cam,) = actions(s).values()
    assert "it is not known on which bodies 'cam' acts" in cam.unknown_reason


def test_rolling_knows_its_contact():
    found = actions(gallery.build("rolling-disk"))
    assert [["disk", None]] * 2 == [names(a) for a in found.values()]


def test_rows_marked_redundant_hold_too():
    assert "sixth hinge axis 2" in actions(gallery.build("bricard"))
