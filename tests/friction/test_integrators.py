"""Contacts by Rosenbrock's method and by "auto": the changes of mode of the native method."""

import pytest

import dalembert as da

G = 9.81
FINE = {"rtol": 1e-10, "atol": 1e-11}


def bouncing_disk():
    s = da.System("disk", gravity=G)
    x, y, a = s.coordinates("x y a")
    B = s.N.rotated(a, s.N.z, "B")
    C = s.O.offset(x * s.N.x + y * s.N.y)
    body = s.body("disk", 1, C, B, da.inertia(B, *[0.005] * 3))
    s.contact(C, radius=0.1, on=body, friction=0.3, restitution=0.5, name="floor")
    return s, {"y": 0.5, "x.dot": 1.0, "a.dot": 30.0}, 0.8


def block_on_belt():
    s = da.System("belt")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x)
    s.particle("block", 1, P)
    s.force(-4 * x * s.N.x, at=P)
    s.friction(x.dot - 0.3, 0.2, normal=G, static=0.35, name="belt")
    return s, {"x": 0.1}, 6.0


def slope():
    s = da.System("slope", gravity=G, up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.particle("block", 1, P)
    s.force(1.5 * s.N.x, P)
    s.contact(P, s.N.z, friction=0.3, name="plane")
    return s, {"x.dot": -1.0, "y.dot": 0.4}, 0.5


def stiff_block():
    """A light mass on a stiff damper: 1e5 steps a second by an explicit method."""
    s = da.System("stiff", gravity=G)
    x, y, z = s.coordinates("x y z")
    P, Q = s.O.offset(x * s.N.x + y * s.N.y), s.O.offset(z * s.N.x)
    s.particle("block", 1, P)
    s.particle("light", 1e-3, Q)
    pull = 100 * (z - x) + 2000 * (z.dot - x.dot)
    s.force(pull * s.N.x, P)
    s.force(-pull * s.N.x, Q)
    s.contact(P, friction=0.3, restitution=0.4, name="floor")
    return s, {"x.dot": 2.0, "z.dot": 1.0, "y": 1e-3}, 0.05


@pytest.mark.parametrize("build", [bouncing_disk, block_on_belt, slope, stiff_block])
@pytest.mark.parametrize("integrator", ["auto", "rosenbrock"])
def test_other_integrators_change_the_modes_of_contacts_alike(build, integrator):
    s, start, duration = build()
    expected = da.simulate(s, duration, start=start, **FINE)
    run = da.simulate(s, duration, start=start, integrator=integrator, **FINE)
    assert [(e.name, e.action) for e in expected.events] == [(e.name, e.action) for e in run.events]
    for a, b in zip(expected.events, run.events, strict=True):
        assert a.t == pytest.approx(b.t, abs=1e-8)
    for name in ("x", "x.dot"):
        assert expected[name][-1] == pytest.approx(float(run[name][-1]), abs=1e-8)
    if build is stiff_block and integrator == "rosenbrock":
        assert run.solution.steps < expected.solution.steps / 20


def test_integrators_that_locate_no_changes_of_mode_are_refused():
    s, start, duration = block_on_belt()
    with pytest.raises(da.NotApplicable, match="locates changes of mode: 'native', 'auto' or"):
        da.simulate(s, duration, start=start, integrator="taylor")
