"""Hamilton's extended principle: the field equations and boundary conditions that every book
prints, and the same by other routes.
"""

from dataclasses import replace

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.analysis.flexible.hybrid.galerkin import galerkin
from dalembert.errors import NotApplicable
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import copy_expressions
from jets import conditions, says

VALUES = {
    "EI": 3,
    "mu": 2,
    "L": 1,
    "GJ": 2,
    "EA": 50,
    "J": 0.1,
    "rI": 0.05,
    "kGA": 30,
    "m": 1,
    "Jt": 0.2,
    "k": 4,
    "kt": 5,
    "c": 0.3,
}
VALUES |= {"F": 2, "M0": 1, "p": 3, "T": 7, "Omega": 2}


def constants(s, names):
    return s.constants(**{name: VALUES[name] for name in names.split()})


def hybrid(declare, gravity=None):
    s = da.System("member", gravity=gravity)
    declare(s)
    return da.extended_hamilton(s)


# ---- known equations -----------------------------------------------------------------------------


def string(s):
    mu, L, T = constants(s, "mu L T")
    s.string("member", s.O, s.N.x, s.N.y, L, mu, tension=T)


def bar(s):
    EA, mu, L, m = constants(s, "EA mu L m")
    s.bar("member", s.O, s.N.x, L, EA, mu, right=s.end(mass=m))


def shaft(s):
    GJ, J, L, mu, kt = constants(s, "GJ J L mu kt")
    s.shaft("member", s.O, s.N.x, L, GJ, polar=J, density=mu, right=s.end(twisting_spring=kt))


def euler_bernoulli(s):
    EI, mu, L, p = constants(s, "EI mu L p")
    s.beam("member", s.O, s.N.x, s.N.y, L, EI, mu, left="pinned", right="sliding", load=p * s.N.y)


def rayleigh(s):
    EI, mu, L, rI = constants(s, "EI mu L rI")
    s.beam("member", s.O, s.N.x, s.N.y, L, EI, mu, rotary=rI)


def column(s):
    EI, mu, L, T = constants(s, "EI mu L T")
    s.beam("member", s.O, s.N.x, s.N.y, L, EI, mu, tension=-T)


def tip(s):
    EI, mu, L, m, Jt, k, kt, c, F, M0 = constants(s, "EI mu L m Jt k kt c F M0")
    end = s.end(
        mass=m,
        inertia=Jt,
        spring=k,
        turning_spring=kt,
        damper=c,
        force=F * s.N.y,
        moment=M0 * s.N.z,
    )
    s.beam("member", s.O, s.N.x, s.N.y, L, EI, mu, right=end)


def tapered(s):
    EI, mu, L = constants(s, "EI mu L")
    s.beam(
        "member",
        s.O,
        s.N.x,
        s.N.y,
        L,
        lambda x: EI * (1 - x / (2 * L)),
        lambda x: mu * (1 - x / (2 * L)),
    )


KNOWN = [
    (string, {"v": "mu*v_tt - T*v_xx"}, {(0, "v", 0): "v_0", (1, "v", 0): "v_L"}),
    (bar, {"u": "mu*u_tt - EA*u_xx"}, {(0, "u", 0): "u_0", (1, "u", 0): "-EA*u_x_L - m*u_tt_L"}),
    (
        shaft,
        {"phi": "J*phi_tt - GJ*phi_xx"},
        {(0, "phi", 0): "phi_0", (1, "phi", 0): "-GJ*phi_x_L - kt*phi_L"},
    ),
    (
        euler_bernoulli,
        {"v": "mu*v_tt + EI*v_xxxx - p"},
        {
            (0, "v", 0): "v_0",
            (0, "v", 1): "-EI*v_xx_0",
            (1, "v", 0): "EI*v_xxx_L",
            (1, "v", 1): "v_x_L",
        },
    ),
    (
        rayleigh,
        {"v": "mu*v_tt - rI*v_xxtt + EI*v_xxxx"},
        {
            (0, "v", 0): "v_0",
            (0, "v", 1): "v_x_0",
            (1, "v", 0): "EI*v_xxx_L - rI*v_xtt_L",
            (1, "v", 1): "-EI*v_xx_L",
        },
    ),
    (
        column,
        {"v": "mu*v_tt + EI*v_xxxx + T*v_xx"},
        {
            (0, "v", 0): "v_0",
            (0, "v", 1): "v_x_0",
            (1, "v", 0): "EI*v_xxx_L + T*v_x_L",
            (1, "v", 1): "-EI*v_xx_L",
        },
    ),
    (
        tip,
        {"v": "mu*v_tt + EI*v_xxxx"},
        {
            (0, "v", 0): "v_0",
            (0, "v", 1): "v_x_0",
            (1, "v", 0): "EI*v_xxx_L - m*v_tt_L - k*v_L - c*v_t_L + F",
            (1, "v", 1): "-EI*v_xx_L - Jt*v_xtt_L - kt*v_x_L + M0",
        },
    ),
    (
        tapered,
        {"v": "mu*(1 - x/(2*L))*v_tt + EI*(1 - x/(2*L))*v_xxxx - EI/L*v_xxx"},
        # the shear force is (EI v″)′, not EI v‴
        {
            (0, "v", 0): "v_0",
            (0, "v", 1): "v_x_0",
            (1, "v", 0): "EI*v_xxx_L/2 - EI/(2*L)*v_xx_L",
            (1, "v", 1): "-EI*v_xx_L/2",
        },
    ),
]


