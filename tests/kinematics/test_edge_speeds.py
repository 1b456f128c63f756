"""a ẋ + b ẏ + c = 0 with a² + b² = 1 and no declared speed: v along the edge is chosen, and
nothing is divided by cos ψ.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery.chaplygin_sleigh import build as declared_sleigh
from dalembert.mechanics.kinematics.system_kinematics import kinematics, unreduced_kinematics


def sleigh(*, turned: bool = False, drift: float = 0.0) -> da.System:
    """Chaplygin's sleigh as one types it first: no speeds. `drift` lets the ground move across
    the edge.
    """
    s = da.System("sleigh")
    x, y, phi = s.coordinates("x y phi")
    m, I, a = s.constants(m=1.0, I=0.5, a=0.3)
    B = s.N.rotated(phi, s.N.z, "B")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.body("sleigh", m, P.offset(a * B.x, "G"), B, da.inertia(B, 0, 0, I))
    across = P.v @ B.y - drift
    s.constrain(-across if turned else across, "knife edge")
    return s


def bicycle() -> da.System:
    """Two knife edges, the second one steered: its row has three rates."""
    s = da.System("bicycle")
    x, y, psi, delta = s.coordinates("x y psi delta")
    B = s.N.rotated(psi, s.N.z, "B")
    F = B.rotated(delta, B.z, "F")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    Q = P.offset(1.1 * B.x, "Q")
    s.body("frame", 80, P.offset(0.5 * B.x, "G"), B, da.inertia(B, 0, 0, 10))
    s.body("fork", 3, Q, F, da.inertia(F, 0, 0, 0.1))
    s.constrain(P.v @ B.y, "rear")
    s.constrain(Q.v @ F.y, "front")
    return s


@pytest.mark.parametrize("turned", [False, True])
def test_equations_are_the_book_s(turned: bool) -> None:
    """v̇ = a ω², (I + m a²) ω̇ = −m a ω v (NF72 ch. III), whichever sign the row was typed with."""
    s = sleigh(turned=turned)
    kin = kinematics(s)
    assert [kin.name(u) for u in kin.u] == ["v", "phi'"]
    assert [str(kin.scalar(e)) for e in kin.qdot_of_u] == ["v cos φ", "v sin φ", "φ̇"]
    assert kin.state_dependent_pivots == ()
    assert str(da.kane(s)).splitlines()[1:] == [
        "m v̇ − m a φ̇² = 0",
        "(m a² + I) φ̈ + m a φ̇ v = 0",
        "with v = ẋ cos φ + ẏ sin φ, chosen",
    ]


def test_runs_linear_models_and_calls_at_a_heading_where_cos_vanishes() -> None:
    mine, book = sleigh(), declared_sleigh()
    start = {"phi": math.pi / 2, "phi.dot": 1.5}
    runs = [
        da.simulate(mine, 4, start=start | {"y.dot": -0.4}),
        da.simulate(book, 4, start={"phi": math.pi / 2, "omega": 1.5, "v": -0.4}),
    ]
    assert np.allclose(runs[0].at([1.0, 4.0]).q, runs[1].at([1.0, 4.0]).q, rtol=0, atol=1e-7)
    about = {"phi": math.pi / 2, "v": 1.0}
    assert np.allclose(da.linearize(mine, about).A, da.linearize(book, about).A, rtol=0, atol=1e-13)
    q, u = np.array([0.0, 0.0, math.pi / 2]), np.array([1.0, 0.5])
    assert np.allclose(da.compile(mine)(q, u), da.compile(book)(q, u), rtol=1e-14)


def test_ground_that_moves_across_the_edge() -> None:
    """c ≠ 0: the speed across stays what the row says, and all principles agree."""
    s = sleigh(drift=0.2)
    assert da.agreement(s).holds
    run = da.simulate(s, 3, start={"v": 0.5, "phi.dot": 1.0})
    across = run["y.dot"] * np.cos(run["phi"]) - run["x.dot"] * np.sin(run["phi"])
    assert np.allclose(across, 0.2, rtol=0, atol=1e-14)
    rates = unreduced_kinematics(kinematics(s))
    assert rates.n_u == 3
    assert rates.edge_coefficients == {}


def test_rows_beside_an_edge_are_written_in_its_speed() -> None:
    """ψ̇ = v tan δ / L of a bicycle; where cos δ vanishes too, other speeds are taken."""
    s = bicycle()
    kin = kinematics(s)
    assert [kin.name(u) for u in kin.u] == ["v", "delta'"]
    assert str(kin.scalar(kin.qdot_of_u[2])) == "10/11 v sin(δ)/cos(δ)"
    assert da.agreement(s).holds
    assert da.linearize(s, {"psi": math.pi / 2, "v": 1.0}).states[-2:] == ("v", "delta.dot")
    across = da.linearize(s, {"delta": math.pi / 2, "psi.dot": 1.0})
    assert across.states[-2:] == ("psi.dot", "delta.dot")
    assert np.isfinite(across.A).all()


def test_what_has_no_constant_length_or_a_taken_name() -> None:
    """x ẋ + y ẏ = 0 vanishes at x = y = 0: no edge. A constant v leaves its letter to the user."""
    s = da.System("bead")
    x, y = s.coordinates("x y")
    s.particle("bead", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain(x**2 + y**2 - 1)
    assert kinematics(s).edge_coefficients == {}
    s = sleigh()
    (v,) = s.constants(v=2.0)
    s.force(v * s.N.x, at=s.bodies[0].G)
    kin = kinematics(s)
    assert [kin.name(u) for u in kin.u] == ["v_e", "phi'"]
    assert da.agreement(s).holds
