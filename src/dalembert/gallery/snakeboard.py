"""A board on two sets of wheels that can be steered, propelled by a rotor on it.

Source: Lew94, the model; its equations follow from the balances of momentum: the rotor and each set
of wheels turn as their torque says, J_r (θ̈ + ψ̈) = τ, and the motion ξ = (2 r cos φ_b cos φ_f, r
sin(φ_b + φ_f), sin(φ_f − φ_b)) along, across and about the board, which the wheels leave free, is
done no work by any force: ξ · (p, h)˙ = 0.
"""

from __future__ import annotations

from typing import Final

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry

# board, rotor, each set of wheels: mass and moment of inertia; half the length of the board
VALUES: Final = {"m": 4.0, "J": 0.15, "m_r": 2.0, "J_r": 0.2, "m_w": 0.5, "J_w": 0.01, "r": 0.25}


def build(**values: float | None) -> da.System:
    """(x, y) is the middle of the board, θ its heading; rotor ψ and wheels φ_b, φ_f are measured
    from the board.

    Two rows: neither set of wheels slips sideways. The speeds are v along the board and the rates
    of ψ, φ_b, φ_f.
    """
    s = da.System("Snakeboard", source="Lew94")
    x, y, theta, psi, phi_b, phi_f = s.coordinates("x y theta psi phi_b phi_f")
    p = {name: s.constant(name, value) for name, value in (VALUES | values).items()}
    tau, tau_b, tau_f = s.inputs("tau tau_b tau_f")
    N = s.N
    B = N.rotated(theta, N.z, "B")
    G = s.O.offset(x * N.x + y * N.y, "G")
    board = s.body("board", p["m"], G, B, da.inertia(B, 0, 0, p["J"]))
    D = B.rotated(psi, B.z, "D")
    rotor = s.body("rotor", p["m_r"], G, D, da.inertia(D, 0, 0, p["J_r"]))
    s.torque(tau * N.z, on=rotor, reaction=board, name="rotor motor")
    _add_wheels(s, p, "back", G.offset(-p["r"] * B.x, "back axle"), phi_b, tau_b)
    _add_wheels(s, p, "front", G.offset(p["r"] * B.x, "front axle"), phi_f, tau_f)
    s.speeds(v=G.v @ B.x, u_psi=psi.dot, u_b=phi_b.dot, u_f=phi_f.dot)
    return s


def _add_wheels(
    s: da.System,
    p: dict[str, da.Scalar],
    name: str,
    axle: da.Point,
    phi: da.Scalar,
    torque: da.Scalar,
) -> None:
    """A set of wheels that the board steers by its motor, and that does not slip sideways."""
    board = s.bodies[0]
    assert board.frame is not None
    W = board.frame.rotated(phi, board.frame.z, f"{name} wheels")
    wheels = s.body(f"{name} wheels", p["m_w"], axle, W, da.inertia(W, 0, 0, p["J_w"]))
    s.torque(torque * s.N.z, on=wheels, reaction=board, name=f"{name} motor")
    s.constrain(axle.v @ W.y, f"no slip of the {name} wheels sideways", on=wheels, at=axle)


_ALONG, _ACROSS = "(x''*cos(theta) + y''*sin(theta))", "(y''*cos(theta) - x''*sin(theta))"
_SPIN = "((J + J_r + 2*J_w + 2*m_w*r**2)*theta'' + J_r*psi'' + J_w*(phi_b'' + phi_f''))"

ENTRY = Entry(
    name="snakeboard",
    title="Snakeboard",
    source="Lew94",
    description="A board on two sets of steerable wheels that do not slip sideways, propelled by "
    "the torque on a rotor.",
    build=build,
    printed=(
        DerivedByHand(
            "along ξ",
            f"(m + m_r + 2*m_w)*r*(2*{_ALONG}*cos(phi_b)*cos(phi_f) + "
            f"{_ACROSS}*(sin(phi_b)*cos(phi_f) + cos(phi_b)*sin(phi_f)))"
            f" + {_SPIN}*(sin(phi_f)*cos(phi_b) - cos(phi_f)*sin(phi_b))",
            ((1, "2*r*cos(phi_b)*cos(phi_f)"),),
        ),
        DerivedByHand("rotor", "J_r*(theta'' + psi'') - tau", ((2, "1"),)),
        DerivedByHand("back wheels", "J_w*(theta'' + phi_b'') - tau_b", ((3, "1"),)),
        DerivedByHand("front wheels", "J_w*(theta'' + phi_f'') - tau_f", ((4, "1"),)),
    ),
    # the gait that drives the board along: rotor and wheels swing in step
    start={"u_psi": 4.5, "u_b": -0.9, "u_f": 0.9},
    inputs={"tau": "-2.7*sin(3*t)", "tau_b": "0.027*sin(3*t)", "tau_f": "-0.027*sin(3*t)"},
    duration=4.0,
)