@pytest.mark.parametrize(
    ("declare", "equations", "ends"), KNOWN, ids=lambda x: getattr(x, "__name__", "")
)
def test_the_equations_every_book_prints(declare, equations, ends):
    h = hybrid(declare)
    assert () == h.ordinary
    assert list(equations) == [p.field for p in h.partial]
    assert all(says(h, p.residual, equations[p.field]) for p in h.partial)
    found = conditions(h)
    assert sorted(ends) == sorted(found)
    assert all(says(h, residual, ends[key]) for key, (_, residual) in found.items())


def test_timoshenko():
    def declare(s):
        EI, mu, L, kGA, rI = constants(s, "EI mu L kGA rI")
        s.beam("member", s.O, s.N.x, s.N.y, L, EI, mu, shear=kGA, rotary=rI, right="pinned")

    h = hybrid(declare)
    by_field = {p.field: p.residual for p in h.partial}
    assert says(h, by_field["v"], "mu*v_tt - kGA*(v_xx - psi_x)")
    assert says(h, by_field["psi"], "rI*psi_tt - EI*psi_xx - kGA*(v_x - psi)")
    found = conditions(h)
    assert {(0, "v", 0), (0, "psi", 0), (1, "v", 0)} == {
        key for key, (kind, _) in found.items() if kind == "geometric"
    }
    assert says(h, found[1, "psi", 0][1], "-EI*psi_x_L")


def test_a_natural_condition_that_holds_by_itself_is_not_listed():
    # a slack string end pulls at nothing
    h = hybrid(
        lambda s: s.string("member", s.O, s.N.x, s.N.y, 1, 1, tension=lambda x: 1 - x, right="free")
    )
    assert [(0, "v", 0)] == list(conditions(h))


def test_a_turning_beam_stretches():
    def declare(s):
        EI, mu, L, Omega, EA = constants(s, "EI mu L Omega EA")
        B = s.N.rotated(s.specified("theta", Omega * s.t), s.N.z)
        s.beam("member", s.O, B.x, (B.y, B.z), L, EI, mu, axial=EA)

    h = hybrid(declare)
    by_field = {p.field: p.residual for p in h.partial}
    assert says(
        h, by_field["u"], "mu*(u_tt - 2*theta_t*v_t - theta_t**2*(x + u) - theta_tt*v) - EA*u_xx"
    )
    assert says(
        h, by_field["v"], "mu*(v_tt + 2*theta_t*u_t - theta_t**2*v + theta_tt*(x + u)) + EI*v_xxxx"
    )
    assert says(h, by_field["w"], "mu*w_tt + EI*w_xxxx")


# ---- other routes --------------------------------------------------------------------------------


def fixed(s):
    return s.O, s.N


def cart(s):
    x, theta = s.coordinates("x_c theta")
    C = s.O.offset(x * s.N.x)
    s.particle("cart", s.constant("M", 2), C)
    return C, s.N.rotated(theta, s.N.z)


def ball(s):
    B = s.N.rotations("zyx", *s.coordinates("alpha beta gamma"))[-1]
    s.speeds("omega_x omega_y omega_z", B.w, B)
    return s.O, B


def plain(s, P, B):
    EI, mu, L, J = constants(s, "EI mu L J")
    return s.beam(
        "beam",
        P,
        B.x,
        B.y,
        L,
        EI,
        mu,
        polar=J,
        left=s.end("pinned", turning_spring=2),
        right="pinned",
    )


