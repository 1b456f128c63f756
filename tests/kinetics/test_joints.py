"""The pieces of a system, cut at its joints."""

import dalembert as da
from dalembert import gallery
from dalembert.mechanics.kinetics.free_bodies import loads_by_group
from dalembert.mechanics.kinetics.rigid_groups import RigidGroups


def pieces(s):
    return {
        p.name: [b.name for b, _ in p.masses] for p in RigidGroups(da.kinematics(s).fork()).groups
    }


def test_absolute_and_relative_angles_give_the_same_chain():
    for name, angle in (("pendulum-absolute", "theta"), ("pendulum-relative", "q")):
        chain = list(RigidGroups(da.kinematics(gallery.build(name)).fork()).groups)
        assert ["the ground", *(f"{angle}_{k}" for k in (1, 2, 3))] == [p.name for p in chain]
        assert [None, *chain[:-1]] == [p.before for p in chain]


def test_a_frame_that_is_only_tilted_is_the_same_piece():
    s = da.System("Tilted")
    A = s.N.rotated(s.coordinate("alpha"), s.N.z)
    P = s.O.offset(A.x, frame=A)
    B = A.rotated(0.3, A.x)
    s.body("arm", 1, P, A, da.inertia(A, 1, 1, 1))
    s.body("blade", 1, P.offset(B.y, frame=B), B, da.inertia(B, 1, 1, 1))
    assert {"the ground": [], "alpha": ["arm", "blade"]} == pieces(s)


def test_a_slider_on_a_turning_arm_and_a_body_that_turns_on_it():
    s = da.System("Slider")
    at = s.slide("x", s.pin("alpha", s.O))
    s.particle("block", 1, at)
    top = s.pin("beta", at)
    s.body("flag", 1, top.offset(top.frame.y), top.frame, da.inertia(top.frame, 0, 0, 1))
    assert {"the ground": [], "alpha": [], "x": ["block"], "beta": ["flag"]} == pieces(s)


def test_two_masses_moved_by_one_coordinate_are_two_pieces():
    assert {"theta", "x", "second"} <= set(pieces(gallery.build("atwood-machine")))


def test_a_spring_is_placed_and_another_potential_is_not():
    s = da.System("Springs")
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("p", 1, P)
    s.spring(3, P, s.O, rest=1, name="spring")
    s.potential(x**4)
    kin = da.kinematics(s).fork()
    first, second = loads_by_group(RigidGroups(kin))
    F = first.vector
    assert ("spring", P, s.O) == (first.name, first.at, second.at)
    assert ("p", "the ground") == (first.group.label(), second.group.label())
    # −∂V/∂x, −∂V/∂y with V = ½ 3 (√(x² + y²) − 1)²
    l = da.sqrt(x**2 + y**2)
    expected = [-3 * (l - 1) * x / l, -3 * (l - 1) * y / l]
    from dalembert.symbolic.algebra.exact.zero_test import provably_zero
    from dalembert.symbolic.algebra.scalar import as_node

    t = kin.tape
    assert all(
        provably_zero(
            t, [t.sub(c, as_node(t, e)) for c, e in zip(F.components(s.N), expected, strict=False)]
        )
    )
