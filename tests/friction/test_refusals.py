"""Bad input about friction and contact gets a sentence that says what, where and how to mend it."""

import pytest

import dalembert as da


def block():
    s = da.System("block", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("block", 1, P)
    return s, P, x, y


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (
            lambda s, P, x, y: s.contact(P, friction=-0.1),
            r"friction = -0\.1; a coefficient of friction is not negative",
        ),
        (
            lambda s, P, x, y: s.contact(P, friction=0.4, static=0.3),
            r"static = 0\.3 is less than friction = 0\.4",
        ),
        (
            lambda s, P, x, y: s.contact(P, restitution=1.5),
            r"restitution = 1\.5: it must lie between 0",
        ),
        (
            lambda s, P, x, y: s.contact(P, restitution=da.cos(x)),
            r"restitution = cos x contains x; give a number",
        ),
        (
            lambda s, P, x, y: s.contact(P, radius=-0.1, on=s.bodies[0]),
            r"radius = -0\.1; a radius is not negative",
        ),
        (
            lambda s, P, x, y: s.contact(P, friction=0.1, static=0.2, stribeck=0),
            r"stribeck = 0; give the slip velocity",
        ),
        (
            lambda s, P, x, y: s.contact(P, law="hertz"),
            r"law='hertz' is unknown: choose 'newton' or 'poisson'",
        ),
        (lambda s, P, x, y: s.contact(s.O), r"no motion opens or closes it"),
        (lambda s, P, x, y: s.contact(P, ball=s.O), r"two points never meet; give the radii"),
        (
            lambda s, P, x, y: s.contact(P, (s.N.x + s.N.z) / da.sqrt(2), friction=0.1),
            r"no axis of a frame; give along=\(t1, t2\)",
        ),
        (
            lambda s, P, x, y: s.contact(
                P,
                0.6 * s.N.y - 0.8 * s.N.x,
                friction=0.1,
                along=(0.8 * s.N.y + 0.6001 * s.N.x, s.N.z),
            ),
            r"exactly .*take the axes of a frame, F = s\.N\.rotated",
        ),
        (lambda s, P, x, y: s.contact(P, 2 * s.N.y), r"has the length 2; give a unit vector"),
        (
            lambda s, P, x, y: s.contact(P, radius=0.1, friction=0.2),
            r"name the body whose surface it is, on=",
        ),
        (lambda s, P, x, y: s.friction(x.dot, 0.2), r"friction needs a normal force; give normal="),
        (lambda s, P, x, y: s.constrain(x.dot - 1, friction=0.2), r"friction needs a normal force"),
        (lambda s, P, x, y: s.constrain(x.dot - 1, static=0.2), r"without friction="),
        (lambda s, P, x, y: s.friction(x.dot**2, 0.2, normal=1), r"linear in the rates"),
        (lambda s, P, x, y: s.friction(s.t, 0.2, normal=1), r"no rate enters"),
        (lambda s, P, x, y: s.stop(x), r"give lower=…, upper=… or both"),
        (lambda s, P, x, y: s.stop(x, lower=2, upper=1), r"lower = 2 is above upper = 1"),
        (
            lambda s, P, x, y: (s.contact(P, name="a"), s.contact(P, name="a")),
            r"'a' is declared already, as a contact",
        ),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_declared(declare, sentence):
    s, *rest = block()
    with pytest.raises(da.DalembertError, match=sentence):
        declare(s, *rest)


def two_masses():
    s = da.System("two masses", gravity=9.81)
    x, y, X, Y = s.coordinates("x y X Y")
    P, Q = s.O.offset(x * s.N.x + y * s.N.y, "P"), s.O.offset(X * s.N.x + Y * s.N.y, "Q")
    return s, P, Q, s.particle("one", 1, P), s.particle("other", 3, Q)


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (
            lambda s, P, Q, one, other: s.contact(P, ball=Q, radius=(0.1, 0.2), on=one),
            r"moves with X, Y; name the body.*against=",
        ),
        (
            lambda s, P, Q, one, other: s.contact(P, through=Q),
            r"moves with Y; name the body that carries it, against=",
        ),
        (
            lambda s, P, Q, one, other: s.contact(
                P, through=s.O.offset(s["X"] * s.N.x), friction=0.1
            ),
            r"moves with X; name the body",
        ),
        (
            lambda s, P, Q, one, other: s.contact(P, s.N.rotated(s["X"], s.N.z).y),
            r"moves with X; name the body",
        ),
        (
            lambda s, P, Q, one, other: s.contact(P, against=other),
            r"moves with Y in another way than 'other' does; give a point",
        ),
        (
            lambda s, P, Q, one, other: s.contact(P, height="x", against=other),
            r"is fixed; leave out against=",
        ),
        (
            lambda s, P, Q, one, other: s.contact(P, through=Q, against=Q),
            r"name the body that carries the ground",
        ),
    ],
)
def test_a_ground_that_moves_with_a_body_without_acting_on_it_is_refused(declare, sentence):
    s, *rest = two_masses()
    with pytest.raises(da.BadDescription, match=sentence):
        declare(s, *rest)
    assert not s.contacts


