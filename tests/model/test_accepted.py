"""What people write is accepted, or answered in one sentence."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import BadDescription, BadExpression


@pytest.fixture
def s():
    made = da.System("bead on a turning wire")
    r, theta = made.coordinates("r theta")
    made.constants(m=2, k=3)
    B = made.N.rotated(theta, made.N.z, "B")
    made.particle("bead", "m", made.O.offset(r * B.x, "P"))
    return made


def test_a_text_is_an_expression_everywhere(s):
    s.potential("k*r**2/2")
    s.constrain("theta.dot - 2")
    assert str(s.potentials[0].V) == "1/2 k r²"
    assert s.N.rotated("2*theta", s.N.z).w.to(s.N)[2] == 2 * s["theta"].dot
    with pytest.raises(BadExpression, match=r"unknown name 'rr' at column 1: did you mean 'r'\?"):
        s.potential("rr**2")


def test_start_values_are_read(s):
    s.potential("k*r**2/2")
    run = da.simulate(s, 0.1, start={"theta": "pi/2", "r": "m/k"})
    np.testing.assert_allclose([run["theta"][0], run["r"][0]], [np.pi / 2, 2 / 3], rtol=1e-15)
    with pytest.raises(da.BadStart, match=r"start: theta = 'pi/' cannot be read"):
        da.simulate(s, 0.1, start={"theta": "pi/"})


def test_a_row_written_as_an_equation_is_answered(s):
    with pytest.raises(
        BadDescription, match=r"write the constraint as a difference, s.constrain\(a - b\)"
    ):
        s.constrain(s["r"] == da.sin(s["theta"]))


@pytest.mark.parametrize("asked", [lambda r: r > 0, lambda r: max(r, 0), lambda r: 3 <= r])
def test_expressions_have_no_order(s, asked):
    with pytest.raises(TypeError, match="which is larger is known only along a run"):
        asked(s["r"])


@pytest.mark.parametrize("asked", [lambda r: r // 2, lambda r: r % 2, lambda r: 2 // r])
def test_expressions_have_no_remainder(s, asked):
    with pytest.raises(TypeError, match="no whole quotient or remainder"):
        asked(s["r"])


def test_dissipation_needs_a_rate(s):
    with pytest.raises(BadDescription, match="contains no rate, so it dissipates nothing"):
        s.dissipation("k*r**2")


@pytest.mark.parametrize("size", [0, -1])
def test_sizes_are_positive(s, size):
    with pytest.raises(BadDescription, match="a radius must be positive"):
        s.sphere("ball", s.O, s.N.rotated("theta", s.N.z), mass=1, radius=size)


def test_coriolis_as_an_observer_on_the_wire_sees_it(s):
    """a = ᴮa + 2 ω × ᴮv + ω̇ × r + ω × (ω × r)"""
    P = s.bodies[0].G
    B, r = P.frame, s["r"]
    w, x = B.w, P - s.O
    assert (r.dot, 0, 0) == P.v_in(B).to(B)
    assert (r.dot.dot, 0, 0) == P.a_in(B).to(B)
    alpha = s["theta"].dot.dot * s.N.z
    apart = P.a - (P.a_in(B) + 2 * w.cross(P.v_in(B)) + alpha.cross(x) + w.cross(w.cross(x)))
    assert ["0"] * 3 == [str(component) for component in apart.to(B)]
    assert P.v.to(s.N) == P.v_in(s.N).to(s.N)
    with pytest.raises(BadExpression, match=r"name a point that is fixed in it, origin=Q"):
        s.O.offset(r * s.N.y).v_in(B)
