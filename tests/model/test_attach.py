"""A description on another one: the same equations, exactly, as the whole typed by hand."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.printing import source
from same_equations import equal

# joints, rows, rolling, prescribed motions, quaternions, speeds, springs, loads; the rest is slow
SOME = (
    "double-pendulum",
    "rolling-disk",
    "four-bar",
    "ball-on-turntable",
    "free-body-quaternion",
    "moving-knife-edge",
    "flyball-governor",
)


def on_the_ground(other):
    """A system without anything but the other's gravity, and the names in it."""
    s = da.System(other.name)
    if other.gravity_field is None:
        return s, []
    g, t = other.gravity_field.g.to(other.N), other.space.tape
    names = sorted({t.nodes[i][1] for x in g for i in symbols_of(t, (x.i,))})
    for name in names:
        s.constant(name, other.symbols[name].value)
    s.gravity(
        sum(
            s.expression(source(x)) * axis for x, axis in zip(g, (s.N.x, s.N.y, s.N.z), strict=True)
        )
    )
    return s, names


def attached_equals(name):
    other = gallery.build(name)
    s, shared = on_the_ground(other)
    s.attach(other, at=s.O, shared=shared)
    return equal(s, other)


@pytest.mark.parametrize("name", SOME)
def test_on_the_ground_nothing_changes(name):
    assert attached_equals(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in gallery.names() if n not in SOME])
def test_on_the_ground_nothing_changes_for_any_system(name):
    assert attached_equals(name)


# ---- a tool on an arm ----------------------------------------------------------------------------


def arm(name="arm"):
    s = da.System(name, gravity=9.81)
    s.constants(m=2, l=1)
    return s, s.rod("arm", s.pin("theta", s.O), s["m"], s["l"])


def tool(s, at, p=""):
    """A driven rod with a spring, a damper, a motor with a current, a slider that is moved, told
    in terms of `at` and its frame.
    """
    N = at.frame
    s.constants(**{p + "m": 1, p + "l": 0.5, p + "k": 3, p + "R": 2})
    s.input(p + "V", 1)
    theta = s.pin(p + "theta", at)
    rod = s.rod(p + "rod", theta, s[p + "m"], s[p + "l"])
    s.potential(f"{p}k*{p}theta**2/2", p + "spring")
    s.damper(0.2, rod.tip, at.offset(0.3 * N.x, p + "hook"), name=p + "damper")
    s.state(p + "i", rate=f"{p}V - {p}R*{p}i - {p}theta.dot", value=0.1)
    s.torque(s[p + "i"] * N.z, on=rod, reaction=N, name=p + "motor")
    s.force(-3 * N.x, at=rod.tip, name=p + "wind")
    x = s.specified(p + "x", "sin(t)/10")
    s.particle(p + "bob", 0.3, rod.tip.offset(x * rod.frame.x, p + "bob"))
    return rod


def described_alone():
    s = da.System("tool", gravity=1.62)
    return s, tool(s, s.O)


def test_a_tool_on_an_arm_is_the_whole_typed_by_hand():
    s, body = arm()
    other, rod = described_alone()
    a = s.attach(other, at=body.tip, prefix="tool_")
    by_hand, body = arm()
    tool(by_hand, body.tip, "tool_")
    assert equal(s, by_hand)
    start = {"theta": 0.4, "tool_theta": -0.3}
    one, two = (
        da.simulate(each, 0.5, start=start, inputs={"tool_V": 0.7}) for each in (s, by_hand)
    )
    assert np.array_equal(one.y, two.y)
    assert one["tool_i"][0] == 0.1
    # what the other's things are here
    assert a["theta"] is s.symbols["tool_theta"].scalar
    assert a(rod).name == "tool_rod"
    assert a(rod.tip) is a(rod).tip
    assert np.allclose(one[a(rod.tip).v], two[by_hand.bodies[1].tip.v])
    assert a.outside == ["tool_wind"]
    assert "gravity is left out" in str(a)
    assert "theta → tool_theta" in repr(a)