def test_rolling_with_friction_needs_a_normal_force():
    s = da.System("disk", gravity=9.81)
    x, theta = s.coordinates("x theta")
    C = s.O.offset(x * s.N.x, "C")
    B = s.N.rotated(theta, s.N.z)
    disk = s.disk("disk", C.offset(0.1 * s.N.y, frame=s.N), B, 1, 0.1, B.z)
    with pytest.raises(
        da.BadDescription, match=r"friction on a row without a normal force; give normal="
    ):
        s.roll(disk, C, friction=0.2)


def test_a_start_inside_the_ground_says_how_deep_and_along_which_normal():
    s, P, _, _ = block()
    s.contact(P, name="floor")
    with pytest.raises(
        da.BadStart, match=r"start: 0\.03 inside 'floor' along .*y; start where the gap is positive"
    ):
        da.simulate(s, 1, start={"y": -0.03})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"mu": -0.1},
            (
                r"'floor': friction = -0\.1 for the values of this run; a coefficient of "
                r"friction is "
                r"not negative"
            ),
        ),
        (
            {"mu": 0.7},
            r"'floor': static = 0\.5 is less than friction = 0\.7 for the values of this run",
        ),
        (
            {"e": 1.5},
            r"'floor': restitution = 1\.5 for the values of this run: it must lie between 0",
        ),
    ],
)
def test_coefficients_that_cannot_be_are_refused_in_the_values_of_a_run_too(values, sentence):
    s, P, _, _ = block()
    mu, static, e = s.constants(mu=0.3, static=0.5, e=0.5)
    s.contact(P, friction=mu, static=static, restitution=e, name="floor")
    with pytest.raises(da.DalembertError, match=sentence):
        da.simulate(s, 1, values=values, start={"x.dot": 1.0})
    if "mu" in values:
        with pytest.raises(da.DalembertError, match=sentence):
            da.rests(s, values=values)


def test_forces_of_contacts_are_not_inputs_of_a_user():
    s, P, _, _ = block()
    s.contact(P, name="floor")
    with pytest.raises(
        da.DalembertError, match=r"N_floor is the force of a contact, which the run solves for"
    ):
        da.simulate(s, 1, inputs={"N_floor": 3})
    with pytest.raises(da.NotApplicable, match=r"integrator that locates changes of mode"):
        da.simulate(s, 1, integrator="RK45")


@pytest.mark.parametrize("verb", [da.equilibrium, da.linearize, lambda s: da.export(s, "matlab")])
def test_what_knows_no_modes_refuses_contacts(verb):
    s, P, _, _ = block()
    s.contact(P, name="floor")
    with pytest.raises((da.NotApplicable, da.NotExportable), match=r"'floor'.*modes"):
        verb(s)


def test_what_looks_at_many_runs_or_along_one_refuses_contacts():
    s, P, _, _ = block()
    s.contact(P, name="floor")
    with pytest.raises(da.NotApplicable, match=r"keep_energy"):
        da.simulate(s, 0.1, keep_energy=True)
    run = da.simulate(s, 0.1)
    with pytest.raises(
        da.DalembertError, match=r"linearize_along: the contacts of this run change their modes"
    ):
        da.linearize_along(run)


def test_all_contacts_that_change_without_end_are_named(monkeypatch):
    monkeypatch.setattr("dalembert.runtime.contact.contact_run._MOST", 40)
    s = da.System("Balls", gravity=9.81)
    for name, y, e in zip("abc", s.coordinates("y0 y1 y2"), (1, 1, 0), strict=True):
        P = s.O.offset(y * s.N.y, f"P{name}")
        s.particle(f"ball {name}", 1, P)
        s.contact(P, restitution=e, name=name)
    with pytest.raises(
        da.ContactStopped, match=r"'a' and 'b' change their modes without end at t = .*: 40 times"
    ):
        da.simulate(s, 100.0, start={"y0": 1.0, "y1": 1.1, "y2": 0.1}, progress=False)