def loaded_tip(s, P, B):
    EI, mu, L, m, Jt, k, kt, c, F, M0, J = constants(s, "EI mu L m Jt k kt c F M0 J")
    end = s.end(
        mass=m,
        inertia=Jt,
        spring=k,
        turning_spring=kt,
        damper=c,
        force=F * s.N.x + F * B.y,
        moment=M0 * B.z,
    )
    return s.beam("beam", P, B.x, B.y, L, EI, mu, polar=J, right=end)


def pressed(s, P, B):
    EI, mu, L, J, m, F = constants(s, "EI mu L J m F")
    return s.beam(
        "beam",
        P,
        B.x,
        B.y,
        L,
        EI,
        mu,
        polar=J,
        shortening=True,
        right=s.end(mass=m, force=-F * B.x),
    )


def everything(s, P, B):
    EI, mu, L, J, GJ, EA, rI, p = constants(s, "EI mu L J GJ EA rI p")
    load = lambda x: p * x * s.N.x + p * B.z  # noqa: E731 - a load per length, as a user writes it
    return s.beam(
        "beam", P, B.x, (B.y, B.z), L, EI, mu, polar=J, torsion=GJ, axial=EA, rotary=rI, load=load
    )


def everything_shortened(s, P, B):
    EI, mu, L, J, EA = constants(s, "EI mu L J EA")
    return s.beam("beam", P, B.x, (B.y, B.z), L, EI, mu, polar=J, axial=EA, shortening=True)


def sheared(s, P, B):
    EI, mu, L, J, rI, kGA, m, Jt = constants(s, "EI mu L J rI kGA m Jt")
    return s.beam(
        "beam",
        P,
        B.x,
        B.y,
        L,
        EI,
        mu,
        polar=J,
        shear=kGA,
        rotary=rI,
        right=s.end(mass=m, inertia=Jt),
    )


def varying(s, P, B):
    EI, mu, L, J = constants(s, "EI mu L J")
    return s.beam(
        "beam",
        P,
        B.x,
        B.y,
        L,
        lambda x: EI * (1 - x / (2 * L)),
        lambda x: mu * (1 + x / L),
        polar=J,
        tension=lambda x: mu * x,
    )


def turned_bar(s, P, B):
    # a moment about axes that a bar does not turn about by itself acts on its frame
    EA, mu, L, c, M0 = constants(s, "EA mu L c M0")
    return s.bar(
        "beam",
        P,
        B.x,
        L,
        EA,
        mu,
        right=s.end(damper=c, moment=M0 * B.x + 2 * M0 * s.N.y + 3 * M0 * B.z),
    )


def twisted_shaft(s, P, B):
    GJ, J, mu, L, m, Jt, M0 = constants(s, "GJ J mu L m Jt M0")
    end = s.end(mass=m, inertia=Jt, twisting_spring=2, moment=M0 * B.x + M0 * s.N.y + M0 * B.z)
    return s.shaft("beam", P, B.x, L, GJ, polar=J, density=mu, right=end)


MEMBERS = [
    plain,
    loaded_tip,
    pressed,
    everything,
    everything_shortened,
    sheared,
    varying,
    turned_bar,
    twisted_shaft,
]


def both(base, declare, functions=2):
    """A system and its hybrid equations, then the same system with the member in its amplitudes."""
    s = da.System("system", gravity=9.81)
    member = declare(s, *base(s))
    h = da.extended_hamilton(s)
    da.discretise(s, member, functions)
    return h, da.kane(s) if h.along == "u" else da.lagrange(s)