def test_the_reaction_acts_on_what_carries_it():
    """Without one the motor turns the whole from outside."""
    f = []
    for reaction in (True, False):
        s, body = arm()
        other = da.System("motor")
        rod = other.rod("rod", other.pin("phi", other.O), 1, 1)
        other.torque(5 * other.N.z, on=rod, reaction=other.N if reaction else None)
        s.attach(other, at=body.tip)
        f.append(da.state_values(s, {"theta": 0, "phi": 0}).f)
    assert np.allclose(f[0], [0, 5])
    assert np.allclose(f[1], [5, 5])


def test_two_tools_and_a_file(tmp_path):
    s, body = arm()
    for side, place in (("left_", body.tip), ("right_", body.G)):
        s.attach(described_alone()[0], at=place, prefix=side)
    by_hand, body = arm()
    tool(by_hand, body.tip, "left_")
    tool(by_hand, body.G, "right_")
    assert equal(s, by_hand)
    s.save(tmp_path / "s.toml")
    assert equal(da.load(tmp_path / "s.toml"), s)
    assert "θ_left" in str(s["left_theta"])
    assert da.agreement(s).agree


def test_a_mounting_that_is_turned():
    s, body = arm()
    other = da.System("slider")
    other.particle("bead", 1, other.slide("x", other.O))
    mounting = body.frame.rotated("30 deg", "z")
    s.attach(other, at=body.tip, frame=mounting)
    by_hand, body = arm()
    x = by_hand.coordinate("x")
    by_hand.particle("bead", 1, body.tip.offset(x * body.frame.rotated("30 deg", "z").x))
    assert equal(s, by_hand)


def test_what_rolls_on_its_ground_rolls_on_what_carries_it():
    def disk(s, at, on=None):
        N = at.frame
        x, phi = s.coordinates("x phi")
        G = at.offset(x * N.x + 0.2 * N.y, "G", N)
        wheel = s.disk("wheel", G, N.rotated(phi, "z"), 1, 0.2, N.z)
        s.roll(wheel, G.offset(-0.2 * N.y, "C", N), on=on, seen=N)

    def table():
        s = da.System("table", gravity=9.81)
        frame = s.pin("theta", s.O).frame
        return s, s.box("table", s.O, frame, 3, 1, 0.1, 1)

    s, plate = table()
    other = da.System("disk")
    disk(other, other.O)
    s.attach(other, at=s.O.offset(0.05 * plate.frame.y, "top"))
    by_hand, plate = table()
    disk(by_hand, by_hand.O.offset(0.05 * plate.frame.y), on=plate)
    assert equal(s, by_hand)


def test_contacts_with_its_ground_are_with_what_carries_it():
    def block(s, at, **more):
        N = at.frame
        x, y = s.coordinates("x y")
        P = at.offset(x * N.x + y * N.y, "P", N)
        s.particle("block", 1, P)
        s.contact(P, friction=0.3, name="floor", **more)

    def lift():
        s = da.System("lift", gravity=9.81)
        h = s.specified("h", "sin(3*t)/10")
        place = s.O.offset(h * s.N.y, "cabin", s.N.rotated("10 deg", "z"))
        return s, s.body("cabin", 5, place, place.frame, da.inertia(place.frame, 1, 1, 1))

    s, cabin = lift()
    other = da.System("block")
    block(other, other.O)
    s.attach(other, at=cabin.G)
    by_hand, cabin = lift()
    F = cabin.frame
    block(by_hand, cabin.G, ground=F.y, through=cabin.G, against=cabin, along=F.y.cross(F.z))
    runs = [da.simulate(each, 1.0, start={"x.dot": 0.5}) for each in (s, by_hand)]
    assert np.array_equal(runs[0].y, runs[1].y)
    assert any(mode != "sticks" for mode in runs[0].modes["floor"])


def block_on_its_ground(**ground):
    other = da.System("block", gravity=9.81)
    x, y = other.coordinates("x y")
    P = other.O.offset(x * other.N.x + y * other.N.y, "P")
    other.particle("block", 1, P)
    other.contact(P, friction=0.3, name="floor", **ground)
    return other


def test_a_ground_that_is_mounted_askew_is_an_incline():
    s = da.System("incline", gravity=9.81)
    s.attach(block_on_its_ground(), at=s.O.offset(2 * s.N.x, "foot"), frame=s.N.rotated(0.5, "z"))
    run = da.simulate(s, 1.0, rtol=1e-12, atol=1e-12)
    assert run["x"][-1] == pytest.approx(
        -9.81 / 2 * (math.sin(0.5) - 0.3 * math.cos(0.5)), abs=1e-11
    )
    assert np.abs(run["y"]).max() < 1e-12


def test_a_block_on_the_ground_of_a_cart_that_is_a_particle_drags_the_cart():
    s = da.System("cart", gravity=9.81)
    C = s.O.offset(s.coordinate("X") * s.N.x, "C")
    s.particle("cart", 3, C)
    s.attach(block_on_its_ground(), at=C)
    run = da.simulate(s, 1.0, start={"x.dot": 1.0}, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run[da.momentum(s)], [[1, 0, 0]] * len(run.t), atol=1e-12)
    assert [e.t for e in run.events] == pytest.approx([1 / (0.3 * 9.81 * 4 / 3)], abs=1e-12)


def test_grounds_that_no_body_carries_are_refused():
    s, body = arm()
    slider = body.tip.offset(s.coordinate("z") * body.frame.x, "slider")
    with pytest.raises(
        da.BadDescription,
        match=r"contact on the ground.*at slider, which is no body; attach it to one",
    ):
        s.attach(block_on_its_ground(), at=slider, prefix="b_")
    with pytest.raises(da.BadDescription, match=r"curved ground.*attach it at s\.O"):
        s.attach(block_on_its_ground(height="x**2"), at=s.O.offset(s.N.x, "aside"), prefix="b_")


def test_starts_of_files_come_along(tmp_path):
    for name, joint in (("arm", "theta"), ("tool", "phi")):
        text = (
            f'name = "{name}"\ngravity = 9.81\n[pin.{joint}]\nat = "O"\n[rod.{name}]\nat = '
            f'"{joint}"\nmass = 1\nlength = 1\n'
        )
        (tmp_path / f"{name}.toml").write_text(
            f"{text}[run]\nduration = 2\nstart = {{ {joint} = 0.5 }}\n"
        )
    s, other = da.load(tmp_path / "arm.toml"), da.load(tmp_path / "tool.toml")
    s.attach(other, at=s.bodies[0].tip, prefix="t_")
    assert {"theta", "t_phi"} == {str(key) for key in s.settings.run["start"]}
    assert s.settings.run["duration"] == 2


def test_what_is_refused_changes_nothing():
    s, body = arm()
    other, _ = described_alone()
    energies = da.System.from_energies(T="x.dot**2/2", q="x")
    bare = da.System("bare")
    signature = s.cache_key()
    for wrong, words in (
        (
            lambda: s.attach(other, at=body.tip),
            "both systems have m, l, theta; give prefix='tool_'.*shared='m l'",
        ),
        (lambda: s.attach(other, at=body), "mass centre is .G"),
        (lambda: s.attach(other, at="tip"), "expected a point"),
        (lambda: s.attach(s, at=body.tip), "to itself"),
        (lambda: s.attach("tool", at=body.tip), "give a System"),
        (lambda: s.attach(energies, at=body.tip), "given by its energies"),
        (lambda: bare.attach(other, at=bare.O), "this one has none"),
        (lambda: s.attach(other, at=body.tip, prefix="my tool"), "beginning of a name"),
        (lambda: s.attach(other, at=body.tip, prefix="a_", shared="m"), "m is 2 here and 1 there"),
        (
            lambda: s.attach(other, at=body.tip, prefix="a_", shared="k"),
            "not a constant or input of both",
        ),
    ):
        with pytest.raises(da.DalembertError, match=words):
            wrong()
        assert s.cache_key() == signature
    a = s.attach(other, at=body.tip, prefix="tool_")
    with pytest.raises(da.DalembertError, match="no symbol of tool"):
        a["psi"]