@pytest.mark.each_time(10)
@pytest.mark.parametrize("declare", MEMBERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("base", [fixed, cart, ball], ids=lambda f: f.__name__)
def test_galerkin_on_the_hybrid_equations_is_lagrange_or_kane_on_the_amplitudes(base, declare):
    h, d = both(base, declare)
    assert [] == galerkin(h, d).differences(d)


def test_an_error_in_the_hybrid_equations_would_be_seen():
    h, d = both(cart, loaded_tip)
    t = h.tape
    damping = t.mul(t.names["mu"], h.continua["beam"].fields.symbol("v", 0, 1))
    wrong = tuple(replace(p, residual=t.add(p.residual, damping)) for p in h.partial)
    assert ["v_1'", "v_2'"] == galerkin(replace(h, partial=wrong), d).differences(d)
    tip = tuple(
        replace(b, residual=t.mul(t.const(2), b.residual)) if b.order == 1 else b
        for b in h.boundary
    )
    # the second function ends level
    assert ["v_1'"] == galerkin(replace(h, boundary=tip), d).differences(d)


def test_constraint_rows():
    # a cart on a rail by a row, and by leaving the coordinate out
    def build(rail, speeds):
        s = da.System("cart")
        names = "x y" if rail else "x"
        x, *y = s.coordinates(names)
        C = s.O.offset(x * s.N.x + (y[0] if rail else 0) * s.N.y)
        M, EI, mu, L = s.constants(M=2, EI=3, mu=2, L=1)
        s.particle("cart", M, C)
        s.beam("beam", C, s.N.y, s.N.x, L, EI, mu)
        if rail:
            s.constrain(y[0] - 3)
        return da.extended_hamilton(s, speeds=speeds)

    free = build(rail=False, speeds=False)
    row = build(rail=True, speeds=True)
    assert ["x'"] == [o.name for o in row.ordinary]
    assert "(μ L + M) ẍ" in str(free).replace("(M + μ L)", "(μ L + M)")
    assert (
        str(free).splitlines()[1].partition("    ")[0]
        == str(row).splitlines()[1].partition("    ")[0]
    )
    multiplied = build(rail=True, speeds=False)
    assert "λ₁" in str(multiplied)


def sledge(s):
    # a blade that cannot slide sideways
    x, y, theta = s.coordinates("x y theta")
    B = s.N.rotated(theta, s.N.z)
    C = s.O.offset(x * s.N.x + y * s.N.y)
    s.body("sledge", 2, C, B, da.inertia(B, 1, 1, 1))
    s.constrain(C.v @ B.y)
    s.speeds(u=C.v @ B.x, w=theta.dot)
    return C, B


def quaternion(s):
    P = s.ball("e0 e1 e2 e3", s.O)
    return P, P.frame


@pytest.mark.parametrize("base", [sledge, quaternion], ids=lambda f: f.__name__)
def test_galerkin_where_rows_constrain_the_base(base):
    s = da.System("constrained", gravity=9.81)
    member = pressed(s, *base(s))
    h = da.extended_hamilton(s, speeds=True)
    da.discretise(s, member, 2)
    d = da.kane(s)
    assert [] == galerkin(h, d).differences(d)


def test_two_members_have_fields_of_their_own():
    s = da.System("frame")
    EI, mu, L = s.constants(EI=1, mu=1, L=2)
    s.beam("a", s.O, s.N.x, s.N.y, L, EI, mu)
    s.beam("b", s.O, s.N.y, s.N.x, 3, EI, mu)
    h = da.extended_hamilton(s)
    assert ["v_a", "v_b"] == [p.field for p in h.partial]
    assert "v_b(3)" in str(h).replace("″", "").replace("‴", "")


def test_names_that_are_taken_are_not_used_twice():
    s = da.System("clash")
    v, N = s.constants(v=1, N=2)
    x, s_ = s.coordinates("x s")
    C = s.O.offset(x * s.N.x + s_ * s.N.y)
    s.particle("cart", v, C)
    s.beam("beam", C, s.N.x, s.N.y, 1, N, 1, shortening=True)
    h = da.extended_hamilton(s)
    assert ["v_beam", "s_beam", "N_beam"] == [p.field for p in h.partial]
    assert "x_beam" in str(h)


def test_expanding_a_member_leaves_its_hybrid_equations_as_they_were():
    entry = gallery.entry("beam-with-tip-mass").build
    s = da.System("again")
    EI, mu, L, m = constants(s, "EI mu L m")
    beam = s.beam("beam", s.O, s.N.x, s.N.y, L, EI, mu, right=s.end(mass=m))
    before = str(da.extended_hamilton(s))
    da.discretise(s, beam, 3)
    assert before == str(da.extended_hamilton(s))
    assert "m v̈(L) − EI v‴(L) = 0" in str(da.extended_hamilton(entry()))


# ---- refusals ------------------------------------------------------------------------------------


def test_what_cannot_be_treated_is_said():
    with pytest.raises(NotApplicable, match="carries no string, bar, shaft or beam"):
        da.extended_hamilton(gallery.build("rolling-disk"))
    with pytest.raises(NotApplicable, match="is attached to a point of the expanded member"):
        da.extended_hamilton(gallery.build("flexible-slider-crank"))
    with pytest.raises(TypeError, match="give a System, not str"):
        da.extended_hamilton("cantilever")


def test_the_same_bytes_on_every_run():
    first, second = (da.extended_hamilton(gallery.build("beam-on-ball-joint")) for _ in range(2))
    assert str(first) == str(second)
    t = first.tape.fork()
    assert all(
        provably_zero(
            t,
            [
                t.sub(a.residual, copy_expressions(first.tape, t, [a.residual])[0])
                for a in first.ordinary
            ],
        )
    )
